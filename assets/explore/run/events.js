/* All application events of the run, in columns (diagrams/event_columns.py), for Find, Ask and Predict. */

import { firstNot, stepAt } from "./timeline.js";

export const EVENT_KINDS = ["internal", "send", "receive"];
export const SENT = 1; // indices into EVENT_KINDS
export const RECEIVED = 2;

export class Events {
  constructor(scene) {
    const { count, lane, kind, step, message, labels, apart } = scene.events;
    this.columns = scene.events;
    this.count = count;
    this.processes = scene.processes;
    this.lane = new Uint16Array(bytesOf(lane));
    this.kind = new Uint8Array(bytesOf(kind));
    this.step = new Int32Array(bytesOf(step));
    this.message = new Int32Array(bytesOf(message)); // -1: none
    this.labels = labels;
    this.apart = apart;
    this.total = new Int32Array(this.processes.length); // of each process
    this.index = this.numbered();
  }

  /** Whether a scene has the same events: it may be another window of the same run. */
  areOf(scene) {
    const isSame = (name) => this.columns[name] === scene.events[name];
    const texts = ({ processes, labels }) => JSON.stringify([processes, labels]);
    return ["step", "message", "lane", "kind"].every(isSame) && texts(this) === texts({ ...scene.events, ...scene });
  }

  /** Each event's number among those of its process, from 1. */
  numbered() {
    return Int32Array.from(this.lane, (lane) => (this.total[lane] += 1));
  }

  /** An event's own label, or `P1.3`. */
  label(at) {
    return this.labels[at] ?? `${this.processes[this.lane[at]]}.${this.index[at]}`;
  }

  /** The position of an event on the time axis: its step's, unless the step's rows are drawn apart. */
  position(at, scene) {
    return this.apart[at] ?? stepAt(scene, this.step[at]).position;
  }

  /** The first event whose step is >= `step`; steps ascend. */
  firstFrom(step) {
    return firstNot((at) => this.step[at] < step, this.count);
  }

  /** The indices of the events in a scene's window, in order. */
  within({ first, until }) {
    const from = this.firstFrom(first);
    return Array.from({ length: this.firstFrom(until + 1) - from }, (_, index) => from + index);
  }

  /** The partner of a send or receive (the receive or send of its message), or -1. */
  partner(at) {
    this.partners ??= this.paired();
    return this.partners[at];
  }

  /** What an event is, and where: "send to P2 at P1". */
  inWords(at) {
    const kind = EVENT_KINDS[this.kind[at]];
    const partner = this.partner(at);
    const other = partner < 0 ? "" : ` ${kind === "send" ? "to" : "from"} ${this.processes[this.lane[partner]]}`;
    return `${kind}${kind === "internal" ? " event" : other} at ${this.processes[this.lane[at]]}`;
  }

  paired() {
    const partners = new Int32Array(this.count).fill(-1);
    const sentAt = new Map();
    for (let at = 0; at < this.count; at += 1) {
      if (this.kind[at] === SENT) sentAt.set(this.message[at], at);
      if (this.kind[at] !== RECEIVED || !sentAt.has(this.message[at])) continue;
      partners[at] = sentAt.get(this.message[at]);
      partners[partners[at]] = at;
    }
    return partners;
  }
}

export function bytesOf(base64) {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let index = 0; index < letters.length; index += 1) bytes[index] = letters.charCodeAt(index);
  return bytes.buffer;
}
