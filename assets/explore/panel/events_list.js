/* The Events tab: every event of the window in order, with its whole label; a filter; the processes and their lanes. */

import { resolveColour } from "../page/colours.js";
import { el, field, fillMenu, setText, unbroken } from "../page/dom.js";
import { plainNumber } from "../run/times.js";
import { stepAt } from "../run/timeline.js";
import { ProcessList } from "./process_list.js";
import { RowBlocks } from "./row_blocks.js";

export class EventsView {
  constructor(node, explorer) {
    this.node = node;
    this.explorer = explorer;
    const again = () => this.filter();
    const hint = "marker, P2, C12, a label …";
    this.text = el("input", { type: "search", autocomplete: "off", spellcheck: "false", placeholder: hint, oninput: again });
    this.process = el("select", { onchange: again });
    this.kind = el("select", { onchange: again });
    this.count = el("p", { class: "cc-quiet", role: "status" });
    this.clear = el("button", { type: "button", class: "cc-asks", onclick: () => this.showAll() }, "show all");
    this.processes = new ProcessList(explorer);
    this.list = new RowBlocks("Events of the steps on show", (row) => this.item(row), (row) => this.go(row));
    this.node.append(
      el("div", { class: "cc-row cc-filter", role: "search" }, field("Filter", this.text), field("Process", this.process), field("Kind", this.kind)),
      el("div", { class: "cc-counted" }, this.count, this.clear),
      this.processes.node,
      this.list.node,
    );
    this.text.addEventListener("keydown", (event) => this.key(event));
  }

  show(scene, palette, step) {
    Object.assign(this, { scene, palette });
    const { rows } = this.explorer.events;
    fillMenu(this.process, [["", "every process"], ...scene.lanes.entries()]);
    fillMenu(this.kind, [["", "every kind"], ...rows.kindOptions()]);
    this.processes.show(scene, palette);
    this.filter();
    this.stepTo(step);
  }

  stepTo(step) {
    this.list.stepTo(step);
  }

  /** Another tab is opened: nothing stands out any more. */
  leave() {
    this.explorer.found.mark(null);
    this.explorer.stale.add("events");
  }

  /** Show the rows of the window that are found, and let them stand out in the diagram. */
  filter() {
    const { scene, explorer } = this;
    const { rows } = explorer.events;
    const [lane, kind] = [this.process, this.kind].map((menu) => (menu.value === "" ? null : Number(menu.value)));
    const hidden = new Set(scene.arrangement.hidden.map((name) => scene.lanes.indexOf(name)));
    this.query = explorer.search.query(this.text.value, lane, kind);
    const [first, end] = [rows.firstFrom(scene.first), rows.firstFrom(scene.until + 1)];
    const all = Array.from({ length: end - first }, (_, index) => first + index).filter((row) => !hidden.has(rows.lane[row]));
    const found = this.query.isEmpty ? all : all.filter((row) => this.query.finds(row));
    this.clear.hidden = this.query.isEmpty;
    const steps = explorer.isLong() ? ` of steps ${scene.first} to ${scene.until}` : "";
    const many = (count) => `${count.toLocaleString("en")} ${count === 1 ? "event" : "events"}`;
    setText(this.count, this.query.isEmpty ? `${many(all.length)}${steps}` : `${found.length.toLocaleString("en")} of ${many(all.length)}${steps}`);
    this.list.fill(found, rows.step, [scene.first, scene.until].join());
    explorer.found.mark(this.query.isEmpty ? null : found);
  }

  showAll() {
    for (const control of [this.text, this.process, this.kind]) control.value = "";
    this.filter();
    this.text.focus();
  }

  /** The next keys are those of the list. */
  key(event) {
    if (event.key !== "ArrowDown" && event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    this.list.enter();
  }

  /** An event of the list: the process, the whole label, what it is, its step and time. */
  item(row) {
    const { scene, palette } = this;
    const { events } = this.explorer;
    const { rows } = events;
    const step = rows.step[row];
    const { time } = stepAt(scene, step);
    const when = scene.has_time ? `step ${step}, time ${plainNumber(time)}` : `step ${step}`;
    const colour = resolveColour(scene.colours[rows.lane[row]], palette);
    const body = rows.bodyOf(row);
    return [
      el("span", { class: "cc-row-what" },
        el("span", { class: "cc-row-process", style: `--cc-own: ${colour}` }, ...unbroken(rows.process(row))),
        " ",
        el("strong", {}, ...unbroken(events.rowName(row))),
      ),
      el("span", { class: "cc-row-when" }, when),
      el("span", { class: "cc-row-words" }, ...unbroken([events.rowWords(row), body && `carries ${body}`].filter(Boolean).join(", "))),
    ];
  }

  /** Go to an event's step and select it. */
  go(row) {
    const { explorer } = this;
    explorer.goTo(explorer.events.rows.step[row]);
    explorer.select(explorer.events.selectionOf(row));
  }

  /** What is selected in the diagram is marked in the list, too. */
  select(selection) {
    const { list } = this;
    const row = this.explorer.events.rowOf(selection, list.active);
    if (row != null && row !== list.active) list.activate(row);
  }
}
