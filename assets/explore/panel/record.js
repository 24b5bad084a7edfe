/* The Record tab: what the snapshots have recorded at this step, with reasons, verdicts and the meter. */

import { resolveColour, snapshotDot } from "../page/colours.js";
import { el, refill, setText, unbroken } from "../page/dom.js";
import { valueAt } from "../run/timeline.js";
import { Decisions } from "./decisions.js";
import { FailureChoice } from "./failure_choice.js";
import { showMeters } from "./meter.js";
import { ChannelList, StateRow } from "./record_table.js";

const MANY_PROCESSES = 6; // more processes than this are listed in two columns

export const NO_SNAPSHOT = "No snapshot in this run. Start one in the Change tab.";

export class RecordView {
  constructor(node, explorer) {
    this.explorer = explorer;
    this.meters = el("div");
    this.selector = el("div", { class: "cc-selector", role: "group", "aria-label": "Snapshots" });
    this.cards = el("div");
    this.decisions = new Decisions(explorer);
    node.append(this.meters, this.selector, this.decisions.node, this.cards);
  }

  /** The id of the snapshot that is shown alone, in the diagram too; null: all are shown. */
  get chosen() {
    return this.explorer.visit.snapshot ?? null;
  }

  show(scene, palette, step) {
    const known = new Set(this.scene?.snapshots.map((snapshot) => snapshot.id));
    const ids = scene.snapshots.map((snapshot) => snapshot.id);
    const added = ids.filter((id) => !known.has(id));
    const isNew = this.scene?.name === scene.name && known.size && added.length === 1;
    this.scene = scene;
    const goTo = (when) => this.explorer.goTo(when);
    const submit = (edit) => this.explorer.submit(edit);
    const chosen = this.parts?.map(({ failure }) => failure).find((own) => own?.focused != null);
    const focused = chosen?.focused;
    this.parts = scene.snapshots.map((snapshot) => new SnapshotCard(snapshot, palette, goTo, submit));
    this.all = el("button", { type: "button", onclick: () => this.choose(null) }, "All");
    this.buttons = this.parts.map((part) => this.selectorButton(part));
    this.selector.replaceChildren(this.all, ...this.buttons.map(({ button }) => button));
    this.selector.hidden = ids.length < 2;
    this.decisions.show(scene, this.parts);
    this.cards.replaceChildren(...this.parts.map((part) => part.node));
    if (!ids.length) this.cards.append(el("p", { class: "cc-quiet" }, NO_SNAPSHOT));
    this.step = step;
    this.choose(isNew ? added[0] : this.chosen);
    this.stepTo(step);
    if (chosen) this.parts.find(({ snapshot }) => snapshot.id === chosen.snapshot)?.failure?.focus(focused);
  }

  shownParts() {
    return this.parts.filter((part) => this.chosen === null || part.snapshot.id === this.chosen);
  }

  selectorButton({ snapshot, colour }) {
    const state = el("span", { class: "cc-quiet" });
    const choose = () => this.choose(snapshot.id);
    const button = el("button", { type: "button", onclick: choose }, snapshotDot(colour), `${snapshot.id} `, state);
    return { button, state, snapshot };
  }

  /** Show one snapshot alone, by its id; the diagram dims the others. Or show all (null). */
  choose(id) {
    this.explorer.showSnapshot(id);
    const shown = this.shownParts();
    this.parts.forEach((part) => (part.node.hidden = !shown.includes(part)));
    shown.forEach((part) => part.stepTo(this.step));
    this.all.setAttribute("aria-pressed", id === null);
    this.buttons.forEach(({ button, snapshot }) => button.setAttribute("aria-pressed", snapshot.id === id));
  }

  stepTo(step) {
    this.step = step;
    this.shownParts().forEach((part) => part.stepTo(step));
    this.buttons.forEach(({ state, snapshot }) => setText(state, phase(snapshot, step)));
    this.decisions.stepTo(step);
    showMeters(this.meters, this.scene.meters, step);
  }
}

function phase(snapshot, step) {
  if (step < (snapshot.asked ?? snapshot.began ?? Infinity)) return "not begun";
  if (snapshot.aborted != null && step >= snapshot.aborted) return snapshot.ending;
  return snapshot.completed != null && step >= snapshot.completed ? "complete" : "recording";
}

/** One snapshot. Built once per scene; a step sets only the texts that differ. */
class SnapshotCard {
  constructor(snapshot, palette, goTo, submit) {
    this.snapshot = snapshot;
    this.colour = resolveColour(snapshot.colour, palette);
    this.status = el("p", { class: "cc-status" });
    this.processes = snapshot.processes.map((process) => new StateRow(process, goTo));
    this.channels = new ChannelList(snapshot.channels, goTo);
    this.why = el("ul", { class: "cc-why" });
    this.verdicts = el("ul", { class: "cc-verdicts" });
    this.failure = snapshot.failure && new FailureChoice(snapshot, submit);
    this.facts = el("p", { class: "cc-facts" });
    const heading = el("h3", {}, snapshotDot(this.colour), `Snapshot ${snapshot.id}`);
    const dense = snapshot.processes.length > MANY_PROCESSES ? " cc-dense" : "";
    const states = el("dl", { class: `cc-states${dense}` }, ...this.processes.flatMap((row) => row.nodes));
    this.node = el("article", { class: "cc-card", "data-snapshot": snapshot.id },
      el("header", {}, heading, this.status),
      el("h4", {}, "Processes"), states,
      el("h4", {}, "Channels"), this.channels.node,
      this.why, this.verdicts, ...(this.failure ? [this.failure.node] : []), this.facts,
    );
  }

  stepTo(step) {
    const { snapshot } = this;
    this.node.dataset.phase = phase(snapshot, step);
    this.processes.forEach((row) => row.stepTo(step));
    this.channels.stepTo(step);
    const why = snapshot.why.map((sentences) => valueAt(sentences, step)).filter(Boolean);
    refill(this.why, JSON.stringify(why), () => why.map((sentence) => el("li", {}, ...unbroken(sentence))));
    const verdicts = valueAt(snapshot.verdicts, step) ?? [];
    setText(this.status, (valueAt(snapshot.status, step) ?? "has not begun") + verdictsInShort(verdicts.filter(({ remark }) => !remark)));
    this.status.toggleAttribute("data-fails", verdicts.some(({ holds }) => holds === false));
    refill(this.verdicts, JSON.stringify(verdicts), () => verdicts.map(verdictRow));
    if (this.failure) this.failure.node.hidden = !verdicts.length;
    setText(this.facts, factsAt(snapshot, step));
  }
}

/** The verdict of a check: it holds, does not hold, or is undecided (null); or a remark, which is no check. */
function verdictRow({ check, holds, text, remark }) {
  return el("li", { "data-holds": String(holds) },
    el("span", { class: "cc-tick", "aria-hidden": "true" }, remark ? "•" : holds ? "✓" : holds === null ? "–" : "✗"),
    el("span", {}, el("strong", {}, `${check}: `), ...unbroken(text)),
  );
}

/** All verdicts in a few words. */
function verdictsInShort(verdicts) {
  const failed = verdicts.filter(({ holds }) => holds === false).length;
  const undecided = verdicts.filter(({ holds }) => holds === null).length;
  const of = `of ${verdicts.length} checks`;
  if (!verdicts.length) return "";
  if (failed) return ` · ✗ ${failed} ${of} ${failed === 1 ? "fails" : "fail"}`;
  if (undecided) return ` · – ${undecided} ${of} ${undecided === 1 ? "is" : "are"} not decided`;
  return verdicts.length === 1 ? " · ✓ its check holds" : ` · ✓ all ${verdicts.length} checks hold`;
}

function factsAt(snapshot, step) {
  const { asked, began: recorded } = snapshot;
  if (step < (recorded ?? Infinity)) return "";
  const began = asked == null ? `Began at step ${recorded}` : `Began at step ${asked}, first recording at step ${recorded}`;
  if (snapshot.aborted != null && step >= snapshot.aborted) {
    const why = snapshot.because && `: ${snapshot.because}`;
    return `${began}, ${snapshot.ending} at step ${snapshot.aborted}${why}.`;
  }
  const { known } = snapshot;
  const told = known && step >= known.step ? `; ${known.to} knows since step ${known.step} that nothing is missing` : "";
  if (snapshot.completed == null || step < snapshot.completed) return `${began}, not complete yet${told}.`;
  const facts = step < snapshot.settled ? "" : `: ${snapshot.facts}`; // what is still to come is no fact yet
  return `${began}, complete at step ${snapshot.completed}${facts}${told}.`;
}
