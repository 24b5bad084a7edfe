/* A small toolbar at an arrow or an event, with what can be done to it. */

import { el, setText } from "../page/dom.js";
import { moveFocus } from "../page/keys.js";
import { Fates } from "../panel/messages.js";
import { momentOf } from "../run/faults.js";
import { nudgeSize, plainNumber } from "../run/times.js";
import { itemLabel } from "./handles.js";
import { Popup } from "./popup.js";

export class Toolbar extends Popup {
  constructor(manipulation) {
    super(manipulation, { class: "cc-toolbar", role: "toolbar" });
    const button = (text, onclick) => el("button", { type: "button", onclick }, text);
    this.earlier = button("", () => this.nudge(-1));
    this.later = button("", () => this.nudge(1));
    this.hold = button("Hold", () => manipulation.holdOrRelease(this.message));
    this.fates = new Fates((edit) => manipulation.explorer.submit(edit));
    this.edit = button("Edit…", () => manipulation.openForm(this.item, this.point, this.giveBack));
    this.remove = button("Delete", () => manipulation.remove(this.item));
    this.shut = el("button", { type: "button", class: "cc-shut", "aria-label": "Close", onclick: () => this.close(true) }, "×");
    this.node.append(this.title, this.earlier, this.later, this.hold, ...this.fates.buttons, this.edit, this.remove, this.shut);
    this.node.addEventListener("keydown", (event) => moveFocus(event, this.buttons(), ["ArrowLeft", "ArrowRight"]));
  }

  buttons() {
    return [...this.node.querySelectorAll("button")].filter((button) => !button.hidden && !button.disabled);
  }

  /** @param subject {message, item}: a message, a script line, or a message with the line that sends it */
  openAt(point, subject, options) {
    this.key_ = options.key;
    this.fill(subject);
    this.open(point, { ...options, focus: this.buttons()[0] });
  }

  fill({ message = null, item = null }) {
    const { scene, events } = this.manipulation;
    Object.assign(this, { message, item });
    const name = message ? `${message.name} ${message.where}` : itemLabel(item, events);
    this.entitle(name, `Change ${name}`);
    this.earlier.hidden = this.later.hidden = !scene.has_time;
    const amount = plainNumber(nudgeSize(scene, true));
    setText(this.earlier, `Earlier by ${amount}`);
    setText(this.later, `Later by ${amount}`);
    this.hold.hidden = !message;
    setText(this.hold, message && isHeld(message) ? "Release" : "Hold");
    this.fates.show(message, momentOf(scene, this.manipulation.step));
    this.edit.hidden = !item;
    this.remove.hidden = !item || Boolean(message);
  }

  /** A new scene: show the same subject, or close if it is gone. */
  show() {
    if (!this.isOpen) return;
    const subject = this.manipulation.subjectOf(this.key_);
    if (!subject) return this.close(true);
    this.fill(subject);
    this.place();
  }

  nudge(sign) {
    const grip = this.manipulation.handles.fixed.find(({ key }) => key === this.key_);
    if (grip) this.manipulation.handles.nudge(grip, sign * nudgeSize(this.manipulation.scene, true));
  }

  /** The head of the arrow, or the event. */
  heads() {
    const { diagram, scene } = this.manipulation;
    const { message, item } = this;
    if (message) return message.arrival_position == null ? [] : [diagram.spot(message.target, message.arrival_position)];
    return scene.items.includes(item) ? [diagram.spot(item.lane, item.position)] : [];
  }
}

/** Whether this message itself is held; one that waits behind a held message is not. */
export function isHeld(message) {
  return message.held && !message.behind;
}
