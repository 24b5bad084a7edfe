/* In the Change tab: choose a message, and change when it arrives. */

import { messageSign, resolveColour } from "../page/colours.js";
import { el, field, ownName, refill, setText, unbroken } from "../page/dom.js";
import { FATES, fateOf, momentOf } from "../run/faults.js";
import { arrivalIfDue } from "../run/fifo.js";
import { inFlight } from "../run/timeline.js";
import { plainNumber } from "../run/times.js";

const COPY = "A copy arrives as long after the other one as that one takes. Change that one.";
const AHEAD_SHOWN = 60; // at most this many messages that are sent later are listed

/** The messages that can be changed here: in flight, sent later, and the one chosen in the diagram. */
export class MessagePicker {
  constructor(explorer) {
    this.explorer = explorer;
    this.name = ownName("cc-message"); // of the radio buttons
    this.node = el("div", { class: "cc-messages", role: "radiogroup", "aria-label": "Message to change" });
  }

  show(scene, palette, step, selected) {
    const flying = inFlight(scene.messages, step);
    const ahead = scene.messages.filter((message) => message.sent > step);
    const past = scene.messages.filter((m) => m.id === selected && m.sent <= step && !flying.includes(m));
    const groups = [["In flight now", flying], ["Sent later", ahead.slice(0, AHEAD_SHOWN)], ["Already received", past]];
    const filled = groups.filter(([, messages]) => messages.length);
    const rows = filled.map(([title, messages]) => [title, messages.map((m) => describe(m, palette))]);
    const more = ahead.length - AHEAD_SHOWN;
    refill(this.node, JSON.stringify([rows, more]), () => [
      ...rows.flatMap(([title, descriptions]) => [el("h4", {}, title), ...descriptions.map((one) => this.row(one))]),
      more > 0 ? el("p", { class: "cc-quiet" }, `and ${more} more: step on, or click an arrow`) : "",
    ]);
    this.node.querySelectorAll("input").forEach((input) => (input.checked = Number(input.value) === selected));
  }

  row({ id, name, way, when, kind, colour }) {
    const onchange = () => this.explorer.select({ kind: "message", id });
    return el("label", {},
      el("input", { type: "radio", name: this.name, value: id, onchange }),
      messageSign(kind, colour),
      el("span", { class: "cc-name" }, ...unbroken(name)),
      el("span", { class: "cc-quiet" }, ...unbroken(way)),
      el("span", { class: "cc-when" }, ...unbroken(when)),
    );
  }
}

/** What a list shows of a message. */
export function describe(message, palette) {
  const { id, name, way, where, kind } = message;
  const held = message.arrival == null ? whyNotArrived(message) : "";
  const when = `${plainNumber(message.sent_time)} → ${held || plainNumber(message.arrival)}`;
  return { id, name, way, where, kind, when, held, colour: resolveColour(message.colour, palette) };
}

/** Why a message has not arrived: it is fenced off, lost, held, or waits behind one that is, or it has not been chosen. */
function whyNotArrived({ behind, held, lost, fenced }) {
  if (fenced) return "fenced off";
  if (lost != null) return "lost";
  if (behind) return `behind ${behind}`;
  return held ? "held" : "on its way";
}

/** The form for the chosen message: its delay, Earlier, Later, Hold and Release. */
export class MessageEditor {
  constructor(submit) {
    this.submit = submit;
    this.title = el("p", { class: "cc-chosen" });
    this.delay = el("input", { type: "number", step: "any", min: "0", required: true, oninput: () => this.preview() });
    this.outcome = el("p", { class: "cc-quiet" });
    this.fates = new Fates((edit) => this.submit(edit));
    this.hold = el("button", { type: "button", onclick: () => this.send({ do: "hold" }) }, "Hold");
    this.release = el("button", { type: "button", onclick: () => this.send({ do: "release" }) }, "Release");
    const nudge = (sign, text) => el("button", { type: "button", onclick: () => this.nudge(sign) }, text);
    this.timing = el("div", { class: "cc-row" },
      nudge(-1, "Earlier"),
      field("Delay", this.delay),
      nudge(+1, "Later"),
      el("button", { type: "submit", class: "cc-primary" }, "Apply"),
    );
    this.form = el("form", { onsubmit: (event) => this.apply(event), "aria-label": "Change the chosen message" },
      this.title,
      this.timing,
      el("div", { class: "cc-row" }, this.hold, this.release, ...this.fates.buttons, this.outcome),
    );
    this.hint = el("p", { class: "cc-quiet" });
    this.node = el("div", { class: "cc-editor" }, this.hint, this.form);
  }

  /** @param nudgeBy how much Earlier and Later change the delay; 0 if the run knows no delays */
  show(scene, step, message, nudgeBy) {
    this.timing.hidden = !nudgeBy;
    Object.assign(this, { scene, message, nudgeBy });
    const isChangeable = message && !message.copy;
    this.form.hidden = !isChangeable;
    this.hint.hidden = isChangeable;
    setText(this.hint, message ? COPY : "Choose a message here, or click its arrow in the diagram.");
    if (!isChangeable) return;
    this.fates.show(message, momentOf(scene, step));
    setText(this.title, `${message.name} ${message.where}, sent at ${plainNumber(message.sent_time)}`);
    this.delay.value = message.delay == null ? "" : plainNumber(message.delay);
    this.hold.disabled = message.held;
    this.release.disabled = !message.held;
    this.preview();
  }

  /** The moment at which a message is lost or copied is that of the step on show. */
  stepTo(step) {
    if (this.message) this.fates.show(this.message, momentOf(this.scene, step));
  }

  nudge(sign) {
    const delay = this.delay.value === "" ? 0 : Number(this.delay.value);
    this.delay.value = plainNumber(Math.max(0, delay + sign * this.nudgeBy));
    this.preview();
  }

  preview() {
    const { message } = this;
    const changed = this.delay.value !== "" && Number(this.delay.value) !== message.delay;
    const foretold = () => arrivalIfDue(this.scene, message, message.earliest + Number(this.delay.value));
    const { arrival, front } = changed ? foretold() : message;
    const held = changed ? front?.name : message.behind;
    const never = { held: "held: it never arrives", "fenced off": "fenced off: it belongs to an earlier epoch", lost: message.lost_on_its_way ? "lost on its way" : "lost: its receiver is down", "on its way": "on its way: not chosen yet" };
    const why = held ? `never arrives: ${held} is ahead of it and is held` : never[whyNotArrived(message)];
    setText(this.outcome, arrival == null ? why : `${changed ? "would arrive" : "arrives"} at ${plainNumber(arrival)}`);
  }

  apply(event) {
    event.preventDefault();
    this.send({ do: "delay", delay: Number(this.delay.value) });
  }

  send(edit) {
    this.submit({ ...edit, message: this.message.reference });
  }
}

/** The buttons by which a message is lost or copied, or is not any more. */
export class Fates {
  /** @param submit called with the edit */
  constructor(submit) {
    this.acts = FATES.map((kind) => {
      const act = { kind };
      act.button = el("button", { type: "button", onclick: () => submit(fateOf(this.message, kind, this.moment).edit) });
      return act;
    });
    this.buttons = this.acts.map(({ button }) => button);
  }

  /** @param message null where there is none */
  show(message, moment) {
    Object.assign(this, { message, moment });
    for (const { kind, button } of this.acts) {
      button.hidden = !message?.named;
      if (!button.hidden) setText(button, fateOf(message, kind, moment).words);
    }
  }
}
