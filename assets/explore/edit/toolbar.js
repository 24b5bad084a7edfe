/* A small toolbar at an arrow or an event: what can be done with it, right where it is. */

import { el, setText } from "../page/dom.js";
import { walk } from "../page/keys.js";
import { placeBeside, Popup } from "../page/popup.js";
import { nudgeOf } from "../run/times.js";
import { itemLabel } from "./handles.js";

export class Toolbar extends Popup {
  /** @param stage the Manipulation that owns this */
  constructor(stage) {
    super(stage.layer, { class: "cc-toolbar", role: "toolbar" });
    this.stage = stage;
    const button = (text, onclick) => el("button", { type: "button", onclick }, text);
    this.title = el("strong");
    this.earlier = button("Earlier", () => this.nudge(-1));
    this.later = button("Later", () => this.nudge(1));
    this.hold = button("Hold", () => stage.holdOrRelease(this.message));
    this.edit = button("Edit…", (event) => stage.openForm(this.item, this.point, this.giveBack, event.detail === 0));
    this.remove = button("Delete", () => stage.remove(this.item));
    this.shut = el("button", { type: "button", class: "cc-shut", "aria-label": "Close", onclick: () => this.close(true) }, "×");
    this.node.append(this.title, this.earlier, this.later, this.hold, this.edit, this.remove, this.shut);
    this.node.addEventListener("keydown", (event) => walk(event, this.buttons(), ["ArrowLeft", "ArrowRight"]));
  }

  buttons() {
    return [...this.node.querySelectorAll("button")].filter((button) => !button.hidden && !button.disabled);
  }

  /** @param subject {message, item}: a message, a script line, or a message with the line that sends it */
  openAt(point, subject, options) {
    this.key_ = options.key;
    this.fill(subject);
    this.open(point, { ...options, keepFree: this.heads(), alsoThere: this.stage.handles.points(), focus: this.buttons()[0] });
  }

  fill({ message = null, item = null }) {
    const { scene, events } = this.stage;
    Object.assign(this, { message, item });
    const name = message ? `${message.name} ${message.where}` : itemLabel(item, events);
    setText(this.title, name);
    this.node.setAttribute("aria-label", `Change ${name}`);
    this.earlier.hidden = this.later.hidden = !scene.has_time;
    this.hold.hidden = !message;
    const release = Boolean(message) && isHeld(message);
    setText(this.hold, release ? "Release" : "Hold");
    this.edit.hidden = !item;
    this.remove.hidden = !item || Boolean(message);
  }

  /** The same thing in a new scene; gone, if it is not there any more. */
  show() {
    if (!this.isOpen) return;
    const subject = this.stage.subjectOf(this.key_);
    if (!subject) return this.close(true);
    this.fill(subject);
    placeBeside(this.node, this.point, this.heads(), this.stage.handles.points());
  }

  nudge(sign) {
    const grip = this.stage.handles.fixed.find(({ key }) => key === this.key_);
    if (grip) this.stage.handles.nudge(grip, sign * nudgeOf(this.stage.scene, true));
  }

  /** The places that stay in sight: the head of the arrow, or the event. */
  heads() {
    const { diagram, scene } = this.stage;
    const { message, item } = this;
    if (message) return message.arrival_place == null ? [] : [diagram.toPixel(message.target, message.arrival_place)];
    return scene.items.includes(item) ? [diagram.toPixel(item.lane, item.place)] : [];
  }
}

/** Whether somebody holds this very message; one that only waits behind another is not held. */
export function isHeld(message) {
  return message.held && !message.behind;
}
