/* The form that changes a script line, an initiation or a fault. */

import { el, field, fillNames, setText } from "../page/dom.js";
import { plainNumber, twelveDigits } from "../run/times.js";
import { itemLabel, itemName } from "./handles.js";
import { Popup } from "./popup.js";

/** Only fields that differ are submitted. */
export class ItemForm extends Popup {
  constructor(manipulation) {
    super(manipulation, { class: "cc-item-form", role: "dialog" });
    this.body = el("input", { type: "text", autocomplete: "off" });
    this.target = el("select");
    this.process = el("select");
    this.factor = el("input", { type: "number", step: "any", min: "0.01", required: true });
    this.time = el("input", { type: "number", step: "any", required: true });
    this.fields = {
      body: field("Body", this.body),
      to: field("to", this.target),
      process: field("at", this.process),
      factor: field("slower by", this.factor),
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
      el("form", { onsubmit },
        this.title,
        el("div", { class: "cc-row" }, ...Object.values(this.fields)),
        this.waits,
        el("div", { class: "cc-row" }, save, cancel),
      ),
    );
  }

  openAt(point, item, options) {
    const { scene, events } = this.manipulation;
    const { kind, process } = item;
    this.item = item;
    const name = itemLabel(item, events);
    this.entitle(`Edit ${name}`);
    const targets = scene.channels.filter(({ source }) => source === process).map(({ target }) => target);
    this.body.value = item.body == null ? "" : typeof item.body === "string" ? item.body : JSON.stringify(item.body);
    this.body.placeholder = scene.body_hint;
    fillNames(this.target, targets);
    this.target.value = item.to;
    fillNames(this.process, scene.processes);
    this.process.value = process;
    this.time.min = item.since;
    this.time.value = plainNumber(item.time);
    this.fields.body.hidden = this.fields.to.hidden = kind !== "send";
    this.fields.process.hidden = kind === "send" || item.of_channels;
    this.fields.time.hidden = !scene.has_time;
    this.fields.factor.hidden = item.factor == null;
    this.factor.disabled = item.factor == null;
    this.factor.value = item.factor == null ? "" : plainNumber(item.factor);
    setText(this.waits, item.after == null ? "" : `It waits for ${item.after}, which happens at ${plainNumber(item.since)}.`);
    this.was = this.values();
    this.open(point, { ...options, focus: kind === "send" ? this.body : this.time, byKeyboard: true });
  }

  /** The event. */
  heads() {
    return [this.manipulation.diagram.spot(this.item.lane, this.item.position)];
  }

  values() {
    const { kind } = this.item;
    const own = kind === "send" ? { body: this.body.value, to: this.target.value } : { process: this.process.value };
    const pace = this.item.factor == null ? {} : { factor: this.factor.value };
    return { ...own, ...pace, time: this.time.value };
  }

  save() {
    const now = this.values();
    const changed = Object.entries(now).filter(([key, value]) => value !== this.was[key]);
    const { item } = this;
    this.close(true);
    if (!changed.length) return;
    const { time, factor, ...rest } = Object.fromEntries(changed);
    if (factor !== undefined) rest.factor = Number(factor);
    const at = time === undefined ? {} : { at: twelveDigits(Math.max(0, Number(time) - item.since)) };
    this.manipulation.explorer.submit({ do: "change", item: item.item, ...rest, ...at });
  }

  /** A new scene: close if another script line has this one's number now. */
  show() {
    if (!this.isOpen) return;
    const now = this.manipulation.scene.items.find((item) => itemName(item) === itemName(this.item));
    const same = now && ["kind", "process", "label", "to", "fault"].every((key) => now[key] === this.item[key]);
    if (same) this.item = now;
    else this.close(true);
  }
}
