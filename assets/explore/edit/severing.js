/* "Sever from here to ...": the user has chosen one process and a time, and now chooses the other process. */

import { el, setText } from "../page/dom.js";
import { channelsBetween } from "../run/faults.js";
import { plainNumber } from "../run/times.js";

const REACH = 40; // pixels: a click further off chooses no line

export class Severing {
  /** @param manipulation the Manipulation that owns this */
  constructor(manipulation) {
    this.manipulation = manipulation;
    this.lane = null;
    this.words = el("span", { role: "status" });
    const cancel = el("button", { type: "button", onclick: () => this.end(true) }, "Cancel");
    this.node = el("div", { class: "cc-severing", role: "group", "aria-label": "Sever a channel", hidden: true }, this.words, cancel);
    manipulation.layer.append(this.node);
  }

  get isOn() {
    return this.lane != null;
  }

  /** @param moment when the channel is severed: {step, time} */
  begin(lane, moment, byKeyboard) {
    Object.assign(this, { lane, moment });
    const { lanes, scene } = this.manipulation;
    this.node.hidden = false;
    const at = moment.time == null ? "" : ` at ${plainNumber(moment.time)}`;
    this.say(`To sever a channel from ${scene.processes[lane]}${at}, choose the process to which it goes: its line, or its name.`);
    lanes.show();
    this.drawMark();
    const first = scene.processes.findIndex((_, other) => this.joins(other));
    if (byKeyboard) lanes.node.children[first]?.focus();
  }

  say(sentence) {
    setText(this.words, sentence);
  }

  /** Whether a channel joins this process and the chosen one. */
  joins(lane) {
    const { scene } = this.manipulation;
    return this.isOn && channelsBetween(scene, scene.processes[this.lane], scene.processes[lane]).some(Boolean);
  }

  /** The other process: offer what can be done to the channels between the two. */
  choose(lane, point, options) {
    const { manipulation, moment } = this;
    const { processes } = manipulation.scene;
    const [from, to] = [processes[this.lane], processes[lane]];
    if (from === to) return this.say(`${from} is where the channel begins; choose another process.`);
    if (!this.joins(lane)) return this.say(`No channel joins ${from} and ${to}; choose another process.`);
    this.end();
    const giveBack = () => manipulation.lanes.node.children[lane];
    manipulation.openChannelMenu([from, to], moment, point, { ...options, giveBack });
  }

  /** A click in the diagram: it chooses the nearest line. */
  chooseAt(event) {
    const { diagram } = this.manipulation;
    const point = diagram.within(event);
    const { lane, distance } = diagram.laneAt(point);
    if (distance <= REACH) this.choose(lane, point, {});
  }

  drawMark() {
    const { handles, diagram } = this.manipulation;
    handles.preview.mark(this.lane, this.moment.time ?? diagram.position, this.moment.time == null ? "" : plainNumber(this.moment.time));
  }

  /** @param giveBack whether the name of the first process gets the focus */
  end(giveBack = false) {
    if (!this.isOn) return;
    const { lanes } = this.manipulation;
    const { lane } = this;
    this.lane = null;
    this.node.hidden = true;
    lanes.show();
    this.manipulation.mark();
    if (giveBack) lanes.node.children[lane]?.focus();
  }
}
