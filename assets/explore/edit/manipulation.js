/* Direct manipulation: the handles, toolbar, menu and choices over the diagram. One part of the explorer. */

import { el } from "../page/dom.js";
import { RECEIVED } from "../run/events.js";
import { PendingValues } from "../run/outbox.js";
import { stepAt } from "../run/timeline.js";
import { ChannelMenu } from "./channel_menu.js";
import { Handles } from "./handles.js";
import { ItemForm } from "./item_form.js";
import { LaneButtons, LineMenu } from "./line_menu.js";
import { ManualMode } from "./manual.js";
import { NetworkChannels } from "./network_channels.js";
import { Severing } from "./severing.js";
import { isHeld, Toolbar } from "./toolbar.js";

export class Manipulation {
  constructor(explorer) {
    this.explorer = explorer;
    this.diagram = explorer.diagram;
    this.layer = el("div", { class: "cc-overlay" });
    this.diagram.node.after(this.layer);
    this.pendingValues = new PendingValues((edit) => explorer.submit(edit));
    this.manual = new ManualMode(this);
    this.network = new NetworkChannels(this);
    this.handles = new Handles(this);
    this.lanes = new LaneButtons(this);
    this.toolbar = new Toolbar(this);
    this.form = new ItemForm(this);
    this.menu = new LineMenu(this);
    this.channelMenu = new ChannelMenu(this);
    this.severing = new Severing(this);
    this.popups = [this.toolbar, this.form, this.menu, this.channelMenu];
    const options = { capture: true, signal: explorer.closed };
    document.addEventListener("pointerdown", (event) => this.pressedAt(event.target), options);
    document.addEventListener("keydown", (event) => this.escape(event), options);
    explorer.closed.addEventListener("abort", () => this.handles.endDrag());
  }

  get events() {
    return this.explorer.events;
  }

  // ------------------------------------------------------------------------- called by the explorer

  show(scene, palette, step) {
    Object.assign(this, { scene, step });
    this.severing.end();
    this.network.show();
    this.manual.show();
    this.handles.show();
    this.lanes.show();
    this.mapped = this.handles.mapping();
    this.popups.forEach((popup) => popup.show());
  }

  stepTo(step) {
    this.step = step;
    this.manual.stepTo();
    this.handles.stepTo();
    if (this.menu.isOpen && this.menu.time == null) this.menu.close();
    this.channelMenu.close();
    if (!this.scene.has_time) this.severing.end();
  }

  diagramMoved() {
    if (this.diagram.scene !== this.scene) return; // `show` is called next
    const mapped = this.handles.mapping();
    if (mapped !== this.mapped) [this.handles, this.lanes].forEach((part) => part.refresh());
    this.mapped = mapped;
    if (this.menu.isOpen || this.severing.isOn) this.mark();
  }

  /** A click on a process's line opens its menu; `select` uses the point of other clicks. */
  claims(pick) {
    if (this.severing.isOn) {
      this.severing.chooseAt(pick);
      return true;
    }
    if (pick.kind === "line") {
      this.openMenu(pick.lane, pick.time, this.diagram.within(pick));
      return true;
    }
    this.clicked = pick;
    queueMicrotask(() => (this.clicked = null));
    return false;
  }

  /** Open the toolbar where something was clicked; close it when something else is selected. */
  select(selection) {
    const key = selection && this.keyOf(selection);
    const { clicked } = this;
    if (clicked && key && this.subjectOf(key)) this.openToolbar(key, this.diagram.within(clicked));
    else if (selection && key !== this.toolbar.key_) this.toolbar.close();
  }

  history(data) {
    const waited = this.pendingValues.values.size;
    this.pendingValues.acknowledge(data.ack);
    this.manual.history(data);
    if (waited && !this.pendingValues.values.size && !this.handles.drag) this.handles.refresh();
  }

  // ------------------------------------------------------------------------- keys of messages and items

  /** The time of the step on show. */
  now() {
    return stepAt(this.scene, this.step).time;
  }

  /** The key of a selection: that of a message, or of the script line that caused an event. */
  keyOf({ kind, id, at }) {
    const { scene, events } = this;
    if (kind === "event" && events.kind[at] !== RECEIVED) {
      const item = scene.items.find(({ step, kind: what }) => step === events.step[at] && what !== "snapshot");
      return item ? JSON.stringify(item.item) : null;
    }
    const message = scene.messages.find((one) => one.id === (kind === "event" ? events.message[at] : id));
    return message && !message.copy ? JSON.stringify(message.reference) : null; // nothing can be done to a copy
  }

  /** What has this key in the present scene: {message, item}, or null. */
  subjectOf(key) {
    const { scene } = this;
    const message = scene.messages.find(({ reference, copy }) => !copy && JSON.stringify(reference) === key);
    if (!message) {
      const item = scene.items.find((one) => JSON.stringify(one.item) === key);
      return item ? { item } : null;
    }
    const item = message.kind === "app" ? scene.items.find(({ kind, step }) => kind === "send" && step === message.sent) : null;
    return { message, item };
  }

  // ------------------------------------------------------------------------- windows

  openToolbar(key, point, options = {}) {
    if ("presenting" in this.explorer.root.dataset) return; // there the diagram is dragged, and nothing covers it
    this.closePopups();
    this.toolbar.openAt(point, this.subjectOf(key), { ...options, key });
  }

  openForm(item, point, giveBack) {
    this.closePopups();
    this.form.openAt(point, item, { giveBack });
  }

  openMenu(lane, time, point, options = {}) {
    if (this.severing.isOn) return this.severing.choose(lane, point, options);
    this.closePopups();
    this.menu.openAt(point, lane, time, options);
  }

  openChannelMenu(ends, moment, point, options) {
    this.closePopups();
    this.channelMenu.openAt(point, ends, moment, options);
  }

  /** @param giveBack whether the focus goes back to where it was */
  closePopups(giveBack = false) {
    this.popups.forEach((popup) => popup.close(giveBack));
  }

  /** A press outside the windows closes them. */
  pressedAt(target) {
    if (!this.popups.some(({ node }) => node.contains(target))) this.closePopups();
  }

  /** Escape closes the open window, or ends the choice of a process, and then does nothing else. */
  escape(event) {
    const isOpen = this.popups.some((popup) => popup.isOpen);
    if (event.key !== "Escape" || !(isOpen || this.severing.isOn)) return;
    event.preventDefault();
    event.stopPropagation();
    if (isOpen) this.closePopups(true);
    else this.severing.end(true);
  }

  /** Show the mark of the open menu, or of the process from which a channel is severed; else show no preview. */
  mark() {
    if (this.menu.isOpen) this.menu.drawMark();
    else if (this.severing.isOn) this.severing.drawMark();
    else this.handles.preview.clear();
  }

  // ------------------------------------------------------------------------- called by the handles

  /** A click on a handle does what a click below it does; where nothing lies, it opens the handle's toolbar. */
  pressed(grip, event) {
    if (grip.kind === "choice") return this.manual.choose(grip.choice);
    if (this.severing.isOn) return this.severing.chooseAt(event);
    const pick = this.diagram.pickAt(event);
    const { clientX, clientY } = event;
    if (grip.item?.kind === "snapshot") this.openToolbar(grip.key, this.diagram.within(event));
    else if (pick.kind === "event" || pick.kind === "message") this.explorer.pick({ ...pick, clientX, clientY });
    else if (grip.message) this.explorer.pick({ kind: "message", id: grip.id, clientX, clientY });
    else this.openToolbar(grip.key, this.diagram.within(event));
  }

  /** Enter on a handle. */
  entered(grip, node) {
    if (grip.kind === "choice") return this.manual.choose(grip.choice);
    if (grip.message) this.explorer.select({ kind: "message", id: grip.id });
    const giveBack = () => (node.isConnected ? node : null);
    this.openToolbar(grip.key, [grip.x, grip.y], { byKeyboard: true, giveBack });
  }

  holdOrRelease(message) {
    this.explorer.submit({ do: isHeld(message) ? "release" : "hold", message: message.reference });
  }

  remove(item) {
    this.toolbar.close(true);
    this.explorer.submit({ do: "delete", item: item.item });
  }
}
