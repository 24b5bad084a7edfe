/* The line below the diagram that says which processes are hidden or folded, and brings them back. */

import { el, setText } from "../page/dom.js";
import { leftOut } from "../run/arrangement.js";

export class LeftOut {
  constructor(explorer) {
    this.explorer = explorer;
    this.words = el("span");
    const onclick = () => explorer.arrange({ ...explorer.visit.arrangement, hidden: [], folded: [] });
    this.node = el("p", { class: "cc-left-out", role: "status" }, this.words, el("button", { type: "button", onclick }, "Show all"));
    explorer.root.querySelector(".cc-transport").before(this.node);
  }

  show({ arrangement, processes }) {
    const told = leftOut(arrangement, processes);
    setText(this.words, told);
    this.node.hidden = !told;
  }
}
