/* Finding an event of the whole run: by its label, its process, its kind, or what its message carries. */

import { el, field, fillMenu, setText } from "./page/dom.js";
import { keepsKeys } from "./page/keys.js";
import { EVENT_KINDS } from "./run/events.js";

const FOUND_LISTED = 50; // at most this many of the events found are listed

export class Find {
  constructor(explorer) {
    this.explorer = explorer;
    const again = () => this.search();
    const keys = { role: "combobox", "aria-expanded": "true", "aria-controls": "cc-found", "aria-autocomplete": "list" };
    this.text = el("input", { type: "text", autocomplete: "off", spellcheck: "false", ...keys, oninput: again });
    this.process = el("select", { onchange: again });
    this.kind = el("select", { onchange: again });
    this.count = el("p", { class: "cc-quiet", role: "status" });
    this.list = el("ul", { id: "cc-found", role: "listbox", "aria-label": "Events found" });
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
    document.addEventListener("keydown", (event) => this.slash(event), { signal: explorer.closed });
  }

  show(scene) {
    this.scene = scene;
    this.texts = null;
    this.text.placeholder = `a label, a process, ${this.explorer.isLong() ? "or a body on show" : "or a body"}`;
    fillMenu(this.process, [["", "every process"], ...scene.processes.entries()]);
    fillMenu(this.kind, [["", "every kind"], ...EVENT_KINDS.entries()]);
    if (!this.node.hidden) this.search();
  }

  slash(event) {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || keepsKeys(event.target)) return;
    event.preventDefault();
    this.open();
  }

  open() {
    if (!this.scene || this.explorer.diagram.predicting || "presenting" in this.explorer.root.dataset) return;
    this.before = document.activeElement;
    this.node.hidden = false;
    this.text.focus();
    this.text.select();
    this.search();
  }

  shut() {
    this.node.hidden = true;
    if (this.before?.isConnected) this.before.focus();
  }

  /** The text of every event that is searched: label, process and body, in lower case. Made when first needed. */
  searched() {
    if (this.texts) return this.texts;
    const { events } = this.explorer;
    const carried = new Map(this.scene.messages.map(({ id, name }) => [id, name]));
    const names = this.scene.processes.map((name) => ` ${name}`.toLowerCase());
    this.texts = Array.from({ length: events.count }, (_, at) => events.label(at).toLowerCase() + names[events.lane[at]]);
    for (const at of events.within(this.scene)) {
      const body = carried.get(events.message[at]);
      if (body) this.texts[at] += ` ${body.toLowerCase()}`;
    }
    return this.texts;
  }

  /** The events found: first those with this label, then those whose label begins with it, then all others. */
  matches() {
    const { events } = this.explorer;
    const text = this.text.value.trim().toLowerCase();
    const [lane, kind] = [this.process, this.kind].map((menu) => (menu.value === "" ? null : Number(menu.value)));
    const texts = this.searched();
    const [exact, begun, rest] = [[], [], []];
    let count = 0;
    for (let at = 0; at < events.count; at += 1) {
      if (lane != null && events.lane[at] !== lane) continue;
      if (kind != null && events.kind[at] !== kind) continue;
      const found = texts[at].indexOf(text);
      if (found < 0) continue;
      count += 1;
      const rank = found ? rest : texts[at].startsWith(`${text} `) ? exact : begun;
      if (rank.length < FOUND_LISTED) rank.push(at);
    }
    return { count, found: [...exact, ...begun, ...rest].slice(0, FOUND_LISTED) };
  }

  search() {
    const { count, found } = this.matches();
    const first = count > found.length ? `, the first ${found.length} listed` : "";
    setText(this.count, count ? `${count.toLocaleString("en")} ${count === 1 ? "event" : "events"}${first}` : "No such event");
    this.found = found;
    this.list.replaceChildren(...found.map((at) => this.option(at)));
    this.list.scrollTop = 0;
    this.activate(0);
  }

  option(at) {
    const { events } = this.explorer;
    return el("li", { role: "option", id: `cc-found-${at}`, onclick: () => this.go(at) },
      el("strong", {}, events.label(at)),
      el("span", {}, events.inWords(at)),
      el("span", { class: "cc-quiet" }, `step ${events.step[at]}`),
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

  /** Go to the event's step and select it. */
  go(at) {
    const { explorer } = this;
    this.before = null;
    this.shut();
    explorer.goTo(explorer.events.step[at]);
    explorer.select({ kind: "event", at });
    explorer.openTab("ask");
  }
}
