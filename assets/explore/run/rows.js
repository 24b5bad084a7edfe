/* All rows of the event table of the run, in columns (diagrams/scene/event_columns.py): events, and what the algorithm did. */

import { firstNot } from "./timeline.js";

const COLUMNS = ["lane", "kind", "step", "message", "channel", "snapshot", "body"];

export class Rows {
  constructor(scene) {
    const columns = scene.events;
    this.count = columns.count;
    this.processes = scene.lanes; // and services
    this.kinds = columns.kinds; // of each kind that there is: what it is called, and more words for it
    for (const name of COLUMNS) this[name] = numbersOf(columns[name], columns.count); // -1: none
    this.channels = columns.channels; // each a name and a caption, which is "" where it is not in the graph
    this.snapshots = columns.snapshots;
    this.bodies = columns.bodies;
  }

  /** The first row whose step is >= `step`; steps ascend. */
  firstFrom(step) {
    return firstNot((row) => this.step[row] < step, this.count);
  }

  /** The kinds that there are, as the options of a menu. */
  kindOptions() {
    return this.kinds.flatMap((kind, number) => (kind ? [[number, kind.title]] : []));
  }

  process(row) {
    return this.processes[this.lane[row]];
  }

  /** What kind of row it is: "send", "marker received". */
  kindOf(row) {
    return this.kinds[this.kind[row]].title;
  }

  /** What its message or internal event carries, or "". */
  bodyOf(row) {
    return this.bodies[this.body[row]] ?? "";
  }

  /** On which channel it is, and for which snapshot: "to P2 on C12, for S1". */
  where(row) {
    const { name = "", caption = "" } = this.channels[this.channel[row]] ?? {};
    const [source, target] = name.split("->");
    const isFromHere = this.process(row) === source;
    const other = this.message[row] < 0 || !name ? "" : isFromHere ? `to ${target}` : `from ${source}`;
    const way = [other, caption && `on ${caption}`].filter(Boolean).join(" ");
    const snapshot = this.snapshots[this.snapshot[row]];
    return [way, snapshot && `for ${snapshot}`].filter(Boolean).join(", ");
  }
}

/** A column of `count` numbers, which have as many bytes as Python has chosen. */
function numbersOf(base64, count) {
  const bytes = bytesOf(base64);
  const Numbers = { 1: Int8Array, 2: Int16Array, 4: Int32Array }[bytes.byteLength / count] ?? Int8Array;
  return new Numbers(bytes);
}

export function bytesOf(base64) {
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let index = 0; index < letters.length; index += 1) bytes[index] = letters.charCodeAt(index);
  return bytes.buffer;
}
