/* The overview of a long run, a thin strip: where its events are, its snapshots, and a frame around the window. */

import { resolveColour } from "../page/colours.js";
import { el, setText } from "../page/dom.js";

const MOST_ROWS = 8; // up to this many processes have a row each
const REST_MS = 140; // the window is loaded when a drag has rested this long, in milliseconds
const WIDTHS = [75, 150, 300, 600, 1200, 2000]; // widths of the window, in steps
const BIN = 4; // the width (in pixels) of a bin: its events are counted together
const LEAST_FRAME = 14; // the least width (in pixels) of the frame, so that it can be grabbed

export class Overview {
  constructor(explorer) {
    this.explorer = explorer;
    this.canvas = el("canvas", { role: "img" });
    this.cursor = el("span", { class: "cc-strip-now" });
    this.frame = el("div", {
      class: "cc-strip-frame", role: "slider", tabindex: "0", "aria-label": "Part of the run on show",
      title: "Drag it along the run, or use the arrow keys and Page Up or Page Down", onkeydown: (event) => this.key(event),
    });
    this.track = el("div", { class: "cc-strip-track", onpointerdown: (event) => this.press(event) }, this.canvas, this.cursor, this.frame);
    const zoom = (by, sign, label) => el("button", { type: "button", "aria-label": label, title: label, onclick: () => this.widen(by) }, sign);
    this.fewer = zoom(-1, "−", "Show fewer steps");
    this.more = zoom(1, "+", "Show more steps");
    this.width = el("output", { class: "cc-strip-width" });
    this.single = el("input", { type: "checkbox", onchange: () => this.loadWindow(this.centre, { expanded: this.single.checked }) });
    this.bars = el("span", {});
    this.collapse = el("label", { class: "cc-strip-single" }, this.single, this.bars);
    this.zoom = el("div", { class: "cc-strip-zoom", role: "group", "aria-label": "Steps on show" }, this.fewer, this.width, this.more);
    this.node = el("div", { class: "cc-strip", hidden: true }, this.track, this.zoom, this.collapse);
    explorer.root.querySelector(".cc-transport").before(this.node);
    new ResizeObserver(() => this.draw()).observe(this.track);
    explorer.closed.addEventListener("abort", () => clearTimeout(this.rest));
  }

  show(scene, palette, step) {
    Object.assign(this, { scene, palette });
    const isLong = this.explorer.isLong();
    const { bars, events } = scene.collapsed;
    const isStill = "still" in this.explorer.root.dataset; // a page without Python has no other part to show
    this.node.hidden = isStill || (!isLong && !bars && !scene.expanded);
    this.track.hidden = this.zoom.hidden = !isLong;
    this.collapse.hidden = !bars && !scene.expanded;
    this.single.checked = scene.expanded;
    setText(this.bars, bars ? `show each of ${events} internal events in ${bars} ${bars === 1 ? "bar" : "bars"}` : "show every internal event");
    this.collapse.title = "Six or more internal events in a row are drawn as one bar with their number, such as ×12.";
    this.steps = scene.until - scene.first;
    setText(this.width, `${this.steps} steps`);
    this.fewer.disabled = this.steps <= WIDTHS[0];
    this.more.disabled = this.steps >= WIDTHS.at(-1);
    if (!this.dragged && this.wanted == null) this.place((scene.first + scene.until) / 2); // else the user is ahead
    this.draw();
    this.stepTo(step);
    if (this.wanted != null && !this.explorer.isLoading) this.ask();
  }

  /** Move the line of the present step. */
  stepTo(step) {
    this.cursor.style.left = `${(100 * step) / this.scene.last}%`;
  }

  /** Put the frame around a step; the window follows later. */
  place(centre) {
    const { last } = this.scene;
    const half = this.steps / 2;
    this.centre = Math.round(Math.min(Math.max(centre, half), last - half));
    const [first, until] = [Math.round(this.centre - half), Math.round(this.centre + half)];
    const share = Math.max(this.steps / last, LEAST_FRAME / (this.track.clientWidth || 800));
    const left = ((this.centre - half) / Math.max(1, last - this.steps)) * (1 - share); // so that it never leaves the track
    Object.assign(this.frame.style, { left: `${100 * left}%`, width: `${100 * share}%` });
    const values = { valuemin: 0, valuemax: last, valuenow: this.centre, valuetext: `steps ${first} to ${until} of ${last}` };
    for (const [name, value] of Object.entries(values)) this.frame.setAttribute(`aria-${name}`, value);
  }

  /** Move the frame now, and the window when the frame rests. */
  moveTo(centre) {
    this.place(centre);
    this.wanted = this.centre;
    this.frame.toggleAttribute("data-ahead", true);
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.ask(), REST_MS);
  }

  /** Load the window at the frame. While one is loading the next waits, and only the last counts. */
  ask() {
    clearTimeout(this.rest);
    if (this.wanted == null || this.explorer.isLoading) return;
    const centre = this.wanted;
    this.wanted = null;
    this.frame.toggleAttribute("data-ahead", false);
    this.loadWindow(centre);
  }

  /** Load another window. The present step moves there, unless it lies well inside the new window. */
  loadWindow(centre, { steps = this.steps, expanded = this.scene.expanded } = {}) {
    const { explorer } = this;
    const first = Math.min(Math.max(0, Math.round(centre - steps / 2)), Math.max(0, this.scene.last - steps));
    if (explorer.isNearEdge(explorer.visit.step, { first, until: Math.min(this.scene.last, first + steps), last: this.scene.last })) explorer.visit.step = centre;
    explorer.loadWindow(centre, steps, expanded);
    explorer.showStep();
  }

  widen(by) {
    const wider = WIDTHS.find((width) => width > this.steps) ?? WIDTHS.at(-1);
    const narrower = WIDTHS.findLast((width) => width < this.steps) ?? WIDTHS[0];
    this.loadWindow(this.explorer.visit.step, { steps: by > 0 ? wider : narrower });
  }

  key(event) {
    const { last } = this.scene;
    const moves = { ArrowLeft: -0.1, ArrowDown: -0.1, ArrowRight: 0.1, ArrowUp: 0.1, PageUp: -1, PageDown: 1 };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) this.moveTo(this.centre + moves[event.key] * this.steps);
    else if (event.key === "Home" || event.key === "End") this.moveTo(event.key === "Home" ? 0 : last);
    else if (event.key === "+" || event.key === "-") this.widen(event.key === "+" ? 1 : -1);
    else return;
    event.preventDefault();
    event.stopPropagation(); // these keys step, anywhere else
  }

  /** Drag the frame; a press beside it first moves it there. */
  press(event) {
    if (event.button !== 0) return;
    const { left, width } = this.track.getBoundingClientRect();
    const stepAtPointer = ({ clientX }) => ((clientX - left) / width) * this.scene.last;
    const isOnFrame = event.target === this.frame;
    const grip = isOnFrame ? this.centre - stepAtPointer(event) : 0;
    const drag = (moved) => this.moveTo(stepAtPointer(moved) + grip);
    const drop = () => {
      this.dragged = false;
      this.track.removeEventListener("pointermove", drag);
      this.ask();
    };
    this.dragged = true;
    this.track.setPointerCapture(event.pointerId);
    this.track.addEventListener("pointermove", drag);
    this.track.addEventListener("lostpointercapture", drop, { once: true });
    if (!isOnFrame) drag(event);
    this.frame.focus({ preventScroll: true });
    event.preventDefault();
  }

  // ---------------------------------------------------------------- the picture

  /** Draw the events: a row per process, darker where there are more, or of many processes one histogram. */
  draw() {
    const { track, canvas, scene, palette } = this;
    const { clientWidth: width, clientHeight: height } = track;
    if (!scene || !width || track.hidden) return;
    const { events } = this.explorer;
    const ratio = window.devicePixelRatio || 1;
    const key = [scene.name, events.count, events.step.at(-1), width, height, ratio, palette.ink].join();
    if (this.drawn === key && this.drawnEvents === events) return;
    Object.assign(this, { drawn: key, drawnEvents: events });
    Object.assign(canvas, { width: width * ratio, height: height * ratio });
    canvas.setAttribute("aria-label", this.inWords());
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const top = this.drawSnapshots(pen, width, height) + 3;
    const rows = scene.processes.length <= MOST_ROWS ? scene.processes.length : 1;
    const spread = spreadOf(events, rows, Math.max(1, Math.floor(width / BIN)), scene.last);
    const most = spread.reduce((high, count) => Math.max(high, count), 1);
    const bins = spread.length / rows;
    const [each, tall] = [width / bins, (height - top) / rows];
    pen.fillStyle = palette.ink;
    spread.forEach((count, index) => {
      const [row, bin] = [Math.floor(index / bins), index % bins];
      const share = Math.sqrt(count / most);
      const high = rows > 1 ? tall - 1 : tall * share;
      pen.globalAlpha = rows > 1 ? 0.6 * share : 0.6;
      if (count) pen.fillRect(bin * each, top + (row + 1) * tall - high, each, high);
    });
  }

  /** Draw each snapshot from its beginning to its completion. Returns the height that they take. */
  drawSnapshots(pen, width, height) {
    const { scene, palette } = this;
    const rows = Math.min(3, scene.snapshots.length);
    scene.snapshots.forEach(({ colour, began, completed }, number) => {
      const y = 5 + 6 * (number % 3);
      const [x0, x1] = [began, completed ?? scene.last].map((step) => (step / scene.last) * width);
      pen.fillStyle = resolveColour(colour, palette);
      pen.fillRect(x0 - 0.75, 0, 1.5, height); // a pin where it begins, a bar as long as it takes
      pen.fillRect(x0, y - 1, x1 - x0, 2);
      pen.beginPath();
      for (const [dx, dy] of [[0, -5], [5, 0], [0, 5], [-5, 0]]) pen.lineTo(x0 + dx, y + dy);
      pen.fill();
      if (completed != null) pen.fillRect(x1 - 1, y - 5, 3, 10);
    });
    return rows ? 6 * rows + 5 : 0;
  }

  inWords() {
    const { scene } = this;
    const told = scene.snapshots.map(({ id, began, completed }) => `${id} from step ${began} ${completed == null ? "on" : `to ${completed}`}`);
    return [`The whole run: ${this.explorer.events.count} events in ${scene.last} steps`, ...told].join("; ");
  }
}

/** The number of events in each bin of steps, row by row; a single row counts all processes. */
function spreadOf({ count, lane, step }, rows, bins, last) {
  const found = new Uint32Array(rows * bins);
  for (let at = 0; at < count; at += 1) {
    const bin = Math.min(bins - 1, Math.floor((step[at] * bins) / (last + 1)));
    found[(rows > 1 ? lane[at] * bins : 0) + bin] += 1;
  }
  return found;
}
