/* The dialog Export: this run as a file, with what is asked about it and a preview. */

import { Dialog } from "../page/dialog.js";
import { el, field, fillMenu, setText } from "../page/dom.js";
import { isAsItIs } from "../run/arrangement.js";
import { Asked } from "./asked.js";
import { ExportMemory } from "./export_memory.js";
import { saveExport } from "./files.js";
import { Preview } from "./preview.js";

const ARRANGED = "Pictures, decks and the web page show the processes as they are arranged here. Tables, texts and files hold all of them.";

/** Saves this run in a format of the user's choice. Each format declares its options. */
export class ExportDialog {
  constructor(explorer) {
    this.explorer = explorer;
    this.memory = new ExportMemory();
    this.preview = new Preview(explorer);
    this.format = el("select", { onchange: () => this.choose() });
    this.purpose = el("p", { class: "cc-export-for" });
    this.seen = el("fieldset", {}, el("legend", {}, "What is seen"), el("div", { class: "cc-row" }));
    this.set = el("fieldset", {}, el("legend", {}, "How it is set"), el("div", { class: "cc-row" }));
    this.arranged = el("p", { class: "cc-quiet" }, ARRANGED);
    this.told = el("p", { class: "cc-export-said", role: "status" });
    this.button = el("button", { type: "submit", class: "cc-primary" }, "Download");
    this.reset = el("button", { type: "button", class: "cc-as-link", onclick: () => this.forget() }, "Reset");
    this.fields = el("div", { class: "cc-export-fields", onchange: (event) => this.keep(event), oninput: () => this.refresh() },
      this.seen, this.set,
    );
    this.form = el("form", { class: "cc-export", onsubmit: (event) => this.submit(event), novalidate: true },
      el("div", { class: "cc-export-body" },
        el("div", { class: "cc-export-asked" }, field("Format", this.format), this.purpose, this.fields, this.arranged),
        this.preview.node,
      ),
      el("div", { class: "cc-row cc-export-end" }, this.button, this.reset, this.told),
    );
    this.dialog = new Dialog(explorer, "Export this run", this.form);
    this.dialog.node.classList.add("cc-export-dialog");
    this.dialog.node.addEventListener("close", () => this.stop());
    explorer.closed.addEventListener("abort", () => this.stop());
  }

  open() {
    const { formats } = this.explorer.data;
    fillMenu(this.format, formats.map(({ name, title, suffix }) => [name, `${title} (${suffix})`]));
    const last = formats.find(({ name }) => name === this.memory.format);
    if (last) this.format.value = last.name;
    this.known = new Map();
    const { arrangement, lanes } = this.explorer.scene;
    this.arranged.hidden = isAsItIs(arrangement, lanes);
    this.dialog.open();
    this.ask();
    this.format.focus();
  }

  /** Another format has been chosen. */
  choose() {
    this.memory.format = this.format.value;
    this.ask();
  }

  /** Ask about the options of the format. */
  ask() {
    this.chosen = this.explorer.data.formats.find(({ name }) => name === this.format.value);
    setText(this.purpose, this.chosen.for);
    this.asked = this.chosen.options.map((option) => this.asking(option));
    for (const [group, isSeen] of [[this.seen, true], [this.set, false]]) {
      const asked = this.asked.filter(({ option }) => Boolean(option.is_seen) === isSeen);
      group.lastChild.replaceChildren(...asked.flatMap(({ nodes }) => nodes));
    }
    this.refresh(0);
  }

  /** What is asked about an option. Formats with the same option share it. */
  asking(option) {
    const key = JSON.stringify(option);
    if (!this.known.has(key)) {
      this.known.set(key, new Asked(option, this.explorer));
      this.memory.recall(this.known.get(key));
    }
    return this.known.get(key);
  }

  /** Show the fields that matter for what is chosen in others, and the file that comes of it. */
  refresh(pause) {
    for (const asked of this.asked) asked.show(this.isAsked(asked.option));
    for (const group of [this.seen, this.set]) group.hidden = [...group.lastChild.children].every((node) => node.hidden);
    this.tell("");
    this.preview.follow(this.chosen, this.options(), pause);
  }

  isAsked({ drawing, needs, long_only: isForLong }) {
    const valueOf = (name) => this.asked.find(({ option }) => option.name === name)?.query()[name];
    const isDrawn = drawing == null || [drawing, undefined].includes(valueOf("drawing")); // others have but one drawing
    return isDrawn && (!needs || Boolean(valueOf(needs))) && (!isForLong || this.explorer.isLong());
  }

  options() {
    return Object.assign({}, ...this.asked.filter(({ option }) => this.isAsked(option)).map((asked) => asked.query()));
  }

  /** Remember what has been changed. */
  keep({ target }) {
    const changed = this.asked.find(({ nodes }) => nodes.some((node) => node.contains(target)));
    if (changed) this.memory.keep(changed);
  }

  /** Begin this format's options anew. */
  forget() {
    for (const asked of this.asked) {
      this.memory.forget(asked);
      this.known.delete(JSON.stringify(asked.option));
    }
    this.ask();
  }

  async submit(event) {
    event.preventDefault();
    if (this.work) return;
    this.preview.stop();
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
    if (this.dialog.node.open && !this.preview.isThere) this.preview.resume();
  }

  stop() {
    this.work?.abort();
    this.preview.stop();
  }

  tell(text, state = "") {
    setText(this.told, text);
    this.told.dataset.state = state;
  }
}
