/* Predict: the outcome of a snapshot is hidden, and the user predicts its cut and what its channels hold. */

import { resolveColour, snapshotDot } from "../page/colours.js";
import { el, setText, unbroken } from "../page/dom.js";
import { STEP_KEYS } from "../page/keys.js";
import { countedEvents, stopsOf } from "../run/cut_stops.js";
import { reasonOf } from "../run/reasons.js";
import { anyNumber, ClassRound, codeFor } from "./class_round.js";
import { PredictedCut } from "./predicted_cut.js";

const LINE_REACH = 26; // a click moves a process's handle if it is this near to its line, in pixels

/** For each snapshot checked in this tab, whether it was right at the first try. Never sent or stored. */
const score = new Map();

/** The runs of a class's round that this tab has begun to predict. */
const begun = new Set();

/**
 * `phase` is "" (not predicting), "asking", "checked" (marked, the outcome still hidden)
 * or "shown" (the outcome is in the diagram, and stepping is free).
 */
export class Predictor {
  constructor(explorer) {
    const { root } = explorer;
    this.explorer = explorer;
    this.root = root;
    this.phase = "";
    this.button = root.querySelector("[data-tool=predict]");
    this.panel = el("section", { class: "cc-predict", "aria-label": "Predict" });
    this.question = el("p", { class: "cc-sentence cc-question", role: "status" });
    this.handles = new PredictedCut(explorer, (lane, stop) => this.place(lane, stop));
    this.round = new ClassRound(explorer);
    root.querySelector(".cc-panel").append(this.panel);
    root.querySelector(".cc-sentence").after(this.question);
    root.querySelector(".cc-stage").append(this.handles.node);
    window.addEventListener("keydown", (event) => this.key(event), { capture: true, signal: explorer.closed });
    explorer.closed.addEventListener("abort", () => this.leave());
  }

  toggle() {
    if (this.phase || this.isAwaited) this.leave();
    else this.enter();
  }

  /** What Python draws for this beside the scene (views/widgets/look.py). */
  get wanted() {
    return this.phase || this.isAwaited ? { question: true } : {};
  }

  /** Whether Python has sent the question, which takes as long to draw as the run itself. */
  get isHere() {
    return Object.keys(this.explorer.scene.questions).length > 0;
  }

  /** Begin, as soon as the question is there. */
  enter() {
    const { explorer } = this;
    this.isAwaited = this.isPossible && !this.isHere;
    if (this.isAwaited) return explorer.tellLook();
    this.focused = document.activeElement;
    this.before = explorer.visit.step;
    explorer.transport.pause();
    explorer.select(null);
    if (this.predictions?.scene !== explorer.scene) this.begin();
    this.turnTo(this.prediction?.result ? "checked" : "asking");
    (this.handles.first ?? this.panel.querySelector("button"))?.focus({ preventScroll: true });
  }

  /** End it, or no longer wait for the question. */
  leave() {
    this.isAwaited = false;
    if (!this.phase) return;
    const { explorer } = this;
    const wasHidden = this.isHidden;
    const hadFocus = this.panel.contains(document.activeElement) || this.handles.node.contains(document.activeElement);
    this.turnTo("");
    if (wasHidden) explorer.goTo(Math.min(this.before, explorer.scene.last));
    const back = this.focused?.isConnected && this.focused !== document.body ? this.focused : this.button;
    if (hadFocus) back.focus({ preventScroll: true });
  }

  /** A new scene: nothing is predicted yet. */
  begin() {
    const { scene, events } = this.explorer;
    const [run, asked] = [scene.steps.slice(1).map(({ position }) => position), scene.asked_positions.slice(1)];
    this.runStops = stopsOf(scene, events, run, (at) => events.position(at, scene), true);
    this.askedStops = stopsOf(scene, events, asked, (at) => scene.asked_positions[events.step[at]], true);
    this.predictions = { scene, of: new Map(this.snapshots.map(({ id }) => [id, emptyPrediction(scene)])) };
    this.chosen = this.snapshots[0]?.id;
  }

  /** The snapshots that are asked about: of one that is given up, or that a recovery has taken back, nothing is left. */
  get snapshots() {
    return this.explorer.scene.snapshots.filter(({ ending, truth }) => ending == null && !truth.over);
  }

  get snapshot() {
    return this.snapshots.find(({ id }) => id === this.chosen);
  }

  get prediction() {
    return this.predictions.of.get(this.chosen);
  }

  /** Whether there is anything to predict, and it fits the page. */
  get isPossible() {
    return this.snapshots.length > 0 && !this.explorer.isLong();
  }

  /** The stops of each process, where the diagram of this phase has them. */
  get stops() {
    return this.isHidden ? this.askedStops : this.runStops;
  }

  /** Whether the outcome is hidden. */
  get isHidden() {
    return this.phase === "asking" || this.phase === "checked";
  }

  turnTo(phase) {
    const { explorer, root } = this;
    this.phase = phase;
    this.button.setAttribute("aria-pressed", Boolean(phase));
    if (phase) root.dataset.predicting = phase;
    else delete root.dataset.predicting;
    if (this.isHidden && this.isPossible) explorer.goTo(explorer.scene.last);
    explorer.cut.refresh();
    explorer.ask(this.isHidden && this.isPossible ? this.chosen : null);
    this.draw();
  }

  draw() {
    this.handles.show(this.phase && this.isPossible ? this : null);
    this.panel.replaceChildren(...(this.phase ? this.content().filter(Boolean) : []));
    this.question.replaceChildren(...(this.phase ? this.asked() : []));
  }

  show(scene) {
    if (this.isAwaited && (this.isHere || !this.isPossible)) queueMicrotask(() => this.isAwaited && this.enter());
    if (!this.phase) return;
    if (this.predictions.scene !== scene) {
      this.begin();
      this.before = scene.last;
      queueMicrotask(() => this.phase && this.turnTo("asking"));
    } else this.draw();
  }

  diagramMoved() {
    if (this.phase) this.handles.lay();
  }

  stepTo(step) {
    const { scene } = this.explorer;
    if (this.isHidden && this.isPossible && step !== scene.last) this.explorer.goTo(scene.last); // another step would give the outcome away
  }

  /** A click on a process line moves its handle; while the outcome is hidden, clicks do nothing else. */
  claims(pick) {
    if (this.phase === "asking" && this.isPossible) {
      const { lane, position, distance } = this.explorer.diagram.laneAt(this.explorer.diagram.within(pick));
      if (distance <= LINE_REACH) this.place(lane, this.handles.stopAt(lane, position));
    }
    return this.isHidden;
  }

  /** Escape leaves. The keys that step and undo do nothing while the outcome is hidden. */
  key(event) {
    if (!this.phase || event.target.closest?.("dialog, [role=dialog], [role=menu]")) return;
    if (event.key === "Escape") {
      event.stopPropagation();
      this.leave();
      return;
    }
    if (this.phase === "shown" || event.target.closest?.(".cc-cut-handle")) return;
    const isUndo = (event.ctrlKey || event.metaKey) && ["z", "y"].includes(event.key.toLowerCase());
    if (STEP_KEYS.has(event.key) || event.key === " " || isUndo) event.stopPropagation();
  }

  // ------------------------------------------------------------------ the prediction

  /** Put a process's handle at a stop (null: it never records). */
  place(lane, stop) {
    if (this.phase !== "asking") return;
    this.prediction.stops[lane] = stop;
    this.handles.lay();
    this.refreshRow(lane);
  }

  refreshRow(lane) {
    const row = this.panel.querySelector(`[data-lane="${lane}"]`);
    const stop = this.prediction.stops[lane];
    setText(row.querySelector(".cc-predicted-count"), countedEvents(this.stops[lane], stop));
    row.querySelector("input").checked = stop == null;
  }

  tick(channel, id, isIn) {
    const ids = this.prediction.channels[channel];
    if (isIn) ids.add(id);
    else ids.delete(id);
  }

  check() {
    const { scene } = this.explorer;
    const { truth } = this.snapshot;
    const { prediction } = this;
    const processes = scene.processes.map((name, lane) => {
      const stop = prediction.stops[lane];
      const count = stop == null ? null : this.stops[lane][stop].count;
      return { name, lane, isRight: count === (truth.inside[name] ?? null) };
    });
    const channels = this.channels().map(({ name }) => {
      const [own, kept] = [prediction.channels[name], truth.channels[name] ?? []];
      const wrong = scene.messages.find(({ id, channel }) => channel === name && own.has(id) !== kept.includes(id));
      return { name, isRight: !wrong, wrong };
    });
    const isRight = [...processes, ...channels].every((one) => one.isRight);
    const key = `${scene.name} ${this.explorer.visit.scenario} ${this.explorer.data.link ?? ""} ${this.chosen}`;
    if (!score.has(key)) score.set(key, isRight);
    prediction.result = { processes, channels, isRight };
    this.turnTo("checked");
    this.panel.querySelector(".cc-judged")?.focus({ preventScroll: true });
  }

  /** Why a process recorded where it did: a sentence, and the step that decides. */
  whyProcess(name) {
    const { truth } = this.snapshot;
    return [{ text: truth.why_process[name], step: truth.record_steps[name] ?? null }];
  }

  /** Why a channel is recorded as it is, and so each of its messages that is recorded or was taken for it. */
  whyChannel({ name, target, messages }) {
    const { truth, id } = this.snapshot;
    const { scene } = this.explorer;
    const [own, kept] = [this.prediction.channels[name], truth.channels[name] ?? []];
    const told = messages.filter((message) => message.reasons[id] && (own.has(message.id) || kept.includes(message.id)));
    const why = told.map((message) => reasonOf(scene, message, id, scene.last)).map(({ text, steps }) => ({ text, step: steps.at(-1) }));
    return [{ text: truth.why_channel[name], step: truth.record_steps[target] ?? null }, ...why];
  }

  tryAgain() {
    this.prediction.result = null;
    this.turnTo("asking");
    this.handles.first?.focus({ preventScroll: true });
  }

  choose(id) {
    this.chosen = id;
    this.turnTo(this.prediction.result ? "checked" : "asking");
    this.handles.first?.focus({ preventScroll: true });
  }

  /** A fresh run of the same kind and size. */
  anotherRun() {
    this.explorer.submit({ do: "another", number: anyNumber() });
  }

  /** A run of a class's round opens with the question. */
  history({ round }) {
    const key = round && `${round.name} ${round.number}`;
    if (!key || begun.has(key)) return;
    begun.add(key);
    queueMicrotask(() => this.phase || this.enter()); // after all parts have the scene
  }

  goTo(step) {
    this.keepingPlace(() => this.turnTo("shown"));
    this.explorer.goTo(step);
  }

  /** Do what draws the panel anew, and leave the reader where they were in it. */
  keepingPlace(act) {
    const all = (what) => [...this.panel.querySelectorAll(what)];
    const open = all("details").map((node) => node.open);
    const focused = all("button").indexOf(document.activeElement);
    const places = all(".cc-predict-body").map(({ scrollTop }) => scrollTop);
    act();
    all("details").forEach((node, index) => (node.open = open[index] ?? node.open));
    all(".cc-predict-body").forEach((node, index) => (node.scrollTop = places[index] ?? 0));
    all("button")[focused]?.focus({ preventScroll: true });
  }

  /** The next snapshot that is not checked yet, else the next one. */
  next() {
    const ids = this.snapshots.map(({ id }) => id);
    const at = ids.indexOf(this.chosen);
    const others = [...ids.slice(at + 1), ...ids.slice(0, at)];
    return others.find((id) => !this.predictions.of.get(id).result) ?? others[0];
  }

  /** The channels that carried messages, with those messages. */
  channels() {
    const { scene } = this.explorer;
    const carried = scene.channels.map((channel) => ({
      ...channel,
      messages: scene.messages.filter((message) => message.kind === "app" && message.channel === channel.name),
    }));
    return carried.filter(({ messages }) => messages.length);
  }

  // ------------------------------------------------------------------ what is shown

  /** The line above the diagram. */
  asked() {
    const { snapshot } = this;
    const rule = el("span", { class: "cc-rule" }, "Predict");
    const say = (text) => [rule, el("span", { class: "cc-said" }, el("span", { class: "cc-words" }, ...unbroken(text)))];
    if (!this.isPossible) return say("Predict what a snapshot records");
    if (this.phase === "checked") return say(`${snapshot.id}: ${judgement(this.prediction.result)}`);
    return say(`${snapshot.starts} What does ${snapshot.id} record?`);
  }

  content() {
    const leave = el("button", { type: "button", class: "cc-predict-close", "aria-label": "Leave Predict", onclick: () => this.leave() }, "×");
    const head = el("header", {}, el("h3", {}, "Predict"), this.scored(), leave);
    if (this.explorer.isLong()) return [head, el("p", {}, tooBig(this.explorer))];
    if (!this.snapshot) return [head, el("p", {}, this.explorer.scene.snapshots.length ? ALL_GIVEN_UP : NOTHING_TO_PREDICT)];
    const isAsking = this.phase === "asking";
    const unfinished = this.snapshot.completed == null;
    return [
      head,
      this.selector(),
      el("div", { class: "cc-predict-body" },
        isAsking ? el("p", { class: "cc-quiet" }, HOW_TO_PREDICT, this.came().length ? ARRIVALS : "") : this.judged(),
        this.arrivals(),
        unfinished ? el("p", {}, `${this.snapshot.id} is not complete when the run ends: say what is recorded by then.`) : null,
        el("h4", {}, "Processes"),
        el("ul", { class: "cc-predicted-states" }, ...this.explorer.scene.processes.map((name, lane) => this.processRow(name, lane))),
        el("h4", {}, "Channels: tick what is recorded in each"),
        el("ul", { class: "cc-predicted-channels" }, ...this.channels().map((channel) => this.channelRow(channel))),
      ),
      el("footer", { class: "cc-row" }, ...this.buttons()),
    ];
  }

  scored() {
    const right = [...score.values()].filter(Boolean).length;
    const text = score.size ? `Right at the first try: ${right} of ${score.size}` : "";
    return el("span", { class: "cc-score" }, text);
  }

  selector() {
    const { snapshots } = this;
    if (snapshots.length < 2) return null;
    const button = ({ id, colour }) => {
      const { result } = this.predictions.of.get(id);
      const state = result ? (result.isRight ? " ✓" : " ✗") : "";
      const attributes = { type: "button", "aria-pressed": String(id === this.chosen), onclick: () => this.choose(id) };
      return el("button", attributes, snapshotDot(resolveColour(colour, this.explorer.palette)), `${id}${state}`);
    };
    return el("div", { class: "cc-selector", role: "group", "aria-label": "Snapshots" }, ...snapshots.map(button));
  }

  /** Right or wrong, and in a class's round the code that says so. */
  judged() {
    const { result } = this.prediction;
    const isFirst = this.chosen === this.snapshots[0].id;
    const code = isFirst ? codeFor(this.explorer.data.round, result, this.snapshot.truth) : undefined;
    return el("div", { class: "cc-judged", "data-holds": String(result.isRight), role: "status", tabindex: "-1" },
      el("strong", {}, judgement(result)),
      code ? el("p", {}, "Your code for the class: ", el("output", { class: "cc-code" }, code)) : null,
    );
  }

  /** The rules that decide a row, each with the step to look at; open where the prediction is wrong. */
  because(result, reasons) {
    const look = (step) => el("button", { type: "button", onclick: () => this.goTo(step) }, `Look at step ${step}`);
    const sentence = ({ text, step }) => el("p", {}, ...unbroken(text), " ", step == null ? null : look(step));
    return result && el("details", { class: "cc-because", open: !result.isRight }, el("summary", {}, "Why"), ...reasons().map(sentence));
  }

  /** The markers and control messages of the chosen snapshot that come. */
  came() {
    return this.explorer.scene.messages.filter((one) => one.kind !== "app" && one.snapshot === this.chosen && one.received != null);
  }

  /** Where the markers come, in words: the diagram shows the same. */
  arrivals() {
    const { scene } = this.explorer;
    const came = this.came();
    if (!came.length) return null;
    const after = ({ target, received }) => this.stops[target].findLast(({ step }) => step < received).label;
    const say = (one) => `${one.caption} ${after(one) ? `after ${after(one)}` : "before all events"}`;
    const row = (name, lane) => {
      const own = came.filter(({ target }) => target === lane).sort((a, b) => a.received - b.received);
      return el("li", {}, el("strong", {}, name), " ", ...unbroken(own.map(say).join(", then ") || "nothing comes"));
    };
    const what = came[0]?.kind === "control" ? scene.control : scene.marker;
    return el("details", { class: "cc-arrivals" },
      el("summary", {}, `Where each ${what} comes, in words`),
      el("ul", {}, ...scene.processes.map(row)),
    );
  }

  processRow(name, lane) {
    const stop = this.prediction.stops[lane];
    const result = this.phase === "asking" ? null : this.prediction.result.processes[lane];
    const never = el("input", {
      type: "checkbox",
      checked: stop == null,
      disabled: this.phase !== "asking",
      "aria-label": `${name} never records`,
      onchange: (event) => this.place(lane, event.target.checked ? null : 0),
    });
    return el("li", { "data-lane": lane, "data-right": result && String(result.isRight) },
      el("strong", {}, name),
      el("span", { class: "cc-predicted-count" }, countedEvents(this.stops[lane], stop)),
      mark(result),
      el("label", { class: "cc-never" }, never, "never records"),
      this.phase === "shown" && !result.isRight ? el("span", { class: "cc-truth" }, this.truthOf(name, lane)) : null,
      this.because(result, () => this.whyProcess(name)),
    );
  }

  truthOf(name, lane) {
    const count = this.snapshot.truth.inside[name] ?? null;
    const stop = count == null ? null : this.stops[lane].findIndex((one) => one.count === count);
    return `it was: ${countedEvents(this.stops[lane], stop)}`;
  }

  channelRow(channel) {
    const { name, caption, messages } = channel;
    const result = this.phase === "asking" ? null : this.prediction.result.channels.find((one) => one.name === name);
    const kept = this.snapshot.truth.channels[name] ?? [];
    const box = ({ id, name: text }) => {
      const onchange = (event) => this.tick(name, id, event.target.checked);
      const checked = this.prediction.channels[name].has(id);
      const input = el("input", { type: "checkbox", checked, disabled: this.phase !== "asking", onchange });
      const isKept = this.phase === "shown" ? String(kept.includes(id)) : null;
      return el("label", { "data-kept": isKept }, input, ...unbroken(text));
    };
    return el(
      "li",
      { "data-channel": name, "data-right": result && String(result.isRight), role: "group", "aria-label": caption },
      el("strong", {}, ...unbroken(caption)),
      el("span", { class: "cc-boxes" }, ...messages.map(box)),
      mark(result),
      this.because(result, () => this.whyChannel(channel)),
    );
  }

  buttons() {
    const button = (text, onclick, isFirst = false) =>
      el("button", { type: "button", class: isFirst ? "cc-primary" : null, onclick }, text);
    const others = [button("Another run", () => this.anotherRun()), button("Class round", () => this.round.open())];
    others.forEach((node) => node.classList.add("cc-of-server"));
    if (this.phase === "asking") return [button("Check", () => this.check(), true), ...others];
    const isShown = this.phase === "shown";
    const { isRight } = this.prediction.result;
    const several = this.snapshots.length > 1;
    return [
      isShown ? null : button("Show the answer", () => this.goTo(this.explorer.scene.last), isRight && !several),
      isRight ? null : button("Try again", () => this.tryAgain(), true),
      several ? button("Next snapshot", () => this.choose(this.next()), isRight) : null,
      isShown ? button("Done", () => this.leave(), isRight && !several) : null,
      ...others,
    ].filter(Boolean);
  }
}

const NOTHING_TO_PREDICT =
  "No snapshot in this run, so there is nothing to predict. Start one: open the Change tab, choose a process under " +
  "“Snapshot at” and press Start.";

const ALL_GIVEN_UP = "Every snapshot of this run is given up, so there is nothing to predict.";

const HOW_TO_PREDICT =
  "Drag each handle to where its process records, or click between two events: every place between the same two counts " +
  "as one. With the keys: Tab, then the arrows.";

const ARRIVALS = " A short arrow is a marker that arrives there. Work out where it was sent.";

/** Why a run that is shown through a window cannot be predicted. */
function tooBig({ events }) {
  return (
    `This run has ${events.count} events, which is too many for Predict: it needs a run that is drawn as a whole. ` +
    "The scenarios that come with the page are shorter. Begin with the classic lecture example."
  );
}

function emptyPrediction(scene) {
  return {
    stops: scene.processes.map(() => 0),
    channels: Object.fromEntries(scene.channels.map(({ name }) => [name, new Set()])),
    result: null,
  };
}

/** "2 of 7 are not right." */
function judgement({ processes, channels }) {
  const all = [...processes, ...channels];
  const wrong = all.filter(({ isRight }) => !isRight).length;
  return wrong ? `${wrong} of ${all.length} ${wrong > 1 ? "are" : "is"} not right.` : `All ${all.length} are right.`;
}

function mark(result) {
  if (!result) return el("span", { class: "cc-mark" });
  return el("span", { class: "cc-mark", role: "img", "aria-label": result.isRight ? "right" : "wrong" }, result.isRight ? "✓" : "✗");
}

