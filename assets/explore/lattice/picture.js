/* The picture of the lattice: a figure of Plotly's, and over it two rings, which move without drawing it anew. */

import { enlarge, magnification, painted } from "../page/colours.js";
import { el } from "../page/dom.js";
import { isShown } from "../run/timeline.js";

const FOR_ALL = { displayModeBar: false, scrollZoom: false, doubleClick: "reset" };

/** Draws scene.lattice.figure (diagrams/panels/lattice/figure.py). */
export class LatticePicture {
  /** @param onChoose called with the number of the cut whose dot was clicked */
  constructor(onChoose) {
    this.onChoose = onChoose;
    this.plot = el("div", { class: "cc-lattice-plot", role: "img" });
    this.now = el("span", { class: "cc-lattice-ring cc-lattice-now", hidden: true });
    this.held = el("span", { class: "cc-lattice-ring cc-lattice-held", hidden: true });
    this.node = el("div", { class: "cc-lattice" }, this.plot, this.held, this.now);
    new ResizeObserver(() => this.draw()).observe(this.plot);
  }

  show({ figure, words }, palette, view) {
    const [now] = figure.data.filter(({ meta }) => meta?.show);
    this.states = now ? now.meta.show.map((span, number) => ({ span, at: [now.x[number], now.y[number]] })) : [];
    this.places = placesOf(figure);
    const drawn = { ...figure, data: figure.data.filter((trace) => trace !== now) };
    this.figure = enlarge(painted(drawn, palette), magnification({ clientWidth: this.plot.clientWidth }));
    this.figure.layout.uirevision = view; // another predicate keeps the zoom
    this.node.style.setProperty("--dot", this.figure.data.find(({ meta }) => meta?.nodes).marker.size);
    this.plot.setAttribute("aria-label", words.join(" "));
    this.drawn = null;
    this.draw();
  }

  /** Draw the figure if it can be seen: a hidden node has no size. */
  draw() {
    if (!this.figure || !this.plot.clientWidth) return;
    const { clientWidth: width, clientHeight: height } = this.plot;
    if (this.drawn === `${width} ${height}`) return;
    this.drawn = `${width} ${height}`;
    const isFirst = !this.plot.on;
    Plotly.react(this.plot, this.figure.data, { ...structuredClone(this.figure.layout), width, height }, FOR_ALL);
    if (isFirst) {
      this.plot.on("plotly_click", ({ points: [{ data, pointNumber }] }) => data.meta?.nodes && this.onChoose(data.meta.nodes[pointNumber]));
      this.plot.on("plotly_afterplot", () => this.lay());
    }
    this.lay();
  }

  /** Move the ring of the run to a step. */
  stepTo(step) {
    this.state = this.states?.find(({ span }) => isShown(span, step))?.at;
    this.lay();
  }

  /** Move the other ring to a cut, by its number (undefined: it is not drawn). */
  hold(number) {
    this.cut = this.places?.get(number);
    this.lay();
  }

  lay() {
    this.put(this.now, this.state);
    this.put(this.held, this.cut);
  }

  put(ring, at) {
    const { xaxis, yaxis } = this.plot._fullLayout ?? {};
    const [x, y] = at && xaxis ? [xaxis.d2p(at[0]), yaxis.d2p(at[1])] : [NaN, NaN];
    ring.hidden = !(x >= 0 && y >= 0 && x <= xaxis._length && y <= yaxis._length);
    if (!ring.hidden) ring.style.translate = `${(xaxis._offset + x).toFixed(1)}px ${(yaxis._offset + y).toFixed(1)}px`;
  }
}

/** Where each cut lies, by its number. */
function placesOf({ data }) {
  const own = data.filter(({ meta }) => meta?.nodes);
  return new Map(own.flatMap(({ x, y, meta }) => meta.nodes.map((number, index) => [number, [x[index], y[index]]])));
}
