/* Cuts of a run: whether one is consistent, what it finds in the channels, and the nearest consistent ones. */

import { RECEIVED, SENT } from "./events.js";

const NEVER = 0x7fffffff; // the index of the receive of a message that is never received

/**
 * All cuts of a run. A cut is given by its frontier: the number of events inside, by lane. The messages are in columns,
 * in the order of sending; `sent` and `received` are the indices of a message's events on their processes.
 */
export class Cuts {
  constructor(events) {
    this.events = events;
    this.total = Array.from(events.total); // the frontier with everything inside
    [this.messages, this.unsent] = messagesOf(events);
    this.arrivals = this.messages.map((_, number) => number).sort((one, other) => this.arrivesBefore(one, other));
  }

  /** By the index of the receive; messages that are never received come last, in the order of sending. */
  arrivesBefore(one, other) {
    return this.messages[one].received - this.messages[other].received || one - other;
  }

  /**
   * The messages that are received inside and not sent inside, in the order of sending: they make a cut inconsistent.
   * They are sent outside, or a recovery has taken the sending back.
   */
  violations(frontier) {
    const outside = this.messages.filter(({ source, target, sent, received }) => received <= frontier[target] && sent > frontier[source]);
    const unsent = this.unsent.filter(({ target, received }) => received <= frontier[target]);
    return unsent.length ? [...outside, ...unsent].sort((one, other) => one.id - other.id) : outside;
  }

  /** The messages that are sent inside and not received inside, nor lost, by channel number; in the order of receipt. */
  inChannels(frontier) {
    const found = new Map();
    for (const number of this.arrivals) {
      const message = this.messages[number];
      if (message.isLost || message.sent > frontier[message.source] || message.received <= frontier[message.target]) continue;
      if (!found.has(message.channel)) found.set(message.channel, []);
      found.get(message.channel).push(message);
    }
    return found;
  }

  /** The messages that are sent inside and lost on their way: at this cut already, or later. */
  perhapsLost(frontier) {
    return this.messages.filter(({ isAdrift, source, sent }) => isAdrift && sent <= frontier[source]);
  }

  /** The biggest consistent cut inside: a receive whose send is outside leaves the cut, with all that follows on its process. */
  below(frontier) {
    const inside = this.between(frontier);
    for (const { source, target, sent, received } of this.receipts) {
      if (sent > inside[source] && received <= inside[target]) inside[target] = this.firstPart(target, received) - 1;
    }
    return inside;
  }

  /**
   * The smallest consistent cut around: the send of every message that is received inside joins it. Null, where a
   * recovery has taken one of them back.
   */
  above(frontier) {
    const inside = frontier.map((count, lane) => (count ? this.lastPart(lane, count) : 0));
    for (let last = this.receipts.length - 1; last >= 0; last -= 1) {
      const { source, target, sent, received } = this.receipts[last];
      if (received <= inside[target] && sent === NEVER) return null;
      if (received <= inside[target]) inside[source] = Math.max(inside[source], this.lastPart(source, sent));
    }
    return inside;
  }

  /** The messages that are received, in the order of the receives: causes come before effects. */
  get receipts() {
    this.received ??= [...this.messages, ...this.unsent].filter(({ received }) => received !== NEVER).sort((one, other) => one.receivedAt - other.receivedAt);
    return this.received;
  }

  /** How many events of each process have happened after a step. */
  atStep(step) {
    const { events } = this;
    const inside = this.total.map(() => 0);
    for (let at = events.firstFrom(step + 1) - 1; at >= 0; at -= 1) {
      if (!events.isGone(at)) inside[events.lane[at]] = Math.max(inside[events.lane[at]], events.index[at]);
    }
    return this.between(inside);
  }

  /** The last cut inside that lies between steps: a process receives and answers in one. */
  between(frontier) {
    return frontier.map((count, lane) => (count && this.lastPart(lane, count) > count ? this.firstPart(lane, count) - 1 : count));
  }

  /** The index of the first and of the last event of the step that an event is part of. */
  firstPart(lane, index) {
    let first = index;
    while (first > 1 && this.stepOf(lane, first - 1) === this.stepOf(lane, index)) first -= 1;
    return first;
  }

  lastPart(lane, index) {
    let last = index;
    while (last < this.total[lane] && this.stepOf(lane, last + 1) === this.stepOf(lane, index)) last += 1;
    return last;
  }

  stepOf(lane, index) {
    return this.events.step[this.events.nth(lane, index)];
  }

  /** How people count the events inside, of which there are so many in the columns. */
  number(lane, inside) {
    return inside;
  }

  /** The messages in channels at a cut that are not in the columns, by the channel's name. */
  waiting() {
    return new Map();
  }

  /** How much of a conserved good a cut finds (diagrams/meters.py): in the processes, and in the channels. */
  amounts({ processes, messages }, frontier) {
    const inChannels = [...this.inChannels(frontier).values()].flat();
    return {
      inProcesses: frontier.reduce((sum, inside, lane) => sum + processes[lane][inside], 0),
      inChannels: inChannels.reduce((sum, { number }) => sum + messages[number], 0),
    };
  }

  /** A frontier as a link writes it: "2.3.1". */
  written(frontier) {
    return frontier.join(".");
  }

  /** The frontier that a link has written; null where it is none of this run. */
  read(text) {
    const parts = (text ?? "").split(".");
    const frontier = parts.map(Number);
    const isOne = parts.length === this.total.length && parts.every((part) => /^\d{1,9}$/.test(part));
    return isOne && frontier.every((inside, lane) => inside <= this.total[lane]) ? this.between(frontier) : null;
  }
}

/** The messages of the run; and those that are received although a recovery has taken the sending back. */
function messagesOf(events) {
  const { lane, kind, index, row, rows } = events;
  const found = [];
  const byId = new Map();
  const [lost, adrift] = [new Set(events.columns.lost), new Set(events.columns.adrift)];
  const copiesOf = new Map();
  for (const [copy, id] of Object.entries(events.columns.copies)) copiesOf.set(id, [...(copiesOf.get(id) ?? []), Number(copy)]);
  for (let at = 0; at < events.count; at += 1) {
    const [id, isUnsent] = [events.message[at], events.isGone(at)];
    if (kind[at] === SENT) {
      for (const own of [id, ...(copiesOf.get(id) ?? [])]) {
        const message = { id: own, number: found.length, channel: rows.channel[row[at]], source: lane[at], sent: isUnsent ? NEVER : index[at], sentAt: at, target: -1, received: NEVER, receivedAt: -1, isUnsent, isLost: lost.has(own), isAdrift: adrift.has(own) };
        if (!isUnsent) found.push(message);
        byId.set(own, message);
      }
    } else if (kind[at] === RECEIVED && !isUnsent && byId.has(id)) {
      Object.assign(byId.get(id), { target: lane[at], received: index[at], receivedAt: at });
    }
  }
  return [found, [...byId.values()].filter(({ isUnsent, receivedAt }) => isUnsent && receivedAt >= 0)];
}
