/* The tab Property: whether a stable property holds at this step, what each snapshot says of it, and what follows. */

import { resolveColour, snapshotDot } from "../page/colours.js";
import { el, field, fillNames, refill, setText, unbroken } from "../page/dom.js";
import { stepAt, valueAt } from "../run/timeline.js";
import { roundTwentieth } from "../run/times.js";
import { waitForGraph } from "./graph.js";
import { Track } from "./track.js";

/* How to read wait-for graphs: each sentence where such an arrow is drawn. */
const HOW_TO_READ = {
  "[data-kind]": "An arrow points from a waiting process to the process that it waits for.",
  "[data-circle]": "The arrows of a circle are thick.",
  '[data-kind="channel"]': "Dashed: only a channel shows it.",
  '[data-kind="gone"]': "Crossed out: a channel shows that it is over.",
};

export class PropertyView {
  constructor(node, explorer) {
    this.node = node;
    this.explorer = explorer;
  }

  show(scene, palette, step) {
    this.scene = scene;
    this.parts = scene.properties.map((own) => new PropertyPart(own, scene, palette, this.explorer));
    this.node.replaceChildren(...this.parts.map((part) => part.node));
    this.stepTo(step);
  }

  stepTo(step) {
    const now = stepAt(this.scene, step).time / (this.scene.end || 1);
    this.parts.forEach((part) => part.stepTo(step, now));
  }
}

/** One property. What becomes known later than the step on show is hidden. */
class PropertyPart {
  constructor(own, scene, palette, explorer) {
    this.own = own;
    const goTo = (step) => explorer.goTo(step);
    this.heading = el("h4");
    this.truth = el("div", { class: "cc-truth" });
    this.holds = el("span", { "data-part": "holds" }, "it holds");
    this.taken = el("span", { "data-part": "taken" }, "a snapshot is taken");
    this.howToRead = el("p", { class: "cc-quiet" });
    this.told = own.history.map((told) => new Told(told, goTo));
    this.track = new Track(own.since_share);
    const glances = own.glances.map((glance) => new GlanceCard(glance, own));
    const answers = scene.snapshots.map((snapshot) => new AnswerCard(snapshot, own, palette, goTo));
    this.cards = [...glances, ...answers];
    this.form = new WatchForm(own, scene, explorer);
    this.node = el("section", { class: "cc-property", "aria-label": own.title },
      el("h3", {}, own.title),
      el("p", {}, "A stable property: once it holds, it holds for ever. You see the whole system at once. No process does: to find out, they take a snapshot."),
      this.heading, this.track.node, el("p", { class: "cc-track-legend" }, this.holds, this.taken), this.truth, this.howToRead, ...this.told.map((told) => told.node),
      el("h4", {}, glances.length ? "What cuts and snapshots say" : "What the snapshots say"),
      ...(this.cards.length ? this.cards.map((card) => card.node) : [el("p", { class: "cc-quiet" }, "No snapshot in this run.")]),
      this.form.node,
    );
  }

  stepTo(step, now) {
    const { own } = this;
    const truth = own.truths.length ? valueAt(own.truths, step) : null;
    setText(this.heading, truth ? `What is true at step ${step}` : "What is true");
    refill(this.truth, JSON.stringify(truth), () => (truth ? seen(truth) : [el("p", { class: "cc-quiet" }, own.not_followed)]));
    this.track.show(now);
    this.told.forEach((told) => told.stepTo(step));
    this.cards.forEach((card) => card.stepTo(step, now));
    this.holds.hidden = own.since_share == null || own.since_share >= now;
    this.taken.hidden = !Object.values(own.answers).some(({ ended }) => ended <= step);
    this.explainArrows();
    this.form.stepTo(step);
  }

  explainArrows() {
    const isDrawn = (part) => !this.node.contains(part.closest("[hidden]"));
    const told = Object.entries(HOW_TO_READ)
      .filter(([kind]) => [...this.node.querySelectorAll(`.cc-waiting line${kind}`)].some(isDrawn))
      .map(([, sentence]) => sentence);
    setText(this.howToRead, told.join(" "));
    this.howToRead.hidden = !told.length;
  }
}

/** A sentence that is told from a step on. */
class Told {
  constructor({ text, since, step }, goTo) {
    this.since = since;
    this.node = withStep(text, step, goTo);
  }

  stepTo(step) {
    this.node.hidden = step < this.since;
  }
}

/** A sentence with a button that goes to its step (null: to none). */
function withStep(text, step, goTo) {
  const button = step == null ? null : el("button", { type: "button", onclick: () => goTo(step) }, `Step ${step}`);
  return el("p", { class: "cc-told-at" }, el("span", {}, ...unbroken(text)), button);
}

/** What a global state shows: the graph, a sentence, and what only the channels show. */
function seen({ said, graph, notes }) {
  const told = [el("p", {}, ...unbroken(said)), ...notes.map((note) => el("p", { class: "cc-quiet" }, ...unbroken(note)))];
  return [el("div", { class: "cc-seen-state" }, graph ? waitForGraph(graph) : null, el("div", {}, ...told))];
}

/** What the process states alone say beside what they say with the channels; one of both where they agree. */
function compared({ whole, alone, proves = true }) {
  if (!whole) {
    return [el("div", { class: "cc-compare" }, side("Process states alone", alone, null)), el("p", {}, "The cut is not consistent: such a state is not possible, so nothing follows from it.")];
  }
  if (whole.holds === alone.holds && !whole.notes.length) {
    return [...seen(whole), el("p", { class: "cc-quiet" }, "The process states alone say the same.")];
  }
  const judged = (isRight) => (proves && whole.holds !== alone.holds ? isRight : null);
  return [el("div", { class: "cc-compare" }, side("Process states alone", alone, judged(false)), side("With the channels", whole, judged(true)))];
}

function side(heading, found, isRight) {
  const badge = isRight == null ? null : el("span", { class: "cc-badge", "data-holds": String(isRight) }, isRight ? "✓ right" : "✗ wrong");
  return el("div", { "data-wrong": isRight === false }, el("h5", {}, el("span", {}, heading), badge), ...seen(found));
}

/** What one snapshot says, from the step on at which it is complete. */
class AnswerCard {
  constructor(snapshot, { answers, since_share: since }, palette, goTo) {
    this.snapshot = snapshot;
    const answer = answers[snapshot.id];
    this.ended = answer?.ended ?? Infinity;
    this.status = el("p", { class: "cc-status" });
    this.track = new Track(since, answer?.shares);
    this.body = el("div", {}, ...(answer ? [this.track.node, ...compared(answer), theorem(answer, snapshot, goTo)] : []));
    const heading = el("h3", {}, snapshotDot(resolveColour(snapshot.colour, palette)), `Snapshot ${snapshot.id}`);
    this.node = el("article", { class: "cc-card" }, el("header", {}, heading, this.status), this.body);
  }

  stepTo(step, now) {
    this.body.hidden = step < this.ended;
    this.track.show(now);
    setText(this.status, this.phase(step));
  }

  phase(step) {
    const { began, aborted } = this.snapshot;
    if (step >= this.ended) return "complete";
    if (began == null || step < began) return "has not begun";
    return aborted != null && step >= aborted ? "aborted" : "not complete yet";
  }
}

/** What follows from an answer: of the end of the snapshot where the property holds, else of its beginning. */
function theorem(answer, { began }, goTo) {
  return el("div", { class: "cc-theorem" }, withStep(answer.theorem, answer.whole.holds ? answer.ended : began, goTo));
}

/** The states that a reader sees at a cut of the story. */
class GlanceCard {
  constructor(glance) {
    this.ended = glance.ended;
    this.status = el("p", { class: "cc-status" });
    this.body = el("div", {}, el("p", {}, glance.text), ...compared(glance));
    this.node = el("article", { class: "cc-card" }, el("header", {}, el("h3", {}, `The cut ${glance.cut}`), this.status), this.body);
  }

  stepTo(step) {
    this.body.hidden = step < this.ended;
    setText(this.status, step < this.ended ? "not reached yet" : "");
  }
}

/** Snapshots one after the other, until one of them shows the property. */
class WatchForm {
  constructor(own, scene, explorer) {
    this.scene = scene;
    this.process = el("select");
    fillNames(this.process, scene.initiators);
    this.every = el("input", { type: "number", step: "any", min: "0", required: true, value: roundTwentieth(scene.end) });
    this.from = el("p", { class: "cc-quiet" });
    const onsubmit = (event) => {
      event.preventDefault();
      explorer.submit({ do: "watch", property: own.name, process: this.process.value, every: Number(this.every.value) });
    };
    this.node = el("form", { class: "cc-watch", onsubmit },
      el("h4", {}, "Take snapshots until one shows it"),
      el("div", { class: "cc-row" }, field("Started by", this.process), field("Time between two", this.every), el("button", { type: "submit" }, "Take snapshots")),
      this.from,
    );
    this.node.hidden = !scene.has_time || scene.log != null || "still" in explorer.root.dataset; // no snapshot could be awaited or taken
  }

  stepTo(step) {
    setText(this.from, `The first one starts at the step on show (time ${+stepAt(this.scene, step).time.toFixed(3)}), each further one starts so much time after the last one has ended.`);
  }
}
