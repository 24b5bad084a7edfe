/* Direct manipulation: handles, toolbar, menu and choices over the diagram, as one part of the hub. */

import { el } from "../page/dom.js";
import { EVENT_KINDS } from "../run/events.js";
import { Asked } from "../run/outbox.js";
import { stepAt } from "../run/timeline.js";
import { Handles } from "./handles.js";
import { ItemForm } from "./item_form.js";
import { LaneButtons, LineMenu } from "./line_menu.js";
import { ManualMode } from "./manual.js";
import { isHeld, Toolbar } from "./toolbar.js";

export class Manipulation {
  constructor(hub) {
    this.hub = hub;
    this.diagram = hub.diagram;
    this.layer = el("div", { class: "cc-overlay" });
    this.diagram.node.after(this.layer);
    this.asked = new Asked((edit) => hub.submit(edit));
    this.manual = new ManualMode(this);
    this.handles = new Handles(this);
    this.lanes = new LaneButtons(this);
    this.toolbar = new Toolbar(this);
    this.form = new ItemForm(this);
    this.menu = new LineMenu(this);
    this.popups = [this.toolbar, this.form, this.menu];
    this.onPress = (event) => this.pressedAt(event.target);
    document.addEventListener("pointerdown", this.onPress, true);
    this.onKey = (event) => this.escape(event);
    document.addEventListener("keydown", this.onKey, true);
  }

  get events() {
    return this.hub.events;
  }

  // ------------------------------------------------------------------------- what the hub tells

  show(scene, palette, step) {
    Object.assign(this, { scene, step });
    this.manual.show();
    this.handles.show();
    this.lanes.show();
    this.popups.forEach((popup) => popup.show());
  }

  stepTo(step) {
    this.step = step;
    this.manual.stepTo();
    this.handles.stepTo();
    if (this.menu.isOpen && this.menu.time == null) this.menu.close();
  }

  view() {
    if (this.diagram.scene !== this.scene) return; // the new one is about to be shown
    this.handles.view();
    this.lanes.view();
    if (this.menu.isOpen) this.menu.drawMark();
  }

  /** A click on a process's line opens its menu; of others it is noted where they were. */
  takes(pick) {
    if (pick.kind === "line") {
      this.openMenu(pick.lane, pick.time, this.within(pick), {});
      return true;
    }
    this.clicked = pick;
    queueMicrotask(() => (this.clicked = null));
    return false;
  }

  /** The toolbar opens where something was clicked; it goes when something else is selected. */
  select(selection) {
    const key = selection && this.keyOf(selection);
    const { clicked } = this;
    if (clicked && key && this.subjectOf(key)) this.openToolbar(key, this.within(clicked));
    else if (selection && key !== this.toolbar.key_) this.toolbar.close();
  }

  history(data) {
    const waited = this.asked.values.size;
    this.asked.acknowledge(data.ack);
    this.manual.history(data);
    if (waited && !this.asked.values.size && !this.handles.drag) this.handles.refresh();
  }

  close() {
    document.removeEventListener("pointerdown", this.onPress, true);
    document.removeEventListener("keydown", this.onKey, true);
    this.handles.close();
    this.manual.close();
    this.layer.remove();
  }

  // ------------------------------------------------------------------------- what is meant

  within({ clientX, clientY }) {
    return this.diagram.within({ clientX, clientY });
  }

  /** The time of the step on show. */
  now() {
    return stepAt(this.scene, this.step).time;
  }

  /** The key of what is selected: of a message, or of the script line behind an event. */
  keyOf({ kind, id, at }) {
    const { scene, events } = this;
    if (kind === "event" && EVENT_KINDS[events.kind[at]] !== "receive") {
      const item = scene.items.find(({ step, kind: what }) => step === events.step[at] && what !== "snapshot");
      return item ? JSON.stringify(item.item) : null;
    }
    const message = scene.messages.find((one) => one.id === (kind === "event" ? events.message[at] : id));
    return message ? JSON.stringify(message.address) : null;
  }

  /** What a key means in the scene there is now: {message, item}, or null. */
  subjectOf(key) {
    const { scene } = this;
    const message = scene.messages.find(({ address }) => JSON.stringify(address) === key);
    if (!message) {
      const item = scene.items.find((one) => JSON.stringify(one.item) === key);
      return item ? { item } : null;
    }
    const item = message.kind === "app" ? scene.items.find(({ kind, step }) => kind === "send" && step === message.sent) : null;
    return { message, item };
  }

  // ------------------------------------------------------------------------- what opens

  openToolbar(key, point, options = {}) {
    this.form.close();
    this.menu.close();
    this.toolbar.openAt(point, this.subjectOf(key), { ...options, key });
  }

  openForm(item, point, giveBack) {
    this.toolbar.close();
    this.form.openAt(point, item, { giveBack });
  }

  openMenu(lane, time, point, options) {
    this.popups.forEach((popup) => popup.close());
    this.menu.openAt(point, lane, time, options);
  }

  /** A press outside the windows closes them. */
  pressedAt(target) {
    if (!this.popups.some(({ node }) => node.contains(target))) this.popups.forEach((popup) => popup.close());
  }

  /** Escape closes the window that is open, and does nothing else then. */
  escape(event) {
    if (event.key !== "Escape" || !this.popups.some((popup) => popup.isOpen)) return;
    event.preventDefault();
    event.stopPropagation();
    this.popups.forEach((popup) => popup.close(true));
  }

  /** While a menu is open its mark is on the line; else nothing is foretold. */
  mark() {
    if (this.menu?.isOpen) this.menu.drawMark();
    else this.handles?.preview.clear();
  }

  // ------------------------------------------------------------------------- what handles do

  dragBegins() {
    this.popups.forEach((popup) => popup.close());
    this.hub.root.classList.add("cc-dragging");
  }

  dragEnds() {
    this.hub.root.classList.remove("cc-dragging");
  }

  /** A handle was clicked: as if the handle were not there, but never nothing. */
  pressed(grip, event) {
    if (grip.kind === "choice") return this.manual.choose(grip.choice);
    const pick = this.diagram.pickAt(event);
    const { clientX, clientY } = event;
    if (grip.item?.kind === "snapshot") this.openToolbar(grip.key, this.within(event), { byKeyboard: false });
    else if (pick.kind === "event" || pick.kind === "message") this.hub.pick({ ...pick, clientX, clientY });
    else if (grip.message) this.hub.pick({ kind: "message", id: grip.id, clientX, clientY });
    else this.openToolbar(grip.key, this.within(event));
  }

  /** Enter on a handle. */
  entered(grip, node) {
    if (grip.kind === "choice") return this.manual.choose(grip.choice);
    if (grip.message) this.hub.select({ kind: "message", id: grip.id });
    const giveBack = () => (node.isConnected ? node : null);
    this.openToolbar(grip.key, [grip.x, grip.y], { byKeyboard: true, giveBack });
  }

  holdOrRelease(message) {
    this.hub.submit({ do: isHeld(message) ? "release" : "hold", message: message.address });
  }

  remove(item) {
    this.toolbar.close(true);
    this.hub.submit({ do: "delete", item: item.item });
  }
}
