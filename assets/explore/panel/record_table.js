/* The table of what a snapshot has recorded: the states of processes, and of channels. */

import { el, refill, setText } from "../page/dom.js";
import { valueAt } from "../run/timeline.js";

const FEW_CHANNELS = 8; // up to this many channels are all listed; of more, only those that hold or await messages

/** A recorded value: a button that looks like text and goes to the step at which the value was recorded. */
class RecordedValue {
  /** @param timeline the values over the steps; @param goTo called with the step to show */
  constructor(timeline, goTo) {
    this.stops = timeline.map(([step]) => step).filter((step) => step > 0);
    this.node = el("button", { type: "button", class: "cc-came", onclick: () => goTo(this.stop) });
    this.node.disabled = !this.stops.length;
  }

  show(text, step) {
    setText(this.node, text);
    this.stop = this.stopFrom(step);
    const what = this.stop === this.stops.at(-1) ? "recorded" : "changed";
    const title = this.stop == null ? "" : `${what} at step ${this.stop}: show`;
    if (this.node.title !== title) this.node.title = title;
  }

  /** The latest change before `step`; at a change the next one, and after the last the first again. */
  stopFrom(step) {
    const latest = this.stops.findLast((stop) => stop <= step);
    if (latest != null && latest < step) return latest;
    return this.stops.find((stop) => stop > step) ?? this.stops[0];
  }
}

/** The recorded state of one process. */
export class StateRow {
  constructor(process, goTo) {
    this.process = process;
    this.value = new RecordedValue(process.text, goTo);
    this.text = el("dd", {}, this.value.node);
    this.nodes = [el("dt", {}, process.name), this.text];
  }

  stepTo(step) {
    const text = valueAt(this.process.text, step) ?? "not recorded yet";
    this.value.show(text, step);
    this.text.classList.toggle("cc-quiet", text === "not recorded yet");
  }
}

/** The recorded states of the channels. */
export class ChannelList {
  constructor(channels, goTo) {
    this.channels = channels;
    this.values = channels.map((channel) => new RecordedValue(channel.text, goTo));
    this.rows = channels.map((channel, index) => el("li", { "data-channel": channel.name }, this.values[index].node));
    this.listed = el("ul", { class: "cc-channels" });
    this.rest = ["empty", "idle"].map((state) => new RemainingChannels(state));
    this.node = el("div", {}, this.listed, ...this.rest.map((rest) => rest.node));
  }

  stepTo(step) {
    const states = this.channels.map((channel) => valueAt(channel.state, step) ?? "idle");
    this.channels.forEach((channel, index) => {
      this.values[index].show(valueAt(channel.text, step) ?? channel.caption, step);
      this.rows[index].dataset.state = states[index];
    });
    const few = this.channels.length <= FEW_CHANNELS;
    const having = (state) => this.channels.map((_, index) => index).filter((index) => states[index] === state);
    const listed = few ? this.rows.map((_, index) => index) : [...having("messages"), ...having("recording")];
    refill(this.listed, listed.join(), () => listed.map((index) => this.rows[index]));
    this.rest.forEach((rest) => rest.show(few ? [] : having(rest.state).map((index) => this.channels[index])));
  }
}

/** "17 channels empty", with their names on demand. */
class RemainingChannels {
  constructor(state) {
    this.state = state;
    this.summary = el("summary");
    this.names = el("p");
    this.node = el("details", { class: "cc-rest" }, this.summary, this.names);
  }

  show(channels) {
    this.node.hidden = !channels.length;
    const what = this.state === "empty" ? "empty" : "not recording yet";
    setText(this.summary, `${channels.length} ${channels.length === 1 ? "channel" : "channels"} ${what}`);
    setText(this.names, channels.map((channel) => channel.caption).join(", "));
  }
}
