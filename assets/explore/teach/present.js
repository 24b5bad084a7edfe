/* The presenter view: diagram, captions and sentence, large, and nothing else. It is worked by keys. */

import { resolveColour, snapshotDot } from "../page/colours.js";
import { el, unbroken } from "../page/dom.js";
import { keepsKeys } from "../page/keys.js";
import { valueAt } from "../run/timeline.js";

const PRESENTED_TYPE = 20.5; // the size of the type (in pixels) on a screen of 1280 by 720; on others in proportion

/** The list of keys and the pointer are hidden when the pointer has rested this long, in milliseconds. */
const IDLE_MS = 4000;

export class Presenter {
  /** @param onEnter called before the view opens */
  constructor(explorer, onEnter) {
    const { root } = explorer;
    this.explorer = explorer;
    this.root = root;
    this.onEnter = onEnter;
    this.button = root.querySelector("[data-tool=present]");
    this.button.title = "Presenter view (P)";
    this.line = el("p", { class: "cc-presented", "aria-label": "Recorded so far" });
    this.keys = el("p", { class: "cc-keys" }, ...keysInWords());
    root.append(this.line, this.keys);
    const signal = explorer.closed;
    root.addEventListener("pointermove", () => this.isOn && this.wake());
    document.addEventListener("keydown", (event) => this.key(event), { signal });
    document.addEventListener("fullscreenchange", () => this.leftFullscreen(), { signal });
    window.addEventListener("resize", () => this.isOn && this.resize(), { signal });
    signal.addEventListener("abort", () => this.leave());
  }

  get isOn() {
    return "presenting" in this.root.dataset;
  }

  toggle() {
    if (this.isOn) this.leave();
    else this.enter();
  }

  enter() {
    this.onEnter();
    this.focused = document.activeElement;
    this.explorer.select(null);
    this.root.dataset.presenting = "";
    this.root.tabIndex = -1;
    this.aside = coverable(this.root);
    this.aside.forEach((node) => (node.inert = true));
    this.root.focus({ preventScroll: true });
    this.root.requestFullscreen?.({ navigationUI: "hide" }).catch(() => {}); // else it covers the page only
    this.resize();
    this.wake();
    this.explorer.notify("stepTo", this.explorer.shownStep());
  }

  leave() {
    if (!this.isOn) return;
    delete this.root.dataset.presenting;
    delete this.root.dataset.idle;
    this.root.removeAttribute("tabindex");
    this.aside.forEach((node) => (node.inert = false));
    clearTimeout(this.idle);
    if (document.fullscreenElement === this.root) document.exitFullscreen().catch(() => {});
    document.documentElement.style.removeProperty("font-size");
    this.explorer.redraw();
    this.focused.focus({ preventScroll: true });
    this.explorer.notify("stepTo", this.explorer.shownStep());
  }

  /** Escape ends full screen before the page hears of the key. */
  leftFullscreen() {
    const isFull = document.fullscreenElement === this.root;
    if (this.wasFull && !isFull) this.leave();
    this.wasFull = isFull;
  }

  /** Set the size of the type, on which all sizes depend, those of the diagram too. */
  resize() {
    const share = Math.min(innerWidth / 1280, innerHeight / 720);
    const size = `${(PRESENTED_TYPE * Math.max(0.6, share)).toFixed(2)}px`;
    document.documentElement.style.setProperty("font-size", size, "important");
    this.explorer.redraw();
  }

  wake() {
    delete this.root.dataset.idle;
    clearTimeout(this.idle);
    this.idle = setTimeout(() => (this.root.dataset.idle = ""), IDLE_MS);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || keepsKeys(event.target)) return;
    const key = event.key.toLowerCase();
    const acts = { p: () => this.toggle() };
    const turn = () => this.explorer.toggleOrientation();
    if (this.isOn) Object.assign(acts, { escape: () => this.leave(), o: turn, n: () => this.nextSnapshot() });
    if (!acts[key] || event.repeat) return;
    event.preventDefault();
    acts[key]();
  }

  nextSnapshot() {
    const { scene, tabs: { record } } = this.explorer;
    const { snapshots } = scene;
    if (snapshots.length < 2) return;
    const next = (snapshots.findIndex(({ id }) => id === this.snapshot.id) + 1) % snapshots.length;
    this.chosen = snapshots[next].id;
    if (record.scene === scene) record.choose(this.chosen);
    this.stepTo(this.explorer.shownStep());
  }

  /** The snapshot shown: the one chosen here, else in the Record tab, else the first. */
  get snapshot() {
    const { scene, tabs } = this.explorer;
    const find = (id) => scene.snapshots.find((snapshot) => snapshot.id === id);
    return find(this.chosen) ?? find(tabs.record.chosen) ?? scene.snapshots[0];
  }

  show(scene, palette, step) {
    this.palette = palette;
    if (!this.hasBegun && new URLSearchParams(location.search).get("view") === "present") {
      queueMicrotask(() => this.isOn || this.enter());
    }
    this.hasBegun = true;
    this.stepTo(step);
  }

  /** A click in the diagram does nothing here. */
  claims() {
    return this.isOn;
  }

  /** Show what is recorded, in one line: as many captions as fit. */
  stepTo(step) {
    if (!this.isOn || !this.explorer.scene) return;
    const { snapshot } = this;
    this.keys.querySelector("[data-key=N]").hidden = this.explorer.scene.snapshots.length < 2;
    const counter = el("span", { class: "cc-counter" }, `${this.explorer.visit.step} / ${this.explorer.scene.last}`);
    if (!snapshot) return this.line.replaceChildren(el("span", { class: "cc-captions" }), counter);
    const head = el("strong", {}, snapshotDot(resolveColour(snapshot.colour, this.palette)), snapshot.id);
    for (const captions of [allCaptions, channelCaptions, busyCaptions]) {
      const shown = el("span", { class: "cc-captions" }, head, ...captions(snapshot, step));
      this.line.replaceChildren(shown, counter);
      if (shown.scrollWidth <= shown.clientWidth) return;
    }
  }
}

function keysInWords() {
  const words = [["→ ←", "step"], ["Space", "play"], ["Home End", "ends"], ["O", "turn"], ["N", "next snapshot"], ["Esc", "leave"]];
  return words.map(([key, word]) => el("span", { "data-key": key }, el("kbd", {}, key), ` ${word}`));
}

/** Everything on the page outside the explorer, to be made inert: the view covers it. */
function coverable(root) {
  const found = [];
  for (let node = root; node.parentElement && node !== document.body; node = node.parentElement) {
    found.push(...[...node.parentElement.children].filter((other) => other !== node && !other.inert && other.tagName !== "SCRIPT"));
  }
  return found;
}

function allCaptions(snapshot, step) {
  const processes = snapshot.processes.map(({ name, text }) => {
    const state = valueAt(text, step) ?? "not recorded yet";
    const isThere = state !== "not recorded yet";
    return el("span", { "data-state": isThere ? "process" : "idle" }, isThere ? `${name} = ${state}` : name);
  });
  return [...processes, ...channelCaptions(snapshot, step)];
}

function channelCaptions({ channels }, step) {
  return channels.map(({ caption, text, state }) =>
    el("span", { "data-state": valueAt(state, step) ?? "idle" }, ...unbroken(shortened(valueAt(text, step) ?? caption))),
  );
}

/** "C12 …" for "C12 = ...recording...": the colour says the rest. */
function shortened(text) {
  return text.replace(/( =|,) \.\.\.recording\.\.\.$/, " …");
}

/** The channels that hold or await messages, and the number of empty ones. */
function busyCaptions(snapshot, step) {
  const shown = channelCaptions(snapshot, step);
  const having = (...states) => shown.filter(({ dataset }) => states.includes(dataset.state));
  const empty = having("empty").length;
  const rest = empty ? [el("span", { "data-state": "empty" }, `${empty} ${empty > 1 ? "channels" : "channel"} empty`)] : [];
  return [...having("messages"), ...rest, ...having("recording")];
}
