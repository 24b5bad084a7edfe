/* "I choose every delivery": the user is the scheduler, and picks in the diagram, in the network or in a bar. */

import { el, refill, setText, unbroken } from "../page/dom.js";
import { keepsKeys } from "../page/keys.js";
import { placedOnEdges } from "../panel/network.js";
import { stopsAt } from "../run/faults.js";
import { inFlight, stepAt } from "../run/timeline.js";

const MOST_BUTTONS = 8; // more choices than this are offered in a list

const NOTHING_LEFT = "No message is left to deliver, and no process has anything left to do.";
const TRY_AGAIN = "To try another order, step back and choose there.";

/** The question at the end of a run that waits for a choice; null at other steps and in other runs. */
export function choiceAsked({ choices, first, last }, step) {
  const open = choices && step === last ? choices[step - first] : null;
  if (!open?.length) return null;
  return `Choose what happens next: ${open.length === 1 ? "one thing can" : `${open.length} things can`}.`;
}

const HOW_BACK = "To let delays decide again, undo your choices or reset.";

export class ManualMode {
  constructor(manipulation) {
    this.manipulation = manipulation;
    this.choices = [];
    this.buildBar();
    this.buildSwitch();
    manipulation.explorer.keyboard.addEventListener("keydown", (event) => this.key(event), { signal: manipulation.explorer.closed });
    this.inNetwork = new NetworkChoices(manipulation);
  }

  buildBar() {
    this.title = el("strong");
    this.note = el("span", { class: "cc-quiet" });
    this.buttons = el("div", { class: "cc-choices" });
    const undo = el("button", { type: "button", onclick: () => this.manipulation.explorer.submit({ do: "undo" }) }, "Undo a choice");
    const label = "What happens next";
    this.bar = el("div", { class: "cc-manual", role: "group", "aria-label": label, hidden: true },
      el("div", { class: "cc-manual-head" }, this.title, this.note, undo),
      this.buttons,
    );
    this.manipulation.explorer.root.querySelector(".cc-transport").before(this.bar);
  }

  /** The switch, at the top of the Change tab. */
  buildSwitch() {
    const start = () => !this.isOn && this.manipulation.explorer.submit({ do: "manual", after: this.manipulation.explorer.visit.step });
    this.switch = el("button", { type: "button", "aria-pressed": "false", onclick: start }, "I choose every delivery");
    this.switchNote = el("span", { class: "cc-quiet" });
    this.section = el("div", { class: "cc-row cc-by-hand" }, this.switch, this.switchNote);
    this.manipulation.explorer.root.querySelector("[data-view=change]").prepend(this.section);
  }

  show() {
    const { scene } = this.manipulation;
    this.isOn = Boolean(scene.choices);
    this.bar.hidden = !this.isOn;
    this.manipulation.explorer.root.toggleAttribute("data-by-hand", this.isOn);
    this.switch.setAttribute("aria-pressed", this.isOn);
    const off = "From this step on, only what you pick happens. Delays do not count then.";
    setText(this.switchNote, this.isOn ? `On: pick what happens next in the diagram, in the Network tab, or in the list below the diagram. ${HOW_BACK}` : off);
    this.stepTo();
  }

  /** The choices of the step on show. */
  stepTo() {
    const { scene, step } = this.manipulation;
    const isLoaded = this.isOn && step >= scene.first && step <= scene.until;
    this.choices = (isLoaded && scene.choices?.[step - scene.first]) || [];
    this.showBar();
    this.inNetwork.show(this.choices);
  }

  showBar() {
    if (!this.isOn) return;
    const { scene, step } = this.manipulation;
    const later = scene.last - step;
    setText(this.title, howToChoose(this.choices.length));
    const dropped = later === 1 ? "the later step" : `the ${later} later steps`;
    const branch = `Picking here drops ${dropped}; Undo brings ${later === 1 ? "it" : "them"} back.`;
    setText(this.note, later ? branch : HOW_BACK);
    const frozen = stopsAt(scene, { step, time: null }).filter(({ kind }) => kind === "frozen").map(({ lane }) => scene.processes[lane]);
    refill(this.buttons, JSON.stringify([this.choices, frozen]), () => this.choiceButtons(frozen));
    for (const button of this.buttons.children) button.disabled = this.isBusy;
  }

  choiceButtons(frozen) {
    if (!this.choices.length) return [el("p", { class: "cc-quiet" }, `${whyNothing(frozen)} ${TRY_AGAIN}`)];
    const few = this.choices.slice(0, MOST_BUTTONS);
    const nodes = few.map(({ choice, words }, rank) => {
      const number = el("span", { class: "cc-rank", "aria-hidden": "true" }, String(rank + 1));
      const onclick = () => this.choose(choice);
      return el("button", { type: "button", "aria-label": capital(words), onclick }, number, el("span", {}, ...unbroken(inShort(words))));
    });
    const rest = this.choices.slice(MOST_BUTTONS);
    if (!rest.length) return nodes;
    const onchange = (event) => event.target.value && this.choose(event.target.value);
    const options = rest.map(({ choice, words }) => el("option", { value: choice }, inShort(words)));
    const more = el("option", { value: "" }, `${rest.length} more …`);
    return [...nodes, el("select", { "aria-label": "More of what may happen next", onchange }, more, ...options)];
  }

  /** The digits 1 to 9 choose, in the presenter view too. */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || keepsKeys(event.target)) return;
    const { root } = this.manipulation.explorer;
    const chosen = /^[1-9]$/.test(event.key) ? this.choices[event.key - 1] : null;
    if (!chosen || "predicting" in root.dataset || "still" in root.dataset) return;
    event.preventDefault();
    this.choose(chosen.choice);
  }

  /** Whether a choice makes this message arrive next. */
  delivers(id) {
    return this.choices.some(({ message }) => message === id);
  }

  /** The handles of the choices, for the diagram. */
  grips() {
    const { scene } = this.manipulation;
    const acts = this.choices.filter(({ message }) => message == null);
    return this.choices.map(({ choice, words, message, process }, rank) => {
      const own = acts.filter((act) => act.process === process);
      return {
        kind: "choice",
        key: `choice ${choice}`,
        choice,
        id: message,
        lane: scene.processes.indexOf(process),
        rank: own.findIndex((act) => act.choice === choice),
        of: own.length,
        number: rank + 1,
        label: capital(words),
        order: -1,
      };
    });
  }

  /** Submit one choice at a time: only Python's answer says what may follow. */
  choose(choice) {
    if (this.isBusy) return;
    const { explorer, step } = this.manipulation;
    this.isBusy = true;
    this.waitsFor = explorer.submit({ do: "choose", choice, after: step });
    this.showBar();
  }

  /** Go to the step that the choice made, once Python has answered. */
  history({ ack, notice }) {
    if (!this.isBusy || ack < this.waitsFor) return;
    this.isBusy = false;
    this.stepTo();
    const isRefused = notice?.level === "error" && notice.seq === this.waitsFor;
    if (!isRefused) this.manipulation.explorer.goTo(this.manipulation.scene.last);
  }
}

function howToChoose(count) {
  if (!count) return "Nothing more can happen";
  return count === 1 ? "Pick it, or press 1" : `Pick one, or press 1 to ${Math.min(count, 9)}`;
}

/** Why nothing may happen: a process that is frozen does nothing, and no fault thaws it. */
function whyNothing(frozen) {
  if (!frozen.length) return NOTHING_LEFT;
  const one = frozen.length === 1;
  return `${frozen.join(", ")} ${one ? "stands" : "stand"} still until ${one ? "it is" : "they are"} thawed.`;
}

/** A choice without "deliver", which its number on an arrow says: "Marker of S1 on C12", "H->D on C21". */
function inShort(words) {
  return capital(words.replace(/^deliver (the )?/, ""));
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Buttons over the network's picture: messages that can be delivered, processes that can act. */
class NetworkChoices {
  constructor(manipulation) {
    this.manipulation = manipulation;
    this.plot = manipulation.explorer.root.querySelector(".cc-topology");
    this.layer = el("div", { class: "cc-network-choices" });
    this.plot.after(this.layer);
    new ResizeObserver(() => this.place()).observe(this.plot);
  }

  show(choices) {
    this.choices = choices;
    refill(this.layer, JSON.stringify(choices), () => choices.map((choice, rank) => this.button(choice, rank)));
    if (choices.length && this.plot.clientWidth) requestAnimationFrame(() => this.place());
  }

  button({ choice, words }, rank) {
    const onclick = () => this.manipulation.manual.choose(choice);
    const label = capital(words);
    return el("button", { type: "button", class: "cc-rank", "aria-label": label, title: label, onclick }, String(rank + 1));
  }

  /** Where the messages and processes are drawn just now. */
  place() {
    const layout = this.plot._fullLayout;
    if (!layout?.xaxis || !this.plot.clientWidth || !this.choices?.length) return;
    const { scene, step } = this.manipulation;
    const { xaxis, yaxis } = layout;
    const pixel = ({ x, y }) => [xaxis._offset + xaxis.d2p(x), yaxis._offset + yaxis.d2p(y)];
    const dots = placedOnEdges(inFlight(scene.messages, step), scene.topology.edges, stepAt(scene, step).time);
    const around = new Map(); // process -> how many of its choices have been placed
    this.choices.forEach(({ message, process }, rank) => {
      const button = this.layer.children[rank];
      const dot = message == null ? null : dots.find((one) => one.message.id === message);
      const node = scene.topology.nodes.find(({ name }) => name === process);
      const nth = around.get(process) ?? 0;
      if (!dot) around.set(process, nth + 1);
      const [x, y] = pixel(dot ?? node);
      const [dx, dy] = dot ? this.beside(dot.message.channel, pixel) : [24 + 30 * nth, -24];
      const inside = Math.max(15, Math.min(x + dx, this.plot.clientWidth - 15));
      button.style.transform = `translate(${Math.round(inside)}px, ${Math.round(Math.max(15, y + dy))}px) translate(-50%, -50%)`;
    });
  }

  /** The shift to the outer side of a channel: the buttons of the opposite channel have the other side. */
  beside(channel, pixel) {
    const edge = this.manipulation.scene.topology.edges.find((one) => one.channel === channel);
    const [x0, y0] = pixel({ x: edge.x0, y: edge.y0 });
    const [x1, y1] = pixel({ x: edge.x1, y: edge.y1 });
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    return [(12 * (y1 - y0)) / length, (-12 * (x1 - x0)) / length];
  }
}
