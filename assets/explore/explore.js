/* The component: one explorer per place on the page. It owns the step; Python owns the scenario. */

/** What outlives an explorer within one browser session, so that coming back to the page loses nothing. */
const visits = new Map();

const explorers = new WeakMap();

const TABS = ["record", "network", "change", "story"];

/** One browser session's step, tab and edits under way; a new session numbers its edits from `ack` on. */
function visitOf({ session, ack }) {
  if (!visits.has(session)) visits.set(session, { step: 0, tab: "record", outbox: new Outbox(ack) });
  return visits.get(session);
}

class Explorer {
  constructor(root) {
    this.root = root;
    this.visit = null;
    this.selected = null;
    const view = (name) => root.querySelector(`[data-view=${name}]`);
    const select = (message) => this.select(message);
    this.rule = root.querySelector(".cc-rule");
    this.sentence = root.querySelector(".cc-words");
    this.hint = root.querySelector(".cc-hint");
    this.signs = root.querySelector(".cc-signs");
    this.story = view("story");
    this.diagram = new Diagram(root.querySelector(".cc-diagram"), (id) => this.selectFromDiagram(id));
    this.transport = new Transport(root, (step) => this.goTo(step), (part) => this.glide(part));
    this.record = new RecordView(view("record"));
    this.network = new Network(view("network"));
    this.change = new ChangeView(view("change"), (edit) => this.submit(edit), select);
    this.tabs = { record: this.record, network: this.network, change: this.change };
    this.listen();
  }

  listen() {
    this.root.querySelectorAll("[data-tab]").forEach((tab) => {
      tab.addEventListener("click", () => this.openTab(tab.dataset.tab));
    });
    this.root.addEventListener("click", letGo);
    this.onResize = () => this.scene && magnification() !== this.magnification && this.redraw();
    window.addEventListener("resize", this.onResize);
    this.notice = this.root.querySelector(".cc-notice");
    this.notice.querySelector("button").addEventListener("click", () => (this.notice.hidden = true));
    this.turn = this.root.querySelector(".cc-orientation");
    this.turn.addEventListener("click", () => this.toggleOrientation());
  }

  /** Take what Python sent. Only a new scene or another theme is drawn anew. */
  receive(data, setStateValue) {
    this.send = (entries) => setStateValue("outbox", entries);
    if (this.visit !== visitOf(data)) this.enter(visitOf(data));
    this.visit.outbox.acknowledge(data.ack);
    this.showPending();
    const scheme = schemeOf(this.root);
    if (data.revision !== this.revision) this.takeScene(data.scene, data.revision);
    else if (scheme !== this.scheme) this.redraw();
    this.change.showHistory(data.edits, data.undo);
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
    const last = scene.steps.length - 1;
    if (visit.scenario === scenario) {
      visit.step = visit.last > 0 && visit.step === visit.last ? last : Math.min(visit.step, last);
      this.selected = this.scene ? foundAgain(this.selected, this.scene, scene) : null;
    } else {
      Object.assign(visit, { scenario, step: 0, cut: null, orientation: scene.orientation });
      this.selected = null;
    }
    visit.last = last;
    this.scene = scene;
    this.revision = revision;
    this.redraw();
    this.root.dataset.scene = scene.name;
  }

  /** Draw everything for the scene, the theme and the orientation there are now. */
  redraw() {
    const { scene, visit } = this;
    this.scheme = schemeOf(this.root);
    this.root.dataset.scheme = this.scheme;
    const palette = scene.palettes[this.scheme];
    this.magnification = magnification();
    const figure = enlarge(painted(scene.figures[visit.orientation], palette), this.magnification);
    this.diagram.selected = this.selected;
    this.diagram.cut = visit.cut;
    this.diagram.draw(figure, `${visit.scenario} ${visit.orientation}`, scene.steps, visit.step);
    this.record.show(scene, palette, visit.step);
    this.network.show(scene, palette, visit.step);
    this.change.show(scene, palette, visit.step, this.selected);
    this.showSigns(palette);
    showStory(this.story, scene, this.signs, visit.cut, (cut) => this.showCut(cut));
    this.showOrientation();
    this.showStep();
  }

  /** The signs below the diagram take the colours of the scheme. */
  showSigns(palette) {
    for (const name of ["p0", "s0", "mark"]) this.root.style.setProperty(`--cc-${name}`, palette[name]);
  }

  /** Show another step; a series of moves within one frame is drawn once. */
  goTo(step) {
    this.visit.step = step;
    this.showStep();
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      this.diagram.stepTo(this.visit.step);
      this.tabs[this.visit.tab]?.stepTo(this.visit.step);
    });
  }

  /** Between two steps nothing happens but time: the line of now and the messages in flight move on. */
  glide(part) {
    if (this.visit.step === this.visit.last) return; // an edit has just made the run end here
    if (this.frame) return; // the step itself is still to be drawn
    this.diagram.glide(part);
    this.network.glide(part);
  }

  showStep() {
    const { step } = this.visit;
    const { rule, sentence } = this.scene.steps[step];
    setText(this.rule, rule);
    setText(this.sentence, sentence);
    this.sentence.dataset.length = sentence.length > 190 ? "longest" : sentence.length > 130 ? "long" : "short";
    this.hint.hidden = step > 0;
    this.transport.show(step, this.scene.steps);
    this.root.dataset.step = step;
  }

  select(id) {
    this.selected = id;
    this.diagram.select(id);
    this.change.select(id);
  }

  showCut(cut) {
    this.visit.cut = cut;
    this.diagram.showCut(cut);
  }

  selectFromDiagram(id) {
    this.openTab("change");
    this.select(id);
  }

  /** Only the open tab follows the steps; another one catches up when it is opened. */
  openTab(name) {
    this.visit.tab = name;
    TABS.forEach((tab) => {
      this.root.querySelector(`[data-tab=${tab}]`).setAttribute("aria-selected", tab === name);
      this.root.querySelector(`[data-view=${tab}]`).hidden = tab !== name;
    });
    if (this.scene) this.tabs[name]?.stepTo(this.visit.step);
  }

  toggleOrientation() {
    this.visit.orientation = this.visit.orientation === "down" ? "right" : "down";
    this.redraw();
  }

  /** The button shows how time runs and says where a click leads. */
  showOrientation() {
    const { orientation } = this.visit;
    this.turn.dataset.orientation = orientation;
    this.turn.title = orientation === "down" ? "Let time run from left to right" : "Let time run from top to bottom";
    this.turn.setAttribute("aria-label", this.turn.title);
  }

  submit(edit) {
    const { outbox, step } = this.visit;
    this.send(outbox.add(edit, step, this.scene.steps[step].time));
    this.showPending();
  }

  showPending() {
    this.root.toggleAttribute("data-pending", this.visit.outbox.waiting.length > 0);
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

  close() {
    cancelAnimationFrame(this.frame);
    window.removeEventListener("resize", this.onResize);
    this.transport.close();
    this.diagram.close();
    this.network.close();
  }
}

/** The id in a new scene of a message known by its id in an old one: ids change, addresses do not. */
function foundAgain(id, before, after) {
  const address = JSON.stringify(before.messages.find((message) => message.id === id)?.address);
  return after.messages.find((message) => JSON.stringify(message.address) === address)?.id ?? null;
}

/** After a click with the mouse a button or radio gives the focus back, so that the keys step and play again. */
function letGo(event) {
  if (event.detail === 0) return; // by keyboard: whoever tabs through the page wants to stay where they are
  setTimeout(() => {
    const focused = document.activeElement;
    if (focused?.matches(".cc :is(button, [type=radio])")) focused.blur();
  });
}

/** Plotly is a classic script, fetched once per page from this very server. */
function loadPlotly(url) {
  window.consistentCutPlotly ??= new Promise((resolve, reject) => {
    const script = el("script", { src: url });
    script.addEventListener("load", resolve);
    const failure = new Error(`The drawing library did not load from ${url}: reload the page.`);
    script.addEventListener("error", () => reject(failure));
    document.head.append(script);
  });
  return window.consistentCutPlotly;
}

/** Streamlit calls this at every run and every change of theme, and what it returns when the place goes. */
export default async function ({ data, parentElement, setStateValue }) {
  await loadPlotly(data.plotly_url);
  const root = parentElement.querySelector(".cc");
  if (!explorers.has(root)) explorers.set(root, new Explorer(root));
  const explorer = explorers.get(root);
  explorer.receive(data, setStateValue);
  return () => {
    explorers.delete(root);
    explorer.close();
  };
}
