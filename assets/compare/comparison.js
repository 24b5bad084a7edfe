/* The hub of the Compare page: one scenario under several algorithms, side by side, stepped by one slider. */

import { schemeOf } from "../explore/page/colours.js";
import { el, fillMenu, setText } from "../explore/page/dom.js";
import { keepsKeys } from "../explore/page/keys.js";
import { Presented } from "../explore/page/presented.js";
import { ToolsMenu } from "../explore/page/tools_menu.js";
import { addressOf, writeHistory } from "../explore/share/address.js";
import { ExportDialog } from "../explore/share/export_dialog.js";
import { ShareDialog } from "../explore/share/share_dialog.js";
import { Transport } from "../explore/transport.js";
import { Column } from "./column.js";
import { showFigures } from "./figures.js";
import { lastUntil, merged } from "./merged.js";

const ADDRESS_MS = 400; // the address is written when nothing has changed for this long, in milliseconds
const LEAST_WIDTH = { down: 22, right: 42 }; // of a column beside others, in letters, by the way time runs
const PRESENTED = 0.7; // of that in the presenter view, so that one row may do
const NARROW = 900; // pixels: a screen on which one reads from near

/**
 * It takes the keys, and has what its columns share: the moment on show, the tab, which way time runs. To the dialogs
 * Share and Export it is what an explorer is: `data`, `visit`, `scene` and so on.
 */
export class Comparison {
  constructor(root) {
    this.root = root;
    this.closing = new AbortController();
    this.closed = this.closing.signal;
    this.columns = new Map(); // by algorithm
    this.outboxes = {}; // by algorithm: the entries that Python has not acknowledged
    this.position = 0; // the moment on show
    this.moments = [[-Infinity, 0]];
    this.orientation = null;
    this.template = root.querySelector("template").content.querySelector(".cc");
    const shared = root.querySelector(".cc-shared");
    const [transport, tabs] = [".cc-transport", ".cc-tabs"].map((what) => this.template.querySelector(what).cloneNode(true));
    this.grid = root.querySelector(".cc-columns");
    this.costs = root.querySelector(".cc-costs");
    this.more = el("select", { class: "cc-more", "aria-label": "One more algorithm", onchange: () => this.addColumn() });
    shared.append(transport, el("div", { class: "cc-chosen" }, tabs, this.more));
    this.problem = root.querySelector(".cc-problem");
    this.tabs = [...shared.querySelectorAll("[data-tab]")];
    this.turn = shared.querySelector(".cc-orientation");
    this.toolsMenu = new ToolsMenu(this);
    this.transport = new Transport({ root: shared, closed: this.closed, keyboard: document, goTo: (position) => this.goTo(position), glide: (part) => this.glide(part) });
    this.share = new ShareDialog(this);
    this.export = new ExportDialog(this);
    this.presenter = new Presented(this, () => this.redraw());
    this.tools = { share: () => this.share.open(), export: () => this.export.open(), present: () => this.presenter.toggle() };
    this.listen();
  }

  listen() {
    const { root, closed: signal } = this;
    root.querySelectorAll("[data-wish]").forEach((button) => button.addEventListener("click", () => this.wish(button.dataset.wish)));
    this.tabs.forEach((tab) => tab.addEventListener("click", () => this.openTab(tab.dataset.tab)));
    this.turn.addEventListener("click", () => this.toggleOrientation());
    document.addEventListener("keydown", (event) => this.key(event), { signal });
    const room = new ResizeObserver(() => this.layOut());
    room.observe(this.grid);
    signal.addEventListener("abort", () => room.disconnect());
  }

  /** Draw all runs anew, for the room and the type that there are now. */
  redraw() {
    this.layOut();
    for (const { explorer } of this.running) explorer.redraw();
  }

  /** Take what Python sent. */
  receive(data, setStateValue) {
    const before = this.moments[this.position];
    const wasAtEnd = this.position > 0 && this.position === this.moments.length - 1;
    this.data = data;
    this.setStateValue = setStateValue;
    this.root.dataset.scheme = schemeOf(this.root);
    setText(this.root.querySelector(".cc-title"), data.title);
    this.arrange(data);
    alignTimes(data.columns);
    data.columns.forEach((own) => this.columns.get(own.algorithm).receive({ ...own, exports_url: data.exports_url }, data.known, data.columns.length === 1));
    this.showMenu(data);
    setText(this.problem, data.problem);
    this.problem.hidden = !data.problem;
    const run = `${data.session} ${data.opened}`;
    const isNew = this.run !== run;
    this.run = run;
    this.merge();
    this.orientation ??= this.running[0]?.explorer.visit.orientation ?? null;
    this.showOrientation();
    showFigures(this.costs, data);
    this.goTo(isNew ? Math.min(data.step, this.last) : wasAtEnd ? this.last : Math.min(lastUntil(this.moments, before), this.last));
    this.openTab(this.tab ?? "record");
    this.showHistory();
    this.showPending();
    this.layOut();
    if (!this.hasBegun && new URLSearchParams(location.search).get("view") === "present") this.presenter.enter();
    this.hasBegun = true;
    this.root.dataset.ready = "true";
    this.root.dataset.ack = data.columns.map(({ ack }) => ack).join(" ");
  }

  /** The columns in the order of the algorithms; those that are not wanted any more go. */
  arrange({ columns }) {
    const wanted = columns.map(({ algorithm }) => algorithm);
    for (const [algorithm, column] of this.columns) {
      if (wanted.includes(algorithm)) continue;
      column.close();
      this.columns.delete(algorithm);
      delete this.outboxes[algorithm];
    }
    for (const algorithm of wanted) if (!this.columns.has(algorithm)) this.columns.set(algorithm, new Column(this, algorithm));
    this.ordered = wanted.map((algorithm) => this.columns.get(algorithm));
    const isSame = this.ordered.every(({ node }, place) => this.grid.children[place] === node);
    if (!isSame) this.grid.replaceChildren(...this.ordered.map(({ node }) => node));
  }

  /** The algorithms that may come beside those on show. */
  showMenu({ known, algorithms, most }) {
    const others = known.filter(([name]) => !algorithms.includes(name));
    fillMenu(this.more, [["", "+ Algorithm"], ...others]);
    this.more.value = "";
    this.more.hidden = algorithms.length >= most;
  }

  addColumn() {
    if (this.more.value) this.ordered[0].submit({ do: "add", kind: this.more.value });
  }

  /** The columns in which a run is on show. */
  get running() {
    return this.ordered.filter(({ runs }) => runs);
  }

  get last() {
    return this.moments.length - 1;
  }

  // ------------------------------------------------------------------ stepping together

  merge() {
    const { moments, steps } = merged(this.running.map(({ data }) => data.times));
    this.moments = moments.length ? moments : [[-Infinity, 0]];
    this.running.forEach((column, number) => (column.steps = steps[number]));
  }

  /** Show another moment in all columns. */
  goTo(position) {
    this.position = Math.max(0, Math.min(this.last, position));
    for (const column of this.running) {
      const step = column.steps[this.position];
      if (column.explorer.visit.step !== step) column.explorer.goTo(step);
    }
    this.showMoment();
  }

  /** Between two moments: the messages move in the columns that step next. */
  glide(part) {
    for (const { explorer, steps } of this.running) if (steps[this.position + 1] !== steps[this.position]) explorer.glide(part);
  }

  /** A column has been stepped by itself: the others follow. */
  follow(column, step) {
    if (!column.steps || column.steps[this.position] === step) return;
    const position = column.steps.indexOf(step);
    if (position >= 0) this.goTo(position);
  }

  showMoment() {
    const time = this.position === 0 ? 0 : this.moments[this.position][0];
    const hasTime = this.running.some(({ data }) => data.scene.has_time);
    this.transport.show(this.position, this.last, hasTime ? time : undefined);
    this.root.dataset.step = this.position;
    this.showAddress();
  }

  // ------------------------------------------------------------------ what the columns share

  openTab(name) {
    this.tab = name;
    for (const tab of this.tabs) tab.setAttribute("aria-selected", tab.dataset.tab === name);
    for (const what of ["stored", "stable"]) this.root.toggleAttribute(`data-${what}`, this.running.some(({ explorer }) => explorer.root.hasAttribute(`data-${what}`)));
    for (const { explorer } of this.running) if (explorer.visit.tab !== name) explorer.openTab(name);
  }

  followTab(name) {
    if (this.tab && name !== this.tab && !this.isFollowing) {
      this.isFollowing = true;
      this.openTab(name);
      this.isFollowing = false;
    }
  }

  toggleOrientation() {
    this.orientation = this.orientation === "down" ? "right" : "down";
    for (const { explorer } of this.running) if (explorer.visit.orientation !== this.orientation) explorer.toggleOrientation();
    this.showOrientation();
    this.layOut();
  }

  showOrientation() {
    this.root.dataset.orientation = this.orientation ?? "down";
    this.turn.dataset.orientation = this.root.dataset.orientation;
    this.turn.title = this.orientation === "down" ? "Let time run from left to right, one run above the other" : "Let time run from top to bottom, the runs side by side";
    this.turn.setAttribute("aria-label", this.turn.title);
  }

  /** Side by side where there is room, in rows of the same length; else one above the other. */
  layOut() {
    const letter = parseFloat(getComputedStyle(document.documentElement).fontSize);
    const count = this.ordered?.length ?? 1;
    const least = LEAST_WIDTH[this.orientation ?? "down"] * letter * (this.presenter.isOn && innerWidth > NARROW ? PRESENTED : 1);
    const most = Math.max(1, Math.floor(this.grid.clientWidth / least));
    const rows = Math.ceil(count / Math.min(count, most));
    this.grid.style.setProperty("--columns", Math.ceil(count / rows));
    this.grid.style.setProperty("--rows", rows);
  }

  // ------------------------------------------------------------------ edits

  /** Send the outbox of a column to Python. */
  send(algorithm, entries) {
    this.outboxes = { ...this.outboxes, [algorithm]: entries };
    this.setStateValue("outboxes", this.outboxes);
  }

  wish(what) {
    if (this.tools[what]) this.tools[what]();
    else this.ordered[0]?.submit({ do: what });
  }

  showPending() {
    this.root.toggleAttribute("data-pending", Boolean(this.ordered?.some(({ waiting }) => waiting.length)));
  }

  showHistory() {
    const { undo, redo } = this.data;
    this.root.querySelector("[data-wish=undo]").disabled = !undo;
    this.root.querySelector("[data-wish=redo]").disabled = !redo;
    this.share.history();
  }

  /** Ctrl+Z and Ctrl+Shift+Z (or Ctrl+Y), unless a field has the focus; P opens the presenter view. */
  key(event) {
    if (keepsKeys(event.target) || event.altKey || !this.data) return;
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey)) {
      if (key === "p") this.presenter.toggle();
      return;
    }
    const wish = key === "z" ? (event.shiftKey ? "redo" : "undo") : key === "y" ? "redo" : null;
    if (!wish) return;
    event.preventDefault();
    this.wish(wish);
  }

  // ------------------------------------------------------------------ what dialogs ask of an explorer

  get visit() {
    const waiting = this.ordered.flatMap((column) => column.waiting);
    const shown = { algorithms: this.data.algorithms.join(",") };
    return { step: this.position, shown, tab: "record", orientation: this.orientation, outbox: { waiting } };
  }

  /** That of the first run, with the moments of all as its steps. */
  get scene() {
    const scene = this.running[0]?.data.scene;
    return scene && { ...scene, last: this.last, until: this.last };
  }

  get scheme() {
    return this.root.dataset.scheme;
  }

  get cut() {
    return { isShown: false, frontier: [] };
  }

  isLong() {
    return false;
  }

  /** Write the address when nothing changes for a moment. */
  showAddress() {
    clearTimeout(this.timer);
    const path = location.pathname;
    this.timer = setTimeout(() => {
      if (location.pathname !== path || this.closed.aborted) return;
      const { link, most_link: most } = this.data;
      const address = addressOf(link, this.position, this.visit.shown, { most });
      writeHistory("replaceState", { address: address.length <= most ? address : addressOf("") });
    }, ADDRESS_MS);
  }

  close() {
    this.transport.pause();
    clearTimeout(this.timer);
    this.closing.abort();
    this.columns.forEach((column) => column.close());
  }
}

/** The same time lies at the same place in all diagrams: their time axes show the same range. */
function alignTimes(columns) {
  const axes = columns.filter(({ scene }) => scene).flatMap(({ scene }) => Object.entries(scene.figures).map(([orientation, { layout }]) => layout[orientation === "down" ? "yaxis" : "xaxis"]));
  const ends = axes.map(({ range }) => [...range].sort((a, b) => a - b));
  const [low, high] = [Math.min(...ends.map(([end]) => end)), Math.max(...ends.map(([, end]) => end))];
  for (const axis of axes) axis.range = axis.range[0] > axis.range[1] ? [high, low] : [low, high];
}
