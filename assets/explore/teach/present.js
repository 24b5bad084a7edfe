/* The presenter view: sentence, diagram and captions, large, and one line of buttons that says the keys. */

import { signsInFull } from "../diagram/signs.js";
import { el, setText } from "../page/dom.js";
import { keepsKeys } from "../page/keys.js";
import { Captions } from "./captions.js";

const PRESENTED_TYPE = 20.5; // the size of the type (in pixels) on a screen of 1280 by 720; on others in proportion
const LEAST_TYPE = 0.68; // of that size, however small the screen
const CAPTIONS_SHARE = 0.3; // the captions take at most this much of the screen's height
const IDLE_MS = 4000; // the buttons and the pointer are hidden when the pointer has rested this long, in milliseconds

/** The buttons: what a press does, by its key; the key as it is shown, a word, and what the button says aloud. */
const BUTTONS = [
  ["pageup", "←", "back", "One step back"],
  ["pagedown", "→", "next", "One step on"],
  [" ", "Space", "play", "Play or pause"],
  ["n", "N", "snapshot", "Next snapshot"],
  ["o", "O", "turn", "Turn the diagram"],
  ["l", "L", "signs", "Signs in the diagram"],
  ["b", "B", "blank", "Blank the screen"],
  ["f", "F", "full screen", "Full screen"],
  ["s", "S", "notes", "Notes in a second window"],
  ["?", "?", "keys", "All keys"],
  ["escape", "Esc", "leave", "Leave the presenter view"],
];

const KEYS = [
  [["→", "PageDown"], "the next step"],
  [["←", "PageUp"], "the step before"],
  [["Home", "End"], "the first step, the last step"],
  [["1", "2", "Enter"], "go to step 12"],
  [["Space"], "play or pause"],
  [["B", "."], "blank the screen, and show it again"],
  [["L"], "the signs in the diagram"],
  [["N"], "the next snapshot, where not all have room"],
  [["O"], "turn the diagram"],
  [["S"], "notes in a second window"],
  [["F"], "full screen"],
  [["?"], "these keys"],
  [["Esc"], "leave"],
];

export class Presenter {
  /** @param onEnter called before the view opens */
  constructor(explorer, onEnter) {
    const { root } = explorer;
    this.explorer = explorer;
    this.root = root;
    this.onEnter = onEnter;
    this.typed = ""; // the digits of a step to go to
    this.button = root.querySelector("[data-tool=present]");
    this.button.title = "Presenter view (P)";
    this.build();
    this.acts = {
      pageup: () => explorer.transport.press("back"),
      pagedown: () => explorer.transport.press("step"),
      " ": () => explorer.transport.press("play"),
      n: () => this.nextSnapshot(),
      o: () => explorer.toggleOrientation(),
      l: () => this.toggleAside("signs"),
      b: () => this.blank(),
      ".": () => this.blank(),
      f: () => this.fillScreen(),
      s: () => explorer.tools.notes(),
      "?": () => this.toggleAside("keys"),
      p: () => this.leave(),
      escape: () => this.leave(),
    };
    this.listen();
  }

  build() {
    this.captions = new Captions();
    this.buttons = new Map(BUTTONS.map(([key, sign, word, label]) => [key, this.buttonFor(key, sign, word, label)]));
    this.buttons.get("f").hidden = !document.fullscreenEnabled;
    this.counter = el("span", { class: "cc-counter" });
    this.keys = el("div", { class: "cc-keys", role: "toolbar", "aria-label": "Presenter view" }, ...this.buttons.values(), this.counter);
    this.line = el("div", { class: "cc-presented" }, this.captions.node, this.keys);
    this.aside = el("section", { class: "cc-presented-aside", hidden: true });
    this.cover = el("div", { class: "cc-blank", role: "button", "aria-label": "Show the diagram again", hidden: true, onclick: () => this.blank() });
    this.root.append(this.aside, this.line, this.cover);
  }

  buttonFor(key, sign, word, label) {
    return el("button", { type: "button", "data-key": key, "aria-label": label, onclick: () => this.acts[key]() }, el("kbd", {}, sign), el("span", {}, ` ${word}`));
  }

  listen() {
    const { root, explorer: { closed: signal, keyboard } } = this;
    const whileOn = (act) => (event) => this.isOn && act(event);
    root.addEventListener("pointermove", whileOn(() => this.wake()));
    root.addEventListener("pointerdown", whileOn(() => this.wake()));
    window.addEventListener("keydown", whileOn((event) => this.wakeFromBlank(event)), { capture: true, signal });
    keyboard.addEventListener("keydown", (event) => this.key(event), { signal });
    document.addEventListener("fullscreenchange", () => this.fullscreenChanged(), { signal });
    window.addEventListener("resize", whileOn(() => this.resize()), { signal });
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
    this.covered = coverable(this.root);
    this.covered.forEach((node) => (node.inert = true));
    this.root.focus({ preventScroll: true });
    this.fillScreen();
    this.resize();
    this.wake();
    this.explorer.notify("stepTo", this.explorer.shownStep());
  }

  leave() {
    if (!this.isOn) return;
    for (const state of ["presenting", "idle", "blank"]) delete this.root.dataset[state];
    this.root.removeAttribute("tabindex");
    this.covered.forEach((node) => (node.inert = false));
    this.cover.hidden = true;
    this.aside.hidden = true;
    this.typed = "";
    clearTimeout(this.idle);
    if (document.fullscreenElement === this.root) document.exitFullscreen().catch(() => {});
    document.documentElement.style.removeProperty("font-size");
    this.explorer.redraw();
    this.focused.focus({ preventScroll: true });
    this.explorer.notify("stepTo", this.explorer.shownStep());
  }

  /** Fill the screen, where the browser allows it; else the view covers the page only. */
  fillScreen() {
    this.root.requestFullscreen?.({ navigationUI: "hide" }).catch(() => {});
  }

  /** Escape ends full screen before the page hears of the key. */
  fullscreenChanged() {
    const isFull = document.fullscreenElement === this.root;
    this.buttons.get("f").hidden = isFull;
    if (this.wasFull && !isFull && !this.hasOpened) this.leave();
    this.wasFull = isFull;
  }

  /** A browser may end full screen when a window opens: that is not the user, and the view stays. */
  windowOpens() {
    this.hasOpened = true; // until the user is back
  }

  /** Set the size of the type, on which all sizes depend, those of the diagram too. */
  resize() {
    const share = Math.min(innerWidth / 1280, innerHeight / 720);
    const size = `${(PRESENTED_TYPE * Math.max(LEAST_TYPE, share)).toFixed(2)}px`;
    document.documentElement.style.setProperty("font-size", size, "important");
    this.explorer.redraw();
  }

  wake() {
    this.hasOpened = false;
    delete this.root.dataset.idle;
    clearTimeout(this.idle);
    this.idle = setTimeout(() => (this.root.dataset.idle = ""), IDLE_MS);
  }

  // ------------------------------------------------------------------ keys

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || keepsKeys(event.target)) return;
    const key = event.key.toLowerCase();
    const act = this.isOn ? this.typing(event) ?? this.acts[key] : key === "p" && (() => this.enter());
    if (!act || key === " " || (event.repeat && !key.startsWith("page"))) return; // Space is the transport's
    event.preventDefault();
    this.hasOpened = false;
    act();
  }

  /** Digits and Enter go to a step, as they do in slides. Where the user chooses deliveries, digits are choices. */
  typing({ key }) {
    if ("byHand" in this.root.dataset) return null;
    const { typed, explorer } = this;
    const isDigit = /^\d$/.test(key);
    this.typed = isDigit ? (typed + key).slice(-String(explorer.scene.last).length) : "";
    this.showCounter();
    if (isDigit) return () => {};
    return key === "Enter" && typed ? () => explorer.transport.move(Number(typed)) : null;
  }

  // ------------------------------------------------------------------ blank, signs, keys, snapshots

  /** Blank the screen, so that all look at the speaker; or show it again. */
  blank() {
    this.explorer.transport.pause();
    const isBlank = this.root.toggleAttribute("data-blank");
    this.cover.hidden = !isBlank;
    this.explorer.notify("stepTo", this.explorer.shownStep());
  }

  /** On a blank screen every key brings the diagram back, and does nothing else. */
  wakeFromBlank(event) {
    if (this.cover.hidden || ["Control", "Shift", "Alt", "Meta"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) this.blank();
  }

  /** Show the signs or the keys beside the diagram, or hide them again. */
  toggleAside(what) {
    this.aside.hidden = !this.aside.hidden && this.shownAside === what;
    this.shownAside = what;
    this.fillAside();
  }

  fillAside() {
    if (this.aside.hidden) return;
    const isKeys = this.shownAside === "keys";
    const title = isKeys ? "Keys" : "Signs in the diagram";
    const close = el("button", { type: "button", class: "cc-dialog-close", "aria-label": "Close", onclick: () => (this.aside.hidden = true) }, "×");
    this.aside.setAttribute("aria-label", title);
    this.aside.replaceChildren(el("header", {}, el("h3", {}, title), close), isKeys ? keysInWords() : signsInFull(this.explorer.scene.signs));
  }

  nextSnapshot() {
    const { scene, tabs: { record } } = this.explorer;
    const { snapshots } = scene;
    if (snapshots.length < 2) return;
    const next = (snapshots.findIndex(({ id }) => id === this.snapshot.id) + 1) % snapshots.length;
    this.chosen = snapshots[next].id;
    if (record.scene === scene) record.choose(this.chosen);
    this.layCaptions();
  }

  /** The snapshot shown in full: the one chosen here, else in the Record tab, else the first. */
  get snapshot() {
    const { scene, tabs } = this.explorer;
    const find = (id) => scene.snapshots.find((snapshot) => snapshot.id === id);
    return find(this.chosen) ?? find(tabs.record.chosen) ?? scene.snapshots[0];
  }

  // ------------------------------------------------------------------ called by the explorer

  show(scene, palette, step) {
    this.palette = palette;
    if (!this.hasBegun && this.explorer.isAlone && new URLSearchParams(location.search).get("view") === "present") {
      queueMicrotask(() => this.isOn || this.enter());
    }
    this.hasBegun = true;
    if (!this.isOn) return;
    this.layCaptions();
    this.fillAside();
    this.showCounter();
  }

  layCaptions() {
    const { scene } = this.explorer;
    const room = CAPTIONS_SHARE * innerHeight;
    this.captions.lay({ scene, palette: this.palette, chosen: this.snapshot, room, step: this.explorer.shownStep() });
    this.buttons.get("n").hidden = !this.captions.leavesOut;
  }

  /** A click in the diagram does nothing here. */
  claims() {
    return this.isOn;
  }

  stepTo(step) {
    if (!this.isOn || !this.explorer.scene) return;
    this.captions.stepTo(step);
    this.showCounter();
  }

  showCounter() {
    const { visit, scene } = this.explorer;
    setText(this.counter, this.typed ? `Enter: step ${this.typed}` : `${visit.step} / ${scene.last}`);
  }
}

function keysInWords() {
  const row = ([keys, words]) => el("li", {}, el("span", {}, ...keys.flatMap((key) => [el("kbd", {}, key), " "])), words);
  return el("ul", { class: "cc-keys-in-full" }, ...KEYS.map(row));
}

/** Everything on the page outside the explorer, to be made inert: the view covers it. */
function coverable(root) {
  const found = [];
  for (let node = root; node.parentElement && node !== document.body; node = node.parentElement) {
    found.push(...[...node.parentElement.children].filter((other) => other !== node && !other.inert && other.tagName !== "SCRIPT"));
  }
  return found;
}
