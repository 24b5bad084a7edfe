/* The presenter view of a page of diagrams: it fills the screen, and its type grows with that. */

const PRESENTED_TYPE = 18; // the size of the type (in pixels) on a screen of 1280 by 720; on others in proportion
const LEAST_TYPE = 0.68; // of that size, however small the screen

export class Presented {
  /** @param redraw draws the page anew, for type of another size */
  constructor({ root, closed: signal }, redraw) {
    this.redraw = redraw;
    this.root = root;
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.isOn && this.leave(), { signal });
    document.addEventListener("fullscreenchange", () => this.fullscreenChanged(), { signal });
    window.addEventListener("resize", () => this.isOn && this.resize(), { signal });
    signal.addEventListener("abort", () => this.leave());
  }

  get isOn() {
    return this.root.hasAttribute("data-presented");
  }

  toggle() {
    if (this.isOn) this.leave();
    else this.enter();
  }

  enter() {
    this.root.setAttribute("data-presented", "");
    this.root.requestFullscreen?.({ navigationUI: "hide" }).catch(() => {});
    this.resize();
  }

  leave() {
    if (!this.isOn) return;
    this.root.removeAttribute("data-presented");
    if (document.fullscreenElement === this.root) document.exitFullscreen().catch(() => {});
    document.documentElement.style.removeProperty("font-size");
    this.redraw();
  }

  /** Escape ends full screen before the page hears of the key. */
  fullscreenChanged() {
    const isFull = document.fullscreenElement === this.root;
    if (this.wasFull && !isFull) this.leave();
    this.wasFull = isFull;
  }

  /** Set the size of the type, on which all sizes depend, those of the diagrams too. */
  resize() {
    const share = Math.min(innerWidth / 1280, innerHeight / 720);
    const size = `${(PRESENTED_TYPE * Math.max(LEAST_TYPE, share)).toFixed(2)}px`;
    document.documentElement.style.setProperty("font-size", size, "important");
    this.redraw();
  }
}
