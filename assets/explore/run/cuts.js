/* Cuts of a run: whether one is consistent, what it finds in the channels, and the nearest consistent ones. */

import { RECEIVED, SENT } from "./events.js";

const FAULTS = "~"; // before the numbers of the faults inside
const COPIES = "copied"; // the kind of a fault that copies a message
const NEVER = 0x7fffffff; // the index of the receive of a message that is never received

/**
 * All cuts of a run. A cut is given by its frontier: the number of events inside, by lane; and then perhaps, for each
 * fault of the run, whether it is inside (0 or 1), as in sim/theory/cut_names.py. Without that it is the latest cut with
 * so many events. The messages are in columns, in the order of sending; `sent` and `received` are the indices of a
 * message's events on their processes, `copied` and `lostIn` the numbers of the faults that copy and lose it (-1: none).
 */
export class Cuts {
  constructor(events) {
    this.events = events;
    this.total = Array.from(events.total); // the frontier with everything inside
    this.faults = events.columns.faults;
    [this.messages, this.unsent, this.earlier] = messagesOf(events);
    this.bySending = [...this.messages].sort((one, other) => one.id - other.id); // a copy where it is made
  }

  /**
   * The messages that make a cut inconsistent, in the order of sending: received or lost by their receiver inside and not
   * sent inside, since they are sent outside or a recovery has taken the sending back; or sent in a presence of a process
   * that ends inside before that, or begins outside.
   */
  violations(frontier) {
    const faults = this.faultsIn(frontier);
    const isEarly = ({ target, received, lostIn, leave }) => received <= frontier[target] || faults[lostIn] || leave.some((number) => faults[number]);
    const isLate = ({ join }) => join.some((number) => !faults[number]);
    const found = [...this.earlier, ...this.messages].filter((message) => (message.sent > frontier[message.source] ? isEarly(message) : isLate(message)));
    const unsent = this.unsent.filter(({ target, received }) => received <= frontier[target]);
    const byId = new Map([...found, ...unsent].reverse().map((message) => [message.id, message])); // its first receipt
    return [...byId.values()].sort((one, other) => one.id - other.id);
  }

  /** The fault by which a process of a message's channel leaves too early for its send at a cut, or joins too late. */
  absence({ source, sent, join, leave }, frontier) {
    const faults = this.faultsIn(frontier);
    return this.faults[sent > frontier[source] ? leave.find((number) => faults[number]) : join.find((number) => !faults[number])];
  }

  /** The messages that are sent or copied inside, and neither received nor lost there, by channel number, in the order of sending. */
  inChannels(frontier) {
    const found = new Map();
    const faults = this.faultsIn(frontier);
    for (const message of this.bySending) {
      if (!isPut(message, frontier, faults) || message.received <= frontier[message.target] || isLost(message, faults)) continue;
      if (!found.has(message.channel)) found.set(message.channel, []);
      found.get(message.channel).push(message);
    }
    return found;
  }

  /** Whether a message in a channel may be lost already, since the cut does not say which faults are inside. */
  isPerhapsLost({ lostIn }, frontier) {
    return frontier.length === this.total.length && this.faults[lostIn]?.lane === null;
  }

  // ------------------------------------------------------------------ faults

  /** A cut with its faults: whether each is inside. Those that have to be are, and those that cannot be are not. */
  placed(frontier) {
    return [...this.eventsOf(frontier), ...this.faultsIn(frontier)];
  }

  /** The numbers of events inside, by lane. */
  eventsOf(frontier) {
    return frontier.slice(0, this.total.length);
  }

  /** By fault, whether it is inside: 0 or 1. */
  faultsIn(frontier) {
    const chosen = frontier.length > this.total.length ? frontier.slice(this.total.length) : null;
    const found = [];
    const isOpen = this.total.map(() => true); // by lane: the faults after its last event are inside so far
    for (const [number, { lane, inside }] of this.faults.entries()) {
      const isChosen = chosen == null ? lane !== null : Boolean(chosen[number]);
      if (lane === null) found.push(this.isOnItsWay(number, frontier, found, isChosen));
      else {
        if (inside === frontier[lane]) isOpen[lane] &&= isChosen;
        found.push(inside < frontier[lane] || (inside === frontier[lane] && isOpen[lane]));
      }
    }
    return this.withNeeded(frontier, found).map(Number);
  }

  /** Whether a chosen loss or copy on its way is inside: what it loses or copies is there. */
  isOnItsWay(number, frontier, faults, isChosen) {
    const message = this.ofFault.get(number);
    return isChosen && message != null && message.sent <= frontier[message.source] && (message.copied < 0 || message.copied === number || faults[message.copied]);
  }

  /** A copy is inside where something is that comes after it: the end of the copy, or of that of which it is one. */
  withNeeded(frontier, faults) {
    const ends = ({ target, received, lostIn }) => received <= frontier[target] || faults[lostIn];
    for (const message of this.messages) {
      if (message.copied < 0 || faults[message.copied]) continue;
      faults[message.copied] = ends(message) || this.messages.some((other) => other.id === message.original && ends(other));
    }
    return faults;
  }

  /** By fault, the message that it loses, or the copy that it makes. */
  get ofFault() {
    const byId = new Map(this.messages.map((message) => [message.id, message]));
    this.byFault ??= new Map(this.faults.map(({ message }, number) => [number, byId.get(message)]));
    return this.byFault;
  }

  /** The faults inside that tell a cut from others with as many events. */
  faultsThatMatter(frontier) {
    const faults = this.faultsIn(frontier);
    return this.faults.filter(({ lane, inside }, number) => faults[number] && (lane === null || inside === frontier[lane]));
  }

  /** A cut as the lattice has it: the events inside by process (as people count them), with the signs of these faults. */
  signed(frontier, most = Infinity) {
    const signs = this.faultsThatMatter(frontier);
    const of = (lane) => signs.filter((fault) => fault.lane === lane).map(({ sign }) => sign).join("");
    const numbers = this.eventsOf(frontier).map((inside, lane) => `${this.number(lane, inside)}${of(lane)}`);
    return `${[...numbers.slice(0, most), ...(numbers.length > most ? ["…"] : [])].join(".")}${of(null)}`;
  }

  // ------------------------------------------------------------------ others

  /** The biggest consistent cut inside: a receive whose send is outside leaves the cut, with all that follows on its process. */
  below(frontier) {
    const inside = this.between(frontier);
    for (const { source, target, sent, received } of this.receipts) {
      if (sent > inside[source] && received <= inside[target]) inside[target] = this.firstPart(target, received) - 1;
    }
    return this.fitting(inside);
  }

  /**
   * The smallest consistent cut around: the send of every message that is received inside joins it. Null, where a
   * recovery has taken one of them back.
   */
  above(frontier) {
    const inside = this.eventsOf(frontier).map((count, lane) => (count ? this.lastPart(lane, count) : 0));
    for (let last = this.receipts.length - 1; last >= 0; last -= 1) {
      const { source, target, sent, received } = this.receipts[last];
      if (received <= inside[target] && sent === NEVER) return null;
      if (received <= inside[target]) inside[source] = Math.max(inside[source], this.lastPart(source, sent));
    }
    return this.fitting(inside);
  }

  /** A consistent cut with so many events, if there is one: the latest, or that with the fewest faults inside. */
  fitting(events) {
    return this.violations(events).length ? this.placed([...events, ...this.faults.map(() => 0)]) : events;
  }

  /** The messages that are received, in the order of the receives: causes come before effects. */
  get receipts() {
    this.received ??= [...this.messages, ...this.unsent, ...this.earlier].filter(({ received }) => received !== NEVER).sort((one, other) => one.receivedAt - other.receivedAt);
    return this.received;
  }

  /** How many events of each process have happened after a step. */
  atStep(step) {
    const { events } = this;
    const inside = this.total.map(() => 0);
    for (let at = events.firstFrom(step + 1) - 1; at >= 0; at -= 1) {
      if (!events.isGone(at)) inside[events.lane[at]] = Math.max(inside[events.lane[at]], events.index[at]);
    }
    const faults = this.faults.map((fault) => Number(fault.step <= step));
    return [...this.between(inside), ...faults];
  }

  /** The last cut inside that lies between steps: a process receives and answers in one. */
  between(frontier) {
    return this.eventsOf(frontier).map((count, lane) => (count && this.lastPart(lane, count) > count ? this.firstPart(lane, count) - 1 : count));
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

  /**
   * How much of a conserved good a cut finds (diagrams/panels/record/meters.py): in the processes, and in the channels; how much of it
   * is lost and copied inside; and whether a `state` is lost, with which there may have been more.
   */
  amounts({ processes, messages, faults: after }, frontier) {
    const faults = this.faultsIn(frontier);
    const held = this.eventsOf(frontier).map((inside, lane) => processes[lane][inside]);
    this.faults.forEach(({ lane, inside }, number) => {
      if (faults[number] && lane !== null && inside === frontier[lane]) held[lane] = after[number];
    });
    const sum = (own) => own.reduce((total, { id }) => total + messages[id], 0);
    const put = this.messages.filter((message) => isPut(message, frontier, faults));
    return {
      inProcesses: held.reduce((total, amount) => total + amount, 0),
      inChannels: sum([...this.inChannels(frontier).values()].flat()),
      lost: sum(put.filter((message) => isLost(message, faults))),
      copied: sum(put.filter(({ copied }) => copied >= 0)),
      isStateLost: this.faults.some(({ state }, number) => state && faults[number]),
    };
  }

  /** A cut as a link writes it: "2.3.1", or "2.3.1~1.4" with the faults inside, where the events do not say it. */
  written(frontier) {
    return this.named(frontier);
  }

  /** The same with the events of the run. */
  named(frontier) {
    const events = this.eventsOf(frontier);
    const [faults, latest] = [this.faultsIn(frontier), this.faultsIn(events)];
    const inside = faults.flatMap((isInside, number) => (isInside ? [number + 1] : []));
    return events.join(".") + (String(faults) === String(latest) ? "" : `${FAULTS}${inside.join(".")}`);
  }

  /** The cut that a link has written; null where it is none of this run. */
  read(text) {
    const [events, faults, ...more] = (text ?? "").split(FAULTS);
    const numbers = events.split(".");
    const frontier = numbers.map(Number);
    const isOne = numbers.length === this.total.length && [...numbers, ...(faults ? faults.split(".") : [])].every((part) => /^\d{1,9}$/.test(part)) && !more.length;
    if (!isOne || frontier.some((inside, lane) => inside > this.total[lane])) return null;
    const whole = this.between(frontier);
    if (faults === undefined) return whole;
    const chosen = faults ? faults.split(".").map(Number) : [];
    const bits = this.faults.map((_, number) => Number(chosen.includes(number + 1)));
    const placed = this.placed([...whole, ...bits]);
    return chosen.every((number) => placed[this.total.length + number - 1]) ? placed : null;
  }
}

/** Whether a message is in its channel, or was: it is sent inside, or copied there if it is a copy. */
function isPut({ source, sent, copied }, frontier, faults) {
  return copied < 0 ? sent <= frontier[source] : Boolean(faults[copied]);
}

/** Whether a message is lost inside; where no fault of the run tells when, it is lost in any case. */
function isLost({ isLost: isEver, lostIn }, faults) {
  return isEver && (lostIn < 0 || Boolean(faults[lostIn]));
}

/**
 * The messages of the run; those that are received although a recovery has taken the sending back; and the receipts but
 * the last of those that a recovery without a fence lets come twice.
 */
function messagesOf(events) {
  const { lane, kind, index, row, rows } = events;
  const found = [];
  const earlier = [];
  const byId = new Map();
  const lost = new Set(events.columns.lost);
  const faultOf = (id, wanted) => events.columns.faults.findIndex(({ message, kind }) => message === id && (kind === COPIES) === wanted);
  const presence = (at) => presenceOf(events, at);
  const copiesOf = new Map();
  for (const [copy, id] of Object.entries(events.columns.copies)) copiesOf.set(id, [...(copiesOf.get(id) ?? []), Number(copy)]);
  for (let at = 0; at < events.count; at += 1) {
    const [id, isUnsent] = [events.message[at], events.isGone(at)];
    if (kind[at] === SENT) {
      for (const own of [id, ...(copiesOf.get(id) ?? [])]) {
        const message = { id: own, number: found.length, channel: rows.channel[row[at]], source: lane[at], sent: isUnsent ? NEVER : index[at], sentAt: at, target: -1, received: NEVER, receivedAt: -1, isUnsent, isLost: lost.has(own), original: id, copied: own === id ? -1 : faultOf(own, true), lostIn: lost.has(own) ? faultOf(own, false) : -1, ...presence(at) };
        if (!isUnsent) found.push(message);
        byId.set(own, message);
      }
    } else if (kind[at] === RECEIVED && !isUnsent && byId.has(id)) {
      if (byId.get(id).receivedAt >= 0) earlier.push({ ...byId.get(id) });
      Object.assign(byId.get(id), { target: lane[at], received: index[at], receivedAt: at });
    }
  }
  const unsent = [...earlier, ...byId.values()].filter(({ isUnsent, receivedAt }) => isUnsent && receivedAt >= 0);
  return [found, unsent, earlier.filter(({ isUnsent }) => !isUnsent)];
}

/** The last joins before a send, and the first leaves after it, of the processes of its channel: by the numbers of these faults. */
function presenceOf(events, at) {
  const { rows, row, step, processes, columns: { channels, faults } } = events;
  const lanes = channels[rows.channel[row[at]]].name.split("->").map((name) => processes.indexOf(name));
  const of = (kind, lane) => faults.flatMap((fault, number) => (fault.kind === kind && fault.lane === lane ? [number] : []));
  const join = lanes.flatMap((lane) => of("join", lane).filter((number) => faults[number].step < step[at]).slice(-1));
  const leave = lanes.flatMap((lane) => of("leave", lane).filter((number) => faults[number].step > step[at]).slice(0, 1));
  return { join, leave };
}
