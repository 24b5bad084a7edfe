/* The guided walk of a scenario through Dijkstra's argument: stops that one clicks through. */

import { el, setText } from "../page/dom.js";

export class Walk {
  /** @param onStop called with the stop {text, step, swaps} to which the user goes */
  constructor(onStop) {
    this.onStop = onStop;
    this.at = 0;
    this.title = el("h3");
    this.place = el("span", { class: "cc-quiet" });
    this.text = el("p", { role: "status" });
    const button = (text, by, look) => el("button", { type: "button", class: look, onclick: () => this.go(this.at + by) }, text);
    this.back = button("Back", -1);
    this.next = button("Next", 1, "cc-primary");
    this.node = el("section", { class: "cc-walk", "aria-label": "Guided walk" }, this.title, this.text, el("div", { class: "cc-row" }, this.back, this.next, this.place));
  }

  show({ title, walk }, isPossible) {
    this.node.hidden = !walk.length || !isPossible;
    if (this.node.hidden) return;
    if (JSON.stringify(walk) !== JSON.stringify(this.stops)) this.at = 0;
    this.stops = walk;
    setText(this.title, title);
    this.refresh();
  }

  go(at) {
    this.at = at;
    this.refresh();
    this.onStop(this.stops[at]);
  }

  refresh() {
    const { stops, at } = this;
    setText(this.text, stops[at].text);
    setText(this.place, `${at + 1} of ${stops.length}`);
    this.back.disabled = at === 0;
    this.next.disabled = at === stops.length - 1;
  }
}
