/* The captions of the presenter view: what every snapshot has recorded so far, below the diagram. */

import { resolveColour, snapshotDot } from "../page/colours.js";
import { el, refill, setText } from "../page/dom.js";
import { captionsOf, countedAt, latestOf, longestOf } from "../run/captions.js";
import { valueAt } from "../run/timeline.js";

const MOST_LATEST = 60; // of captions that are too many to show, at most this many are offered to the place there is

/** Each caption keeps its place from step to step, so that the room they need is known before the first of them. */
export class Captions {
  constructor() {
    this.node = el("div", { class: "cc-captions", role: "group", "aria-label": "Recorded so far" });
    this.rows = [];
  }

  /** Lay them out in `room` pixels of height: all snapshots, else the chosen one in full, else its latest captions. */
  lay({ scene, palette, chosen, room, step }) {
    const of = (Row) => (snapshot) => new Row(snapshot, resolveColour(snapshot.colour, palette));
    const { snapshots } = scene;
    const others = snapshots.filter((snapshot) => snapshot !== chosen).map(of(StatusRow));
    const forms = [() => snapshots.map(of(FullRow)), () => [of(FullRow)(chosen), ...others], () => [of(LatestRow)(chosen), ...others]];
    this.node.style.maxHeight = `${room}px`;
    for (const form of forms) {
      this.rows = form();
      this.node.replaceChildren(...this.rows.map((row) => row.node));
      this.stepTo(step);
      if (this.node.scrollHeight <= room) break;
    }
    this.leavesOut = this.rows.some((row) => row instanceof StatusRow); // whether another snapshot could be chosen
  }

  stepTo(step) {
    this.rows.forEach((row) => row.stepTo(step));
  }
}

function rowOf({ id }, colour, ...told) {
  return el("p", { "data-snapshot": id }, el("strong", {}, snapshotDot(colour), id), el("span", { class: "cc-told-of" }, ...told));
}

/** Every process and every channel of a snapshot. */
class FullRow {
  constructor(snapshot, colour) {
    this.captions = captionsOf(snapshot);
    this.texts = this.captions.map((caption) => el("span", { "data-longest": longestOf(caption), "data-holds-messages": everHolds(caption) }));
    this.node = rowOf(snapshot, colour, ...this.texts);
  }

  stepTo(step) {
    this.captions.forEach(({ at }, index) => dress(this.texts[index], at(step)));
  }
}

/** A snapshot of more processes and channels than fit: how many of each, and the latest. */
class LatestRow {
  constructor(snapshot, colour) {
    this.captions = captionsOf(snapshot);
    this.counts = el("span", { class: "cc-counts" });
    this.latest = el("span", { class: "cc-latest" });
    this.node = rowOf(snapshot, colour, this.counts, this.latest);
  }

  stepTo(step) {
    setText(this.counts, countedAt(this.captions, step));
    const told = latestOf(this.captions, step).slice(0, MOST_LATEST).map(({ at }) => at(step));
    refill(this.latest, JSON.stringify(told), () => told.map((one) => dress(el("span"), one)));
  }
}

/** Another snapshot in a few words. */
class StatusRow {
  constructor(snapshot, colour) {
    this.snapshot = snapshot;
    this.status = el("span", { class: "cc-counts" });
    this.node = rowOf(snapshot, colour, this.status);
  }

  stepTo(step) {
    setText(this.status, valueAt(this.snapshot.status, step) ?? "has not begun");
  }
}

/** Whether a caption is ever that of a channel with messages, which is in bold. */
function everHolds({ at, steps }) {
  return steps.some((step) => at(step).state === "messages");
}

function dress(node, { state, text }) {
  node.dataset.state = state;
  setText(node, text);
  return node;
}
