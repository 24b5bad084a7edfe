/* A dialog of the browser's own kind: the focus stays in it, and goes back where it was. */

import { el } from "./dom.js";

/** Keys and clicks in a dialog reach nothing else. */
export class Dialog {
  constructor({ root, closed: signal }, title, ...content) {
    const own = (event) => event.stopPropagation();
    const close = el("button", { type: "button", class: "cc-dialog-close", "aria-label": "Close", onclick: () => this.close() }, "×");
    this.node = el("dialog", { class: "cc-dialog", role: "dialog", "aria-label": title, onclick: own, onkeydown: own },
      el("header", {}, el("h2", {}, title), close),
      ...content,
    );
    this.node.addEventListener("pointerdown", (event) => event.target === this.node && this.isOutside(event) && this.close());
    window.addEventListener("keydown", (event) => this.node.open && this.key(event), { capture: true, signal });
    root.append(this.node);
  }

  open() {
    if (!this.node.open) this.node.showModal();
  }

  /** Keys reach nothing else either when the focus has left: a button that is disabled while it works loses it. */
  key(event) {
    if (event.key === "Escape") this.close();
    if (event.key === "Escape" || !this.node.contains(event.target)) event.stopPropagation();
  }

  /** A key that comes before the next picture does not find the focus in what is closed. */
  close() {
    this.node.close();
    if (this.node.contains(document.activeElement)) document.activeElement.blur();
  }

  isOutside({ clientX, clientY }) {
    const { left, right, top, bottom } = this.node.getBoundingClientRect();
    return clientX < left || clientX > right || clientY < top || clientY > bottom;
  }
}
