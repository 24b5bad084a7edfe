/* The small charts of a cluster: messages, how long they take, and how long snapshots take. */

import { resolveColour } from "../explore/page/colours.js";
import { setText } from "../explore/page/dom.js";

const SIZE = { margin: { l: 4, r: 4, t: 6, b: 4 }, showlegend: false };
const FEWEST_BARS = 12; // for which there is room
const FEWEST_SECONDS = 9;
const AXIS = { visible: false, fixedrange: true };

export class Charts {
  constructor(root) {
    this.rooms = Object.fromEntries([...root.querySelectorAll("[data-chart]")].map((room) => [room.dataset.chart, room]));
  }

  show({ seconds, received, latency, snapshots }, palette) {
    this.palette = palette;
    const done = snapshots.filter(({ took }) => took != null).reverse();
    const last = (values) => values.findLast((value) => value != null);
    const rate = last(received);
    const took = last(latency);
    const longest = done.at(-1)?.took;
    const range = [seconds[0] ?? 0, Math.max(seconds.at(-1) ?? 0, FEWEST_SECONDS)];
    this.line("received", seconds, received, range, rate == null ? "Messages a second" : `${rate.toLocaleString("en")} messages a second`);
    this.line("latency", seconds, latency, range, took == null ? "How long messages take" : `Messages take ${milliseconds(took)}`);
    const colours = done.map(({ status }) => resolveColour(status === "COMPLETED" ? "@s0" : "@bad", palette));
    const bars = { type: "bar", x: [...done.keys()], y: done.map((own) => own.took), marker: { color: colours }, hoverinfo: "skip" };
    this.draw("took", bars, { range: [-0.5, Math.max(done.length, FEWEST_BARS) - 0.5] }, longest == null ? "How long snapshots take" : `The last snapshot took ${milliseconds(longest)}`);
  }

  line(name, x, y, range, words) {
    const { palette } = this;
    const line = { color: resolveColour("@accent", palette), width: 2 };
    this.draw(name, { type: "scatter", mode: "lines", connectgaps: true, x, y, line, fill: "tozeroy", fillcolor: resolveColour("@accent/0.15", palette), hoverinfo: "skip" }, { range }, words);
  }

  draw(name, trace, xaxis, words) {
    const room = this.rooms[name];
    setText(room.previousElementSibling, words);
    const { clientWidth: width, clientHeight: height } = room;
    if (!width) return; // the presenter view hides it
    const paper = resolveColour("@paper/0", this.palette);
    const layout = { ...SIZE, paper_bgcolor: paper, plot_bgcolor: paper, width, height, xaxis: { ...AXIS, ...xaxis }, yaxis: { ...AXIS, rangemode: "tozero" } };
    Plotly.react(room, [trace], layout, { staticPlot: true });
  }
}

/** A time in words: 12 ms, 1.4 s. */
export function milliseconds(value) {
  if (value >= 1000) return `${(value / 1000).toFixed(1)} s`;
  return `${value >= 10 ? Math.round(value) : value.toFixed(1)} ms`;
}
