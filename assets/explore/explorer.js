/* The component: one explorer per place on the page. It owns the step; Python owns the scenario. */

import { Diagram } from "./diagram/diagram.js";
import { Strip } from "./diagram/overview.js";
import { Cone } from "./diagram/past_and_future.js";
import { showSigns } from "./diagram/signs.js";
import { Manipulation } from "./edit/manipulation.js";
import { Find } from "./find.js";
import { enlarge, magnification, painted, schemeOf } from "./page/colours.js";
import { setText } from "./page/dom.js";
import { typesInto } from "./page/keys.js";
import { AskView } from "./panel/ask.js";
import { ChangeView } from "./panel/change.js";
import { Network } from "./panel/network.js";
import { RecordView } from "./panel/record.js";
import { showStory } from "./panel/story.js";
import { Events } from "./run/events.js";
import { Outbox } from "./run/outbox.js";
import { stepAt } from "./run/timeline.js";
import { Predictor } from "./teach/predict.js";
import { Presenter } from "./teach/present.js";
import { Transport } from "./transport.js";

/** What outlives an explorer within one browser session, so that coming back to the page loses nothing. */
const visits = new Map();

const TABS = ["record", "ask", "network", "change", "story"];

/** One browser session's step, tab and edits under way; a new session numbers its edits from `ack` on. */
function visitOf({ session, ack, step }) {
  if (!visits.has(session)) visits.set(session, { step: step ?? 0, tab: "record", outbox: new Outbox(ack) });
  return visits.get(session);
}

/**
 * The hub. Its parts draw one thing each and know nothing of one another. A part may have `show(scene,
 * palette, step)`, called for a new scene or theme; `stepTo(step)`; `select(selection)`; `view()`, called when
 * things in the diagram have come to lie elsewhere; `takes(pick)`, to have a click in the diagram for itself;
 * `history(data)`, what Python says of the edits; `pending()`, when edits wait or are acknowledged; `close()`.
 *
 * A selection is null, {kind: "message", id} or {kind: "event", at}, `at` a place in the columns of events.
 */
export class Explorer {
  /** @param moreParts takes the explorer and returns the parts that only this page has */
  constructor(root, moreParts) {
    this.root = root;
    this.visit = null;
    this.selection = null;
    const view = (name) => root.querySelector(`[data-view=${name}]`);
    this.rule = root.querySelector(".cc-rule");
    this.sentence = root.querySelector(".cc-words");
    this.hint = root.querySelector(".cc-hint");
    this.signs = root.querySelector(".cc-signs");
    this.story = view("story");
    this.diagram = new Diagram(root.querySelector(".cc-diagram"), (pick) => this.pick(pick), () => this.tell("view"));
    this.transport = new Transport(root, (step) => this.goTo(step), (part) => this.glide(part));
    const choose = (id) => this.select({ kind: "message", id });
    this.tabs = {
      record: new RecordView(view("record"), (step) => this.goTo(step)),
      ask: new AskView(view("ask"), this),
      network: new Network(view("network")),
      change: new ChangeView(view("change"), (edit) => this.submit(edit), choose),
    };
    this.aside = [new Manipulation(this)]; // the parts that are no tab
    this.stale = new Set(TABS); // the tabs that have not shown this scene
    this.tools = {
      scenarios: () => this.submit({ do: "scenarios" }),
      open: () => this.submit({ do: "open" }),
      undo: () => this.submit({ do: "undo" }),
      redo: () => this.submit({ do: "redo" }),
    };
    this.aside.push(new Cone(this.diagram), new Strip(this), new Find(this));
    const [predictor, presenter] = [new Predictor(this), new Presenter(this, () => predictor.leave())];
    this.tools.predict = () => predictor.toggle();
    this.tools.present = () => presenter.toggle();
    this.aside.unshift(predictor, presenter, ...moreParts(this)); // first: they may claim a click before all others
    this.listen();
  }

  listen() {
    const { root } = this;
    root.querySelectorAll("[data-tab]").forEach((tab) => {
      tab.addEventListener("click", () => this.openTab(tab.dataset.tab));
    });
    root.querySelectorAll("[data-tool]").forEach((button) => {
      button.addEventListener("click", () => this.tools[button.dataset.tool]?.());
    });
    root.addEventListener("click", letGo);
    this.onResize = () => this.scene && magnification() !== this.magnification && this.redraw();
    window.addEventListener("resize", this.onResize);
    this.onKey = (event) => this.key(event);
    document.addEventListener("keydown", this.onKey);
    this.notice = root.querySelector(".cc-notice");
    this.notice.querySelector("button").addEventListener("click", () => (this.notice.hidden = true));
    this.turn = root.querySelector(".cc-orientation");
    this.turn.addEventListener("click", () => this.toggleOrientation());
  }

  /** Every part there is. */
  get parts() {
    return [...Object.values(this.tabs), ...this.aside];
  }

  /** Call a method of every part that has it; a tab that waits to be opened learns all of it then. */
  tell(method, ...values) {
    const isStale = (part) => Object.keys(this.tabs).some((name) => this.tabs[name] === part && this.stale.has(name));
    this.parts.filter((part) => !isStale(part)).forEach((part) => part[method]?.(...values));
  }

  /** Take what Python sent. Only a new scene or another theme is drawn anew. */
  receive(data, setStateValue) {
    this.send = (entries) => setStateValue("outbox", entries);
    this.data = data;
    if (this.visit !== visitOf(data)) this.enter(visitOf(data));
    this.visit.outbox.acknowledge(data.ack);
    this.showPending();
    const scheme = schemeOf(this.root);
    if (data.revision !== this.revision) this.takeScene(data.scene, data.revision);
    else if (scheme !== this.scheme) this.redraw();
    this.showHistory(data);
    this.showNotice(data.notice);
    this.root.dataset.ready = "true";
    this.root.dataset.ack = data.ack;
  }

  enter(visit) {
    this.visit = visit;
    this.revision = null;
    this.openTab(visit.tab);
    if (visit.outbox.waiting.length) this.send(visit.outbox.waiting.slice());
  }

  /** A new scene: another scenario starts at its beginning, an edited one keeps the step (or stays at the end). */
  takeScene(scene, revision) {
    const { visit } = this;
    const scenario = `${scene.name} ${scene.title}`;
    const events = this.events?.areOf(scene) ? this.events : new Events(scene);
    this.looking = false;
    if (visit.scenario == null || visit.scenario === scenario) {
      const wasAtEnd = visit.last > 0 && visit.step === visit.last;
      visit.step = wasAtEnd ? scene.last : Math.min(visit.step, scene.last);
      visit.orientation ??= scene.orientation;
      this.selection = this.scene ? foundAgain(this.selection, this, scene, events) : null;
    } else {
      Object.assign(visit, { step: 0, cut: null, orientation: scene.orientation });
      this.selection = null;
    }
    Object.assign(visit, { scenario, last: scene.last });
    Object.assign(this, { scene, events, revision });
    this.redraw();
    this.lookAround(visit.step); // the user may have gone on while Python brought this
    this.root.dataset.scene = scene.name;
  }

  /** Draw everything for the scene, the theme and the orientation there are now. */
  redraw() {
    const { scene, visit } = this;
    this.scheme = schemeOf(this.root);
    this.magnification = magnification(); // both read styles, so they come before anything is written
    this.root.dataset.scheme = this.scheme;
    this.palette = scene.palettes[this.scheme];
    setText(this.root.querySelector(".cc-title"), scene.title);
    const drawn = scene.figures[visit.orientation] ?? Object.values(scene.figures)[0];
    const figure = enlarge(painted(drawn, this.palette), this.magnification);
    this.diagram.selected = this.selectedMessage();
    this.diagram.cut = visit.cut;
    const view = [visit.scenario, visit.orientation, ...(this.isLong() ? [scene.first, scene.until] : [])].join(" ");
    this.diagram.draw(figure, this.palette, view, scene, this.events, this.shownStep());
    this.stale = new Set(TABS);
    this.aside.forEach((part) => this.present(part));
    this.openTab(visit.tab);
    showSigns(this.signs, scene.signs);
    showStory(this.story, scene, visit.cut, (cut) => this.showCut(cut));
    this.showOrientation();
    this.showStep();
  }

  /** Have a part show the scene there is. */
  present(part) {
    part.show?.(this.scene, this.palette, this.shownStep());
    part.select?.(this.selection);
    part.history?.(this.data);
  }

  /** Whether the run is seen through a window. */
  isLong() {
    return this.scene.first > 0 || this.scene.until < this.scene.last;
  }

  /** The step that is drawn: the one chosen, or while Python brings the part of the run around it, the nearest. */
  shownStep() {
    return Math.min(Math.max(this.visit.step, this.scene.first), this.scene.until);
  }

  /** Show another step; a series of moves within one frame is drawn once. */
  goTo(step) {
    this.visit.step = step;
    this.lookAround(step);
    this.showStep();
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      this.diagram.stepTo(this.shownStep());
      for (const part of [this.tabs[this.visit.tab], ...this.aside]) part?.stepTo?.(this.shownStep());
    });
  }

  /** Near the edge of the window ask for the part of the run around the step, once at a time. */
  lookAround(step) {
    if (this.isNearEdge(step, this.scene) && !this.looking) this.look(step);
  }

  /** Whether a step lies at or beyond an edge of a window where the run goes on. */
  isNearEdge(step, { first, until, last }) {
    const margin = (until - first) * 0.1;
    return (step > until - margin && until < last) || (step < first + margin && first > 0);
  }

  /** Ask for another window: `width` steps around `step`, long runs of internal events drawn one by one or not. */
  look(step, width = this.visit.width, expanded = this.visit.expanded ?? false) {
    Object.assign(this.visit, { width, expanded });
    this.looking = true;
    this.submit({ do: "look", step, width, expanded, orientation: this.visit.orientation });
  }

  /** Between two steps nothing happens but time: the line of now and the messages in flight move on. */
  glide(part) {
    if (this.visit.step === this.visit.last) return; // an edit has just made the run end here
    if (this.frame) return; // the step itself is still to be drawn
    this.diagram.glide(part);
    this.tabs[this.visit.tab]?.glide?.(part);
  }

  showStep() {
    const { step } = this.visit;
    const isHere = step === this.shownStep();
    const told = isHere ? stepAt(this.scene, step) : { rule: "", sentence: `Going to step ${step} …`, time: null };
    setText(this.rule, told.rule);
    setText(this.sentence, told.sentence);
    const length = told.sentence.length;
    this.sentence.dataset.length = length > 190 ? "longest" : length > 130 ? "long" : "short";
    this.hint.hidden = step > 0;
    this.transport.show(step, this.scene.last, told.time);
    this.root.dataset.step = step;
  }

  /** Something was clicked in the diagram. */
  pick(pick) {
    if (this.parts.some((part) => part.takes?.(pick))) return;
    const { kind, id, at } = pick;
    this.select(kind === "message" ? { kind, id } : kind === "event" ? { kind, at } : null);
    if (this.selection) this.openTab("ask");
  }

  /** Select a message or an event (null: neither): the diagram marks it, and every part is told. */
  select(selection) {
    this.selection = selection;
    this.diagram.select(this.selectedMessage());
    this.tell("select", selection);
  }

  selectedMessage() {
    return this.selection?.kind === "message" ? this.selection.id : null;
  }

  showCut(cut) {
    this.visit.cut = cut;
    this.diagram.showCut(cut);
  }

  /** Only the open tab shows a new scene and follows the steps; another one catches up when it is opened. */
  openTab(name) {
    this.visit.tab = name;
    TABS.forEach((tab) => {
      this.root.querySelector(`[data-tab=${tab}]`).setAttribute("aria-selected", tab === name);
      this.root.querySelector(`[data-view=${tab}]`).hidden = tab !== name;
    });
    if (!this.scene) return;
    if (this.stale.delete(name)) this.present(this.tabs[name] ?? {});
    else this.tabs[name]?.stepTo(this.shownStep());
  }

  /** Python draws one of the two at a time. */
  toggleOrientation() {
    this.visit.orientation = this.visit.orientation === "down" ? "right" : "down";
    if (this.scene.figures[this.visit.orientation]) this.redraw();
    else this.look(this.visit.step);
  }

  /** The button shows how time runs and says where a click leads. */
  showOrientation() {
    const { orientation } = this.visit;
    this.turn.dataset.orientation = orientation;
    this.turn.title = orientation === "down" ? "Let time run from left to right" : "Let time run from top to bottom";
    this.turn.setAttribute("aria-label", this.turn.title);
  }

  /** Hand an edit (or a wish, such as to look elsewhere) to Python. Returns its number. */
  submit(edit) {
    const { outbox, step } = this.visit;
    this.send(outbox.add(edit, step, stepAt(this.scene, step).time, this.revision));
    this.showPending();
    return outbox.last;
  }

  showPending() {
    this.root.toggleAttribute("data-pending", this.visit.outbox.waiting.length > 0);
    this.tell("pending");
  }

  /** What can be undone and redone, and the edits in words. */
  showHistory(data) {
    this.root.querySelector("[data-tool=undo]").disabled = !data.undo;
    this.root.querySelector("[data-tool=redo]").disabled = !data.redo;
    this.tell("history", data);
  }

  /** A notice is shown once: dismissed, it stays away until Python has another. */
  showNotice(notice) {
    const key = notice && `${notice.seq} ${notice.text}`;
    if (key === this.noticeKey) return;
    this.noticeKey = key;
    this.notice.hidden = !notice;
    if (!notice) return;
    this.notice.dataset.level = notice.level;
    setText(this.notice.querySelector(".cc-notice-text"), notice.text);
  }

  /** Ctrl+Z and Ctrl+Shift+Z (or Ctrl+Y), unless a field has the focus: it has an undo of its own. */
  key(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || typesInto(event.target)) return;
    const key = event.key.toLowerCase();
    const tool = key === "z" ? (event.shiftKey ? "redo" : "undo") : key === "y" ? "redo" : null;
    if (!tool) return;
    event.preventDefault();
    this.tools[tool]();
  }

  close() {
    cancelAnimationFrame(this.frame);
    window.removeEventListener("resize", this.onResize);
    document.removeEventListener("keydown", this.onKey);
    this.transport.close();
    this.diagram.close();
    this.tell("close");
  }
}

/** A selection in a new scene: ids change from run to run, a message's address and an event's label do not. */
function foundAgain(selection, { scene, events }, newScene, newEvents) {
  if (events === newEvents) return selection; // another window of the same run
  if (selection?.kind === "message") {
    const address = JSON.stringify(scene.messages.find(({ id }) => id === selection.id)?.address);
    const found = newScene.messages.find((message) => JSON.stringify(message.address) === address);
    return found ? { kind: "message", id: found.id } : null;
  }
  if (selection?.kind !== "event") return null;
  const label = events.label(selection.at);
  for (let at = 0; at < newEvents.count; at += 1) if (newEvents.label(at) === label) return { kind: "event", at };
  return null;
}

/** After a click with the mouse a button or radio gives the focus back, so that the keys step and play again. */
function letGo(event) {
  if (event.detail === 0) return; // by keyboard: whoever tabs through the page wants to stay where they are
  setTimeout(() => {
    const focused = document.activeElement;
    if (focused?.matches(".cc :is(button, [type=radio])")) focused.blur();
  });
}
