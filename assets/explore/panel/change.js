/* The Change tab: plain controls for everything that can be edited. Each control submits one edit. */

import { el, field, fillMenu, fillNames, refill, setText } from "../page/dom.js";
import { faultAt, momentOf, severedAt } from "../run/faults.js";
import { stepAt } from "../run/timeline.js";
import { plainNumber, roundTwentieth } from "../run/times.js";
import { CoordinatorSettings } from "./coordinator.js";
import { MessageEditor, MessagePicker } from "./messages.js";
import { RecoverySettings, StorageSettings } from "./storage.js";

export class ChangeView {
  constructor(node, explorer) {
    const submit = (edit) => explorer.submit(edit);
    this.picker = new MessagePicker(explorer);
    this.editor = new MessageEditor(submit);
    this.additions = new Additions(submit);
    const onchange = () => submit({ do: "algorithm", kind: this.algorithm.value });
    this.algorithm = el("select", { onchange });
    this.rules = el("div", { class: "cc-row" }, field("Snapshots follow the rules of", this.algorithm));
    this.parameters = el("div", { class: "cc-parameters", role: "group", "aria-label": "Settings of these rules" });
    this.submit = submit;
    this.settings = [new CoordinatorSettings(submit), new StorageSettings(submit), new RecoverySettings(submit)];
    const splitNetwork = () => {
      explorer.openTab("network");
      explorer.tabs.network.split.begin();
    };
    this.channelRules = new ChannelRules(submit, splitNetwork);
    this.network = new NetworkRules(submit);
    this.reset = el("button", { type: "button", onclick: () => submit({ do: "reset" }) }, "Reset");
    this.edits = el("ol", { class: "cc-edits", tabindex: "0", "aria-label": "Edits so far" });
    node.append(
      el("div", { class: "cc-row cc-history" }, el("h3", {}, "Edits so far"), this.reset),
      this.edits,
      el("h3", {}, "When a message arrives"),
      this.picker.node,
      this.editor.node,
      el("h3", {}, "Add to the run"),
      this.additions.node,
      this.rules,
      this.parameters,
      this.channelRules.node,
      this.network.node,
      ...this.settings.map(({ node: own }) => own),
    );
  }

  show(scene, palette, step) {
    this.scene = scene;
    this.palette = palette;
    this.nudgeBy = scene.has_time ? roundTwentieth(scene.end) : 0;
    this.additions.show(scene);
    this.showRules();
    this.channelRules.show(scene);
    this.network.show(scene);
    this.selected = null; // ids change from run to run; `select` is called next
    this.stepTo(step);
  }

  /** Fill the menu of algorithms; this run's is chosen, also after Python has refused another. */
  showRules() {
    const { algorithms, rules } = this.scene;
    fillMenu(this.algorithm, algorithms);
    this.algorithm.value = rules;
    this.rules.hidden = algorithms.length < 2;
    this.showParameters();
    this.settings.forEach((own) => own.show(this.scene));
  }

  /** A box or a field for each setting of the algorithm, with this run's value, also after Python has refused another. */
  showParameters() {
    const { parameters, rules } = this.scene;
    this.parameters.hidden = !parameters.length;
    refill(this.parameters, JSON.stringify([rules, parameters]), () => parameters.map((own) => this.parameter(own)));
    for (const own of parameters) showValue(this.parameters.querySelector(`[data-name="${own.name}"]`), own);
  }

  parameter({ name, kind, words, least }) {
    const isFlag = kind === "flag";
    const onchange = () => {
      const value = isFlag ? control.checked : control.valueAsNumber;
      if (isFlag || control.reportValidity()) this.submit({ do: "parameter", name, value });
    };
    const about = isFlag ? { type: "checkbox" } : { type: "number", min: least, step: kind === "whole" ? 1 : "any", required: true };
    const control = el("input", { ...about, "data-name": name, onchange });
    return isFlag ? el("label", { class: "cc-check" }, control, words) : el("div", { class: "cc-row" }, field(words, control));
  }

  history({ edits }) {
    if (this.scene) {
      this.showRules();
      this.channelRules.show(this.scene);
      this.network.show(this.scene);
    }
    this.reset.disabled = !edits.length;
    const words = edits.length ? edits : ["None yet: this is the scenario as it was opened."];
    refill(this.edits, words.join("\n"), () => words.map((text) => el("li", {}, text)));
    this.edits.classList.toggle("cc-none", !edits.length);
    this.edits.scrollTop = this.edits.scrollHeight; // show the latest edit
  }

  stepTo(step) {
    this.step = step;
    this.picker.show(this.scene, this.palette, step, this.selected);
    this.editor.stepTo(step);
    const { time } = stepAt(this.scene, step);
    this.additions.stepTo(time);
    this.channelRules.stepTo(step);
  }

  /** Show the selected message in the form. */
  select(selection) {
    const id = selection?.kind === "message" ? selection.id : null;
    this.selected = id;
    this.editor.show(this.scene, this.step, this.scene.messages.find((message) => message.id === id), this.nudgeBy);
    this.picker.show(this.scene, this.palette, this.step, id);
    this.picker.node.querySelector("input:checked")?.scrollIntoView({ block: "nearest" });
  }
}

function showValue(control, { kind, value }) {
  if (kind === "flag") control.checked = value;
  else control.value = value;
}

/** Takes FIFO away from a channel, or gives it back; and says how many messages it holds. */
class ChannelRules {
  constructor(submit, splitNetwork) {
    this.submit = submit;
    this.step = 0;
    this.channel = el("select", { onchange: () => this.showChosen() });
    const onchange = () => submit({ do: "fifo", channel: this.channel.value, fifo: this.keeps.checked });
    this.keeps = el("input", { type: "checkbox", onchange });
    this.order = el("label", { class: "cc-check" }, this.keeps, "arrive in the order in which they are sent (FIFO)");
    const onclick = () => submit(faultAt(this.isSevered() ? "mend" : "sever", { channels: [this.channel.value] }, momentOf(this.scene, this.step)));
    this.sever = el("button", { type: "button", onclick });
    const split = el("button", { type: "button", onclick: splitNetwork }, "Split the network …");
    this.holds = el("input", { type: "number", min: 1, step: 1, placeholder: "any", onchange: () => this.limit() });
    this.node = el("div", { class: "cc-row" },
      field("Messages on", this.channel),
      this.order,
      field("At most", this.holds),
      el("span", { class: "cc-quiet" }, "at a time: a full channel stops its sender"),
      this.sever,
      split,
    );
  }

  limit() {
    if (!this.holds.reportValidity()) return;
    const capacity = this.holds.value === "" ? null : this.holds.valueAsNumber;
    this.submit({ do: "capacity", channel: this.channel.value, capacity });
  }

  show(scene) {
    const { channels, whole_times: isOfTicks } = scene;
    this.scene = scene;
    this.node.hidden = !channels.length;
    this.order.hidden = isOfTicks || scene.network.layer === "raw"; // they know only FIFO channels, and none
    fillMenu(this.channel, channels.map(({ name, caption }) => [name, caption]));
    this.showChosen();
  }

  /** The box and the field say what the channel does now, also after Python has refused a change. */
  showChosen() {
    const own = this.scene.channels.find(({ name }) => name === this.channel.value);
    this.keeps.checked = own?.fifo ?? true;
    this.holds.value = own?.capacity ?? "";
    setText(this.sever, this.isSevered() ? "Mend it now" : "Sever it now");
  }

  /** At the step on show. */
  isSevered() {
    return severedAt(this.scene, momentOf(this.scene, this.step)).has(this.channel.value);
  }

  stepTo(step) {
    this.step = step;
    this.showChosen();
  }
}

/** What becomes of a message that the network loses or delivers twice. */
class NetworkRules {
  constructor(submit) {
    this.submit = submit;
    this.layer = el("select", { onchange: () => submit({ do: "network", layer: this.layer.value }) });
    fillMenu(this.layer, [["fifo", "has a FIFO layer"], ["raw", "is raw"]]);
    this.what = el("span", { class: "cc-quiet" });
    this.resend = el("input", { type: "number", min: 0, step: "any", required: true, onchange: () => this.send() });
    this.after = el("span", { class: "cc-row" }, field("Sent again after", this.resend), el("span", { class: "cc-quiet" }, "time units"));
    this.node = el("div", { class: "cc-row" }, field("The network", this.layer), this.what, this.after);
  }

  send() {
    if (this.resend.reportValidity()) this.submit({ do: "network", resend: this.resend.valueAsNumber });
  }

  /** This run's layer, also after Python has refused another. */
  show({ channels, network, has_time: hasTime, whole_times: isOfTicks }) {
    this.node.hidden = !channels.length || isOfTicks; // the tick scheduler loses nothing
    this.layer.value = network.layer;
    setText(this.what, network.layer === "raw" ? "what is lost is lost, copies arrive, and all in any order" : "what is lost is sent again, and copies are dropped");
    this.resend.value = plainNumber(network.resend);
    this.after.hidden = network.layer !== "fifo" || !hasTime;
  }
}

/** Forms that send a message, add an internal event or start a snapshot, at the time of this step or another. */
class Additions {
  constructor(submit) {
    this.submit = submit;
    const oninput = () => (this.atIsOwn = true);
    this.at = el("input", { type: "number", step: "any", min: "0", required: true, oninput });
    this.from = el("select", { onchange: () => this.showTargets() });
    this.to = el("select");
    this.body = el("input", { type: "text", autocomplete: "off" });
    this.internalAt = el("select");
    this.snapshotAt = el("select");
    const hint = el("span", { class: "cc-quiet" }, "the time of the step on show, until you write another");
    const message = [field("From", this.from), field("to", this.to), field("Body", this.body)];
    const send = () => ({ do: "send", process: this.from.value, to: this.to.value, body: this.body.value });
    const internal = () => ({ do: "internal", process: this.internalAt.value });
    const snapshot = () => ({ do: "snapshot", process: this.snapshotAt.value });
    this.node = el("div", { class: "cc-additions" },
      (this.when = el("div", { class: "cc-row" }, field("At time", this.at), hint)),
      this.form("Send", send, ...message),
      el("div", { class: "cc-row cc-forms" },
        this.form("Add", internal, field("Internal event at", this.internalAt)),
        this.form("Start", snapshot, field("Snapshot at", this.snapshotAt)),
      ),
    );
  }

  form(action, makeEdit, ...fields) {
    const onsubmit = (event) => {
      event.preventDefault();
      if (!this.at.reportValidity()) return;
      this.submit({ ...makeEdit(), at: Number(this.at.value) });
      this.atIsOwn = false;
    };
    return el("form", { class: "cc-row", onsubmit }, ...fields, el("button", { type: "submit" }, action));
  }

  show(scene) {
    this.when.hidden = !scene.has_time; // where the user chooses, it happens when it is chosen
    this.channels = scene.channels;
    this.body.placeholder = scene.body_hint;
    const senders = scene.processes.filter((name) => scene.channels.some(({ source }) => source === name));
    fillNames(this.from, senders);
    fillNames(this.internalAt, scene.processes);
    fillNames(this.snapshotAt, scene.initiators);
    this.showTargets();
  }

  showTargets() {
    fillNames(this.to, this.channels.filter(({ source }) => source === this.from.value).map(({ target }) => target));
  }

  stepTo(time) {
    if (!this.atIsOwn) this.at.value = plainNumber(time);
  }
}
