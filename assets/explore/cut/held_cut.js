/* The cut that one holds in one's hands, over the diagram: handles, its past, and the messages that cross it. */

import { magnification } from "../page/colours.js";
import { setShape, shape } from "../page/svg.js";
import { stopsOf } from "../run/cut_stops.js";
import { Cuts } from "../run/cuts.js";
import { LogCuts } from "../run/log_cuts.js";
import { CutHandles } from "./handles.js";

const TABS = new Set(["cut", "lattice"]); // while one of them is open, the cut is on show
const LINE_REACH = 16; // a click moves a handle if it is this near to its line, in pixels
const MOST_WRITTEN = 1000; // letters of a cut in a link (MOST_SHOWN in sim/edit/link.py): that of very many processes is in none
const MOST_NAMED = 12; // messages with a cross on them, which says without colour that they decide
const MOST_CURVED = 30; // lanes between which the line is a curve
const CURVE = 24; // parts of the line between two lanes, to see whether it would cross a message

/**
 * The explorer has one, as `explorer.cut`. `frontier` is the cut: the number of events inside, by lane, and perhaps the
 * faults (run/cuts.js); a handle that is moved leaves only the events. `set` moves it, and parts hear of it by `cutMoved(frontier)`. It is on show while the tab Cut or Lattice is open, or one of the
 * story's cuts is chosen in the Story tab. What `visit.shown.cut` says lasts: a link, the tab's memory and Back keep it.
 */
export class HeldCut extends CutHandles {
  constructor(explorer) {
    super(explorer, { class: "cc-cut-over", "aria-label": "The cut: events inside, by process" });
    this.verb = "has";
    this.isFixed = false;
    this.lastRead = {}; // a text, of which run, and its frontier
    this.past = shape("path", { class: "cc-cut-past" });
    this.crossing = shape("path", { class: "cc-cut-crossing" });
    this.offending = shape("path", { class: "cc-cut-offending" });
    this.crosses = shape("g", { class: "cc-cut-crosses" });
    this.under = shape("svg", { class: "cc-cut-under", "aria-hidden": "true", hidden: "" }, this.past, this.crossing, this.offending);
    this.verdict = shape("text", { class: "cc-cut-said" });
    this.line.after(this.crosses, this.verdict);
    explorer.diagram.node.before(this.under);
    explorer.diagram.node.after(this.node);
  }

  /** The cut; null before there is a run. What a link says counts if it fits the run, else where the run begins with. */
  get frontier() {
    if (!this.explorer.scene) return null;
    this.beReady();
    return this.moved ?? this.kept ?? this.atFirst;
  }

  /** What a link says, or the last move. */
  get kept() {
    const { cut } = this.explorer.visit.shown;
    if (this.lastRead.text !== cut || this.lastRead.cuts !== this.cuts) this.lastRead = { text: cut, cuts: this.cuts, frontier: this.cuts.read(cut) };
    return this.lastRead.frontier;
  }

  /** The cut that has not been moved: the first complete snapshot's own, else as it is at this step. */
  get atFirst() {
    const step = this.explorer.shownStep();
    const { scene, begin } = this;
    if (begin?.scene !== scene || begin.step !== step) this.begin = { scene, step, frontier: this.firstAt(step) };
    return this.begin.frontier;
  }

  firstAt(step) {
    const { scene } = this;
    const own = scene.snapshots.find(({ truth }) => truth.cut);
    return own ? own.truth.cut : this.cuts.atStep(step);
  }

  /** Whether it is on show: never while the user predicts, since its verdict would tell. */
  get isShown() {
    const { visit, root, scene } = this.explorer;
    if (!scene || root.dataset.predicting) return false;
    return TABS.has(visit.tab) || (visit.tab === "story" && visit.cut != null);
  }

  /** Put the cut somewhere. While the user drags it, `isPassing`, nothing else remembers where it was. */
  set(frontier, isPassing = false) {
    const { explorer } = this;
    this.beReady();
    const written = isPassing ? null : this.cuts.written(frontier);
    const lasts = written != null && written.length <= MOST_WRITTEN;
    this.moved = lasts ? null : [...frontier];
    explorer.visit.cut = null;
    if (!isPassing) explorer.note({ cut: lasts ? written : null });
    this.refresh();
    explorer.notify("cutMoved", frontier);
  }

  /** Show one of the story's cuts (its number; null: none). */
  showOfStory(number) {
    const { explorer } = this;
    const { scene, visit } = explorer;
    if (number != null) this.set(scene.cuts[number].frontier);
    visit.cut = number;
    this.refresh();
    explorer.notify("cutMoved", this.frontier);
  }

  /** Make what a new scene needs, when it is first needed. */
  beReady() {
    const { scene } = this.explorer;
    if (this.scene !== scene) this.prepare(scene);
  }

  /** All cuts, the stops and the handles of a scene. */
  prepare(scene) {
    const { events } = this.explorer;
    if (scene.log) this.cuts = new LogCuts(events, scene.log);
    else if (this.cuts?.events !== events) this.cuts = new Cuts(events);
    const positions = scene.steps.slice(scene.first ? 0 : 1).map(({ position }) => position);
    const stops = stopsOf(scene, events, positions.length ? positions : [0], (at) => events.position(at, scene));
    this.stops = stops.map((own, lane) => own.filter(({ count }) => !count || this.cuts.lastPart(lane, count) === count));
    for (const [lane, own] of this.stops.entries()) {
      for (const stop of own) {
        stop.number = this.cuts.number(lane, stop.count);
        stop.together = stop.count && !scene.log ? stop.count - this.cuts.firstPart(lane, stop.count) + 1 : 1;
      }
    }
    this.moved = null;
    this.makeHandles();
  }

  show(scene) {
    this.dragged = null;
    const { explorer: { visit }, frontier } = this;
    if (visit.cut != null && String(scene.cuts[visit.cut]?.frontier) !== String(this.cuts.eventsOf(frontier))) visit.cut = null; // an edit changed it
    this.refresh();
  }

  diagramMoved() {
    this.lay();
  }

  stepTo() {
    if (this.isShown && this.explorer.visit.shown.cut == null) this.refresh(); // perhaps it is as it is at this step
  }

  /** A click on a process line moves its handle there. */
  claims(pick) {
    const { diagram, visit } = this.explorer;
    if (!this.isShown || !TABS.has(visit.tab) || !["line", "event"].includes(pick.kind)) return false;
    const { lane, position, distance } = diagram.laneAt(diagram.within(pick));
    if (distance <= LINE_REACH) this.place(lane, this.stopAt(lane, position));
    return distance <= LINE_REACH;
  }

  // ------------------------------------------------------------------ the handles

  /** The stop nearest to the cut: of a long run only a window has stops. */
  stopOf(lane) {
    const inside = this.frontier[lane];
    return Math.max(this.stops[lane].findLastIndex(({ count }) => count <= inside), 0);
  }

  /** A cut that says which faults are inside lies between them. */
  positionOf(lane) {
    const [position, stop, { frontier, cuts }] = [super.positionOf(lane), this.stopOf(lane), this];
    const own = cuts.faults.flatMap((fault, number) => (fault.lane === lane && fault.inside === frontier[lane] ? [[cuts.faultsIn(frontier)[number], fault.position]] : []));
    if (this.dragged || frontier.length === cuts.total.length || !own.length || this.stops[lane][stop].count !== frontier[lane]) return position;
    const of = (isInside) => own.flatMap(([inside, at]) => (Boolean(inside) === isInside ? [at] : []));
    const [before, after] = [this.stops[lane][stop].at, this.stops[lane][stop + 1]?.at];
    const low = Math.max(...of(true), before ?? -Infinity);
    const high = Math.min(...of(false), after ?? Infinity);
    if (Number.isFinite(low) && Number.isFinite(high)) return (low + high) / 2;
    const room = Math.abs(position - (before ?? after ?? position));
    return Number.isFinite(low) ? low + room : high - room;
  }

  moveTo(lane, stop) {
    this.place(lane, stop, Boolean(this.dragged));
  }

  place(lane, stop, isPassing = false) {
    const frontier = this.cuts.eventsOf(this.frontier);
    frontier[lane] = this.stops[lane][stop].count;
    const { explorer } = this;
    if (explorer.visit.tab === "story") explorer.openTab("cut"); // it is no longer the story's
    if (frontier[lane] === this.frontier[lane] && isPassing) this.lay();
    else this.set(frontier, isPassing);
  }

  drop() {
    if (!this.dragged) return;
    this.dragged = null;
    this.set(this.frontier);
  }

  // ------------------------------------------------------------------ what is drawn

  /** Draw the cut, or hide it. */
  refresh() {
    const { isShown } = this;
    for (const node of [this.node, this.under]) node.toggleAttribute("hidden", !isShown);
    this.explorer.root.toggleAttribute("data-holds-cut", isShown);
    this.explorer.diagram.holdCut(isShown);
    if (!isShown) return;
    const { frontier } = this;
    this.violations = this.cuts.violations(frontier);
    this.inChannels = [...this.cuts.inChannels(frontier).values()].flat();
    this.lay();
  }

  lay() {
    const { diagram, scene } = this.explorer;
    if (!this.isShown || !diagram.drawn || this.scene !== scene) return;
    const { crowd } = this;
    for (const node of [this.node, this.under]) node.style.setProperty("--cc-crowd", crowd.toFixed(2));
    this.layHandles();
    this.clipToPlot(this.under, 0);
    const straight = this.straight();
    const line = this.path(straight);
    const holds = String(!this.violations.length);
    for (const node of [this.node, this.under]) node.dataset.holds = holds;
    setShape(this.line, { d: line });
    setShape(this.past, { d: this.outlineOfPast(line) });
    const ways = this.ways();
    const way = ({ id }) => (ways.has(id) ? `M${ways.get(id).map((end) => end.map((value) => value.toFixed(1)).join(" ")).join("L")}` : "");
    setShape(this.crossing, { d: this.inChannels.map(way).join("") });
    setShape(this.offending, { d: this.violations.map(way).join("") });
    const named = this.violations.filter(({ id }) => ways.has(id)).slice(0, MOST_NAMED);
    this.crosses.replaceChildren(...named.map(({ id }) => cross(middle(...ways.get(id)), 7 * crowd)));
    this.layVerdict();
  }

  /** How much smaller things are where there are many lanes or events, as in diagrams/figure/canvas.py, or little room. */
  get crowd() {
    const { diagram, scene, events } = this.explorer;
    const shown = events.within(scene).length;
    return magnification(diagram.node) * Math.max(0.35, Math.min(1, 9 / diagram.lanesShown().length, 260 / shown));
  }

  /** The verdict in the corner after all events: also there where the panel is out of sight. */
  layVerdict() {
    const { left, bottom } = this.explorer.diagram.plotBox();
    setShape(this.verdict, { x: left + 4, y: bottom - 6 });
    this.verdict.textContent = this.violations.length ? "✗ not consistent" : "✓ consistent";
  }

  /** Both ends of each drawn arrow in pixels, by the id of its message. */
  ways() {
    const { diagram } = this.explorer;
    const found = new Map();
    for (const { id, from, to } of diagram.arrows) {
      if (!found.has(id)) found.set(id, [diagram.toPixel(...from), diagram.toPixel(...to)]);
    }
    return found;
  }

  /** All that lies before the line. */
  outlineOfPast(line) {
    const { diagram, scene } = this.explorer;
    const lanes = diagram.lanesShown();
    const { places } = scene.arrangement;
    const beyond = [places[lanes.at(-1)] + 0.5, places[lanes[0]] - 0.5];
    const corners = beyond.map((place) => diagram.toPixel(place, scene.extent[0]).map((value) => value.toFixed(1)).join(" "));
    return `${line} L${corners.join(" L")}Z`;
  }

  /** The lanes from which the line goes straight: a curve would cross a message with both ends on one side of the cut. */
  straight() {
    const found = new Set();
    const { diagram, events } = this.explorer;
    const lanes = diagram.lanesShown();
    if (lanes.length > MOST_CURVED) return new Set(lanes);
    const next = new Map(lanes.map((lane, number) => [lane, lanes[number + 1]]));
    for (const { source, target, sentAt, receivedAt } of this.drawnMessages()) {
      const [one, other] = next.get(source) === target ? [source, target] : next.get(target) === source ? [target, source] : [];
      if (one == null || found.has(one)) continue;
      const at = (lane) => events.position(lane === source ? sentAt : receivedAt, this.scene);
      const [side, otherSide] = [at(one) - this.positions[one], at(other) - this.positions[other]];
      if (side * otherSide <= 0) continue;
      const share = (part) => part * part * (3 - 2 * part);
      const gap = (part) => (at(other) - at(one)) * part + at(one) - this.positions[one] - (this.positions[other] - this.positions[one]) * share(part);
      for (let part = 1; part < CURVE; part += 1) if (gap(part / CURVE) * side < 0) found.add(one);
    }
    return found;
  }

  /** The messages of the window that are received. */
  drawnMessages() {
    const { first, until } = this.scene;
    const { step } = this.explorer.events;
    return this.cuts.messages.filter(({ sentAt, receivedAt }) => receivedAt >= 0 && step[sentAt] <= until && step[receivedAt] >= first);
  }
}

function middle([x0, y0], [x1, y1]) {
  return [(x0 + x1) / 2, (y0 + y1) / 2];
}

/** A cross at a point in pixels. */
function cross([x, y], half) {
  const [start, side] = [`${(x - half).toFixed(1)} ${(y - half).toFixed(1)}`, 2 * half];
  return shape("path", { d: `M${start}l${side} ${side}m0 ${-side}l${-side} ${side}` });
}
