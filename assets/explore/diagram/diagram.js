/* The space-time diagram: one Plotly node for the life of the component. Stepping masks its traces. */

import { resolveColour } from "../page/colours.js";
import { hasMoved, movedCoordinates } from "../proof/row.js";
import { isShown, Mask, stepAt } from "../run/timeline.js";
import { isSame } from "../run/same.js";
import { inChunks, pointsOf } from "./chunks.js";
import { arrangeTexts } from "./lettering.js";
import { Touch } from "./touch.js";

const DIMMED = 0.18; // the opacity of what belongs to other snapshots than the chosen one

const RESIZED_MS = 100; // after the last change of the size the picture is drawn for it
const FITTINGS = 4; // tries, where something else that is drawn meanwhile keeps Plotly from it
const SPARE = 8; // traces: so many may come with an edit before all is drawn anew

const GLIDE_UP_TO = 300; // with more arrows than this, messages do not move between the steps

/** How near (in pixels) a click must be to mean an event, an arrow or a process line. */
export const REACH = { event: 11, arrow: 10, line: 16 };

/**
 * The first trace of every diagram: a stroke below the selected arrow, broader than the band of what is recorded;
 * among many lanes, and so many arrows, a narrow one.
 */
function highlightAmong(lanes, palette) {
  const line = { color: resolveColour("@selection/0.5", palette), width: Math.max(10, Math.min(24, 240 / lanes)) };
  return { type: "scatter", mode: "lines", hoverinfo: "skip", showlegend: false, line };
}

/**
 * Plotly walks its whole schema to find which attributes of a trace are lists: half a millisecond for every trace
 * at every drawing. The answer depends on the kind of trace and on which of its keys are lists, so it is cached.
 */
export function cacheArrayAttributes() {
  const schema = Plotly.PlotSchema;
  if (!schema?.findArrayAttributes || schema.remembered) return;
  schema.remembered = new Map();
  const find = schema.findArrayAttributes;
  schema.findArrayAttributes = (trace) => {
    const key = [trace.type, trace.mode, ...listsIn(trace._input, "")].join();
    if (!schema.remembered.has(key)) schema.remembered.set(key, find(trace));
    return schema.remembered.get(key).slice();
  };
}

/** The paths of all lists in a trace. */
function listsIn(value, path) {
  return Object.entries(value).flatMap(([key, item]) => {
    if (key.startsWith("_") || key === "meta") return [];
    if (Array.isArray(item)) return [path + key];
    return item !== null && typeof item === "object" ? listsIn(item, `${path}${key}.`) : [];
  });
}

export class Diagram {
  constructor(explorer) {
    this.explorer = explorer;
    this.node = explorer.root.querySelector(".cc-diagram");
    this.drawn = false;
    this.resizing = 0; // the timer of a change of the node's size
    this.uids = new Map(); // by the kind and the rank of a trace
    this.hidden = new Set(); // the lanes of hidden processes
    this.selected = null;
    this.holdsCut = false; // whether a cut lies over it: then it tints none itself
    this.snapshot = null;
    this.asked = null; // the snapshot that the user predicts
    this.moves = null; // on Dijkstra's page: where its row of actions lies (proof/tab.js)
    this.config = this.plotConfig();
    this.listen();
    new Touch(this, (steps) => explorer.transport.moveBy(steps));
    new ResizeObserver(() => this.resize()).observe(this.node);
  }

  /** It was drawn, stepped, zoomed, moved or resized. Plotly resizes late: perhaps when the explorer has closed. */
  onMoved() {
    if (this.explorer.closed.aborted) return;
    this.node.toggleAttribute("data-zoomed", !this.isWhole);
    this.explorer.notify("diagramMoved");
  }

  /** Whether all of it is on show: nothing is zoomed. */
  get isWhole() {
    const { xaxis, yaxis } = this.node._fullLayout ?? {};
    const shows = (axis, range) => axis?.range.every((end, index) => end === range[index]);
    return this.drawn && shows(xaxis, this.whole["xaxis.range"]) && shows(yaxis, this.whole["yaxis.range"]);
  }

  /** Draw a figure whose colours are resolved. The same `view` keeps the user's zoom (Plotly's uirevision). */
  draw(figure, palette, view, scene, events, step) {
    this.scene = scene;
    this.events = events;
    this.step = step;
    this.position = stepAt(scene, step).position;
    this.isDown = "ticktext" in figure.layout.xaxis;
    this.hidden = new Set(scene.arrangement.hidden.map((name) => scene.lanes.indexOf(name)));
    this.traces = [highlightAmong(scene.processes.length, palette), ...figure.data.flatMap(inChunks)];
    this.masks = this.traces.map((trace) => (trace.meta?.show ? new Mask(trace) : null));
    this.arrows = arrowsOf(this.movedTraces(), this.isDown);
    const uids = this.uidsOf(this.traces);
    const data = this.traces.map((trace, index) => ({
      ...trace,
      ...this.coordinates(index),
      uid: uids[index],
      visible: this.isWanted(trace),
      opacity: this.opacityOf(trace),
    }));
    const layout = { ...figure.layout, uirevision: view };
    this.whole = { "xaxis.range": [...layout.xaxis.range], "yaxis.range": [...layout.yaxis.range] };
    const frame = JSON.stringify(layout);
    if (frame === this.frame && data.length <= this.node.data.length) this.drawChanged(data);
    else this.drawWhole(data, layout);
    this.frame = frame;
    this.onMoved();
  }

  /** Draw a first figure, or another frame; with some spare traces, since the number of those that are drawn is kept. */
  drawWhole(data, layout) {
    if (this.drawn) Plotly.animate(this.node, [], { mode: "immediate" }); // what waits to be drawn is of the figure before
    Plotly.react(this.node, filled(data, data.length + SPARE), { ...layout, ...this.size }, this.config);
    if (!this.drawn) this.listenToPlotly();
    this.drawn = true;
    this.nameLanes();
    this.arrangeTexts();
  }

  /** Draw only the traces that do not look as they do now: an edit leaves most as they are. */
  drawChanged(data) {
    const before = new Map(this.node.data.map((trace) => [trace.uid, trace]));
    const changed = [...data.keys()].filter((index) => !looksSame(data[index], before.get(data[index].uid)));
    this.node.data = filled(data, this.node.data.length);
    this.update(changed);
  }

  /** What tells traces of one figure apart: two of the same kind and rank, in two figures, are drawn in the same nodes. */
  uidsOf(traces) {
    const ranks = new Map(); // by kind
    return traces.map((trace) => {
      const kind = kindOf(trace);
      const rank = ranks.get(kind) ?? 0;
      ranks.set(kind, rank + 1);
      const name = `${kind} ${rank}`;
      if (!this.uids.has(name)) this.uids.set(name, String(this.uids.size));
      return this.uids.get(name);
    });
  }

  listenToPlotly() {
    this.node.on("plotly_doubleclick", () => this.showWhole());
    this.node.on("plotly_afterplot", () => this.arrangeTexts());
    this.node.on("plotly_relayout", () => {
      this.nameLanes();
      this.onMoved();
    });
    this.node.on("plotly_relayouting", () => this.onMoved());
  }

  /** Keep the texts apart, once for all that is drawn at a time and before it is painted: it measures every text. */
  arrangeTexts() {
    if (this.isArranging) return;
    this.isArranging = true;
    queueMicrotask(() => {
      this.isArranging = false;
      arrangeTexts(this.node);
    });
  }

  /** Name all lanes where few of them are on show, else every fifth or tenth: Python says which. */
  nameLanes() {
    const axis = this.isDown ? "xaxis" : "yaxis";
    const { names, naming } = this.node.layout.meta;
    const [low, high] = this.node._fullLayout[axis].range;
    const [, every] = naming.find(([most]) => most === null || Math.abs(high - low) <= most + 1);
    const named = names.map((name, lane) => (lane % every ? "" : name));
    if (isSame(named, this.node.layout[axis].ticktext)) return;
    Plotly.relayout(this.node, { [`${axis}.ticktext`]: named });
  }

  /** On Dijkstra's page: move its actions to other places. Only traces in which something moves are touched. */
  rearrange(moves) {
    const before = this.moves.places;
    this.moves = moves;
    this.arrows = arrowsOf(this.movedTraces(), this.isDown);
    this.update(this.tracesWith((meta) => hasMoved(meta, before, moves.places)));
    this.onMoved();
  }

  /** The traces with their coordinates as they are on show, whatever the step. */
  movedTraces() {
    return this.moves ? this.traces.map((trace) => ({ ...trace, ...this.moved(trace, trace) })) : this.traces;
  }

  /** Coordinates {x, y} of a trace, moved to where the row of actions lies. */
  moved(trace, coordinates) {
    const axis = this.isDown ? "y" : "x";
    if (!this.moves || !coordinates[axis]) return coordinates;
    return { ...coordinates, [axis]: movedCoordinates(coordinates[axis], trace.meta, this.moves.page, this.moves.places) };
  }

  /** The size of the node, for Plotly: by itself it would take a new one at any step, and draw only a part for it. */
  get size() {
    const { clientWidth: width, clientHeight: height } = this.node;
    return width ? { width, height } : {};
  }

  /** Whether the picture is drawn for the size of the node. */
  get isFitted() {
    const { size, node } = this;
    const picture = node.querySelector(".main-svg");
    const drawn = [node.layout.width, node.layout.height, picture?.clientWidth, picture?.clientHeight];
    return [size.width, size.height, size.width, size.height].every((own, index) => own === drawn[index]);
  }

  resize(tries = FITTINGS) {
    clearTimeout(this.resizing);
    this.resizing = setTimeout(() => this.fit(tries), RESIZED_MS);
  }

  /** Draw for the size of the node, where that has changed. A step drawn at the same time may keep the picture as it was. */
  fit(tries) {
    if (!this.drawn || !this.size.width || this.isFitted || !tries) return;
    this.node.calcdata = undefined; // else Plotly keeps it, and arrows would have heads that point as before
    const again = () => this.resize(tries - 1);
    Plotly.relayout(this.node, this.size).then(() => this.onMoved()).then(again, again);
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
    const touched = this.tracesWith((meta, mask) => meta.cursor || mask?.differs(this.step, step));
    this.step = step;
    this.position = stepAt(this.scene, step).position;
    this.update(touched);
    this.onMoved();
  }

  /** Between two steps: move the line of now and the arrows on their way. A big diagram waits for the step. */
  glide(part) {
    if (this.arrows.length > GLIDE_UP_TO) return;
    const [here, next] = [stepAt(this.scene, this.step), stepAt(this.scene, this.step + 1)];
    this.position = here.position + part * (next.position - here.position);
    this.update(this.tracesWith((meta, mask) => meta.cursor || mask?.isGrowing(this.step)));
  }

  /** Show or hide what gives way to a cut that lies over the diagram. */
  holdCut(isHeld) {
    if (isHeld === this.holdsCut) return;
    this.holdsCut = isHeld;
    if (this.drawn) this.showWanted("unless_cut", "when_cut");
  }

  /** Dim what belongs to other snapshots than this one, given by its id; null: dim nothing. */
  showSnapshot(snapshot) {
    if (snapshot === this.snapshot) return;
    this.snapshot = snapshot;
    const indices = this.tracesWith((meta) => meta.snapshots);
    const opacity = indices.map((index) => this.opacityOf(this.traces[index]));
    if (indices.length) Plotly.restyle(this.node, { opacity }, indices);
  }

  opacityOf({ meta }) {
    return this.snapshot === null || (meta?.snapshots ?? [this.snapshot]).includes(this.snapshot) ? 1 : DIMMED;
  }

  /** Show or hide the traces whose meta has one of these keys. */
  showWanted(...keys) {
    const indices = this.tracesWith((meta) => keys.some((key) => meta[key] != null));
    if (indices.length) Plotly.restyle(this.node, { visible: indices.map((i) => this.isWanted(this.traces[i])) }, indices);
  }

  /** The indices of the traces whose meta and mask (or null) pass a test. */
  tracesWith(passes) {
    return [...this.traces.keys()].filter((index) => passes(this.traces[index].meta ?? {}, this.masks[index]));
  }

  /**
   * Whether a trace is shown: a snapshot's cut and what it found only if no other cut is held; in a question what
   * belongs to a snapshot only if that one is asked about.
   */
  isWanted({ meta, visible }) {
    if (this.asked != null && meta?.snapshots) return meta.snapshots.includes(this.asked);
    if (meta?.unless_cut) return !this.holdsCut;
    return meta?.when_cut ? this.holdsCut : visible ?? true;
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
    const tidy = () => {
      keepOrder(this.node);
      this.arrangeTexts();
    };
    tidy();
    done.then(tidy, tidy); // should Plotly draw later than at once, or interrupt itself
  }

  /** The x and y of one trace as they are now; nothing for a trace that never changes. */
  coordinates(index) {
    if (index === 0) return this.highlight();
    const { x, y, meta } = this.traces[index];
    if (this.masks[index]) return this.moved(this.traces[index], this.masks[index].at(this.step, this.position));
    if (this.moves) return this.moved(this.traces[index], { x, y });
    const axis = meta?.cursor;
    if (!axis) return {};
    return { x, y, [axis]: [this.position, this.position] };
  }

  /** The coordinates of the selected arrow, if it is shown. */
  highlight() {
    const arrow = this.arrows.find(({ id, span }) => id === this.selected && isShown(span, this.step));
    if (!arrow) return { x: [null], y: [null] };
    const [lanes, positions] = [0, 1].map((part) => [arrow.from[part], arrow.to[part]]);
    return this.isDown ? { x: lanes, y: positions } : { x: positions, y: lanes };
  }

  /** Tell of clicks (not drags), and change the pointer's shape over what can be clicked. */
  listen() {
    let pressed = null;
    const onRelease = (event) => {
      const moved = pressed && Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY);
      const inPlot = pressed?.target.closest?.(".nsewdrag");
      pressed = null;
      if (inPlot && moved <= 4) this.explorer.pick({ ...this.pickAt(event), clientX: event.clientX, clientY: event.clientY });
    };
    const onHover = (event) => {
      if (event.buttons === 0) this.node.classList.toggle("cc-over", this.pickAt(event).kind !== "nothing");
    };
    this.node.addEventListener("pointerdown", (event) => (pressed = event), true);
    this.node.addEventListener("pointermove", onHover);
    window.addEventListener("pointerup", onRelease, { capture: true, signal: this.explorer.closed });
  }

  /**
   * What lies under a pointer event, an event before an arrow, an arrow before a process line: {kind: "event", at} (an
   * index into the columns of events), {kind: "message", id}, {kind: "line", lane, time}, or {kind: "nothing"}.
   */
  pickAt(event) {
    const point = this.within(event);
    if (!point) return { kind: "nothing" };
    const at = this.eventAt(point);
    if (at != null) return { kind: "event", at };
    const id = this.messageAt(point);
    if (id != null) return { kind: "message", id };
    const { lane, position, distance } = this.laneAt(point);
    return distance <= REACH.line ? { kind: "line", lane, time: Math.max(0, position) } : { kind: "nothing" };
  }

  /** A pointer event in pixels of the diagram's node, or null before anything is drawn. */
  within({ clientX, clientY }) {
    if (!this.drawn) return null;
    const box = this.node.getBoundingClientRect();
    return [clientX - box.left, clientY - box.top];
  }

  /** Where the lane of a process and a position on the time axis lie, in pixels of the diagram's node. */
  spot(lane, position) {
    return this.toPixel(this.scene.arrangement.places[lane], position);
  }

  /** Where a place across the time axis and a position on it lie, in pixels of the diagram's node. */
  toPixel(place, position) {
    const { xaxis, yaxis } = this.node._fullLayout;
    const [x, y] = this.isDown ? [place, position] : [position, place];
    return [xaxis._offset + xaxis.d2p(x), yaxis._offset + yaxis.d2p(y)];
  }

  /** The processes on show: the numbers of their lanes, in the order in which these lie. */
  lanesShown() {
    const { places } = this.scene.arrangement;
    const lanes = [...this.scene.processes.keys()].filter((lane) => !this.hidden.has(lane));
    return lanes.sort((one, other) => places[one] - places[other]);
  }

  /** The place across the time axis and the position on it of a point in pixels. */
  fromPixel([x, y]) {
    const { xaxis, yaxis } = this.node._fullLayout;
    const across = xaxis.p2d(x - xaxis._offset);
    const along = yaxis.p2d(y - yaxis._offset);
    return this.isDown ? { place: across, position: along } : { place: along, position: across };
  }

  /** The part of the node in which things are drawn: {left, top, right, bottom} in pixels. */
  plotBox() {
    const { xaxis, yaxis } = this.node._fullLayout;
    const [left, top] = [xaxis._offset, yaxis._offset];
    return { left, top, right: left + xaxis._length, bottom: top + yaxis._length };
  }

  /** The nearest process line to a point: its lane, the position beside the point, and how far off it is. */
  laneAt(point) {
    const { place, position } = this.fromPixel(point);
    const { places } = this.scene.arrangement;
    const away = (lane) => Math.abs(places[lane] - place);
    const nearest = this.lanesShown().reduce((best, lane) => (away(lane) < away(best) ? lane : best));
    const [x, y] = this.spot(nearest, position);
    return { lane: nearest, position, distance: Math.hypot(point[0] - x, point[1] - y) };
  }

  /** The position of an event on the time axis; null where it is not on show. */
  positionOf(at) {
    return this.moves ? this.moves.positionOf(at) : this.events.position(at, this.scene);
  }

  /** The event of the window nearest to a point, or null when none is within reach. */
  eventAt(point) {
    const { events, scene } = this;
    let nearest = null;
    let least = REACH.event;
    for (const at of events.within(scene)) {
      const position = this.positionOf(at);
      if (position === null || this.hidden.has(events.lane[at])) continue;
      const [x, y] = this.spot(events.lane[at], position);
      const distance = Math.hypot(point[0] - x, point[1] - y);
      if (distance < least) [nearest, least] = [at, distance];
    }
    return nearest;
  }

  /** The id of the visible arrow nearest to a point, or null when none is within reach. */
  messageAt(point) {
    let nearest = null;
    let least = REACH.arrow;
    for (const { id, from, to, span } of this.arrows) {
      if (!isShown(span, this.step)) continue;
      const distance = distanceToSegment(point, this.toPixel(...from), this.toPixel(...to));
      if (distance < least) [nearest, least] = [id, distance];
    }
    return nearest;
  }
}

/**
 * Put the drawn traces back into their order, and take away those that are no more. A partial redraw moves the traces it
 * touched next to each other, so that a tinted region would come to lie over the arrows. Each group has its trace's uid
 * as a class.
 */
function keepOrder(node) {
  const layer = node.querySelector(".cartesianlayer .scatterlayer");
  if (!layer) return;
  const ranks = new Map(node.data.flatMap(({ uid, visible }, rank) => (visible ? [[uid, rank]] : [])));
  const rank = (group) => ranks.get(/trace(\d+)/.exec(group.getAttribute("class"))?.[1]);
  for (const group of [...layer.children]) if (rank(group) === undefined) group.remove();
  const groups = [...layer.children].sort((a, b) => rank(a) - rank(b));
  groups.forEach((group, index) => {
    if (layer.children[index] !== group) layer.insertBefore(group, layer.children[index]);
  });
}

/** Traces, and after them as many unseen ones as make `count`. */
function filled(data, count) {
  const unseen = (_, index) => ({ type: "scatter", uid: `-${index}`, visible: false });
  return [...data, ...Array.from({ length: count - data.length }, unseen)];
}

/** What a trace is, whatever its elements are. */
function kindOf({ mode, line, marker, meta }) {
  return JSON.stringify([mode, meta?.sign, meta?.snapshots, meta?.stride, line?.color, marker?.symbol]);
}

/** Whether two traces look the same in the points that are seen; all others are null. */
function looksSame(trace, drawn) {
  return drawn !== undefined && drawn.visible && isSame(lookOf(trace), lookOf(drawn));
}

/** What is drawn of a trace: not its meta, nor its texts where they are tips. */
function lookOf({ meta, text, ...trace }) {
  const seen = [...trace.x.keys()].filter((point) => trace.x[point] != null);
  return pointsOf(trace.mode.includes("text") ? { ...trace, text } : trace, trace.x.length, (list) => seen.map((point) => list[point]));
}

/** Every drawn arrow: its message's id, its ends, each a place and a position, and the steps at which it is shown. */
function arrowsOf(traces, isDown) {
  return traces.flatMap(({ x, y, meta }) => {
    const stride = meta?.stride ?? 1;
    return (meta?.messages ?? []).map((id, element) => {
      const start = element * stride;
      const [from, to] = [start, lastPoint(x, start, stride)].map((at) => (isDown ? [x[at], y[at]] : [y[at], x[at]]));
      return { id, from, to, span: meta.show?.[element] ?? [0, null] };
    });
  });
}

/** The last point of an element that is a point: a null at its end only lifts the pen. */
function lastPoint(x, start, stride) {
  let end = start + stride - 1;
  while (end > start && x[end] == null) end -= 1;
  return end;
}

export function distanceToSegment([px, py], [ax, ay], [bx, by]) {
  const length = (bx - ax) ** 2 + (by - ay) ** 2;
  const along = length ? ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length : 0;
  const t = Math.min(1, Math.max(0, along));
  return Math.hypot(px - ax - t * (bx - ax), py - ay - t * (by - ay));
}
