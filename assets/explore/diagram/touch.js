/* Fingers and the wheel on the diagram: a swipe steps the run, and what the page needs to scroll is left to it. */

import { scrollerOf } from "../page/dom.js";

const SWIPE = 40; // how far (in pixels) a finger goes for a swipe
const STRAIGHT = 2; // a swipe goes at least this many times as far along as across

export class Touch {
  /** @param onSwipe called with 1 for a finger that moves to the left, and -1 for one that moves to the right */
  constructor(diagram, onSwipe) {
    this.diagram = diagram;
    this.onSwipe = onSwipe;
    const first = { capture: true, passive: true }; // before Plotly, which takes every finger and the wheel for itself
    const listen = (type, act) => diagram.node.parentElement.addEventListener(type, act, first);
    listen("touchstart", (event) => diagram.isWhole && isBeside(event) && event.stopPropagation());
    listen("wheel", (event) => this.wheel(event));
    listen("pointerdown", (event) => (this.from = event.pointerType === "touch" && isBeside(event) ? event : null));
    listen("pointerup", (event) => this.release(event));
    listen("pointercancel", () => (this.from = null));
  }

  /** The wheel zooms the diagram, unless the page scrolls: there it zooms with Ctrl only. */
  wheel(event) {
    const { scrollHeight, clientHeight } = scrollerOf(this.diagram.node);
    if (!event.ctrlKey && scrollHeight > clientHeight + 1) event.stopPropagation();
  }

  release({ pointerId, clientX, clientY }) {
    const { from } = this;
    this.from = null;
    if (from?.pointerId !== pointerId || !this.diagram.isWhole) return;
    const [along, across] = [clientX - from.clientX, clientY - from.clientY];
    if (Math.abs(along) >= SWIPE && Math.abs(along) >= STRAIGHT * Math.abs(across)) this.onSwipe(along < 0 ? 1 : -1);
  }
}

/** Whether a finger comes down in the diagram, and on nothing that is dragged or pressed. */
function isBeside({ target }) {
  return target.closest(".cc-diagram, .cc-overlay, .cc-predicted-cut") && !target.closest(".cc-handle, .cc-popup, .cc-cut-handle, button");
}
