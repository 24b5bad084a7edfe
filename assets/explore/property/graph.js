/* A wait-for graph (diagrams/panels/property/wait_for_graph.py): processes in a circle, and an arrow from who waits to whom it waits for. */

import { el } from "../page/dom.js";
import { shape } from "../page/svg.js";

const SIZE = 100; // units of a radius
const NODE = 25; // the radius of a process
const MARGIN = NODE + 6; // around the processes
const [HEAD, WING] = [17, 8]; // of an arrow
const CROSS = 8;
const MOST_LETTERS = 4; // of a name in its circle; its whole name is in the sentences

export function waitForGraph({ nodes, edges, told }) {
  const picture = shape("svg", { class: "cc-waiting", role: "img", "aria-label": told, viewBox: boxAround(nodes) },
    ...edges.flatMap(arrow), ...nodes.flatMap(process));
  return el("div", {}, picture);
}

function boxAround(nodes) {
  const [across, up] = [nodes.map(({ x }) => x * SIZE), nodes.map(({ y }) => -y * SIZE)];
  const [left, top] = [Math.min(...across) - MARGIN, Math.min(...up) - MARGIN];
  return [left, top, Math.max(...across) + MARGIN - left, Math.max(...up) + MARGIN - top].join(" ");
}

function process({ name, x, y, in_circle: inCircle }) {
  const at = { "data-circle": inCircle || null };
  const short = name.length > MOST_LETTERS ? `${name.slice(0, MOST_LETTERS - 1)}…` : name;
  const text = shape("text", { x: x * SIZE, y: -y * SIZE, dy: "0.35em", "text-anchor": "middle", ...at });
  text.textContent = short;
  return [shape("circle", { cx: x * SIZE, cy: -y * SIZE, r: NODE, ...at }), text];
}

/** The shaft ends where the head begins; an arrow that is gone is crossed out. */
function arrow({ x0, y0, x1, y1, kind, in_circle: inCircle }) {
  const [from, to] = [[x0 * SIZE, -y0 * SIZE], [x1 * SIZE, -y1 * SIZE]];
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]) || 1;
  const [dx, dy] = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  const neck = [to[0] - dx * HEAD, to[1] - dy * HEAD];
  const head = [to, [neck[0] - dy * WING, neck[1] + dx * WING], [neck[0] + dy * WING, neck[1] - dx * WING]];
  const look = { "data-kind": kind, "data-circle": inCircle || null };
  const parts = [
    shape("line", { x1: from[0], y1: from[1], x2: neck[0], y2: neck[1], ...look }),
    shape("polygon", { points: head.map((point) => point.join()).join(" "), ...look }),
  ];
  if (kind !== "gone") return parts;
  const [x, y] = [(from[0] + to[0]) / 2, (from[1] + to[1]) / 2];
  const cross = `M${x - CROSS} ${y - CROSS}l${2 * CROSS} ${2 * CROSS}m0 ${-2 * CROSS}l${-2 * CROSS} ${2 * CROSS}`;
  return [...parts, shape("path", { class: "cc-crossed", d: cross })];
}
