/* The timeline of the snapshots that a coordinator decides on: from when they were asked for to how they ended, and why. */

import { el, setText } from "../page/dom.js";

export class Decisions {
  constructor(explorer) {
    this.explorer = explorer;
    this.list = el("ol", { class: "cc-decisions-rows" });
    this.node = el("section", { class: "cc-decisions", "aria-label": "Decisions" }, el("h4", {}, "Decisions"), this.list);
  }

  /** @param cards those of the snapshots, with their colours */
  show(scene, cards) {
    this.node.hidden = !cards.some(({ snapshot }) => snapshot.is_decided);
    this.rows = this.node.hidden ? [] : cards.map(({ snapshot, colour }) => this.row(snapshot, colour, scene.last));
    this.list.replaceChildren(...this.rows.map(({ node }) => node));
  }

  stepTo(step) {
    for (const { snapshot, node, bar, told, button, last } of this.rows) {
      const { asked, began } = snapshot;
      const first = asked ?? began ?? Infinity;
      const end = snapshot.completed ?? snapshot.aborted ?? last;
      const until = Math.min(step, end);
      node.toggleAttribute("data-begun", step >= first);
      bar.style.marginLeft = `${(100 * Math.min(first, last)) / last}%`;
      bar.style.width = `${(100 * Math.max(0, until - first)) / last}%`;
      node.dataset.ending = step < end ? "" : snapshot.completed != null ? "complete" : (snapshot.ending ?? "");
      setText(told, toldAt(snapshot, step, first));
      button.disabled = step < first;
    }
  }

  row(snapshot, colour, last) {
    const told = el("span", { class: "cc-decided" });
    const bar = el("span", { class: "cc-decision-bar", style: `--cc-own: ${colour}` });
    const end = snapshot.completed ?? snapshot.aborted;
    const goTo = () => this.explorer.goTo(end ?? last);
    const button = el("button", { type: "button", onclick: goTo }, el("b", {}, `${snapshot.id} `), told);
    const node = el("li", {}, button, el("span", { class: "cc-decision-track", "aria-hidden": "true" }, bar));
    return { snapshot, node, bar, told, button, last };
  }
}

/** `complete at step 9`, `expired at step 9: no word from P2 within 10`. */
function toldAt(snapshot, step, first) {
  if (step < first) return "not asked for yet";
  if (snapshot.completed != null && step >= snapshot.completed) return `complete at step ${snapshot.completed}`;
  if (snapshot.aborted != null && step >= snapshot.aborted) {
    const why = snapshot.because && `: ${snapshot.because}`;
    return `${snapshot.ending} at step ${snapshot.aborted}${why}`;
  }
  return step < (snapshot.began ?? Infinity) ? `asked for at step ${first}` : "recording";
}
