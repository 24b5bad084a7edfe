/* The lecturer's second window: this step and the next in words, the story, and the time. The browser's two windows share
 * one script, so nothing is sent anywhere. */

import { el, refill, setText, unbroken } from "../page/dom.js";
import { keepsKeys } from "../page/keys.js";
import { inMinutes, Stopwatch } from "../run/stopwatch.js";
import { stepAt } from "../run/timeline.js";

const TICK_MS = 500; // how often the clocks are looked at, in milliseconds

/** What Streamlit, or the off-line page, says of the look of the page; the style sheet has all else. */
const LOOKS = ["--st-background-color", "--st-text-color", "--st-font", "--st-code-font"];

const BLOCKED = "The browser has blocked the second window: allow pop-ups for this page, and press S again.";

export class NotesWindow {
  /** @param onOpen called before a window opens */
  constructor(explorer, onOpen) {
    const { root, closed: signal } = explorer;
    this.explorer = explorer;
    this.root = root;
    this.onOpen = onOpen;
    this.watch = new Stopwatch();
    this.other = null; // the second window
    this.tries = 0;
    this.build();
    explorer.keyboard.addEventListener("keydown", (event) => this.shortcut(event), { signal });
    window.addEventListener("pagehide", () => this.close(), { signal });
    signal.addEventListener("abort", () => this.close());
  }

  build() {
    const { transport, tools } = this.explorer;
    const button = (text, act) => el("button", { type: "button", onclick: () => (act(), this.refresh()) }, text);
    const heard = (text) => el("h2", {}, text);
    this.place = el("strong", { class: "cc-notes-place" });
    this.elapsed = el("span", { class: "cc-notes-elapsed", role: "timer", "aria-label": "Elapsed time" });
    this.run = button("Start", () => (this.watch.isRunning ? this.watch.pause() : this.watch.start()));
    this.clock = el("span", { class: "cc-notes-clock", "aria-label": "Time of day" });
    this.now = el("p", { class: "cc-notes-now" });
    this.next = el("p", { class: "cc-notes-next" });
    this.story = el("div", { class: "cc-notes-story", tabindex: "0" });
    this.status = el("span", { class: "cc-quiet" });
    this.back = button("← Back", () => transport.press("back"));
    this.on = button("Next →", () => transport.press("step"));
    this.on.classList.add("cc-primary");
    this.blank = button("Blank", () => this.press("b"));
    this.present = button("Present", () => tools.present());
    this.node = el("main", { class: "cc cc-notes" },
      el("header", {}, this.place, this.elapsed, this.run, button("Reset", () => this.watch.reset()), this.clock),
      el("section", { "aria-label": "This step" }, this.now),
      el("section", { "aria-label": "Next step" }, heard("Next"), this.next),
      el("section", { class: "cc-notes-told", "aria-label": "Notes" }, heard("Notes"), this.story),
      el("footer", {}, this.back, this.on, this.status, this.blank, this.present),
    );
  }

  get isOpen() {
    return Boolean(this.other) && !this.other.closed;
  }

  /** Open the window, or bring it to the front. */
  open() {
    if (this.isOpen) return this.other.focus();
    this.onOpen();
    this.other = window.open("", "", "popup,width=900,height=680");
    if (this.other) return this.furnish();
    this.tries += 1; // a notice that was dismissed comes back
    this.explorer.showNotice({ seq: `notes ${this.tries}`, level: "error", text: BLOCKED });
  }

  furnish() {
    const page = this.other.document;
    page.write('<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Notes</title><body>');
    page.close();
    page.head.append(page.importNode(ownStyles(), true));
    page.body.style.cssText = "margin: 0; padding: 0";
    page.body.append(this.node);
    this.other.addEventListener("keydown", (event) => this.passOn(event));
    this.other.setInterval(() => this.showTime(), TICK_MS);
    this.explorer.scene && this.show();
  }

  close() {
    this.other?.close();
    this.other = null;
  }

  // ------------------------------------------------------------------ called by the explorer

  show() {
    if (!this.isOpen) return;
    const { scene, scheme } = this.explorer;
    const look = getComputedStyle(this.root);
    LOOKS.forEach((name) => this.node.style.setProperty(name, look.getPropertyValue(name)));
    this.node.dataset.scheme = scheme;
    this.other.document.documentElement.style.colorScheme = scheme;
    this.other.document.title = `Notes · ${scene.title}`;
    const told = scene.story.length ? scene.story : ["This scenario has no story."];
    refill(this.story, JSON.stringify(told), () => told.map((text) => el("p", {}, ...unbroken(text))));
    this.refresh();
  }

  stepTo() {
    if ("presenting" in this.root.dataset && !this.hasBegun) {
      this.hasBegun = true;
      this.watch.start();
    }
    this.refresh();
  }

  // ------------------------------------------------------------------ what it shows

  refresh() {
    if (!this.isOpen || !this.explorer.scene) return;
    const { visit: { step }, scene: { last } } = this.explorer;
    setText(this.place, `Step ${step} of ${last}`);
    setText(this.now, this.sentenceOf(step) ?? `Going to step ${step} …`);
    setText(this.next, step === last ? "This is the last step." : this.sentenceOf(step + 1) ?? "…");
    this.back.disabled = step === 0;
    this.on.disabled = step === last;
    const { presenting, blank } = this.root.dataset;
    setText(this.status, presenting == null ? "The first window shows the page." : blank == null ? "" : "The screen is blank.");
    setText(this.blank, blank == null ? "Blank" : "Show again");
    this.blank.hidden = presenting == null;
    setText(this.present, presenting == null ? "Present" : "Leave");
    this.showTime();
  }

  /** A step's sentence, or null beyond the window on a long run. */
  sentenceOf(step) {
    const { scene } = this.explorer;
    return step >= scene.first && step <= scene.until ? stepAt(scene, step).sentence : null;
  }

  showTime() {
    setText(this.elapsed, inMinutes(this.watch.seconds));
    setText(this.run, this.watch.isRunning ? "Pause" : "Start");
    setText(this.clock, new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
  }

  // ------------------------------------------------------------------ keys

  shortcut(event) {
    if (event.key.toLowerCase() !== "s" || "presenting" in this.root.dataset) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || keepsKeys(event.target)) return;
    this.open();
  }

  /** A key in the second window does what it does in the first. */
  passOn(event) {
    if (["Enter", " "].includes(event.key) && event.target.closest("button")) return;
    if (this.press(event.key, event)) event.preventDefault();
    this.refresh();
  }

  /** Press a key in the first window; true if it did something. */
  press(key, { code, ctrlKey, metaKey, altKey, shiftKey, repeat } = {}) {
    const held = { code, ctrlKey, metaKey, altKey, shiftKey, repeat };
    return !this.root.dispatchEvent(new KeyboardEvent("keydown", { key, ...held, bubbles: true, cancelable: true }));
  }
}

/** The style sheet of the explorer: a link in the app, an element of the off-line page. */
function ownStyles() {
  const isOwn = ({ cssRules }) => [...cssRules].some(({ selectorText }) => selectorText === ".cc-notes");
  return [...document.styleSheets].find((sheet) => !isForeign(sheet) && isOwn(sheet)).ownerNode;
}

/** A browser's extension may have added a sheet that the page cannot read. */
function isForeign(sheet) {
  try {
    return !sheet.cssRules;
  } catch {
    return true;
  }
}
