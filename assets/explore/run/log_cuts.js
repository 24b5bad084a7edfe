/* Cuts of a log through a window of it (diagrams/scene/foreign_log.py): its own numbers, and what waited in channels before. */

import { Cuts } from "./cuts.js";

/**
 * All before the window is inside; frontiers count events of the window. An event of the log with several partners is
 * several events of the window, its parts: they are all inside, or none is.
 */
export class LogCuts extends Cuts {
  constructor(events, log) {
    super(events);
    this.log = log;
  }

  /** How many events of a process in the log are inside, when the first `inside` of the window are. */
  number(lane, inside) {
    return inside ? this.log.numbers[lane][inside - 1] : this.log.before[lane];
  }

  firstPart(lane, index) {
    return this.log.numbers[lane].indexOf(this.number(lane, index)) + 1;
  }

  lastPart(lane, index) {
    return this.log.numbers[lane].lastIndexOf(this.number(lane, index)) + 1;
  }

  /** What a channel holds at a cut that was in it when the window began: its caption, the first names, how many `more`. */
  waiting(frontier) {
    const found = new Map();
    for (const [channel, { caption, count, names, received }] of Object.entries(this.log.waiting)) {
      const inside = frontier[this.events.processes.indexOf(channel.split("->")[1])];
      const gone = received.filter((place) => place <= inside).length;
      const left = names.slice(gone);
      if (count > gone) found.set(channel, { caption, names: left, more: count - gone - left.length });
    }
    return found;
  }

  /** A link has the log's own numbers. */
  written(frontier) {
    return this.eventsOf(frontier).map((inside, lane) => this.number(lane, inside)).join(".");
  }

  read(text) {
    const numbers = (text ?? "").split(".");
    if (numbers.length !== this.total.length || !numbers.every((number) => /^\d{1,9}$/.test(number))) return null;
    const frontier = numbers.map((number, lane) => this.log.numbers[lane].filter((own) => own <= Number(number)).length);
    return this.written(frontier) === numbers.map(Number).join(".") ? frontier : null;
  }
}
