/* The menu at a process's line: what can be added there. */

import { el, field, fillNames, refill } from "../page/dom.js";
import { moveFocus } from "../page/keys.js";
import { fold, hide, move, onShow } from "../run/arrangement.js";
import { stopsAt } from "../run/faults.js";
import { goalsAt } from "../run/stored.js";
import { plainNumber, roundedTime } from "../run/times.js";
import { Popup } from "./popup.js";

const SLOWER = 3; // times as long as usual takes a process that is slowed down, until the user says another number
const MOST_TARGETS = 6; // more targets than this are offered in a list

/** A part for pages on which nothing is edited: a click on a process's line opens no menu. */
export const noLineMenu = { claims: ({ kind }) => kind === "line" };

export class LineMenu extends Popup {
  constructor(manipulation) {
    super(manipulation, { class: "cc-line-menu", role: "group" });
    this.body = el("input", { type: "text", autocomplete: "off" });
    this.bodyField = field("Body of the message (may be left empty)", this.body);
    this.entries = el("div", { role: "menu" });
    this.arranging = el("div", { class: "cc-row cc-arranging", role: "group" });
    this.node.append(this.title, this.bodyField, this.entries, this.arranging);
    this.node.addEventListener("keydown", (event) => moveFocus(event, this.items(), ["ArrowUp", "ArrowDown"]));
    this.body.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      this.items()[0].click();
    });
  }

  items() {
    return [...this.node.querySelectorAll("[role=menuitem], select, .cc-arranging button:not(:disabled)")];
  }

  /** @param time the time that was clicked, rounded unless `isExact`; ignored where the run knows no time */
  openAt(point, lane, time, options) {
    const { scene, handles } = this.manipulation;
    const process = scene.processes[lane];
    this.lane = lane;
    const named = options.isExact ? time : Math.max(0, roundedTime(scene, time, handles.span()));
    this.time = scene.has_time ? named : null;
    const at = this.time == null ? "" : ` at ${plainNumber(this.time)}`;
    this.entitle(process + at, `Add to ${process}${at}`);
    this.entries.setAttribute("aria-label", `Add to ${process}${at}`);
    this.body.value = "";
    this.body.placeholder = scene.body_hint;
    const targets = scene.channels.filter(({ source }) => source === process).map(({ target }) => target);
    this.bodyField.hidden = !targets.length;
    this.entries.replaceChildren(
      ...this.sends(process, targets, at),
      this.entry(`Internal event${at}`, () => ({ do: "internal", process })),
      this.entry(`Start a snapshot${at}`, () => ({ do: "snapshot", process })),
      ...this.fates(process, at),
      ...this.rollback(at),
      this.severFromHere(process),
      scene.who_decides ? el("p", { class: "cc-quiet", role: "none" }, scene.who_decides) : "",
    );
    this.arranging.setAttribute("aria-label", `Lane of ${process}`);
    this.arranging.replaceChildren(...this.laneButtons(process));
    this.open(point, { ...options, focus: this.items()[0] });
    this.drawMark();
  }

  sends(process, targets, at) {
    const edit = (to) => () => ({ do: "send", process, to: to(), body: this.body.value });
    if (targets.length <= MOST_TARGETS) return targets.map((to) => this.entry(`Send to ${to}${at}`, edit(() => to)));
    const choice = el("select", { "aria-label": "Send to" });
    fillNames(choice, targets);
    const go = this.entry(`Send${at}`, edit(() => choice.value));
    return [el("div", { class: "cc-row", role: "none" }, el("span", {}, "Send to"), choice, go)];
  }

  /** What may become of a process: it crashes, is frozen, slows down or leaves; where it is down, it starts again; where it is frozen,
   * it is thawed; where it is not there, it joins.
   * Nobody leaves where snapshots are stored: a storage needs the same processes all the time as yet. */
  fates(process, at) {
    const kinds = stopsAt(this.manipulation.scene, this.moment()).filter(({ lane }) => lane === this.lane).map(({ kind }) => kind);
    const entry = (words, kind) => this.entry(`${words}${at}`, () => ({ do: "fault", kind, process }));
    if (kinds.includes("leave")) return [entry("Join", "join")];
    const pace = (words, factor) => this.entry(`${words}${at}`, () => ({ do: "fault", kind: "slow", process, factor }));
    return [
      kinds.includes("crash") ? entry("Start again", "restart") : entry("Crash", "crash"),
      ...(kinds.includes("crash") ? [] : [kinds.includes("frozen") ? entry("Thaw", "thaw") : entry("Freeze", "freeze")]),
      kinds.includes("slow") ? pace("Usual pace again", 1) : pace(`Slow down, ${SLOWER} times`, SLOWER),
      ...(this.manipulation.scene.stored ? [] : [entry("Leave", "leave")]),
    ];
  }

  /** The entry by which all go back to the last snapshot that is valid at this time. */
  rollback(at) {
    const { scene } = this.manipulation;
    const to = goalsAt(scene, this.moment()).at(-1);
    return to && !scene.recovery.refused ? [this.entry(`Roll all back to ${to}${at}`, () => ({ do: "roll_back", to }))] : [];
  }

  /** The time that the entries name. */
  moment() {
    return { step: this.manipulation.step, time: this.time };
  }

  /** The entry after which another process is chosen; none where no channel joins this one to any. */
  severFromHere(process) {
    if (!this.manipulation.scene.channels.some(({ source, target }) => source === process || target === process)) return "";
    const onclick = (event) => {
      this.close();
      this.manipulation.severing.begin(this.lane, this.moment(), event.detail === 0);
    };
    return el("button", { type: "button", role: "menuitem", tabindex: "-1", onclick }, "Sever from here to …");
  }

  /** The buttons that change only the view: hide, fold or move the process. */
  laneButtons(process) {
    const { scene, explorer, diagram } = this.manipulation;
    const shown = onShow(scene.arrangement, scene.processes);
    const place = shown.indexOf(process);
    const isFolded = scene.arrangement.folded.includes(process);
    const [back, on] = diagram.isDown ? [["←", "left"], ["→", "right"]] : [["↑", "up"], ["↓", "down"]];
    const button = (text, label, wanted, isPossible) => {
      const onclick = () => {
        this.close(true);
        explorer.arrange(wanted(explorer.visit.arrangement));
      };
      return el("button", { type: "button", "aria-label": label, title: label, disabled: !isPossible, onclick }, text);
    };
    const moving = ([sign, way], by) => button(sign, `Move ${process} ${way}`, (now) => move(now, process, by, scene.processes), shown[place + by] != null);
    return [
      button("Hide", `Hide ${process}`, (now) => hide(now, process, true), shown.length > 1),
      button(isFolded ? "Unfold" : "Fold", `${isFolded ? "Unfold" : "Fold"} ${process}`, (now) => fold(now, process, !isFolded), true),
      moving(back, -1),
      moving(on, 1),
    ];
  }

  entry(text, edit) {
    const onclick = () => {
      const at = this.time == null ? {} : { at: this.time };
      this.close(true);
      this.manipulation.explorer.submit({ ...edit(), ...at });
    };
    return el("button", { type: "button", role: "menuitem", tabindex: "-1", onclick }, text);
  }

  /** Mark the line at the time that the entries name. */
  drawMark() {
    const position = this.time ?? this.manipulation.diagram.position;
    const words = this.time == null ? "" : plainNumber(this.time);
    this.manipulation.handles.preview.mark(this.lane, position, words);
  }

  onClose() {
    this.manipulation.mark();
  }

  show() {
    this.close(true);
  }
}

/** A button at each process's name opens its menu too: lines cannot be clicked by keyboard. */
export class LaneButtons {
  constructor(manipulation) {
    this.manipulation = manipulation;
    this.node = el("div", { class: "cc-lanes" });
    manipulation.layer.append(this.node);
  }

  show() {
    const { scene, severing } = this.manipulation;
    const signature = JSON.stringify([scene.processes, severing.lane]);
    refill(this.node, signature, () => scene.processes.map((name, lane) => this.button(name, lane)));
    this.refresh();
  }

  button(name, lane) {
    const { severing, scene } = this.manipulation;
    const isEnd = severing.joins(lane);
    const label = isEnd ? `${name}: sever channels between ${scene.processes[severing.lane]} and ${name}` : `${name}: at the time of this step send, add an event, start a snapshot or let it fail; hide, fold or move the process`;
    const onclick = (event) => {
      const { left, top } = this.manipulation.layer.getBoundingClientRect();
      const box = event.currentTarget.getBoundingClientRect();
      const point = [(box.left + box.right) / 2 - left, (box.top + box.bottom) / 2 - top];
      const giveBack = () => this.node.children[lane];
      this.manipulation.openMenu(lane, this.manipulation.now(), point, { isExact: true, giveBack, byKeyboard: event.detail === 0 });
    };
    const title = isEnd ? label : `${name}: send, add an event, start a snapshot, fail, hide`;
    return el("button", { type: "button", class: "cc-lane", "data-end": isEnd, "aria-label": label, title, onclick });
  }

  /** Put the buttons over the names that Plotly has written above the lines, or to their left. */
  refresh() {
    const { diagram } = this.manipulation;
    const { left, top, right, bottom } = diagram.plotBox();
    const lanes = diagram.lanesShown();
    const across = (lane) => diagram.spot(lane, 0)[diagram.isDown ? 0 : 1];
    [...this.node.children].forEach((button, lane) => {
      const number = lanes.indexOf(lane);
      const beside = [lanes[number - 1], lanes[number + 1]].filter((other) => other != null);
      const gap = Math.min(120, ...beside.map((other) => Math.abs(across(other) - across(lane))));
      const wide = Math.min(diagram.isDown ? 120 : left, Math.max(18, gap - 4));
      const [x, y] = diagram.spot(lane, 0);
      const isInPlot = diagram.isDown ? x >= left && x <= right : y >= top && y <= bottom;
      const isSeen = number >= 0 && gap >= 18 && isInPlot;
      button.hidden = !isSeen;
      const high = Math.min(30, Math.max(18, gap - 2));
      const box = diagram.isDown ? [x - wide / 2, top - 32, wide, 30] : [1, y - high / 2, left - 4, high];
      const [at, from, width, height] = box.map(Math.round);
      button.style.cssText = `left: ${at}px; top: ${Math.max(0, from)}px; width: ${width}px; height: ${height}px`;
    });
  }
}
