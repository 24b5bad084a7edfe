/* What the list of events finds stands out in the diagram: a halo at each row, a band along each message; all else pales. */

import { magnification } from "../page/colours.js";
import { setShape, shape } from "../page/svg.js";
import { isShown, stepAt } from "../run/timeline.js";

const RADIUS = 15; // of a halo, in pixels on a small screen

export class Found {
  constructor(diagram) {
    this.diagram = diagram;
    this.halos = shape("path", { class: "cc-halo" });
    this.bands = shape("path", { class: "cc-band" });
    this.node = shape("svg", { class: "cc-found", "aria-hidden": "true" }, this.bands, this.halos);
    diagram.node.before(this.node);
    this.mark(null);
  }

  /** @param rows the rows of the window that are found; null: nothing is asked for */
  mark(rows) {
    Object.assign(this, { rows, events: this.diagram.events });
    this.node.toggleAttribute("hidden", !rows);
    this.diagram.explorer.root.toggleAttribute("data-filtering", Boolean(rows));
    this.diagramMoved();
  }

  /** Draw them where they lie now. */
  diagramMoved() {
    const { diagram, rows } = this;
    if (!rows || !diagram.drawn || this.events !== diagram.events) return; // another run: other rows come next
    const { left, top, right, bottom } = diagram.plotBox();
    const { offsetLeft, offsetTop } = diagram.node;
    this.node.style.cssText = `left: ${offsetLeft + left}px; top: ${offsetTop + top}px; width: ${right - left}px; height: ${bottom - top}px`;
    this.corner = [left, top];
    setShape(this.halos, { d: this.halosOf(rows) });
    setShape(this.bands, { d: this.bandsOf(rows) });
  }

  halosOf(rows) {
    const { diagram } = this;
    const { events, scene } = diagram;
    const radius = RADIUS * magnification(diagram.node) * Math.max(0.45, Math.min(1, 9 / scene.processes.length));
    const seen = rows.filter((row) => !diagram.hidden.has(events.rows.lane[row]));
    return seen.map((row) => ring(this.within(diagram.spot(events.rows.lane[row], this.position(row))), radius)).join("");
  }

  /** An event lies where its dot is, any other row at its step. */
  position(row) {
    const { events, scene } = this.diagram;
    return events.at[row] < 0 ? stepAt(scene, events.rows.step[row]).position : events.position(events.at[row], scene);
  }

  /** The messages of found rows that are no events: what markers and control messages did. */
  bandsOf(rows) {
    const { diagram } = this;
    const { events, step } = diagram;
    const found = new Set(rows.filter((row) => events.at[row] < 0).map((row) => events.rows.message[row]));
    const drawn = diagram.arrows.filter(({ id, span }) => found.has(id) && isShown(span, step));
    return drawn.map(({ from, to }) => [from, to].map((end) => this.within(diagram.toPixel(...end)).join(" "))).map(([from, to]) => `M${from}L${to}`).join("");
  }

  within([x, y]) {
    return [x - this.corner[0], y - this.corner[1]].map((value) => value.toFixed(1));
  }
}

function ring([x, y], radius) {
  return `M${x - radius} ${y}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0z`;
}
