/* All application events of the run, in columns, for the list of events, Find, Ask and Predict. */

import { Rows } from "./rows.js";
import { firstNot, stepAt } from "./timeline.js";

export const EVENT_KINDS = ["internal", "send", "receive"];
export const SENT = 1; // indices into EVENT_KINDS
export const RECEIVED = 2;
const GONE = 0x7fffffff; // the number of an event that a recovery has taken back

export class Events {
  constructor(scene) {
    const { labels, apart, gone } = scene.events;
    this.columns = scene.events;
    this.rows = new Rows(scene);
    this.at = new Int32Array(this.rows.count).fill(-1); // by row: its event, or -1 where it is no application event
    this.row = this.applicationRows();
    this.count = this.row.length;
    this.processes = scene.processes;
    this.lane = this.own(this.rows.lane);
    this.kind = this.own(this.rows.kind);
    this.step = this.own(this.rows.step);
    this.message = this.own(this.rows.message); // -1: none
    this.labels = labels;
    this.apart = apart;
    this.gone = gone; // by event: [step, why] of those that a recovery has taken back
    this.total = new Int32Array(this.processes.length); // of each process
    this.index = this.numbered();
  }

  /** The rows of application events; each row learns the number of its event. */
  applicationRows() {
    const { kind, count } = this.rows;
    const found = new Int32Array(count);
    let at = 0;
    for (let row = 0; row < count; row += 1) {
      if (kind[row] >= EVENT_KINDS.length) continue;
      this.at[row] = at;
      found[at] = row;
      at += 1;
    }
    return found.subarray(0, at);
  }

  /** The values of a column of rows for the application events. */
  own(column) {
    return new Int32Array(this.count).map((_, at) => column[this.row[at]]);
  }

  /** Whether a scene has the same events: it may be another window of the same run. */
  areOf(scene) {
    const isSame = (name) => this.columns[name] === scene.events[name];
    const texts = (processes, { labels, channels, snapshots, bodies }) => JSON.stringify([processes, labels, channels, snapshots, bodies]);
    return (
      ["step", "message", "lane", "kind", "channel", "snapshot", "body"].every(isSame) &&
      texts(this.processes, this.columns) === texts(scene.processes, scene.events)
    );
  }

  /** Each event's number among those of its process that survive, from 1. No cut holds one that is gone. */
  numbered() {
    return Int32Array.from(this.lane, (lane, at) => (this.isGone(at) ? GONE : (this.total[lane] += 1)));
  }

  /** Whether a recovery takes an event back. */
  isGone(at) {
    return at in this.gone;
  }

  /** The event number `index`, from 1, of a process. */
  nth(lane, index) {
    this.ofLane ??= this.byLane();
    return this.ofLane[lane][index - 1];
  }

  byLane() {
    const found = this.processes.map(() => []);
    this.lane.forEach((lane, at) => this.isGone(at) || found[lane].push(at));
    return found;
  }

  /** An event's own label, or `P1.3`. */
  label(at) {
    return this.labels[at] ?? `${this.processes[this.lane[at]]}.${this.index[at]}`;
  }

  /** The name of a row: an event's label, or what kind of row it is. */
  rowName(row) {
    return this.at[row] < 0 ? this.rows.kindOf(row) : this.label(this.at[row]);
  }

  /** What a row is beyond its name, and where: "send to P2 on C12", "from P1 on C12, for S1". */
  rowWords(row) {
    const { rows } = this;
    const kind = this.at[row] < 0 ? "" : rows.kindOf(row);
    return [kind, rows.where(row)].filter(Boolean).join(" ");
  }

  /** What is selected by a row: its event, else its message, else nothing. */
  selectionOf(row) {
    if (this.at[row] >= 0) return { kind: "event", at: this.at[row] };
    return this.rows.message[row] < 0 ? null : { kind: "message", id: this.rows.message[row] };
  }

  /** The row of a selection, or undefined: of a message `last` if it is one of its rows, else the first. */
  rowOf(selection, last) {
    if (selection?.kind === "event") return this.row[selection.at];
    if (selection?.kind !== "message") return undefined;
    const { message } = this.rows;
    const first = message.indexOf(selection.id);
    return message[last] === selection.id ? last : first < 0 ? undefined : first;
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

  /** The events of a scene's window that survive, in order. */
  surviving(scene) {
    return this.within(scene).filter((at) => !this.isGone(at));
  }

  /** The partner of a send or receive (the receive or send of its message, in the same epoch if it has one), or -1. */
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
      const message = this.columns.copies[this.message[at]] ?? this.message[at];
      if (this.kind[at] !== RECEIVED || !sentAt.has(message)) continue;
      const send = sentAt.get(message);
      partners[at] = send;
      const isBetter = partners[send] < 0 || (!this.isGone(send) && this.isGone(partners[send]));
      if (isBetter) partners[send] = at; // of a message and its copy, that which comes first
    }
    return partners;
  }
}
