/* Happened-before (Lamport 1978): which events could have influenced an event, and which it could influence. */

import { RECEIVED, SENT } from "./events.js";

/** The relations of another event to the one that is asked about. */
export const CONCURRENT = "concurrent";
export const PAST = "past";
export const ITSELF = "itself";
export const FUTURE = "future";
const ABANDONED = "abandoned"; // a recovery has taken it back

/**
 * The past and the future of one event that survives. Its past is a prefix of every process and its future a suffix, so two numbers
 * for each process describe them. Each takes one scan of the columns, in which causes come before effects.
 */
export class Causality {
  constructor(events, at) {
    this.events = events;
    this.at = at;
    this.clock = this.scanBack();
    this.future = this.scanAhead();
  }

  /** The vector clock (Fidge, Mattern 1988): how many events of each process are in its past, itself included. */
  scanBack() {
    const { lane, index, kind, processes } = this.events;
    const clock = new Int32Array(processes.length);
    clock[lane[this.at]] = index[this.at];
    for (let at = this.at; at >= 0; at -= 1) {
      if (this.events.isGone(at)) continue;
      if (kind[at] !== RECEIVED || index[at] > clock[lane[at]]) continue;
      const send = this.events.partner(at);
      if (send >= 0 && !this.events.isGone(send)) clock[lane[send]] = Math.max(clock[lane[send]], index[send]);
    }
    return clock;
  }

  /** For each process the index of the first event that this one could influence; on its own process its own. */
  scanAhead() {
    const { lane, index, kind, count, processes } = this.events;
    const first = new Int32Array(processes.length).fill(count + 1);
    first[lane[this.at]] = index[this.at];
    for (let at = this.at; at < count; at += 1) {
      if (this.events.isGone(at)) continue;
      if (kind[at] !== SENT || index[at] < first[lane[at]]) continue;
      const receive = this.events.partner(at);
      if (receive >= 0 && !this.events.isGone(receive)) first[lane[receive]] = Math.min(first[lane[receive]], index[receive]);
    }
    return first;
  }

  /** The relation of the event number `other` of the columns to this one. */
  relation(other) {
    if (other === this.at) return ITSELF;
    const { lane, index } = this.events;
    if (this.events.isGone(other)) return ABANDONED;
    if (index[other] <= this.clock[lane[other]]) return PAST;
    return index[other] >= this.future[lane[other]] ? FUTURE : CONCURRENT;
  }

  /** The indices of the events in a relation. */
  indices(relation) {
    return [...this.events.lane.keys()].filter((at) => this.relation(at) === relation);
  }

  /** The number of events in each relation. */
  counts() {
    const { total } = this.events;
    const count = total.reduce((sum, own) => sum + own, 0);
    const past = this.clock.reduce((sum, inside) => sum + inside, 0) - 1;
    const future = this.future.reduce((sum, first, lane) => sum + Math.max(0, total[lane] - first + 1), 0) - 1;
    return { [PAST]: past, [ITSELF]: 1, [FUTURE]: future, [CONCURRENT]: count - 1 - past - future };
  }
}
