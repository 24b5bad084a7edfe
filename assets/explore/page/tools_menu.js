/* The tools of a narrow page: most of them fold into a menu that a button opens. On a wide page they stand side by side. */

export class ToolsMenu {
  constructor({ root, closed: signal }) {
    this.button = root.querySelector(".cc-unfold");
    this.tools = root.querySelector(".cc-foldable");
    this.button.addEventListener("click", () => this.show(!this.isOpen));
    this.tools.addEventListener("click", () => this.show(false));
    const isOutside = ({ target }) => !this.button.contains(target) && !this.tools.contains(target);
    document.addEventListener("pointerdown", (event) => isOutside(event) && this.show(false), { capture: true, signal });
    document.addEventListener("keydown", (event) => this.key(event), { capture: true, signal });
  }

  get isOpen() {
    return this.button.getAttribute("aria-expanded") === "true";
  }

  show(open) {
    this.button.setAttribute("aria-expanded", open);
  }

  /** Escape closes the menu, and the focus goes back to its button. */
  key(event) {
    if (event.key !== "Escape" || !this.isOpen) return;
    event.stopPropagation();
    this.show(false);
    this.button.focus();
  }
}
