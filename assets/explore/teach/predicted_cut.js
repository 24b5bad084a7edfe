/* The predicted cut, over the diagram. */

import { resolveColour } from "../page/colours.js";
import { setShape, shape } from "../page/svg.js";
import { countedEvents } from "../run/cut_stops.js";

const KNOB = 11; // the radius of a handle, in pixels
const WORDS = 90; // pixels that the words of a start take

/** A handle on every process line, and a line through them: the predicted cut. */
export class PredictedCut {
  /** @param onMove called with a lane and the stop to which its handle was moved */
  constructor(explorer, onMove) {
    this.explorer = explorer;
    this.onMove = onMove;
    this.line = shape("path", { class: "cc-predicted-line" });
    this.starts = shape("g");
    this.knobs = shape("g");
    const attributes = { class: "cc-predicted-cut", role: "group", "aria-label": "The cut you predict", hidden: "" };
    this.node = shape("svg", attributes, this.starts, this.line, this.knobs);
    this.handles = [];
  }

  get first() {
    return this.predictor ? this.handles[this.explorer.diagram.lanesShown()[0]] : null;
  }

  /** Show the cut of a Predictor (null: none). */
  show(predictor) {
    const isNew = this.predictor !== predictor || this.scene !== this.explorer.scene;
    this.predictor = predictor;
    this.node.toggleAttribute("hidden", !predictor);
    if (!predictor) return;
    this.scene = this.explorer.scene;
    if (isNew) {
      this.handles = this.scene.processes.map((name, lane) => this.handle(name, lane));
      this.knobs.replaceChildren(...this.handles);
    }
    this.lay();
  }

  handle(name, lane) {
    const node = shape(
      "g",
      { class: "cc-cut-handle", role: "slider", tabindex: "0", "aria-label": name, "data-lane": lane },
      shape("circle", { class: "cc-reach", r: 22 }),
      shape("circle", { class: "cc-knob", r: KNOB }),
      shape("text", { class: "cc-knob-mark", "text-anchor": "middle", "dominant-baseline": "central" }),
    );
    node.addEventListener("keydown", (event) => this.key(event, lane));
    node.addEventListener("pointerdown", (event) => this.press(event, lane, node));
    node.addEventListener("pointermove", (event) => this.drag(event, lane));
    for (const name of ["pointerup", "pointercancel"]) node.addEventListener(name, () => this.drop());
    return node;
  }

  /** Place everything for the present zoom of the diagram. */
  lay() {
    const { predictor, explorer } = this;
    if (!predictor || !explorer.diagram.drawn) return;
    const { prediction, stops, phase } = predictor;
    const box = explorer.diagram.plotBox();
    const [[x0, y0], [x1, y1]] = [explorer.diagram.toPixel(0, 0), explorer.diagram.toPixel(1, 0)];
    this.size = Math.max(0.3, Math.min(1, Math.hypot(x1 - x0, y1 - y0) / 40)); // many lanes: small handles
    const [right, bottom] = [this.node.clientWidth - box.right, this.node.clientHeight - box.bottom];
    const margins = [box.top, right, bottom, box.left].map((side) => `${Math.max(0, side - KNOB)}px`);
    this.node.style.clipPath = `inset(${margins.join(" ")})`;
    const positions = stops.map((own, lane) => {
      const stop = prediction.stops[lane];
      return this.dragged?.lane === lane ? this.dragged.position : stop == null ? null : own[stop].position;
    });
    this.line.setAttribute("d", this.path(positions));
    this.handles.forEach((node, lane) => this.layHandle(node, lane, positions[lane]));
    this.node.dataset.phase = phase;
    this.layStarts(positions);
  }

  layHandle(node, lane, position) {
    const { prediction, stops, phase } = this.predictor;
    const { diagram, scene } = this.explorer;
    const stop = prediction.stops[lane];
    const at = position ?? stops[lane].at(-1).position;
    const [x, y] = diagram.spot(lane, at);
    node.toggleAttribute("hidden", diagram.hidden.has(lane));
    const right = phase === "asking" ? null : prediction.result.processes[lane].isRight;
    setShape(node, {
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${this.size.toFixed(2)})`,
      "aria-orientation": diagram.isDown ? "vertical" : "horizontal",
      "aria-valuemin": 0,
      "aria-valuemax": stops[lane].at(-1).count,
      "aria-valuenow": stop == null ? 0 : stops[lane][stop].count,
      "aria-valuetext": spoken(scene.processes[lane], stops[lane], stop),
      "aria-disabled": phase !== "asking",
      "data-never": stop == null,
      "data-right": right,
    });
    node.lastChild.textContent = right == null ? (stop == null ? "–" : "") : right ? "✓" : "✗";
  }

  /** The line through the handles, drawn like other cuts; a process that never records leaves a gap. */
  path(positions) {
    const { diagram } = this.explorer;
    const { places } = this.scene.arrangement;
    const point = (place, position) => diagram.toPixel(place, position).map((value) => value.toFixed(1)).join(" ");
    const parts = [];
    const lanes = diagram.lanesShown();
    lanes.forEach((lane, number) => {
      const position = positions[lane];
      if (position == null) return;
      const [place, next] = [places[lane], places[lanes[number + 1]]];
      const [before, after] = [positions[lanes[number - 1]], positions[lanes[number + 1]]];
      if (before == null) parts.push(`M${point(place - 0.45, position)} L${point(place, position)}`);
      if (after == null) parts.push(`L${point(place + 0.45, position)}`);
      else parts.push(`C${point((place + next) / 2, position)} ${point((place + next) / 2, after)} ${point(next, after)}`);
    });
    return parts.join(" ");
  }

  /** Show where processes start snapshots, which is not secret; with words for the chosen snapshot. */
  layStarts(positions) {
    const { scene, palette, diagram } = this.explorer;
    const flags = scene.snapshots.flatMap(({ id, colour, initiators, truth }) =>
      initiators.map((name) => ({ id, colour, lane: scene.processes.indexOf(name), step: truth.record_steps[name] })),
    );
    const box = diagram.plotBox();
    this.starts.replaceChildren(
      ...flags.filter(({ step, lane }) => step != null && !diagram.hidden.has(lane)).map(({ id, colour, lane, step }) => {
        const [x, y] = diagram.spot(lane, scene.asked_positions[step]);
        const [handleX, handleY] = positions[lane] == null ? [NaN, NaN] : diagram.spot(lane, positions[lane]);
        const [dx, dy, anchor] = diagram.isDown ? besideDown(lane === diagram.lanesShown()[0] && x - box.left > WORDS, handleY - y) : besideRight(handleX - x);
        const text = shape("text", { x: dx, y: dy, "text-anchor": anchor, "dominant-baseline": "central" });
        const paint = resolveColour(colour, palette);
        const isChosen = id === this.predictor.chosen;
        text.textContent = isChosen ? `starts ${id}` : "";
        return shape("g", { class: "cc-start", transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, style: `--cc-own: ${paint}`, "data-chosen": isChosen }, shape("path", { d: "M-8 0H8M0-8V8" }), text);
      }),
    );
  }

  /** The stop that belongs to a position on a process line. */
  stopAt(lane, position) {
    const stops = this.predictor.stops[lane];
    return stops.findLastIndex(({ at }) => at == null || at <= position);
  }

  press(event, lane, node) {
    if (this.predictor.phase !== "asking" || event.button) return;
    event.preventDefault();
    event.stopPropagation();
    node.focus({ preventScroll: true });
    node.setPointerCapture(event.pointerId);
    this.dragged = { lane, position: this.predictor.stops[lane][this.predictor.prediction.stops[lane] ?? 0].position };
    this.drag(event, lane);
  }

  drag(event, lane) {
    if (this.dragged?.lane !== lane) return;
    const { diagram } = this.explorer;
    const stops = this.predictor.stops[lane];
    const { position } = diagram.fromPixel(diagram.within(event));
    this.dragged.position = Math.min(Math.max(position, stops[0].position), stops.at(-1).position);
    this.onMove(lane, this.stopAt(lane, this.dragged.position));
  }

  drop() {
    if (!this.dragged) return;
    this.dragged = null;
    this.lay();
  }

  key(event, lane) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.predictor.stops[lane].length - 1;
    const stop = this.predictor.prediction.stops[lane];
    const along = this.explorer.diagram.isDown ? { ArrowDown: 1, ArrowUp: -1 } : { ArrowUp: 1, ArrowDown: -1 };
    const by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 3, PageUp: -3, ...along }[event.key];
    const ends = { Home: 0, End: last, Delete: null }[event.key];
    if (by == null && ends === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.onMove(lane, by == null ? ends : Math.min(last, Math.max(0, (stop ?? 0) + by)));
  }
}

/** Where the words of a start go, beside a vertical line, clear of the handle that is `away` pixels off. */
function besideDown(isBefore, away) {
  const dy = Math.abs(away) < 2 * KNOB ? (away > 0 ? -2 * KNOB : 2 * KNOB) : 0;
  return isBefore ? [-16, dy, "end"] : [16, dy, "start"];
}

/** The same above a horizontal line. */
function besideRight(away) {
  if (!(Math.abs(away) < 5 * KNOB)) return [0, -20, "middle"];
  return away > 0 ? [0, -24, "end"] : [0, -24, "start"];
}

/** "P2 records 3 events, up to H". */
function spoken(name, stops, stop) {
  return stop == null ? `${name} never records` : `${name} records ${countedEvents(stops, stop)}`;
}
