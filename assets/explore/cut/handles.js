/* Handles on the process lines, over the diagram, and a line through them: a cut that one can hold. */

import { magnification } from "../page/colours.js";
import { setShape, shape } from "../page/svg.js";
import { countedEvents } from "../run/cut_stops.js";

export const KNOB = 11; // the radius of a handle, in pixels
const END = 0.5; // lanes by which the line goes beyond the first and the last one

/**
 * What is common to the cut that the user predicts and the one that the user holds. A subclass has `stops` (of each
 * process, as run/cut_stops.js makes them), `stopOf(lane)` (the number of the stop at which a handle is; null: none),
 * `isFixed`, `verb` ("records", "has"), `moveTo(lane, stop)`, and `lay()`, which draws it all by `layHandles`.
 */
export class CutHandles {
  /** @param attributes of the SVG element; @param under and @param over what is drawn below and above the line */
  constructor(explorer, attributes, under = [], over = []) {
    this.explorer = explorer;
    this.line = shape("path", { class: "cc-cut-line" });
    this.knobs = shape("g");
    this.node = shape("svg", { role: "group", hidden: "", ...attributes }, ...under, this.line, ...over, this.knobs);
    this.handles = [];
  }

  get first() {
    return this.handles[this.explorer.diagram.lanesShown()[0]];
  }

  /** A handle for each process of the scene. */
  makeHandles() {
    this.scene = this.explorer.scene;
    this.handles = this.scene.processes.map((name, lane) => this.handle(name, lane));
    this.knobs.replaceChildren(...this.handles);
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

  /** Place handles and line for the present zoom of the diagram. */
  layHandles() {
    const { diagram } = this.explorer;
    this.clipToPlot(this.node);
    const [[x0, y0], [x1, y1]] = [diagram.toPixel(0, 0), diagram.toPixel(1, 0)];
    const room = Math.max(0.3, Math.min(1, Math.hypot(x1 - x0, y1 - y0) / 40)); // many lanes: small handles
    this.size = room * magnification(diagram.node);
    this.positions = this.handles.map((_, lane) => this.positionOf(lane));
    this.line.setAttribute("d", this.path());
    this.handles.forEach((node, lane) => this.layHandle(node, lane));
  }

  clipToPlot(node, room = KNOB) {
    const box = this.explorer.diagram.plotBox();
    const [right, bottom] = [node.clientWidth - box.right, node.clientHeight - box.bottom];
    const margins = [box.top, right, bottom, box.left].map((side) => `${Math.max(0, side - room)}px`);
    node.style.clipPath = `inset(${margins.join(" ")})`;
  }

  /** Where a handle is on the time axis; null: nowhere. */
  positionOf(lane) {
    const stop = this.stopOf(lane);
    return this.dragged?.lane === lane ? this.dragged.position : stop == null ? null : this.stops[lane][stop].position;
  }

  layHandle(node, lane) {
    const { diagram, scene } = this.explorer;
    const [own, stop] = [this.stops[lane], this.stopOf(lane)];
    const told = ({ count, number = count }) => number;
    const [x, y] = diagram.spot(lane, this.positions[lane] ?? own.at(-1).position);
    node.toggleAttribute("hidden", diagram.hidden.has(lane));
    setShape(node, {
      transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${this.size.toFixed(2)})`,
      "aria-orientation": diagram.isDown ? "vertical" : "horizontal",
      "aria-valuemin": told(own[0]),
      "aria-valuemax": told(own.at(-1)),
      "aria-valuenow": stop == null ? 0 : told(own[stop]),
      "aria-valuetext": stop == null ? `${scene.processes[lane]} never ${this.verb}` : `${scene.processes[lane]} ${this.verb} ${countedEvents(own, stop)}`,
      "aria-disabled": this.isFixed,
      "data-never": stop == null,
    });
  }

  /**
   * The line through the handles, drawn like other cuts (diagrams/figure/cuts.py); a process without a position leaves a gap.
   * @param straight the lanes from which it goes straight to the next one
   */
  path(straight = new Set()) {
    const { explorer, positions } = this;
    const { places } = explorer.scene.arrangement;
    const point = (place, position) => explorer.diagram.toPixel(place, position).map((value) => value.toFixed(1)).join(" ");
    const parts = [];
    const lanes = explorer.diagram.lanesShown();
    lanes.forEach((lane, number) => {
      const position = positions[lane];
      if (position == null) return;
      const [place, next] = [places[lane], places[lanes[number + 1]]];
      const [before, after] = [positions[lanes[number - 1]], positions[lanes[number + 1]]];
      if (before == null) parts.push(`M${point(place - END, position)} L${point(place, position)}`);
      if (after == null) parts.push(`L${point(place + END, position)}`);
      else if (straight.has(lane)) parts.push(`L${point(next, after)}`);
      else parts.push(`C${point((place + next) / 2, position)} ${point((place + next) / 2, after)} ${point(next, after)}`);
    });
    return parts.join(" ");
  }

  /** The stop that belongs to a position on a process line. */
  stopAt(lane, position) {
    return this.stops[lane].findLastIndex(({ at }) => at == null || at <= position);
  }

  press(event, lane, node) {
    if (this.isFixed || event.button) return;
    event.preventDefault();
    event.stopPropagation();
    node.focus({ preventScroll: true });
    node.setPointerCapture(event.pointerId);
    this.dragged = { lane, position: this.stops[lane][this.stopOf(lane) ?? 0].position };
    this.drag(event, lane);
  }

  drag(event, lane) {
    if (this.dragged?.lane !== lane) return;
    const { diagram } = this.explorer;
    const own = this.stops[lane];
    const { position } = diagram.fromPixel(diagram.within(event));
    this.dragged.position = Math.min(Math.max(position, own[0].position), own.at(-1).position);
    this.moveTo(lane, this.stopAt(lane, this.dragged.position));
  }

  drop() {
    if (!this.dragged) return;
    this.dragged = null;
    this.lay();
  }

  key(event, lane) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = this.stops[lane].length - 1;
    const along = this.explorer.diagram.isDown ? { ArrowDown: 1, ArrowUp: -1 } : { ArrowUp: 1, ArrowDown: -1 };
    const by = { ArrowRight: 1, ArrowLeft: -1, PageDown: 3, PageUp: -3, ...along }[event.key];
    const end = { Home: 0, End: last, ...this.otherKeys }[event.key];
    if (by == null && end === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    this.moveTo(lane, by == null ? end : Math.min(last, Math.max(0, (this.stopOf(lane) ?? 0) + by)));
  }

  /** Keys that move a handle elsewhere: the number of a stop by key. */
  get otherKeys() {
    return {};
  }
}
