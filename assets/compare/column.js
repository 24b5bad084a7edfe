/* One algorithm of the comparison: its explorer, or why it cannot run the scenario, and what is different. */

import { Explorer } from "../explore/explorer.js";
import { el, fillMenu, refill, setText } from "../explore/page/dom.js";
import { Outbox } from "../explore/run/outbox.js";
import { Marks } from "./marks.js";

const NEAR = "10%"; // of the window: so far out of sight a run is drawn all the same
const SILENT = new EventTarget(); // no key comes from it: the comparison takes them all

export class Column {
  constructor(comparison, algorithm) {
    this.comparison = comparison;
    this.algorithm = algorithm;
    this.title = el("h2", { class: "cc-hidden" });
    this.choice = el("select", { onchange: () => this.submit({ do: "algorithm", kind: this.choice.value }) });
    this.away = el("button", { type: "button", class: "cc-away", onclick: () => this.submit({ do: "remove" }) }, "×");
    const open = el("button", { type: "button", class: "cc-as-link", onclick: () => this.submit({ do: "explore" }) }, "Open in Explore");
    this.words = el("p");
    this.remedy = el("button", { type: "button", class: "cc-primary", onclick: () => this.submit(this.data.remedy.edit) });
    this.refusal = el("div", { class: "cc-refused", role: "note" }, el("b", {}, "Refused"), this.words, this.remedy);
    this.differs = el("ul", { class: "cc-differs", "aria-label": "Differences" });
    this.place = el("div", { class: "cc-place" });
    this.node = el("article", { class: "cc-column", "data-algorithm": algorithm }, el("header", {}, this.title, this.choice, open, this.away), this.refusal, this.place, this.differs);
    this.explorer = null;
    this.outbox = null; // of a column that has had no run yet
  }

  get waiting() {
    return (this.explorer?.visit.outbox ?? this.outbox)?.waiting ?? [];
  }

  /** Whether a run is on show. */
  get runs() {
    return this.data?.refused == null;
  }

  /** @param known the algorithms that there are, each its name and its title; isAlone: there is no other column */
  receive(data, known, isAlone) {
    this.data = data;
    setText(this.title, data.name);
    fillMenu(this.choice, known);
    this.choice.value = data.algorithm;
    this.choice.setAttribute("aria-label", `Algorithm instead of ${data.name}`);
    this.away.title = `Compare without ${data.name}`;
    this.away.setAttribute("aria-label", this.away.title);
    this.away.hidden = isAlone;
    this.refusal.hidden = this.runs;
    this.place.hidden = !this.runs;
    setText(this.words, data.refused ?? "");
    this.remedy.hidden = !data.remedy;
    setText(this.remedy, data.remedy?.words ?? "");
    const told = data.is_first ? ["The others are compared with this one."] : data.differs.length || !this.runs ? data.differs : ["Nothing that matters is different."];
    refill(this.differs, JSON.stringify(told), () => told.map((text) => el("li", {}, text)));
    (this.explorer?.visit.outbox ?? this.outbox)?.acknowledge(data.ack);
    if (!this.runs) return;
    if (!this.explorer) this.begin();
    this.explorer.receive(data, (_, entries) => this.comparison.send(this.algorithm, entries));
    this.marks.mark(data.marked);
  }

  begin() {
    const root = this.comparison.template.cloneNode(true);
    this.place.append(root);
    this.explorer = new Explorer(root, (explorer) => [this.link(explorer)], SILENT);
    this.marks = new Marks(this.explorer.diagram);
    this.explorer.otherParts.push(this.marks);
    const sight = new IntersectionObserver((seen) => this.explorer.rest(!seen.at(-1).isIntersecting), { rootMargin: NEAR });
    sight.observe(this.place);
    this.explorer.closed.addEventListener("abort", () => sight.disconnect());
  }

  /** The part of the explorer that tells the comparison of its moves. */
  link(explorer) {
    return {
      stepTo: (step) => this.comparison.follow(this, step),
      noted: () => this.comparison.followTab(explorer.visit.tab),
      pending: () => this.comparison.showPending(),
    };
  }

  submit(edit) {
    const { explorer, comparison } = this;
    if (explorer && this.runs) return explorer.submit(edit);
    const outbox = explorer?.visit.outbox ?? (this.outbox ??= new Outbox(this.data.ack));
    comparison.send(this.algorithm, outbox.add(edit, 0, 0, this.data.revision));
    comparison.showPending();
    return outbox.last;
  }

  close() {
    this.explorer?.close();
    this.node.remove();
  }
}
