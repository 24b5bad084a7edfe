/* Messages that are different in two runs have a band in the diagram. */

import { setShape, shape } from "../explore/page/svg.js";
import { isShown } from "../explore/run/timeline.js";

export class Marks {
  constructor(diagram) {
    this.diagram = diagram;
    this.bands = shape("path", { class: "cc-different" });
    this.node = shape("svg", { class: "cc-found", "aria-hidden": "true" }, this.bands);
    diagram.node.before(this.node);
    this.ids = new Set();
  }

  /** @param ids of the messages that are different */
  mark(ids) {
    this.ids = new Set(ids);
    this.diagramMoved();
  }

  /** Draw them where they lie now. */
  diagramMoved() {
    const { diagram, ids } = this;
    if (!diagram.drawn) return;
    const drawn = ids.size ? diagram.arrows.filter(({ id, span }) => ids.has(id) && isShown(span, diagram.step)) : [];
    if (!drawn.length) return setShape(this.bands, { d: "" });
    const { left, top, right, bottom } = diagram.plotBox();
    this.lay(diagram.node, left, top, right - left, bottom - top);
    const spot = (end) => {
      const [x, y] = diagram.toPixel(...end);
      return `${(x - left).toFixed(1)} ${(y - top).toFixed(1)}`;
    };
    setShape(this.bands, { d: drawn.map(({ from, to }) => `M${spot(from)}L${spot(to)}`).join("") });
  }

  /** Lie over the plot, which is at [left, top] in its node; where the node is, is asked only when that has changed. */
  lay(node, left, top, width, height) {
    const plot = [left, top, width, height].join();
    if (plot === this.plot) return;
    this.plot = plot;
    this.node.style.cssText = `left: ${node.offsetLeft + left}px; top: ${node.offsetTop + top}px; width: ${width}px; height: ${height}px`;
  }
}
