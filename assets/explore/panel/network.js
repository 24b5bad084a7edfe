/* The Network tab: processes, channels, and the messages in flight. */

import { enlarge, magnification, messageSign, painted, resolveColour } from "../page/colours.js";
import { el, escapedForPlotly, refill, setText, unbroken } from "../page/dom.js";
import { inFlight, isShown, Mask, stepAt } from "../run/timeline.js";
import { describe } from "./messages.js";
import { Neighbours } from "./neighbours.js";
import { SplitForm } from "./split.js";

/** Messages keep this far from the ends of a channel, as a fraction of its length: there are the processes. */
const NEAREST_TO_END = 0.15;

const LEAST_GAP = 0.08; // the least distance between two messages on one channel, as a fraction of its length

/** The symbol of a message in flight, by its kind. */
const FLIGHT_SYMBOLS = { app: "circle", marker: "diamond", control: "triangle-up" };

const FLIGHTS_LISTED = 40; // at most this many messages are listed below the picture

export class Network {
  constructor(node, explorer) {
    this.node = node;
    this.plot = el("div", { class: "cc-topology", role: "img", "aria-label": "Processes and channels" });
    this.neighbours = new Neighbours(); // instead of a picture that is too dense to read
    this.summary = el("p", { class: "cc-quiet" });
    this.list = el("ul", { class: "cc-flights" });
    this.split = new SplitForm(explorer, (chosen) => this.choose(chosen));
    const foot = el("div", { class: "cc-network-foot" }, this.summary, this.split.buttons);
    const room = el("div", { class: "cc-network-room" }, this.plot, this.neighbours.node); // and of what lies over them
    node.append(room, foot, this.split.form, this.list);
    new ResizeObserver(() => this.refresh()).observe(this.plot);
  }

  show(scene, palette, step) {
    this.scene = scene;
    this.palette = palette;
    const { figure } = scene.topology;
    this.figure = figure && enlarge(painted(figure, palette), magnification({ clientWidth: this.plot.clientWidth }));
    this.plot.hidden = !figure;
    this.neighbours.node.hidden = Boolean(figure);
    this.masks = this.figure?.data.map((trace) => (trace.meta?.show ? new Mask(trace) : null));
    if (!figure) this.neighbours.show(scene, palette, step);
    this.split.show(scene);
    this.stepTo(step);
  }

  stepTo(step) {
    this.step = step;
    if (!this.figure) this.neighbours.stepTo(step);
    this.split.stepTo(step);
    this.glide(0);
  }

  leave() {
    this.split.end();
  }

  /** The user chooses the processes of one side of a split; null: none is being chosen. */
  choose(chosen) {
    this.node.toggleAttribute("data-splitting", chosen != null);
    this.onChoice?.(chosen);
  }

  /** Move the messages on: `part` of the time to the next step has passed. */
  glide(part) {
    const here = stepAt(this.scene, this.step).time;
    const next = stepAt(this.scene, this.step + 1).time;
    this.now = here + part * (next - here);
    this.refresh();
  }

  /** Draw the picture if the tab is open (a hidden node has no size), and list the messages in flight. */
  refresh() {
    if (!this.scene || (this.figure && !this.plot.clientWidth)) return;
    const flying = inFlight(this.scene.messages, this.step);
    if (this.figure) this.draw(placedOnEdges(flying, this.scene.topology.edges, this.now));
    const count = flying.length;
    setText(this.summary, count ? `${count} ${count > 1 ? "messages" : "message"} in flight` : "No message in flight");
    const rows = flying.slice(0, FLIGHTS_LISTED).map((message) => describe(message, this.palette));
    const still = standing(this.scene, this.step);
    const stopRow = (text) => el("li", { class: "cc-stop" }, ...unbroken(text));
    refill(this.list, JSON.stringify([still, rows]), () => [...still.map(stopRow), ...rows.map(flightRow)]);
  }

  draw(dots) {
    const data = this.figure.data.map((trace, index) => {
      if (this.masks[index]) return { ...trace, ...this.masks[index].at(this.step) };
      return trace.meta?.flight ? this.flights(trace, dots) : trace;
    });
    // a copy: Plotly widens the axes it is given to the shape of the plot, and would widen them again for the next shape
    const layout = { ...structuredClone(this.figure.layout), width: this.plot.clientWidth, height: this.plot.clientHeight };
    Plotly.react(this.plot, data, layout, { displayModeBar: false, staticPlot: !dots.length });
  }

  flights(trace, dots) {
    const marker = {
      ...trace.marker,
      symbol: dots.map(({ message }) => FLIGHT_SYMBOLS[message.kind]),
      color: dots.map(({ message }) => resolveColour(message.colour, this.palette)),
    };
    const text = dots.map(({ message }) => escapedForPlotly(`${message.name} ${message.where}`));
    return { ...trace, x: dots.map((dot) => dot.x), y: dots.map((dot) => dot.y), text, hoverinfo: "text", marker };
  }
}

/** Whether the network is split at a step, and what stands still, since when and for how long by now. */
function standing({ stops, splits, steps, has_time: hasTime, first, until }, step) {
  const { time } = stepAt({ steps, first, until }, step);
  return [...splits, ...stops]
    .filter(({ from, until: end }) => isShown([from, end], step))
    .map(({ what, since }) => {
      const [begun, lasted] = [since, time - since].map((value) => Number(value.toFixed(3)));
      const unit = `${hasTime ? "time unit" : "step"}${lasted === 1 ? "" : "s"}`;
      return `${what} since ${hasTime ? "" : "step "}${begun}, for ${lasted} ${unit}`;
    });
}

function flightRow({ name, where: way, kind, held, colour }) {
  const where = el("span", { class: "cc-quiet" }, ...unbroken(way));
  const why = held ? el("strong", {}, ", ", ...unbroken(held)) : null;
  return el("li", {}, messageSign(kind, colour), " ", ...unbroken(name), " ", where, why);
}

/** How far a message has come on its channel, 0 to 1; a held one is drawn half-way. */
function progress(message, now) {
  if (message.held || message.arrival == null || message.arrival <= message.sent_time) return 0.5;
  return (now - message.sent_time) / (message.arrival - message.sent_time);
}

/** Where each message in flight is drawn: on its edge, by its progress, and apart from others. */
export function placedOnEdges(messages, edges, now) {
  const edgeOf = new Map(edges.map((edge) => [edge.channel, edge]));
  const channels = [...new Set(messages.map((message) => message.channel))].filter((name) => edgeOf.has(name));
  return channels.flatMap((channel) => {
    const edge = edgeOf.get(channel);
    const group = messages.filter((message) => message.channel === channel);
    const spots = fannedOut(group.map((message) => progress(message, now)));
    return group.map((message, index) => ({
      message,
      x: edge.x0 + spots[index] * (edge.x1 - edge.x0),
      y: edge.y0 + spots[index] * (edge.y1 - edge.y0),
    }));
  });
}

/** The fractions moved apart, so that LEAST_GAP is between them; their order stays. */
function fannedOut(fractions) {
  const order = fractions.map((_, index) => index).sort((a, b) => fractions[a] - fractions[b]);
  const room = 1 - 2 * NEAREST_TO_END;
  const gap = Math.min(LEAST_GAP, room / Math.max(1, fractions.length - 1));
  const spots = [];
  let floor = NEAREST_TO_END;
  order.forEach((index, rank) => {
    const ceiling = 1 - NEAREST_TO_END - gap * (order.length - 1 - rank);
    spots[index] = Math.min(Math.max(fractions[index], floor), ceiling);
    floor = spots[index] + gap;
  });
  return spots;
}
