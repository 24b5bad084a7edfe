/* A run as a bar: since when a property holds, when a snapshot began and ended, and where the step on show is. */

import { setShape, shape } from "../page/svg.js";

const HIGH = 10; // units; the width is 100

/** Nothing is drawn beyond the step on show. What it says is said in words as well. */
export class Track {
  /** @param since where the property becomes true; null: never. @param span where a snapshot begins and ends */
  constructor(since, span = null) {
    Object.assign(this, { since, span });
    this.holds = shape("rect", { class: "cc-track-holds", y: 0, height: HIGH });
    this.taken = shape("rect", { class: "cc-track-taken", y: 3, height: HIGH - 6 });
    this.now = shape("rect", { class: "cc-track-now", y: 0, width: 0.7, height: HIGH });
    this.node = shape("svg", { class: "cc-track", viewBox: `0 0 100 ${HIGH}`, preserveAspectRatio: "none", "aria-hidden": "true" },
      shape("rect", { class: "cc-track-run", width: 100, height: HIGH }), this.holds, this.taken, this.now);
  }

  /** @param now how far the step on show lies along the run, 0 to 1 */
  show(now) {
    lay(this.holds, this.since ?? 1, now);
    const [began, ended] = this.span ?? [1, 1];
    lay(this.taken, began, Math.min(now, ended));
    setShape(this.now, { x: now * 99.3 });
  }
}

function lay(part, from, until) {
  setShape(part, { x: 100 * from, width: 100 * Math.max(0, until - from) });
}
