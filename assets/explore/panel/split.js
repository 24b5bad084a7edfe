/* Below the network's picture: split it in two by choosing the processes of one side, or heal it. */

import { el, refill, setText } from "../page/dom.js";
import { cutBy, faultAt, momentOf, splitAt } from "../run/faults.js";
import { plainNumber } from "../run/times.js";

export class SplitForm {
  /** @param chosenChanges called with the names of the chosen processes; null: the choice has ended */
  constructor(explorer, chosenChanges) {
    Object.assign(this, { explorer, chosenChanges });
    const button = (text, onclick, attributes = {}) => el("button", { type: "button", onclick, ...attributes }, text);
    this.start = button("Split the network …", () => this.begin());
    this.heal = button("Heal", () => explorer.submit(this.healing()));
    this.buttons = el("span", { class: "cc-split-buttons cc-of-server" }, this.start, this.heal);
    this.boxes = el("div", { class: "cc-sides", onchange: () => this.refresh() });
    this.outcome = el("p", { class: "cc-quiet", role: "status" });
    this.go = el("button", { type: "submit", class: "cc-primary" });
    const cancel = button("Cancel", () => this.end(true));
    const onsubmit = (event) => {
      event.preventDefault();
      explorer.submit(this.splitting());
      this.end(true);
    };
    this.form = el("form", { class: "cc-split", hidden: true, onsubmit, onkeydown: (event) => this.key(event) },
      el("fieldset", {}, el("legend", {}, "The processes of one side"), this.boxes),
      this.outcome,
      el("div", { class: "cc-row" }, this.go, cancel),
    );
  }

  get isOpen() {
    return !this.form.hidden;
  }

  show(scene) {
    this.scene = scene;
    const box = (name) => el("label", { class: "cc-check" }, el("input", { type: "checkbox", value: name }), name);
    refill(this.boxes, JSON.stringify(scene.processes), () => scene.processes.map(box));
  }

  stepTo(step) {
    this.step = step;
    this.start.hidden = !this.scene.channels.length;
    this.heal.hidden = !splitAt(this.scene, step);
    const at = this.scene.has_time ? ` at ${plainNumber(momentOf(this.scene, this.step).time)}` : "";
    setText(this.heal, `Heal it${at}`);
    setText(this.go, `Split${at}`);
    if (this.isOpen) this.refresh();
  }

  begin() {
    this.form.hidden = false;
    this.boxes.querySelectorAll("input").forEach((box) => (box.checked = false));
    this.refresh();
    this.boxes.querySelector("input").focus();
  }

  /** @param giveBack whether the button that has opened the form gets the focus */
  end(giveBack = false) {
    if (!this.isOpen) return;
    this.form.hidden = true;
    this.chosenChanges(null);
    if (giveBack) this.start.focus();
  }

  chosen() {
    return [...this.boxes.querySelectorAll("input:checked")].map(({ value }) => value);
  }

  /** A click on a process in the picture. */
  toggle(name) {
    const box = [...this.boxes.querySelectorAll("input")].find(({ value }) => value === name);
    box.checked = !box.checked;
    this.refresh();
  }

  /** What the split would do. */
  refresh() {
    const chosen = this.chosen();
    const count = cutBy(this.scene, chosen, momentOf(this.scene, this.step));
    const isSplit = chosen.length > 0 && chosen.length < this.scene.processes.length;
    const severed = `Severs ${count === 1 ? "the channel" : `all ${count} channels`} between the two sides.`;
    const hint = "Tick them here, or click them in the picture.";
    setText(this.outcome, !isSplit ? hint : count ? severed : "Every channel between the two sides is severed already.");
    this.go.disabled = !isSplit || !count;
    this.chosenChanges(chosen);
  }

  splitting() {
    const chosen = this.chosen();
    const groups = [chosen, this.scene.processes.filter((name) => !chosen.includes(name))];
    return faultAt("sever", { groups }, momentOf(this.scene, this.step));
  }

  healing() {
    return faultAt("mend", { groups: splitAt(this.scene, this.step).groups }, momentOf(this.scene, this.step));
  }

  key(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    this.end(true);
  }
}
