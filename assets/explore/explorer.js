/* The explorer: the diagram and everything around it. It decides which step is shown; Python has the scenario. */

import { HeldCut } from "./cut/held_cut.js";
import { CutView } from "./cut/tab.js";
import { Diagram } from "./diagram/diagram.js";
import { Found } from "./diagram/found.js";
import { LeftOut } from "./diagram/left_out.js";
import { Overview } from "./diagram/overview.js";
import { PastAndFuture } from "./diagram/past_and_future.js";
import { showSigns } from "./diagram/signs.js";
import { choiceAsked } from "./edit/manual.js";
import { Manipulation } from "./edit/manipulation.js";
import { Find } from "./find.js";
import { LatticeView } from "./lattice/tab.js";
import { enlarge, magnification, painted, schemeOf } from "./page/colours.js";
import { scrollerOf, setText } from "./page/dom.js";
import { fitText } from "./page/fit.js";
import { inFrame } from "./page/frame.js";
import { keepsKeys } from "./page/keys.js";
import { ToolsMenu } from "./page/tools_menu.js";
import { AskView } from "./panel/ask.js";
import { BreakView, showBanner } from "./panel/break.js";
import { ChangeView } from "./panel/change.js";
import { EventsView } from "./panel/events_list.js";
import { Network } from "./panel/network.js";
import { RecordView } from "./panel/record.js";
import { RuleBook } from "./panel/rules.js";
import { StoredView } from "./panel/stored.js";
import { StoryView } from "./panel/story.js";
import { ProofView } from "./proof/tab.js";
import { PropertyView } from "./property/tab.js";
import { Events } from "./run/events.js";
import { Outbox } from "./run/outbox.js";
import { Search } from "./run/search.js";
import { stepAt } from "./run/timeline.js";
import { NotesWindow } from "./teach/notes.js";
import { Predictor } from "./teach/predict.js";
import { Presenter } from "./teach/present.js";
import { Transport } from "./transport.js";

/** The visits of this tab, by session. They outlive the explorer, so that coming back to the page loses nothing. */
const visits = new Map();

const LEAST_PANEL = 100; // pixels: less of the panel than this says nothing

const TABS = ["record", "stored", "cut", "lattice", "proof", "property", "ask", "events", "network", "change", "break", "story"];
const TABS_IN_LINKS = new Set(["cut", "lattice", "proof"]); // they change what the diagram shows

/**
 * The visit of a session: its step, tab, edits under way, and what else is `shown`, as in a link: texts by key
 * (sim/edit/link.py, SHOWN). A new session numbers its edits from `ack` on.
 */
function visitOf({ session, ack, step, shown = {}, scene }) {
  if (!visits.has(session)) visits.set(session, { step: step ?? 0, tab: tabIn(shown, scene.log ? "cut" : "record"), shown: { ...shown }, outbox: new Outbox(ack) });
  return visits.get(session);
}

function tabIn({ tab }, other) {
  return TABS_IN_LINKS.has(tab) ? tab : other;
}

/**
 * The hub. Each part draws one thing. A part may have these methods, which the hub calls: `show(scene, palette, step)`
 * for a new scene or theme; `stepTo(step)`; `select(selection)`; `diagramMoved()` when the diagram was drawn, zoomed or
 * moved; `claims(pick)` at a click in the diagram: true if the click is for this part alone; `history(data)` when Python
 * has answered; `noted()` when `visit.shown` or the tab has changed; `cutMoved(frontier)` when the user has moved the cut
 * (cut/held_cut.js); `pending()` when edits wait or are acknowledged; for a tab, `leave()` when another is opened, and
 * `wanted`, what Python shall draw for it beside the run, while it is open (views/widgets/look.py). Listeners outside the
 * explorer's own element end with the signal `closed`, and what else has to end listens to it.
 *
 * A selection is null, {kind: "message", id} or {kind: "event", at}, `at` an index into the columns of events.
 */
export class Explorer {
  /**
   * @param moreParts takes the explorer and returns the parts that only this page has
   * @param keyboard where it hears keys that have no other use, an EventTarget; the document, if it is alone on its page
   */
  constructor(root, moreParts, keyboard = document) {
    this.root = root;
    this.keyboard = keyboard;
    this.isAlone = keyboard === document;
    this.closing = new AbortController();
    this.closed = this.closing.signal;
    this.visit = null;
    this.selection = null;
    const view = (name) => root.querySelector(`[data-view=${name}]`);
    this.rule = root.querySelector(".cc-rule");
    this.sentence = root.querySelector(".cc-words");
    this.hint = root.querySelector(".cc-hint");
    this.justNow = root.querySelector(".cc-just-now");
    this.toolsMenu = new ToolsMenu(this);
    this.signs = root.querySelector(".cc-signs");
    this.diagram = new Diagram(this);
    this.transport = new Transport(this);
    this.cut = new HeldCut(this);
    this.tabs = {
      record: new RecordView(view("record"), this),
      stored: new StoredView(view("stored"), this),
      cut: new CutView(view("cut"), this),
      lattice: new LatticeView(view("lattice"), this),
      proof: new ProofView(view("proof"), this),
      property: new PropertyView(view("property"), this),
      ask: new AskView(view("ask"), this),
      events: new EventsView(view("events"), this),
      network: new Network(view("network"), this),
      change: new ChangeView(view("change"), this),
      break: new BreakView(view("break"), this),
      story: new StoryView(view("story"), this),
    };
    this.found = new Found(this.diagram);
    this.otherParts = [new Manipulation(this), new PastAndFuture(this.diagram), this.found, new Overview(this), new LeftOut(this)]; // not tabs
    this.stale = new Set(TABS); // the tabs that have not shown this scene
    const wishes = ["scenarios", "open", "undo", "redo"];
    this.tools = Object.fromEntries(wishes.map((wish) => [wish, () => this.submit({ do: wish })]));
    this.otherParts.push(new Find(this), new RuleBook(this));
    const predictor = (this.predictor = new Predictor(this));
    const presenter = new Presenter(this, () => predictor.leave());
    this.tools.predict = () => predictor.toggle();
    const notes = new NotesWindow(this, () => presenter.windowOpens());
    this.tools.present = () => presenter.toggle();
    this.tools.notes = () => notes.open();
    this.otherParts.unshift(predictor, presenter, notes, this.cut, ...moreParts(this)); // first: they may claim a click before all others
    this.listen();
  }

  listen() {
    const { root, closed: signal } = this;
    const onClick = (what, act) => root.querySelectorAll(what).forEach((node) => node.addEventListener("click", () => act(node)));
    onClick("[data-tab]", (tab) => this.openTab(tab.dataset.tab));
    onClick("[data-tool]", (button) => this.tools[button.dataset.tool]?.());
    root.addEventListener("click", returnFocus);
    const onResize = () => this.scene && magnification(this.diagram.node) !== this.magnification && this.redraw();
    window.addEventListener("resize", onResize, { signal });
    this.keyboard.addEventListener("keydown", (event) => this.key(event), { signal });
    const room = new ResizeObserver(() => this.fitSentence());
    room.observe(this.sentence.closest(".cc-sentence"));
    signal.addEventListener("abort", () => room.disconnect());
    this.notice = root.querySelector(".cc-notice");
    this.notice.querySelector(".cc-notice-close").addEventListener("click", () => (this.notice.hidden = true));
    this.remedy = this.notice.querySelector(".cc-notice-remedy");
    this.remedy.addEventListener("click", () => this.submit(this.data.notice.remedy.edit));
    this.turn = root.querySelector(".cc-orientation");
    this.turn.addEventListener("click", () => this.toggleOrientation());
  }

  /** Every part there is. */
  get parts() {
    return [...Object.values(this.tabs), ...this.otherParts];
  }

  /** Call a method of every part that has it, except for tabs that `openTab` will bring up to date. */
  notify(method, ...values) {
    const isStale = (part) => Object.keys(this.tabs).some((name) => this.tabs[name] === part && this.stale.has(name));
    this.parts.filter((part) => !isStale(part)).forEach((part) => part[method]?.(...values));
  }

  /** Take what Python sent. Only a new scene or theme is drawn anew. */
  receive(data, setStateValue) {
    this.send = (entries) => setStateValue("outbox", entries);
    this.data = data;
    if (this.visit !== visitOf(data)) this.enter(visitOf(data));
    const { outbox } = this.visit;
    outbox.acknowledge(data.ack);
    if (data.unfinished && outbox.waiting.length) this.send(outbox.again()); // there was no time for all of them
    this.showPending();
    const scheme = schemeOf(this.root);
    if (data.revision !== this.revision) this.takeScene(data.scene, data.revision);
    else if (scheme !== this.scheme) this.redraw();
    this.showHistory(data);
    this.showNotice(data.notice);
    this.followPointer(data.pointer);
    this.root.dataset.ready = "true";
    this.root.dataset.ack = data.ack;
  }

  enter(visit) {
    this.visit = visit;
    this.revision = null;
    this.openTab(visit.tab);
    if (visit.outbox.waiting.length) this.send(visit.outbox.waiting.slice());
  }

  /** Take a new scene. Another scenario starts at its beginning; an edited one keeps the step, or stays at the end. */
  takeScene(scene, revision) {
    const { visit } = this;
    const scenario = `${scene.name} ${scene.title}`;
    const events = this.events?.areOf(scene) ? this.events : new Events(scene);
    if (visit.scenario == null || visit.scenario === scenario) {
      const wasAtEnd = visit.last > 0 && visit.step === visit.last;
      visit.step = wasAtEnd ? scene.last : Math.min(visit.step, scene.last);
      visit.orientation ??= scene.orientation;
      this.selection = this.scene ? selectionIn(this.selection, this, scene, events) : null;
    } else {
      const { shown } = this.data;
      Object.assign(visit, { step: 0, cut: null, snapshot: null, look: null, shown: { ...shown }, orientation: scene.orientation });
      if (TABS_IN_LINKS.has(shown.tab)) visit.tab = shown.tab;
      this.selection = null;
    }
    if (!scene.snapshots.some(({ id }) => id === visit.snapshot)) visit.snapshot = null;
    const isThere = { property: scene.properties.length > 0, stored: scene.stored != null }; // the tabs of some runs only
    if (isThere[visit.tab] === false) visit.tab = "record";
    Object.assign(visit, { scenario, last: scene.last });
    if (!this.isLoading) visit.arrangement = scene.arrangement; // else the user is ahead
    Object.assign(this, { scene, events, revision });
    this.redraw();
    this.loadNear(visit.step); // the user may have stepped on meanwhile
    this.root.dataset.scene = scene.name;
    this.root.toggleAttribute("data-log", scene.log != null);
    this.root.toggleAttribute("data-stable", scene.properties.length > 0);
    this.root.toggleAttribute("data-stored", scene.stored != null);
  }

  /** Draw everything for the present scene, theme and orientation. */
  redraw() {
    const { scene, visit } = this;
    this.scheme = schemeOf(this.root);
    this.magnification = magnification(this.diagram.node); // both read styles, so they come before anything is written
    this.root.dataset.scheme = this.scheme;
    this.palette = scene.palettes[this.scheme];
    setText(this.root.querySelector(".cc-title"), scene.title);
    showBanner(this.root, scene.broken); // the diagram has the room that is left
    this.isProof = visit.tab === "proof";
    const isAsked = this.diagram.asked != null && Object.keys(scene.questions).length > 0;
    const proof = !isAsked && this.isProof ? this.tabs.proof.drawn(scene) : null;
    const figures = isAsked ? scene.questions : proof ? proof.figures : scene.figures;
    const drawn = figures[visit.orientation] ?? Object.values(figures)[0];
    const figure = enlarge(painted(drawn, this.palette), this.magnification);
    this.diagram.selected = this.selectedMessage();
    this.diagram.snapshot = visit.snapshot;
    this.diagram.moves = proof && proof.moves;
    this.root.toggleAttribute("data-proof", proof != null);
    showSigns(this.signs, scene.signs, isAsked ? "asked" : proof ? "proof" : "run"); // the diagram has the room that is left
    const lanes = JSON.stringify(scene.arrangement);
    const view = [visit.scenario, visit.orientation, lanes, ...(proof ? ["proof"] : []), ...(this.isLong() ? [scene.first, scene.until] : [])].join(" ");
    this.diagram.draw(figure, this.palette, view, scene, this.events, this.shownStep());
    this.stale = new Set(TABS);
    this.otherParts.forEach((part) => this.refreshPart(part));
    this.openTab(visit.tab);
    this.showOrientation();
    this.showStep();
  }

  /** Draw the question what a snapshot records, which shows no outcome (null: the run again). */
  ask(snapshot) {
    if (snapshot === this.diagram.asked) return;
    this.diagram.asked = snapshot;
    this.redraw();
  }

  /** Have a part show the present scene. */
  refreshPart(part) {
    part.show?.(this.scene, this.palette, this.shownStep());
    part.select?.(this.selection);
    part.history?.(this.data);
  }

  /** Whether the scene is a window on a longer run. */
  isLong() {
    return this.scene.first > 0 || this.scene.until < this.scene.last;
  }

  /** The step that is drawn: the chosen one, or the nearest in the window while its own window is loading. */
  shownStep() {
    return Math.min(Math.max(this.visit.step, this.scene.first), this.scene.until);
  }

  /** Show another step; a series of moves within one frame is drawn once. */
  goTo(step) {
    this.visit.step = step;
    this.loadNear(step);
    this.showStep();
    if (this.isStepping) return;
    this.isStepping = true;
    inFrame(() => {
      this.isStepping = false;
      if (!this.closed.aborted) this.drawStep();
    });
  }

  /** Draw the step on show; out of sight it waits. */
  drawStep() {
    this.isBehind = this.isResting;
    if (this.isResting) return;
    this.diagram.stepTo(this.shownStep());
    for (const part of [this.tabs[this.visit.tab], ...this.otherParts]) part?.stepTo?.(this.shownStep());
  }

  /** Rest while it is out of sight: no step is drawn. Back in sight it draws the one on show. */
  rest(isResting) {
    this.isResting = isResting;
    if (!isResting && this.isBehind) this.drawStep();
  }

  /** Load the window around a step that lies near the edge of the present one, unless one is loading. */
  loadNear(step) {
    if (this.isNearEdge(step, this.scene) && !this.isLoading) this.loadWindow(step);
  }

  /** Whether Python has not answered yet with the window or orientation that was asked for last. */
  get isLoading() {
    return this.visit.outbox.waiting.some(({ edit }) => edit.do === "look");
  }

  /** Whether a step lies near or beyond an edge of a window, and the run goes on there. */
  isNearEdge(step, { first, until, last }) {
    const margin = (until - first) * 0.1;
    return (step > until - margin && until < last) || (step < first + margin && first > 0);
  }

  /** Load another window: `width` steps around `step` (undefined: Python's default); `expanded`: every internal event. */
  loadWindow(step, width = this.visit.width, expanded = this.visit.expanded ?? false) {
    Object.assign(this.visit, { width, expanded });
    const { orientation, arrangement } = this.visit;
    this.visit.look = { step, width, expanded, orientation, ...arrangement };
    this.tellLook();
  }

  /** Tell Python what to draw: the look of the run, and what the open tab and the user who predicts want beside it. */
  tellLook() {
    if (!this.visit.look) this.loadWindow(this.visit.step);
    else this.submit({ do: "look", ...this.visit.look, ...this.tabs[this.visit.tab]?.wanted, ...this.predictor.wanted });
  }

  /** Arrange the processes in another way: {order, hidden, folded} (run/arrangement.js). */
  arrange(arrangement) {
    this.visit.arrangement = arrangement;
    this.loadWindow(this.visit.step);
  }

  /** The search of all rows of the run. */
  get search() {
    if (this.searched?.events !== this.events) this.searched = new Search(this.events);
    return this.searched;
  }

  /** Go where Python points, once. */
  followPointer(pointer) {
    if (!pointer || pointer.seq === this.visit.pointed) return;
    this.visit.pointed = pointer.seq;
    this.point(pointer);
  }

  /** Show a step, and select a message (null: none), if it is in the window. */
  point({ step, message }) {
    this.goTo(step);
    const isHere = message != null && this.scene.messages.some(({ id }) => id === message);
    this.select(isHere ? { kind: "message", id: message } : null);
  }

  /** Between two steps: move the line of now and the messages in flight. */
  glide(part) {
    if (this.visit.step === this.visit.last) return; // an edit has just made the run end here
    if (this.isStepping || this.isResting) return; // the step itself is not drawn yet
    this.diagram.glide(part);
    this.tabs[this.visit.tab]?.glide?.(part);
  }

  showStep() {
    const { step } = this.visit;
    const isHere = step === this.shownStep();
    const told = isHere ? stepAt(this.scene, step) : { rule: "", rules: [], sentence: `Going to step ${step} …`, time: null };
    setText(this.rule, told.rule);
    const asked = choiceAsked(this.scene, step);
    setText(this.sentence, asked ?? told.sentence);
    setText(this.justNow, asked ? told.sentence : "");
    this.hint.hidden = step > 0 || asked != null;
    this.fitSentence();
    this.transport.show(step, this.scene.last, this.scene.has_time ? told.time : undefined);
    this.root.dataset.step = step;
  }

  /** The sentence has the room that the layout gives it, so that nothing moves from step to step. */
  fitSentence() {
    const said = this.sentence.parentElement;
    fitText(said, said, this.sentence.closest(".cc-sentence"));
  }

  /** A click in the diagram. */
  pick(pick) {
    if (this.parts.some((part) => part.claims?.(pick))) return;
    const { kind, id, at } = pick;
    this.select(kind === "message" ? { kind, id } : kind === "event" ? { kind, at } : null);
    if (!this.selection) return;
    this.openTab("ask");
    this.revealPanel();
  }

  /** Where the panel lies below the diagram and out of sight, bring it up to the middle of the window. */
  revealPanel() {
    const { top } = this.root.querySelector(".cc-panel").getBoundingClientRect();
    if (top > innerHeight - LEAST_PANEL) scrollerOf(this.root).scrollBy({ top: top - innerHeight / 2 });
  }

  /** Select a message or an event (null: neither). */
  select(selection) {
    this.selection = selection;
    this.diagram.select(this.selectedMessage());
    this.notify("select", selection);
  }

  selectedMessage() {
    return this.selection?.kind === "message" ? this.selection.id : null;
  }

  /** Show one snapshot alone in the diagram, by its id; null: all of them. */
  showSnapshot(snapshot) {
    this.visit.snapshot = snapshot;
    this.diagram.showSnapshot(snapshot);
  }

  /** Open a tab. Only the open tab shows a new scene and follows the steps; another catches up when it is opened. */
  openTab(name) {
    const before = this.visit.tab;
    if (name !== before) this.tabs[before]?.leave?.();
    this.visit.tab = name;
    TABS.forEach((tab) => {
      this.root.querySelector(`[data-tab=${tab}]`).setAttribute("aria-selected", tab === name);
      this.root.querySelector(`[data-view=${tab}]`).hidden = tab !== name;
    });
    const isNoted = this.keep({ tab: TABS_IN_LINKS.has(name) ? name : null });
    if (isNoted || name !== before) this.notify("noted");
    if (!this.scene) return;
    const isWanted = [before, name].some((tab) => this.tabs[tab]?.wanted);
    if (name !== before && this.visit.look && isWanted) this.tellLook();
    this.cut.refresh();
    if ((name === "proof") !== this.isProof) return this.redraw(); // it has a diagram of its own
    if (this.stale.delete(name)) this.refreshPart(this.tabs[name] ?? {});
    else this.tabs[name]?.stepTo?.(this.shownStep());
  }

  /** Note what else is on show, for links and the tab's memory: texts by key; null: no more. */
  note(changes) {
    if (this.keep(changes)) this.notify("noted");
  }

  /** Keep changes in `visit.shown`. Returns whether anything is different now. */
  keep(changes) {
    const { shown } = this.visit;
    const different = Object.entries(changes).filter(([key, text]) => (shown[key] ?? null) !== text);
    for (const [key, text] of different) {
      if (text == null) delete shown[key];
      else shown[key] = text;
    }
    return different.length > 0;
  }

  /** Show what another link of this run says beside the step. */
  showAlso(shown) {
    const { visit } = this;
    const nothing = Object.fromEntries(Object.keys(visit.shown).map((key) => [key, null]));
    const isOther = this.keep({ ...nothing, ...shown });
    this.openTab(tabIn(shown, TABS_IN_LINKS.has(visit.tab) ? "record" : visit.tab));
    if (!isOther) return;
    this.notify("noted");
    this.redraw();
  }

  /** Let time run the other way. Python draws one orientation at a time, and the next scene may be of the other. */
  toggleOrientation() {
    this.visit.orientation = this.visit.orientation === "down" ? "right" : "down";
    if (this.scene.figures[this.visit.orientation] && !this.isLoading) this.redraw();
    else this.loadWindow(this.visit.step);
  }

  /** The button shows how time runs, and its title what a click does. */
  showOrientation() {
    const { orientation } = this.visit;
    this.turn.dataset.orientation = orientation;
    this.turn.title = orientation === "down" ? "Let time run from left to right" : "Let time run from top to bottom";
    this.turn.setAttribute("aria-label", this.turn.title);
  }

  /** Submit an edit (or a wish, such as another window) to Python. Returns its number. */
  submit(edit) {
    const { outbox, step } = this.visit;
    this.send(outbox.add(edit, step, stepAt(this.scene, step).time, this.revision));
    this.showPending();
    return outbox.last;
  }

  showPending() {
    this.root.toggleAttribute("data-pending", this.visit.outbox.waiting.length > 0);
    this.notify("pending");
  }

  /** Show what can be undone and redone, and the edits in words. */
  showHistory(data) {
    this.root.querySelector("[data-tool=undo]").disabled = !data.undo;
    this.root.querySelector("[data-tool=redo]").disabled = !data.redo;
    this.notify("history", data);
  }

  /** Show a notice of Python's. Once dismissed it does not come back. */
  showNotice(notice) {
    const key = notice && `${notice.seq} ${notice.text}`;
    if (key === this.noticeKey) return;
    this.noticeKey = key;
    this.notice.hidden = !notice;
    if (!notice) return;
    this.notice.dataset.level = notice.level;
    setText(this.notice.querySelector(".cc-notice-text"), notice.text);
    this.remedy.hidden = !notice.remedy;
    setText(this.remedy, notice.remedy?.words ?? "");
  }

  /** Ctrl+Z and Ctrl+Shift+Z (or Ctrl+Y), unless a field has the focus: it has an undo of its own. */
  key(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || keepsKeys(event.target)) return;
    const key = event.key.toLowerCase();
    const tool = key === "z" ? (event.shiftKey ? "redo" : "undo") : key === "y" ? "redo" : null;
    if (!tool) return;
    event.preventDefault();
    this.tools[tool]();
  }

  close() {
    this.transport.pause();
    this.closing.abort();
    this.root.querySelectorAll(".js-plotly-plot").forEach((plot) => Plotly.purge(plot));
  }
}

/** The same selection in a new scene: ids change from run to run, a message's reference and an event's label do not. */
function selectionIn(selection, { scene, events }, newScene, newEvents) {
  if (events === newEvents) return selection; // another window of the same run
  if (selection?.kind === "message") {
    const reference = JSON.stringify(scene.messages.find(({ id }) => id === selection.id)?.reference);
    const found = newScene.messages.find((message) => JSON.stringify(message.reference) === reference);
    return found ? { kind: "message", id: found.id } : null;
  }
  if (selection?.kind !== "event") return null;
  const label = events.label(selection.at);
  for (let at = 0; at < newEvents.count; at += 1) if (newEvents.label(at) === label) return { kind: "event", at };
  return null;
}

/** A button or radio that was clicked by mouse loses the focus, so that the keys step the run again. It does so before the
 * next key at the latest: what that key gives the focus to keeps it. */
function returnFocus(event) {
  if (event.detail === 0) return; // pressed by keyboard: the focus stays
  const act = () => {
    clearTimeout(timer);
    window.removeEventListener("keydown", act, true);
    const focused = document.activeElement;
    if (focused?.matches(".cc :is(button, [type=radio])")) focused.blur();
  };
  const timer = setTimeout(act);
  window.addEventListener("keydown", act, true);
}
