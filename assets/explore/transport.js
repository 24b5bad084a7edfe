/* Moving through the steps: buttons, slider, keys and playing. */

import { setText } from "./page/dom.js";
import { keepsKeys } from "./page/keys.js";
import { plainNumber } from "./run/times.js";

const STEP_MS = 1100; // how long (in milliseconds) a step stays on the screen at speed 1

export class Transport {
  constructor(explorer) {
    const { root, closed: signal, keyboard } = explorer;
    this.explorer = explorer;
    this.root = root;
    this.step = 0;
    this.last = 0;
    this.frame = null;
    this.lessMotion = matchMedia("(prefers-reduced-motion: reduce)");
    this.slider = root.querySelector(".cc-slider");
    this.atStep = root.querySelector(".cc-at-step");
    this.atTime = root.querySelector(".cc-at-time");
    this.playButton = root.querySelector(".cc-play");
    this.speed = root.querySelector(".cc-speed select");
    root.querySelectorAll("[data-go]").forEach((button) => {
      button.addEventListener("click", () => this.press(button.dataset.go));
    });
    this.slider.addEventListener("input", () => this.move(Number(this.slider.value)));
    keyboard.addEventListener("keydown", (event) => this.key(event), { signal });
  }

  /** @param time of the step; null while it is not known yet, undefined where steps have no times */
  show(step, last, time) {
    this.step = step;
    this.last = last;
    this.slider.max = last;
    this.slider.value = step;
    this.slider.style.setProperty("--cc-progress", `${this.last ? (100 * step) / this.last : 0}%`);
    setText(this.atStep, `step ${step} of ${last}`);
    setText(this.atTime, time === undefined ? "" : ` · time ${time === null ? "…" : plainNumber(time)}`);
    this.slider.setAttribute("aria-valuetext", this.atStep.textContent + this.atTime.textContent);
    this.root.querySelectorAll("[data-go=first], [data-go=back]").forEach((b) => (b.disabled = step === 0));
    this.root.querySelectorAll("[data-go=step], [data-go=last]").forEach((b) => (b.disabled = step === this.last));
  }

  press(what) {
    if (what === "play") this.togglePlay();
    else this.move({ first: 0, back: this.step - 1, step: this.step + 1, last: this.last }[what]);
  }

  moveBy(steps) {
    this.move(this.step + steps);
  }

  /** A move by hand stops the playing. */
  move(step) {
    this.pause();
    this.advanceTo(step);
  }

  advanceTo(step) {
    this.explorer.goTo(Math.max(0, Math.min(this.last, step)));
  }

  togglePlay() {
    if (this.frame) return this.pause();
    if (this.step === this.last) this.advanceTo(0);
    this.setPlaying(true);
    this.tick();
  }

  /** Show the step for its time, then the next. Messages move on meanwhile, unless the user wants less motion. */
  tick() {
    const length = STEP_MS / Number(this.speed.value);
    const start = performance.now();
    const frame = (now) => {
      const part = (now - start) / length;
      if (part < 1) {
        if (part > 0 && !this.lessMotion.matches) this.explorer.glide(part);
        this.frame = requestAnimationFrame(frame);
        return;
      }
      this.advanceTo(this.step + 1);
      if (this.step < this.last) this.tick();
      else this.pause();
    };
    this.frame = requestAnimationFrame(frame);
  }

  pause() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    this.setPlaying(false);
  }

  setPlaying(playing) {
    this.playButton.dataset.playing = playing;
    this.playButton.setAttribute("aria-label", playing ? "Pause" : "Play");
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || keepsKeys(event.target)) return;
    const presses = { ArrowLeft: "back", ArrowRight: "step", Home: "first", End: "last", " ": "play" };
    const what = presses[event.key];
    if (!what || (what === "play" && event.target.closest("button, a, summary, [role=button]"))) return;
    event.preventDefault();
    this.press(what);
  }
}
