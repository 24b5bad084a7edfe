/* The hub of the page Live: a window that follows a cluster, or looks back, and the buttons that act on the cluster. */

import { showSigns, signsInFull } from "../explore/diagram/signs.js";
import { enlarge, magnification, painted, schemeOf } from "../explore/page/colours.js";
import { Dialog } from "../explore/page/dialog.js";
import { el, fillMenu, refill, setText } from "../explore/page/dom.js";
import { keepsKeys } from "../explore/page/keys.js";
import { Presented } from "../explore/page/presented.js";
import { Outbox } from "../explore/run/outbox.js";
import { Charts } from "./charts.js";
import { Frames } from "./frames.js";
import { LiveDiagram } from "./live_diagram.js";
import { Panel } from "./panel.js";
import { Record } from "./record.js";

const NARROW = 480; // pixels: in a narrower room time runs down
const USUAL_WIDTH = 10; // seconds
const OVER = { ended: "The cluster has ended.", failed: "" };
const ABOUT =
  "Each line is a process, and time runs along it. A cut says for each process which events are in it. It is consistent " +
  "if no message is received inside that is sent outside. A snapshot records the states at such a cut, and the messages on their way over it.";
const MARKS = { crash: "a process has ended", recovery: "all processes go back", down: "a channel is severed", frozen: "a process stands still" };
const NO_EVENTS = { within: () => [], lane: [] }; // nothing in the diagram is asked about: Explore does that

/** To the diagram it is what an explorer is: `root`, `closed`, `transport`, `notify` and `pick`. */
export class LiveCluster {
  constructor(root) {
    this.root = root;
    this.closing = new AbortController();
    this.closed = this.closing.signal;
    this.end = null; // seconds: where the diagram ends; null: it follows
    this.width = USUAL_WIDTH;
    const find = (what) => root.querySelector(what);
    this.said = find(".cc-live-said");
    this.last = find(".cc-live-last");
    this.amounts = find(".cc-live-amounts");
    this.time = find(".cc-live-time");
    this.marks = find(".cc-live-marks");
    this.position = find(".cc-live-position");
    this.widths = find(".cc-live-width select");
    this.menu = find(".cc-live-menu");
    this.notice = find(".cc-notice");
    this.buttons = Object.fromEntries([...root.querySelectorAll("[data-wish]")].map((button) => [button.dataset.wish, button]));
    this.transport = { moveBy: (steps) => this.moveBy(steps) };
    this.diagram = new LiveDiagram(this);
    this.panel = new Panel(root, (wish) => this.submit(wish), (snapshot) => this.record.open(snapshot));
    this.charts = new Charts(root);
    this.signs = el("div", {});
    this.dialog = new Dialog(this, "What the diagram shows", el("p", {}, ABOUT), this.signs);
    this.record = new Record(this);
    this.presenter = new Presented(this, () => this.redraw());
    this.frames = new Frames(() => this.address(), (frame) => this.take(frame), (problem) => this.lost(problem), this.closed);
    this.listen();
  }

  listen() {
    const { buttons, closed: signal } = this;
    const acts = {
      signs: () => this.showSigns(),
      present: () => this.presenter.toggle(),
      follow: () => this.toggle(),
      explore: () => this.carry("explore"),
      traces: () => this.carry("traces"),
      snapshot: () => this.submit({ do: "snapshot" }),
      restore: () => this.submit({ do: "restore" }),
      sever: () => this.submit({ do: "sever", channels: this.panel.chosen }),
      mend: () => this.submit({ do: "mend", channels: this.panel.chosen }),
      stop: () => this.submit({ do: "stop" }),
      another: () => this.submit({ do: "another" }),
    };
    this.acts = acts;
    for (const [wish, button] of Object.entries(buttons)) button.addEventListener("click", acts[wish]);
    this.time.addEventListener("input", () => this.lookBack(Number(this.time.value)));
    this.widths.addEventListener("change", () => this.show(() => (this.width = Number(this.widths.value))));
    this.notice.querySelector(".cc-notice-close").addEventListener("click", () => (this.notice.hidden = true));
    this.marks.addEventListener("click", ({ target }) => target.dataset.snapshot && this.record.open(target.dataset.snapshot));
    document.addEventListener("keydown", (event) => this.key(event), { signal });
    // The button that the pointer has pressed lets the focus go: Space is for Pause then. By keys it keeps the focus.
    this.root.addEventListener("click", ({ detail, target }) => detail > 0 && target.closest("button")?.blur(), true);
    document.addEventListener("pointerdown", (event) => this.menu.contains(event.target) || (this.menu.hidden = true), { capture: true, signal });
    window.addEventListener("resize", () => this.resized(), { signal });
  }

  /** Take what Python sent: which cluster it is, and what this browser may do. */
  receive(data, setStateValue) {
    this.send = (entries) => setStateValue("outbox", entries);
    if (this.data?.run !== data.run) Object.assign(this, { frame: null, end: null });
    this.data = data;
    this.outbox ??= new Outbox(data.ack);
    this.outbox.acknowledge(data.ack);
    this.showPending();
    this.palette = data.palettes[schemeOf(this.root)];
    this.root.dataset.scheme = schemeOf(this.root);
    setText(this.root.querySelector(".cc-title"), data.title);
    if (!this.widths.options.length) fillMenu(this.widths, data.widths.map((width) => [String(width), `${width} s`]));
    this.widths.value = String(this.width);
    const { notice } = data;
    if (notice && notice.seq !== this.noticed) {
      this.noticed = notice.seq;
      this.tell(notice.text);
    }
    if (this.frame) this.draw(this.frame);
    this.showActs();
    this.frames.soon();
    if (!this.hasBegun && new URLSearchParams(location.search).get("view") === "present") this.presenter.enter();
    this.hasBegun = true;
    this.root.dataset.ack = data.ack;
  }

  showPending() {
    this.root.toggleAttribute("data-pending", this.outbox.waiting.length > 0);
  }

  submit(wish) {
    this.menu.hidden = true;
    this.send(this.outbox.add({ ...wish, run: this.data.run }, 0, 0, 0));
    this.showPending();
  }

  tell(text) {
    setText(this.notice.querySelector(".cc-notice-text"), text);
    this.notice.hidden = false;
  }

  lost(problem) {
    if (problem) setText(this.said, problem);
    this.root.toggleAttribute("data-lost", problem !== null);
  }

  // ------------------------------------------------------------------ which seconds

  get orientation() {
    return this.diagram.node.clientWidth < NARROW && innerHeight > 480 ? "down" : "right";
  }

  /** The address of the frame that is wanted; null once all of a cluster that is over is on show. */
  address() {
    if (!this.data) return null;
    const place = new URLSearchParams({ width: this.width, orientation: this.orientation, ...(this.end === null ? {} : { end: this.end.toFixed(1) }) });
    return `${this.data.frames_url}/${this.data.run}?${place}`;
  }

  /** The address of what a snapshot has recorded. */
  recordOf(snapshot) {
    return `${this.data.frames_url}/${this.data.run}/${encodeURIComponent(snapshot)}`;
  }

  /** Show another place at once. */
  show(change) {
    change();
    this.showWay();
    this.frames.soon();
  }

  lookBack(end) {
    const { now } = this.frame ?? { now: 0 };
    this.show(() => (this.end = end >= now - 0.15 && this.frame?.state === "running" ? null : end));
  }

  toggle() {
    if (!this.frame) return;
    this.show(() => (this.end = this.end === null ? this.frame.end ?? this.frame.now : null));
  }

  moveBy(steps) {
    if (!this.frame) return;
    const end = (this.end ?? this.frame.now) + (steps * this.width) / 4;
    this.lookBack(Math.max(0, Math.min(end, this.frame.now)));
  }

  /** Take the seconds on show to another page. */
  carry(where) {
    if (this.frame?.begin !== undefined) this.submit({ do: where, begin: this.frame.begin, end: this.frame.end });
  }

  // ------------------------------------------------------------------ a frame

  take(frame) {
    const isNew = frame.state !== this.frame?.state;
    this.frame = frame;
    this.draw(frame);
    this.record.refresh();
    if (isNew) this.showActs();
  }

  draw(frame) {
    const scheme = schemeOf(this.root);
    this.root.dataset.scheme = scheme;
    this.palette = this.data.palettes[scheme];
    this.panel.show(frame, this.data.may_act);
    if (frame.figure) this.drawDiagram(frame);
    if (frame.seconds) this.charts.show(frame, this.palette);
    this.showWay();
    setText(this.said, this.sentence(frame));
    setText(this.last, frame.said ?? "");
    this.showAmounts(frame.amounts);
    this.root.dataset.state = frame.state;
    this.root.dataset.ready = "true";
  }

  drawDiagram(frame) {
    const { node } = this.diagram;
    const figure = enlarge(painted(frame.figure, this.palette), magnification(node));
    const position = frame.end;
    const scene = { ...frame, first: frame.last, until: frame.last, steps: [{ position }] };
    this.diagram.draw(figure, this.palette, `${this.data.run} ${frame.begin} ${this.orientation}`, scene, NO_EVENTS, frame.last);
    showSigns(this.root.querySelector(".cc-signs"), frame.signs, "run");
  }

  /** Each sign that the diagram has now, with its sentence. */
  showSigns() {
    if (!this.frame?.signs) return;
    this.signs.replaceChildren(signsInFull(this.frame.signs));
    this.dialog.open();
  }

  /** The sums of what is conserved; a workload that conserves nothing has no room for them. */
  showAmounts(amounts) {
    this.amounts.hidden = !amounts;
    if (!amounts) return;
    const [sum, recorded] = this.amounts.children;
    setText(sum, amounts.sum);
    setText(recorded, amounts.recorded);
  }

  /** How the system is now, or was at the end of the diagram. */
  sentence({ state, problem, is, end }) {
    if (state === "starting") return "The processes are starting …";
    if (this.end !== null && end !== undefined) return `At ${end.toFixed(1)} s: ${is}`;
    return state === "running" ? is : problem || OVER[state] || is;
  }

  showWay() {
    const { frame } = this;
    if (!frame) return;
    const isOver = frame.state === "ended" || frame.state === "failed";
    const end = this.end ?? frame.now;
    this.time.max = Math.max(frame.now, 0.1).toFixed(1);
    this.time.value = end;
    this.time.setAttribute("aria-valuetext", `${end.toFixed(1)} seconds`);
    this.buttons.follow.hidden = isOver && this.end === null;
    setText(this.buttons.follow, this.end === null ? "Pause" : isOver ? "To the end" : "Follow");
    this.root.toggleAttribute("data-follows", this.end === null);
    const every = frame.every > 1 ? `, 1 of ${frame.every} messages drawn` : "";
    setText(this.position, `${end.toFixed(1)} s of ${frame.now.toFixed(1)} s${every}`);
    const place = (at) => `${((at / Math.max(frame.now, 0.1)) * 100).toFixed(2)}%`;
    refill(this.marks, JSON.stringify([frame.marks?.length, frame.now]), () => (frame.marks ?? []).map(([at, kind, snapshot]) => {
      const what = snapshot ? `${snapshot} is complete: show what it recorded` : MARKS[kind];
      return el("i", { "data-kind": kind, "data-snapshot": snapshot, title: `At ${at.toFixed(1)} s: ${what}`, style: `left: ${place(at)}` });
    }));
  }

  /** Which buttons there are: those of a cluster that runs, for who may act on it. */
  showActs() {
    const state = this.frame?.state ?? "starting";
    const isOver = state === "ended" || state === "failed";
    const acts = this.data.may_act && state === "running";
    this.root.querySelectorAll("[data-acts]").forEach((node) => (node.hidden = !acts));
    this.buttons.another.hidden = !isOver;
    this.root.querySelector(".cc-live-watch").hidden = this.data.may_act || isOver;
  }

  // ------------------------------------------------------------------ the diagram and keys

  notify() {
    if (this.frame && !this.diagram.isWhole && this.end === null) this.toggle(); // the user zooms
  }

  /** Once a cluster is over no new frame comes, so the charts are drawn for the new size with the last one. */
  resized() {
    if (this.frame?.seconds) this.charts.show(this.frame, this.palette);
    this.frames.soon();
  }

  redraw() {
    if (this.frame) this.draw(this.frame);
    this.frames.soon();
  }

  /** A click on a cut: what its snapshot recorded. On the line of a process: what can be done to it. */
  pick({ kind, lane, snapshot, clientX, clientY }) {
    if (kind === "cut") this.record.open(snapshot);
    const name = kind === "line" ? this.frame?.processes[lane] : null;
    if (!name || !this.data.may_act || this.frame.state !== "running") return;
    const others = this.frame.processes.filter((other) => other !== name);
    const item = (words, wish) => el("button", { type: "button", role: "menuitem", onclick: () => this.submit(wish) }, words);
    const still = this.frame.nodes.some((node) => node.name === name && node.status === "FROZEN");
    this.menu.replaceChildren(
      item(`Snapshot from ${name}`, { do: "snapshot", node: name }),
      item(`Kill ${name}`, { do: "kill", node: name }),
      still ? item(`Thaw ${name}`, { do: "thaw", node: name }) : item(`Freeze ${name}`, { do: "freeze", node: name }),
      item(`Sever all channels to ${name}`, { do: "sever", channels: others.map((other) => `${other}->${name}`) }),
      item(`Mend all channels to ${name}`, { do: "mend", channels: others.map((other) => `${other}->${name}`) }),
    );
    this.menu.hidden = false;
    const room = this.menu.parentElement.getBoundingClientRect();
    const { width, height } = this.menu.getBoundingClientRect();
    this.menu.style.left = `${Math.max(0, Math.min(clientX - room.left, room.width - width))}px`;
    this.menu.style.top = `${Math.max(0, Math.min(clientY - room.top, room.height - height))}px`;
    this.menu.firstElementChild.focus();
  }

  key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && !this.menu.hidden) {
      this.menu.hidden = true;
      return;
    }
    if (keepsKeys(event.target)) return;
    const acts = { " ": "follow", p: "present", s: "snapshot" };
    const act = acts[event.key];
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === " " && event.target.closest?.("button")) return; // it presses the button
    if (act && !this.buttons[act].closest("[hidden]")) this.acts[act]();
    else if (move) this.moveBy(move);
    else return;
    event.preventDefault();
  }

  close() {
    this.closing.abort();
    this.root.querySelectorAll(".js-plotly-plot").forEach((plot) => Plotly.purge(plot));
  }
}
