/* The dialog Share: the link to this run. */

import { Dialog } from "../page/dialog.js";
import { copied, el, setText } from "../page/dom.js";
import { addressOf, isOnlyHere } from "./address.js";
import { saveExport } from "./files.js";

/** The link to this run at this step. A run too long for a link can be saved as a file. */
export class ShareDialog {
  constructor(explorer) {
    this.explorer = explorer;
    this.link = el("input", { type: "text", readonly: true, "aria-label": "Link", onfocus: () => this.link.select() });
    this.copied = el("span", { class: "cc-said-so", role: "status" });
    this.presents = el("input", { type: "checkbox", onchange: () => this.refresh() });
    this.size = el("p", { class: "cc-quiet" });
    this.short = el("div", {},
      el("p", {}, "This link opens this run, with every change that you made, at this step."),
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
    setText(this.excess, `This run is too long for a link${length}: save it as a file. The file opens the same run.`);
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
