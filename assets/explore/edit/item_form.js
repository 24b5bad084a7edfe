/* The form that changes a script line or an initiation. */

import { el, field, offer, setText } from "../page/dom.js";
import { Popup } from "../page/popup.js";
import { clean, plainNumber } from "../run/times.js";
import { itemLabel, itemName } from "./handles.js";

/** The form that changes a script line or an initiation. Only what differs is sent. */
export class ItemForm extends Popup {
  constructor(stage) {
    super(stage.layer, { class: "cc-item-form", role: "dialog" });
    this.stage = stage;
    this.title = el("strong");
    this.body = el("input", { type: "text", autocomplete: "off" });
    this.target = el("select");
    this.process = el("select");
    this.time = el("input", { type: "number", step: "any", required: true });
    this.fields = {
      body: field("Body", this.body),
      to: field("to", this.target),
      process: field("at", this.process),
      time: field("Time", this.time),
    };
    this.waits = el("p", { class: "cc-quiet" });
    const cancel = el("button", { type: "button", onclick: () => this.close(true) }, "Cancel");
    const save = el("button", { type: "submit", class: "cc-primary" }, "Save");
    const onsubmit = (event) => {
      event.preventDefault();
      this.save();
    };
    this.node.append(
      el(
        "form",
        { onsubmit },
        this.title,
        el("div", { class: "cc-row" }, ...Object.values(this.fields)),
        this.waits,
        el("div", { class: "cc-row" }, save, cancel),
      ),
    );
  }

  openAt(point, item, options) {
    const { scene, events } = this.stage;
    const { kind, process } = item;
    this.item = item;
    const name = itemLabel(item, events);
    setText(this.title, `Edit ${name}`);
    this.node.setAttribute("aria-label", `Edit ${name}`);
    const targets = scene.channels.filter(({ source }) => source === process).map(({ target }) => target);
    this.body.value = item.body == null ? "" : typeof item.body === "string" ? item.body : JSON.stringify(item.body);
    this.body.placeholder = scene.body_hint;
    offer(this.target, targets);
    this.target.value = item.to;
    offer(this.process, scene.processes);
    this.process.value = process;
    this.time.min = item.since;
    this.time.value = plainNumber(item.time);
    this.fields.body.hidden = this.fields.to.hidden = kind !== "send";
    this.fields.process.hidden = kind === "send";
    this.fields.time.hidden = !scene.has_time;
    setText(this.waits, item.after == null ? "" : `It waits for ${item.after}, which happens at ${plainNumber(item.since)}.`);
    this.was = this.values();
    const first = kind === "send" ? this.body : this.time;
    const keepFree = [this.stage.diagram.toPixel(item.lane, item.place)];
    this.open(point, { ...options, keepFree, alsoThere: this.stage.handles.points() });
    first.focus();
  }

  values() {
    const { kind } = this.item;
    const own = kind === "send" ? { body: this.body.value, to: this.target.value } : { process: this.process.value };
    return { ...own, time: this.time.value };
  }

  save() {
    const now = this.values();
    const changed = Object.entries(now).filter(([key, value]) => value !== this.was[key]);
    const { item } = this;
    this.close(true);
    if (!changed.length) return;
    const { time, ...rest } = Object.fromEntries(changed);
    const at = time === undefined ? {} : { at: clean(Math.max(0, Number(time) - item.since)) };
    this.stage.hub.submit({ do: "change", item: item.item, ...rest, ...at });
  }

  /** Another script line may have this one's number now: then the form is about nothing. */
  show() {
    if (!this.isOpen) return;
    const now = this.stage.scene.items.find((item) => itemName(item) === itemName(this.item));
    const same = now && ["kind", "process", "label", "to"].every((key) => now[key] === this.item[key]);
    if (same) this.item = now;
    else this.close(true);
  }
}
