/* The dialogs Share (the link to this run) and Export (this run as a file). */

import { Dialog } from "../page/dialog.js";
import { copied, el, field, fillMenu, setText } from "../page/dom.js";
import { isAsItIs } from "../run/arrangement.js";
import { addressOf, isOnlyHere } from "./address.js";

const ARRANGED = "Pictures, decks and the web page show the processes as they are arranged here. Tables, texts and files hold all of them.";

/** Download an exported file. Throws an Error with the server's sentence. */
async function saveExport(explorer, format, options, signal) {
  await acknowledged(explorer, signal);
  const query = new URLSearchParams(options);
  const { exports_url: exports, session } = explorer.data;
  const answer = await fetch(`${exports}/${session}/${format}?${query}`, { signal }).catch((problem) => {
    throw signal?.aborted ? problem : new Error("The server cannot be reached. Try again once it is back.");
  });
  if (!answer.ok) throw new Error(await answer.text());
  const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition"))?.[1] ?? `export.${format}`;
  const url = URL.createObjectURL(await answer.blob());
  const link = el("a", { href: url, download: name, hidden: true });
  explorer.root.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return name;
}

/** Wait until Python has applied all edits, at most 5 seconds: the file is to have them too. */
async function acknowledged({ visit }, signal) {
  for (let waited = 0; waited < 100 && visit.outbox.waiting.length && !signal?.aborted; waited += 1) {
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** The link to this run at this step. A run too long for a link can be saved as a file. */
export class ShareDialog {
  constructor(explorer) {
    this.explorer = explorer;
    this.link = el("input", { type: "text", readonly: true, "aria-label": "Link", onfocus: () => this.link.select() });
    this.copied = el("span", { class: "cc-said-so", role: "status" });
    this.presents = el("input", { type: "checkbox", onchange: () => this.refresh() });
    this.size = el("p", { class: "cc-quiet" });
    this.short = el("div", {},
      el("p", {}, "Whoever opens this link sees this run, with every change made to it, at this step."),
      ...(isOnlyHere(location.hostname) ? [onlyHere()] : []),
      el("div", { class: "cc-link" }, this.link, this.button("Copy", () => this.copy())),
      el("label", { class: "cc-check" }, this.presents, "Open it in the presenter view"),
      el("p", { class: "cc-said-line" }, this.size, this.copied),
    );
    this.excess = el("p");
    this.saved = el("p", { class: "cc-said-so", role: "status" });
    this.long = el("div", {}, this.excess, this.button("Save as a file", () => this.save()), this.saved);
    this.dialog = new Dialog(explorer, "Share this run", this.short, this.long);
  }

  button(text, onclick) {
    return el("button", { type: "button", class: "cc-primary", onclick }, text);
  }

  open() {
    [this.copied, this.saved].forEach((node) => setText(node, ""));
    this.presents.checked = false;
    this.refresh();
    this.dialog.open();
    if (!this.short.hidden) this.link.focus();
  }

  /** Python has answered: the link may have one edit more. */
  history() {
    if (this.dialog.node.open) this.refresh();
  }

  refresh() {
    const { data, visit } = this.explorer;
    const address = addressOf(data.link, visit.step, visit.shown, { most: data.most_link, isPresenting: this.presents.checked });
    const isShort = Boolean(data.link) && address.length <= data.most_link;
    this.link.value = address;
    this.short.hidden = !isShort;
    this.long.hidden = isShort;
    setText(this.copied, "");
    setText(this.size, `${address.length} characters`);
    const length = data.link ? ` (${address.length} characters; ${data.most_link} can be pasted anywhere)` : "";
    setText(this.excess, `This run is too long for a link${length}: save it as a file. Whoever opens the file sees the same run.`);
  }

  async copy() {
    setText(this.copied, (await copied(this.link)) ? "Copied ✓" : "Press Ctrl+C to copy it.");
  }

  async save() {
    try {
      setText(this.saved, `Saved as ${await saveExport(this.explorer, "toml", {})} ✓`);
    } catch (problem) {
      setText(this.saved, problem.message);
    }
  }
}

/** The app was started for one person: its links lead others nowhere. */
function onlyHere() {
  return el("p", { class: "cc-only-here" },
    el("b", {}, `Only this computer can open it: ${location.hostname} means “this computer”.`),
    " To share with a class, start the app with ", el("code", {}, "make class"),
    ", open it by the network address of this computer (README, “For a class”), and share from there.",
  );
}

/**
 * The fields of an option of a format (diagrams/export_options.py), by their keys in the query: a label and a control
 * each. A field begins with what the page shows, or with the option's default.
 */
function fieldsOf(option, { scene, visit, scheme, cut }) {
  const { name, label, kind, choices = [], least, most } = option;
  const drawing = choices.some(([value]) => value === visit.tab) ? visit.tab : null;
  const shown = { ...visit.shown, step: visit.step, orientation: visit.orientation, scheme, drawing };
  const begin = shown[option.begins] ?? option.default ?? "";
  const number = (value, min, max) => el("input", { type: "number", min, max, step: "1", required: true, value });
  const aStep = (value) => number(value, 0, scene.last);
  if (kind === "steps") {
    const until = Math.min(scene.until, scene.first + (most ?? Infinity) - 1);
    return { from: [label, aStep(scene.first)], to: ["to step", aStep(until)] };
  }
  if (kind === "step") return { [name]: [label, aStep(begin)] };
  if (kind === "number") return { [name]: [label, number(begin, least, most)] };
  if (kind === "shown") return { [name]: [label, el("input", { type: "hidden", value: visit.shown[option.begins] ?? "" })] };
  if (kind === "cut") return { [name]: [label, cutMenu(cut)] };
  if (kind === "text") return { [name]: [label, el("input", { type: "text", value: begin })] };
  const menu = el("select");
  fillMenu(menu, choices);
  menu.value = begin;
  return { [name]: [label, menu] };
}

/** None, or the cut that one holds, which is chosen while it is on show. */
function cutMenu({ isShown, frontier }) {
  const menu = el("select");
  fillMenu(menu, [["", "none"], [frontier.join("."), "the one you hold"]]);
  menu.value = isShown ? frontier.join(".") : "";
  return menu;
}

/** Saves this run in a format of the user's choice. Each format declares its options. */
export class ExportDialog {
  constructor(explorer) {
    this.explorer = explorer;
    this.format = el("select", { onchange: () => this.ask() });
    this.fields = el("div", { class: "cc-row" });
    this.arranged = el("p", { class: "cc-quiet" }, ARRANGED);
    this.told = el("p", { class: "cc-export-said", role: "status" });
    this.button = el("button", { type: "submit", class: "cc-primary" }, "Download");
    this.form = el("form", { onsubmit: (event) => this.submit(event), novalidate: true },
      field("Format", this.format),
      this.fields,
      this.arranged,
      el("div", { class: "cc-row cc-export-end" }, this.button, this.told),
    );
    this.dialog = new Dialog(explorer, "Export this run", this.form);
    this.dialog.node.addEventListener("close", () => this.work?.abort());
    explorer.closed.addEventListener("abort", () => this.work?.abort());
  }

  open() {
    const { formats } = this.explorer.data;
    fillMenu(this.format, formats.map(({ name, title, suffix }) => [name, `${title} (${suffix})`]));
    this.known = new Map();
    const { arrangement, lanes } = this.explorer.scene;
    this.arranged.hidden = isAsItIs(arrangement, lanes);
    this.ask();
    this.dialog.open();
    this.format.focus();
  }

  /** Show the fields of the format that matter for the chosen drawing. */
  ask() {
    const { options } = this.explorer.data.formats.find(({ name }) => name === this.format.value);
    const chosen = options.filter(({ name }) => name === "drawing").flatMap((option) => this.asking(option));
    const isDrawn = ({ drawing }) => drawing == null || chosen.some(([, , control]) => control.value === drawing);
    const now = options.filter((option) => isDrawn(option) && (!option.long_only || this.explorer.isLong()));
    this.asked = now.flatMap((option) => this.asking(option));
    this.fields.replaceChildren(...this.asked.map(([, node]) => node));
    this.tell("");
  }

  /** The fields of an option: [key, node, control]. Formats with the same option share them, and so their values. */
  asking(option) {
    const asked = JSON.stringify(option);
    if (!this.known.has(asked)) {
      const fields = fieldsOf(option, this.explorer);
      this.known.set(asked, Object.entries(fields).map(([key, [label, control]]) => [key, control.type === "hidden" ? control : field(label, control), control]));
      if (option.name === "drawing") fields.drawing[1].addEventListener("change", () => this.ask());
    }
    return this.known.get(asked);
  }

  options() {
    return Object.fromEntries(this.asked.map(([key, , control]) => [key, control.value]));
  }

  async submit(event) {
    event.preventDefault();
    if (this.work) return;
    this.work = new AbortController();
    const { signal } = this.work;
    this.tell("Working …", "working");
    this.button.disabled = true;
    try {
      this.tell(`Saved as ${await saveExport(this.explorer, this.format.value, this.options(), signal)} ✓`, "done");
    } catch (problem) {
      this.tell(signal.aborted ? "" : problem.message, "error");
    }
    this.work = null;
    this.button.disabled = false;
  }

  tell(text, state = "") {
    setText(this.told, text);
    this.told.dataset.state = state;
  }
}
