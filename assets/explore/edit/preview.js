/* The preview of a drag or nudge: where an arrow or event would lie, before Python has answered. */

import { ownName } from "../page/dom.js";
import { setShape, shape } from "../page/svg.js";
import { arrivalIfDue } from "../run/fifo.js";
import { plainNumber } from "../run/times.js";

const HALF_WALL = 26;

export class Preview {
  constructor(diagram) {
    this.diagram = diagram;
    this.clip = shape("rect");
    const box = ownName("cc-plot-box");
    this.lines = shape("g", { "clip-path": `url(#${box})` });
    this.pill = shape("rect", { class: "cc-preview-pill", rx: 6 });
    this.words = shape("text", { class: "cc-preview-words" });
    this.node = shape("g", { class: "cc-preview", "aria-hidden": "true", "pointer-events": "none" },
      shape("clipPath", { id: box }, this.clip),
      this.lines,
      this.pill,
      this.words,
    );
    this.clear();
  }

  clear() {
    this.node.toggleAttribute("hidden", true);
  }

  /** Show a message due at `time`, and what FIFO makes of that. Returns when it would arrive (null: never). */
  message(scene, message, time) {
    const { target } = message;
    const { arrival, front, moved } = arrivalIfDue(scene, message, time);
    const sent = [message.source, message.sent_position];
    const drawn = [];
    for (const other of moved) drawn.push(...this.arrow([other.message.source, other.message.sent_position], [target, other.arrival], "cc-pushed"));
    if (front && arrival != null) {
      const position = front.arrival_position;
      const stretch = (from, to, look) => this.line(this.diagram.spot(...from), this.diagram.spot(...to), look);
      drawn.push(stretch([front.source, front.sent_position], [target, position], "cc-front"), this.wall(target, position));
      drawn.push(stretch(sent, [target, time], "cc-wish"));
    }
    drawn.push(...this.arrow(sent, [target, arrival ?? time], arrival == null ? "cc-wish" : "cc-moved"));
    this.draw(drawn, [target, time], message.target < message.source ? -1 : 1, arrivalInWords(arrival, front, moved));
    return arrival;
  }

  /** Show a script line or an initiation at `time`, with the messages that it sends. */
  item(scene, item, time) {
    const sent = scene.messages.filter((message) => message.sent === item.step);
    const drawn = sent
      .filter((message) => message.arrival != null)
      .flatMap((message) => this.arrow([message.source, time], [message.target, message.arrival_position + time - item.time], "cc-moved"));
    drawn.push(this.dot([item.lane, time]));
    this.draw(drawn, [item.lane, time], 1, `at ${plainNumber(time)}`);
  }

  /** Mark a position on a process's line. */
  mark(lane, position, words) {
    this.draw([this.wall(lane, position, 12, "cc-notch"), this.dot([lane, position])], [lane, position], -1, words);
  }

  draw(drawn, [lane, position], side, words) {
    const { left, top, right, bottom } = this.diagram.plotBox();
    setShape(this.clip, { x: left - 8, y: top - 8, width: right - left + 16, height: bottom - top + 16 });
    this.lines.replaceChildren(...drawn);
    this.node.toggleAttribute("hidden", false);
    const [x, y] = this.diagram.spot(lane, position);
    this.words.textContent = words;
    this.placeWords(x, y, side, words);
  }

  /** Put the words beside the arrow's head, on the side without the arrow, and inside the picture. */
  placeWords(x, y, side, words) {
    const { clientWidth: width, clientHeight: height } = this.diagram.node;
    const length = this.words.getComputedTextLength();
    const [across, along] = this.diagram.isDown ? [side > 0 ? 24 : -24 - length, 6] : [20, side > 0 ? 40 : -26];
    const fits = (left) => left >= 10 && left + length <= width - 10;
    const left = fits(x + across) || !fits(x - across - length) ? x + across : x - across - length;
    const at = [Math.max(10, Math.min(left, width - 10 - length)), Math.max(22, Math.min(y + along, height - 12))];
    setShape(this.words, { x: at[0], y: at[1] });
    const high = parseFloat(getComputedStyle(this.words).fontSize);
    const box = { x: at[0] - 8, y: at[1] - high - 2, width: length + 16, height: high * 1.5 };
    setShape(this.pill, words === "" ? { width: 0, height: 0 } : box);
  }

  /** A line between two points in pixels. */
  line([x1, y1], [x2, y2], look) {
    return shape("line", { class: look, x1, y1, x2, y2 });
  }

  /** An arrow between two points, each a lane and a position: a line and its head. */
  arrow(from, to, look) {
    const [x, y] = this.diagram.spot(...to);
    const [x0, y0] = this.diagram.spot(...from);
    const turn = (Math.atan2(y - y0, x - x0) * 180) / Math.PI;
    const head = shape("path", { class: look, d: "M0 0l-17 -7v14z", transform: `translate(${x} ${y}) rotate(${turn})` });
    return [this.line([x0, y0], [x, y], look), head];
  }

  dot(at) {
    const [cx, cy] = this.diagram.spot(...at);
    return shape("circle", { class: "cc-dot", cx, cy, r: 7 });
  }

  /** A bar across a process line: the message cannot arrive before it. */
  wall(lane, position, half = HALF_WALL, look = "cc-wall") {
    const [x, y] = this.diagram.spot(lane, position);
    const [dx, dy] = this.diagram.isDown ? [half, 0] : [0, half];
    return shape("line", { class: look, x1: x - dx, y1: y - dy, x2: x + dx, y2: y + dy });
  }
}

function arrivalInWords(arrival, front, moved) {
  if (arrival == null) return `waits behind ${front.name}, which is held`;
  if (front) return `waits behind ${front.name} until ${plainNumber(arrival)}`;
  const at = `arrives at ${plainNumber(arrival)}`;
  const later = moved.filter(({ message, arrival: then }) => message.arrival != null && then > message.arrival);
  if (!later.length) return at;
  return `${at}; ${later.length > 1 ? `${later.length} messages` : later[0].message.name} must wait behind it`;
}
