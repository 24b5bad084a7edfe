/* The past and the future of the selected event: signs below the diagram, whose background is transparent. */

import { magnification } from "../page/colours.js";
import { Causality, CONCURRENT, FUTURE, ITSELF, PAST } from "../run/causality.js";
import { RECEIVED } from "../run/events.js";

/** The radius (in pixels, on a small screen) of a sign: it is larger than the ring of a recorded event. */
const SIGN_SIZE = 19;

const MARKUP = `<svg class="cc-cone" aria-hidden="true">
  <path data-ways="past" /><path data-ways="future" />
  <path data-of="past" /><path data-of="future" /><path data-of="concurrent" /><path data-of="itself" />
</svg>`;

export class PastAndFuture {
  constructor(diagram) {
    this.diagram = diagram;
    diagram.node.insertAdjacentHTML("beforebegin", MARKUP);
    this.node = diagram.node.previousElementSibling;
    this.select(null);
  }

  /** Show past and future of the selected event; hide them if none is selected. */
  select(selection) {
    this.causality = selection?.kind === "event" && !this.diagram.events.isGone(selection.at) ? new Causality(this.diagram.events, selection.at) : null;
    this.node.toggleAttribute("hidden", !this.causality);
    this.diagramMoved();
  }

  /** Draw the signs where the events lie now. */
  diagramMoved() {
    const { causality, diagram } = this;
    if (!causality || !diagram.drawn || causality.events !== diagram.events) return;
    this.lieUnderThePlot();
    const drawn = { ...this.signs(), ...this.ways() };
    for (const path of this.node.children) {
      const key = path.dataset.of ?? `${path.dataset.ways} ways`;
      if (path.getAttribute("d") !== drawn[key]) path.setAttribute("d", drawn[key]);
    }
  }

  lieUnderThePlot() {
    const { left, top, right, bottom } = this.diagram.plotBox();
    const { offsetLeft, offsetTop } = this.diagram.node;
    const box = { left: offsetLeft + left, top: offsetTop + top, width: right - left, height: bottom - top };
    for (const [side, length] of Object.entries(box)) this.node.style[side] = `${length}px`;
    this.corner = [left, top];
  }

  /** Where the event number `at` of the columns lies, in pixels of this node. */
  spot(at) {
    const { diagram, corner } = this;
    const [x, y] = diagram.spot(diagram.events.lane[at], diagram.events.position(at, diagram.scene));
    return [x - corner[0], y - corner[1]];
  }

  /** The outlines of the signs, by relation; events that lie close together share one. */
  signs() {
    const { events, scene } = this.diagram;
    const shown = events.surviving(scene).filter((at) => !this.diagram.hidden.has(events.lane[at]));
    const crowd = Math.min(1, 9 / scene.processes.length, 200 / shown.length); // many processes or events: small signs
    const size = SIGN_SIZE * magnification(this.diagram.node) * Math.max(0.55, crowd);
    const found = { past: "", future: "", concurrent: "", itself: "" };
    const latest = {};
    for (const at of shown) {
      const name = this.causality.relation(at);
      const [x, y] = this.spot(at);
      const key = `${name} ${events.lane[at]}`;
      const [lastX, lastY] = latest[key] ?? [-Infinity, -Infinity];
      if (Math.hypot(x - lastX, y - lastY) < size * 0.5) continue;
      latest[key] = [x, y];
      found[name] += this.sign(name, x, y, size);
    }
    return found;
  }

  sign(name, x, y, size) {
    if (name === ITSELF) return ring(x, y, size * 0.95);
    if (name === CONCURRENT) return square(x, y, size * 0.68);
    return triangle(x, y, size, name === PAST ? -1 : 1, this.diagram.isDown);
  }

  /** The lines along messages that carry influence: received in the past, or sent in the future. */
  ways() {
    const { causality } = this;
    const { events, scene } = this.diagram;
    const shown = events.surviving(scene);
    const found = { "past ways": "", "future ways": "" };
    for (const at of shown) {
      const send = events.partner(at);
      if (send < shown[0] || events.isGone(send) || events.kind[at] !== RECEIVED) continue;
      if ([at, send].some((end) => this.diagram.hidden.has(events.lane[end]))) continue;
      const isPast = causality.relation(at) === PAST || at === causality.at;
      const isFuture = causality.relation(send) === FUTURE || send === causality.at;
      if (isPast || isFuture) found[isPast ? "past ways" : "future ways"] += `M${point(this.spot(send))}L${point(this.spot(at))}`;
    }
    return found;
  }
}

function point([x, y]) {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}

/** Points back (-1) or ahead (1) in time, which runs down the page or to the right. */
function triangle(x, y, size, direction, isDown) {
  const [tip, back, half] = [direction * size, -direction * size * 0.62, size * 0.94];
  const corners = [[tip, 0], [back, half], [back, -half]].map(([on, aside]) => (isDown ? [x + aside, y + on] : [x + on, y + aside]));
  return `M${corners.map(point).join("L")}Z`;
}

function square(x, y, half) {
  return `M${point([x - half, y - half])}h${2 * half}v${2 * half}h${-2 * half}z`;
}

function ring(x, y, radius) {
  return `M${point([x - radius, y])}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${-2 * radius} 0z`;
}
