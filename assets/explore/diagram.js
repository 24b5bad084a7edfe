/* The space-time diagram: one Plotly node for the life of the component. Stepping masks its traces. */

/** With more arrows than this nothing moves between the steps. */
const GLIDE_UP_TO = 300;

/** How near (in pixels) to an arrow a click still means that arrow. */
const REACH = 10;

/** The first trace of every diagram: a broad stroke below the selected arrow, seen on light and on dark. */
const HIGHLIGHT = {
  type: "scatter",
  mode: "lines",
  hoverinfo: "skip",
  showlegend: false,
  line: { color: "rgba(105, 130, 165, 0.5)", width: 16 },
};

class Diagram {
  /** @param onSelect called with the id of the message whose arrow was clicked. */
  constructor(node, onSelect) {
    this.node = node;
    this.onSelect = onSelect;
    this.drawn = false;
    this.selected = null;
    this.cut = null;
    this.config = this.plotConfig();
    this.listen();
    this.observer = new ResizeObserver(() => this.drawn && node.clientWidth && Plotly.Plots.resize(node));
    this.observer.observe(node);
  }

  /** Draw a figure whose colours are resolved. The same `view` keeps the user's zoom (Plotly's uirevision). */
  draw(figure, view, steps, step) {
    this.steps = steps;
    this.step = step;
    this.place = steps[step].place;
    this.traces = [HIGHLIGHT, ...figure.data.flatMap(inChunks)];
    this.masks = this.traces.map((trace) => (trace.meta?.show ? new Mask(trace) : null));
    this.cursors = this.traces.map((trace) => trace.meta?.cursor ?? null);
    this.arrows = arrowsOf(this.traces);
    const data = this.traces.map((trace, index) => ({
      ...trace,
      ...this.coordinates(index),
      uid: String(index),
      visible: this.isWanted(trace),
    }));
    const layout = { ...figure.layout, uirevision: view, autosize: true };
    this.whole = { "xaxis.range": [...layout.xaxis.range], "yaxis.range": [...layout.yaxis.range] };
    Plotly.react(this.node, data, layout, this.config);
    if (!this.drawn) this.node.on("plotly_doubleclick", () => this.showWhole());
    this.drawn = true;
  }

  /** Plotly's own reset goes back to the first figure a node ever had: here another orientation or scenario. */
  plotConfig() {
    const whole = { name: "whole", title: "Show all", icon: Plotly.Icons.home, click: () => this.showWhole() };
    return {
      displaylogo: false,
      scrollZoom: true,
      doubleClick: false,
      modeBarButtons: [["zoomIn2d", "zoomOut2d", whole]],
    };
  }

  showWhole() {
    Plotly.relayout(this.node, this.whole);
  }

  /** Move to another step: only traces in which something appears or disappears are touched. */
  stepTo(step) {
    const touched = [];
    this.masks.forEach((mask, index) => {
      if (this.cursors[index] || mask?.differs(this.step, step)) touched.push(index);
    });
    this.step = step;
    this.place = this.steps[step].place;
    this.update(touched);
  }

  /** Between two steps: move the line of now and the arrows on their way. A big diagram waits for the step. */
  glide(part) {
    if (this.arrows.length > GLIDE_UP_TO) return;
    const [here, next] = this.steps.slice(this.step, this.step + 2);
    this.place = here.place + part * (next.place - here.place);
    const moving = (index) => this.cursors[index] || this.masks[index]?.isGrowing(this.step);
    this.update([...this.traces.keys()].filter(moving));
  }

  /** Show one of the cuts that the scenario discusses (null: none). */
  showCut(cut) {
    this.cut = cut;
    const indices = [...this.traces.keys()].filter((index) => this.traces[index].meta?.cut != null);
    if (!indices.length) return;
    Plotly.restyle(this.node, { visible: indices.map((index) => this.isWanted(this.traces[index])) }, indices);
  }

  /** Whether a trace is to be seen at all: the lines of the scenario's own cuts only on demand. */
  isWanted(trace) {
    return trace.meta?.cut != null ? trace.meta.cut === this.cut : trace.visible ?? true;
  }

  /** Mark one message's arrow (null: none). */
  select(id) {
    if (id === this.selected) return;
    this.selected = id;
    if (this.drawn) this.update([]);
  }

  /**
   * Redraw some traces and the highlight: `animate` without redraw leaves all other traces alone, as long as
   * no trace has a zorder of its own (Plotly then takes the other layers for gone).
   */
  update(indices) {
    const traces = [0, ...indices];
    const data = traces.map((index) => this.coordinates(index));
    const now = { mode: "immediate", frame: { duration: 0, redraw: false }, transition: { duration: 0 } };
    const done = Plotly.animate(this.node, { data, traces }, now);
    const tidy = () => keepOrder(this.node);
    tidy();
    done.then(tidy, tidy); // should Plotly draw later than at once, or interrupt itself
  }

  /** The x and y of one trace as they are now; nothing for a trace that never changes. */
  coordinates(index) {
    if (index === 0) return this.highlight();
    if (this.masks[index]) return this.masks[index].at(this.step, this.place);
    const axis = this.cursors[index];
    if (!axis) return {};
    const { x, y } = this.traces[index];
    return { x, y, [axis]: [this.place, this.place] };
  }

  /** Along the selected arrow, if it is shown. */
  highlight() {
    const arrow = this.arrows.find(({ id, span }) => id === this.selected && isShown(span, this.step));
    return arrow ? { x: [arrow.x0, arrow.x1], y: [arrow.y0, arrow.y1] } : { x: [null], y: [null] };
  }

  /** A click (not a drag) near an arrow selects its message; the pointer shows where that works. */
  listen() {
    let pressed = null;
    this.onPress = (event) => (pressed = event);
    this.onRelease = (event) => {
      const moved = pressed && Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY);
      const inPlot = pressed?.target.closest?.(".nsewdrag");
      pressed = null;
      if (!inPlot || moved > 4) return;
      const id = this.messageAt(event);
      if (id != null) this.onSelect(id);
    };
    this.onHover = (event) => {
      this.node.classList.toggle("cc-over-arrow", event.buttons === 0 && this.messageAt(event) != null);
    };
    this.node.addEventListener("pointerdown", this.onPress, true);
    this.node.addEventListener("pointermove", this.onHover);
    window.addEventListener("pointerup", this.onRelease, true);
  }

  /** The id of the visible arrow nearest to a pointer event, or null when none is within reach. */
  messageAt(event) {
    const { xaxis, yaxis } = this.node._fullLayout ?? {};
    if (!xaxis) return null;
    const box = this.node.getBoundingClientRect();
    const point = [event.clientX - box.left - xaxis._offset, event.clientY - box.top - yaxis._offset];
    let nearest = null;
    let least = REACH;
    for (const arrow of this.arrows) {
      if (!isShown(arrow.span, this.step)) continue;
      const from = [xaxis.d2p(arrow.x0), yaxis.d2p(arrow.y0)];
      const to = [xaxis.d2p(arrow.x1), yaxis.d2p(arrow.y1)];
      const distance = distanceToSegment(point, from, to);
      if (distance < least) [nearest, least] = [arrow.id, distance];
    }
    return nearest;
  }

  close() {
    this.observer.disconnect();
    window.removeEventListener("pointerup", this.onRelease, true);
    Plotly.purge(this.node);
  }
}

/**
 * Put the drawn traces back into their order. A partial redraw moves the traces it touched next to each
 * other, so that a tinted region would come to lie over the arrows. Each group has its trace's uid as a class.
 */
function keepOrder(node) {
  const layer = node.querySelector(".cartesianlayer .scatterlayer");
  if (!layer) return;
  const rank = (group) => Number(/trace(\d+)/.exec(group.getAttribute("class"))?.[1]);
  const groups = [...layer.children].sort((a, b) => rank(a) - rank(b));
  groups.forEach((group, place) => {
    if (layer.children[place] !== group) layer.insertBefore(group, layer.children[place]);
  });
}

/** Every drawn arrow: its message's id, its ends and the steps at which it is shown. */
function arrowsOf(traces) {
  return traces.flatMap(({ x, y, meta }) => {
    const stride = meta?.stride ?? 1;
    return (meta?.messages ?? []).map((id, element) => {
      const start = element * stride;
      const end = lastPoint(x, start, stride);
      const span = meta.show?.[element] ?? [0, null];
      return { id, x0: x[start], y0: y[start], x1: x[end], y1: y[end], span };
    });
  });
}

/** The last point of an element that is a place: a null at its end only lifts the pen. */
function lastPoint(x, start, stride) {
  let end = start + stride - 1;
  while (end > start && x[end] == null) end -= 1;
  return end;
}

function distanceToSegment([px, py], [ax, ay], [bx, by]) {
  const length = (bx - ax) ** 2 + (by - ay) ** 2;
  const along = length ? ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length : 0;
  const t = Math.min(1, Math.max(0, along));
  return Math.hypot(px - ax - t * (bx - ax), py - ay - t * (by - ay));
}
