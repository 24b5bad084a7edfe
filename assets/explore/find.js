/* Finding an event of the whole run: by its label, process, kind, channel, snapshot, or what its message carries. */

import { el, field, fillMenu, ownName, setText } from "./page/dom.js";
import { keepsKeys } from "./page/keys.js";

const FOUND_LISTED = 50; // at most this many of the events found are listed

export class Find {
  constructor(explorer) {
    this.explorer = explorer;
    const again = () => this.search();
    const list = ownName("cc-found");
    const keys = { role: "combobox", "aria-expanded": "true", "aria-controls": list, "aria-autocomplete": "list" };
    this.text = el("input", { type: "text", placeholder: "a label, body, process, channel or kind", autocomplete: "off", spellcheck: "false", ...keys, oninput: again });
    this.process = el("select", { onchange: again });
    this.kind = el("select", { onchange: again });
    this.count = el("p", { class: "cc-quiet", role: "status" });
    this.list = el("ul", { id: list, role: "listbox", "aria-label": "Events found" });
    const close = el("button", { type: "button", class: "cc-clear", "aria-label": "Close", onclick: () => this.shut() }, "×");
    this.node = el(
      "div",
      { class: "cc-find", role: "dialog", "aria-label": "Find an event", hidden: true, onkeydown: (event) => this.key(event) },
      el("div", { class: "cc-row" }, field("Find an event", this.text), close),
      el("div", { class: "cc-row" }, field("Process", this.process), field("Kind", this.kind)),
      this.count,
      this.list,
    );
    explorer.root.append(this.node);
    explorer.tools.find = () => this.open();
    explorer.keyboard.addEventListener("keydown", (event) => this.slash(event), { signal: explorer.closed });
  }

  show(scene) {
    this.scene = scene;
    const { rows } = this.explorer.events;
    fillMenu(this.process, [["", "every process"], ...scene.lanes.entries()]);
    fillMenu(this.kind, [["", "every kind"], ...rows.kindOptions()]);
    if (!this.node.hidden) this.search();
  }

  slash(event) {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || keepsKeys(event.target)) return;
    event.preventDefault();
    this.open();
  }

  open() {
    if (!this.scene || this.explorer.diagram.asked || "presenting" in this.explorer.root.dataset) return;
    this.before = document.activeElement;
    this.node.hidden = false;
    this.text.focus();
    this.text.select();
    this.search();
  }

  shut() {
    if (this.before?.isConnected) this.before.focus();
    if (this.node.contains(document.activeElement)) document.activeElement.blur(); // a field that is hidden keeps the next key
    this.node.hidden = true;
  }

  search() {
    const [lane, kind] = [this.process, this.kind].map((menu) => (menu.value === "" ? null : Number(menu.value)));
    this.query = this.explorer.search.query(this.text.value, lane, kind);
    const { count, found } = this.query.best(FOUND_LISTED);
    const first = count > found.length ? `, the first ${found.length} listed` : "";
    setText(this.count, count ? `${count.toLocaleString("en")} ${count === 1 ? "event" : "events"}${first}` : "No such event");
    this.found = found;
    this.list.replaceChildren(...found.map((row) => this.option(row)));
    this.list.scrollTop = 0;
    this.activate(0);
  }

  /** An event that is found: its name, what and where it is, why it is found, its step. */
  option(row) {
    const { events } = this.explorer;
    const { rows } = events;
    const words = [events.rowWords(row), `at ${rows.process(row)}`].filter(Boolean).join(" ");
    const why = this.query.reasons(row).map(([name, text]) => el("span", { class: "cc-why-found" }, `${name}: ${text}`));
    return el("li", { role: "option", id: `${this.list.id}-${row}`, onclick: () => this.go(row) },
      el("strong", {}, events.rowName(row)),
      el("span", { class: "cc-quiet" }, `step ${rows.step[row]}`),
      el("span", {}, words, " ", ...why),
    );
  }

  activate(index) {
    this.active = Math.max(0, Math.min(this.found.length - 1, index));
    [...this.list.children].forEach((option, own) => option.setAttribute("aria-selected", own === this.active));
    this.text.setAttribute("aria-activedescendant", this.list.children[this.active]?.id ?? "");
    this.list.children[this.active]?.scrollIntoView({ block: "nearest" });
  }

  key(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (event.key === "Escape") this.shut();
    else if (event.target === this.text && event.key in moves) this.activate(this.active + moves[event.key]);
    else if (event.target === this.text && event.key === "Enter" && this.found.length) this.go(this.found[this.active]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Go to the event's step and select it; what is no event and no message is shown in the list of events. */
  go(row) {
    const { explorer } = this;
    const selection = explorer.events.selectionOf(row);
    this.before = null;
    this.shut();
    explorer.goTo(explorer.events.rows.step[row]);
    explorer.select(selection);
    explorer.openTab(selection ? "ask" : "events");
  }
}
