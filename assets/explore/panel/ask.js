/* The Ask tab: the past, future and vector clock of an event; why a message is recorded, or not. */

import { resolveColour, snapshotDot } from "../page/colours.js";
import { el, field, refill, unbroken } from "../page/dom.js";
import { keepsKeys } from "../page/keys.js";
import { Causality, CONCURRENT, FUTURE, PAST } from "../run/causality.js";
import { EVENT_KINDS, RECEIVED } from "../run/events.js";
import { reasonOf } from "../run/reasons.js";
import { plainNumber } from "../run/times.js";
import { NO_SNAPSHOT } from "./record.js";

const NAMED_UP_TO = 16; // up to this many events of a relation are named
const CLOCK_ON_A_LINE = 10; // vector clocks of up to this many processes are also written on one line

const RELATION_SIGNS = { past: "M8 1l7 12H1z", future: "M8 1l7 12H1z", concurrent: "M2.5 2.5h11v11h-11z" };

export class AskView {
  constructor(node, explorer) {
    this.node = node;
    this.explorer = explorer;
    this.eventMenu = el("select", { onchange: () => this.choose("event", "at", this.eventMenu) });
    this.messageMenu = el("select", { onchange: () => this.choose("message", "id", this.messageMenu) });
    this.answer = el("div", { class: "cc-answer", tabindex: "-1" });
    const menus = [field("Event", this.eventMenu), field("Message", this.messageMenu)];
    node.append(el("div", { class: "cc-row cc-asking" }, ...menus), this.answer);
    explorer.keyboard.addEventListener("keydown", (event) => this.key(event), { signal: explorer.closed });
  }

  show(scene, palette) {
    this.scene = scene;
    this.palette = palette;
    this.events = this.explorer.events;
    this.node.dataset.orientation = this.explorer.visit.orientation;
    this.offerEvents();
    this.offerMessages();
  }

  /** Fill the menu of events with those of the window, by process. */
  offerEvents() {
    const { events, scene } = this;
    const groups = new Map();
    for (const at of events.within(scene)) {
      const process = scene.processes[events.lane[at]];
      if (!groups.has(process)) groups.set(process, []);
      groups.get(process).push([at, `${events.label(at)} · ${EVENT_KINDS[events.kind[at]]} · step ${events.step[at]}`]);
    }
    this.fillMenu(this.eventMenu, groups);
  }

  offerMessages() {
    const groups = new Map(Object.values(this.scene.kinds).map((title) => [title, []]));
    for (const { id, kind, name, where, sent } of this.scene.messages) {
      groups.get(this.scene.kinds[kind]).push([id, `${name} ${where} · step ${sent}`]);
    }
    this.fillMenu(this.messageMenu, groups);
  }

  fillMenu(menu, groups) {
    const filled = [...groups].filter(([, options]) => options.length);
    refill(menu, JSON.stringify(filled), () => [
      el("option", { value: "" }, "choose …"),
      ...filled.map(([label, options]) =>
        el("optgroup", { label }, ...options.map(([value, text]) => el("option", { value }, text))),
      ),
    ]);
  }

  choose(kind, key, menu) {
    this.explorer.select(menu.value === "" ? null : { kind, [key]: Number(menu.value) });
  }

  select(selection) {
    this.selection = selection;
    const isEvent = selection?.kind === "event";
    const isMessage = selection?.kind === "message";
    this.eventMenu.value = isEvent ? selection.at : "";
    this.messageMenu.value = isMessage ? selection.id : "";
    this.causality = isEvent && !this.events.isGone(selection.at) ? new Causality(this.events, selection.at) : null;
    this.tell();
  }

  /** What is known of a message, and of an event in a snapshot, changes with the step. */
  stepTo() {
    if (this.selection) this.tell();
  }

  tell() {
    const { kind, at, id } = this.selection ?? {};
    const message = kind === "message" ? this.messageOf(id) : null;
    const answer = kind === "event" ? this.ofEvent(at) : message ? this.ofMessage(message) : this.invitation();
    const key = JSON.stringify(this.selection);
    const focused = [...this.answer.querySelectorAll("button")].indexOf(document.activeElement);
    this.answer.replaceChildren(...answer);
    if (key === this.answered) this.answer.querySelectorAll("button")[focused]?.focus(); // only the window or the step has moved
    else if (focused >= 0) this.answer.focus({ preventScroll: true }); // the pressed button is gone: Tab goes on from here
    if (key !== this.answered) this.node.scrollTop = 0;
    this.answered = key;
  }

  /** A message of the window, or the one asked about before the window moved. */
  messageOf(id) {
    const found = this.scene.messages.find((message) => message.id === id);
    const isStill = this.message?.id === id && this.askedOf === this.events;
    if (found || !isStill) Object.assign(this, { message: found, askedOf: this.events });
    return this.message;
  }

  /** Escape clears the selection. */
  key(event) {
    if (event.key !== "Escape" || event.defaultPrevented || !this.selection || keepsKeys(event.target)) return;
    event.preventDefault();
    this.explorer.select(null);
  }

  // ---------------------------------------------------------------- nothing selected

  invitation() {
    return [
      el("p", { class: "cc-lead" }, "Click an event or an arrow in the diagram, or choose one above."),
      el("ul", { class: "cc-invitation" },
        el("li", {}, el("strong", {}, "An event: "), "what could have influenced it, what it could influence, and its vector clock."),
        el("li", {}, el("strong", {}, "A message: "), "whether a snapshot has recorded it, and which two events decide this."),
      ),
      el("h4", {}, "For example"),
      el("ul", { class: "cc-examples" }, ...this.examples().map(([text, selection]) => this.example(text, selection))),
      el("p", { class: "cc-quiet" }, "To clear the question, press Escape or click an empty place of the diagram."),
    ];
  }

  example(text, selection) {
    return el("li", {}, el("button", { type: "button", onclick: () => this.explorer.select(selection) }, ...unbroken(text)));
  }

  /** Example questions for this run. */
  examples() {
    const { events, scene } = this;
    const at = this.exampleEvent();
    const found = at == null ? [] : [[`What could ${events.label(at)} know about?`, { kind: "event", at }]];
    const is = (message, recorded) => Object.values(message.reasons).some((told) => told.at(-1)[2] === recorded);
    const messages = scene.messages.filter(({ kind }) => kind === "app");
    const kept = messages.find((message) => is(message, true));
    const left = messages.find((message) => is(message, false) && !is(message, true));
    const marker = scene.messages.find(({ kind }) => kind !== "app");
    const ask = (message, text) => message && found.push([text, { kind: "message", id: message.id }]);
    ask(kept, `Is ${kept?.name} part of the state of ${kept?.caption}?`);
    ask(left, `Is ${left?.name} recorded in a channel?`);
    ask(marker, `What does the ${marker?.name} ${marker?.where} do?`);
    return found;
  }

  /** A receive near the middle of the window, named if one is. */
  exampleEvent() {
    const { events, scene } = this;
    const all = events.within(scene);
    const received = all.filter((at) => events.kind[at] === RECEIVED);
    const named = received.filter((at) => at in events.labels);
    const among = [named, received, all].find((some) => some.length) ?? [];
    return among[among.length >> 1];
  }

  // ---------------------------------------------------------------- an event

  ofEvent(at) {
    const { events } = this;
    if (events.isGone(at) && events.gone[at][0] <= this.explorer.shownStep()) return this.ofGoneEvent(at);
    if (!this.causality) return this.ofGoneEvent(at);
    const label = events.label(at);
    const counts = this.causality.counts();
    const told = `${counts[PAST]} in its past, ${counts[FUTURE]} in its future, ${counts[CONCURRENT]} concurrent`;
    return [
      this.heading(label, `${events.inWords(at)}, step ${events.step[at]}`),
      el("p", { class: "cc-hidden", role: "status" }, `${label}: ${told}`),
      el("div", { class: "cc-row" }, this.stepButton(events.step[at]), this.messageButton(at)),
      el("ul", { class: "cc-reasons" }, ...this.scene.snapshots.map((snapshot) => this.membership(at, snapshot))),
      el("ul", { class: "cc-relations" },
        this.relation(PAST, counts, `could have influenced ${label}`),
        this.relation(FUTURE, counts, `could be influenced by ${label}`),
        this.relation(CONCURRENT, counts, "neither could influence the other"),
      ),
      el("h4", {}, `Vector clock of ${label}`),
      ...this.clock(at),
    ];
  }

  /** An event that a recovery takes back: it is in no cut, and has no clock on the surviving line. */
  ofGoneEvent(at) {
    const { events } = this;
    const [step, why] = events.gone[at];
    const isKnown = step <= this.explorer.shownStep();
    return [
      this.heading(events.label(at), `${events.inWords(at)}, step ${events.step[at]}`),
      el("div", { class: "cc-row" }, this.stepButton(events.step[at]), this.messageButton(at)),
      el("h4", {}, "After the recovery"),
      el("p", {}, ...unbroken(isKnown ? why : "A recovery will take this event back.")),
      el("div", { class: "cc-row" }, this.stepButton(step)),
      el("ul", { class: "cc-reasons" }, ...this.scene.snapshots.map((snapshot) => this.membership(at, snapshot))),
    ];
  }

  /** Whether a snapshot has an event in the state of its process, as far as the run has come. */
  membership(at, { id, colour, truth }) {
    const { events, scene } = this;
    const process = scene.processes[events.lane[at]];
    const recorded = truth.record_steps[process];
    const hasRecorded = recorded != null && recorded <= this.explorer.shownStep();
    const isInside = hasRecorded && (truth.over?.[process]?.includes(at) ?? events.index[at] <= truth.inside[process]);
    const [mark, told] = isInside
      ? ["✓", `in ${process}'s recorded state: it came before ${process} recorded`]
      : hasRecorded
        ? ["✗", `not in ${process}'s recorded state: it comes after ${process} recorded`]
        : ["•", `${process} has not recorded${recorded == null ? "" : " yet"}`];
    return el("li", { "data-recorded": String(isInside) },
      el("span", { class: "cc-tick", "aria-hidden": "true" }, mark),
      el("div", {},
        el("p", {}, snapshotDot(resolveColour(colour, this.palette)), el("strong", {}, `${id}: `), told, ". ", recorded == null ? null : this.stepButton(recorded)),
      ),
    );
  }

  relation(relation, counts, meaning) {
    const count = counts[relation];
    const named = count <= NAMED_UP_TO ? this.causality.indices(relation) : [];
    return el("li", { "data-of": relation },
      relationSign(relation),
      el("span", { class: "cc-count" }, count.toLocaleString("en")),
      el("span", {}, el("strong", {}, relation), " ", el("span", { class: "cc-quiet" }, meaning), this.names(named)),
    );
  }

  names(indices) {
    if (!indices.length) return null;
    const link = (at) => el("button", { type: "button", class: "cc-asks", onclick: () => this.explorer.select({ kind: "event", at }) }, this.events.label(at));
    return el("p", { class: "cc-names" }, ...indices.flatMap((at) => [link(at), " "]));
  }

  clock(at) {
    const { clock } = this.causality;
    const { processes } = this.scene;
    const own = this.events.lane[at];
    const label = this.events.label(at);
    const cell = (name, lane) => {
      const attributes = { class: clock[lane] ? null : "cc-quiet", "data-own": lane === own };
      return el("div", attributes, el("dt", {}, name), el("dd", {}, String(clock[lane])));
    };
    const line = processes.length <= CLOCK_ON_A_LINE ? el("p", { class: "cc-vector" }, `(${[...clock].join(", ")})`) : null;
    const other = processes.findIndex((_, lane) => lane !== own && clock[lane] > 0);
    const lane = other < 0 ? own : other;
    const events = clock[lane] === 1 ? "the first event" : `the first ${clock[lane]} events`;
    const told = `The ${clock[lane]} below ${processes[lane]} says: ${events} of ${processes[lane]} ${clock[lane] === 1 ? "is" : "are"} in the past of ${label}. `;
    const counted = `The ${clock[own]} below ${processes[own]} counts ${label} itself${clock[own] === 1 ? "" : " and the events of its process before it"}.`;
    const meaning = lane === own ? counted : told + counted;
    return [el("dl", { class: "cc-clock" }, ...processes.map(cell)), line, el("p", { class: "cc-quiet" }, meaning)].filter(Boolean);
  }

  /** A button that asks about an event's message. */
  messageButton(at) {
    const message = this.scene.messages.find(({ id }) => id === this.events.message[at]);
    if (!message) return null;
    const onclick = () => this.explorer.select({ kind: "message", id: message.id });
    return el("button", { type: "button", onclick }, ...unbroken(`Its message ${message.name}`));
  }

  // ---------------------------------------------------------------- a message

  ofMessage(message) {
    const { name, where, kind } = message;
    const snapshots = this.scene.snapshots.map(({ id, colour }) => ({ id, colour: resolveColour(colour, this.palette) }));
    const own = snapshots.filter(({ id }) => message.snapshot == null || message.snapshot === id);
    const title = kind !== "app" ? "What it does" : own.length > 1 ? "In the snapshots" : "In the snapshot";
    return [
      this.heading(name, where),
      this.facts(message),
      ...this.recovery(message),
      own.length ? el("h4", {}, title) : el("p", { class: "cc-quiet" }, NO_SNAPSHOT),
      el("ul", { class: "cc-reasons" }, ...own.map((snapshot) => this.reason(message, snapshot))),
    ];
  }

  /** What recoveries do with a message, as far as the run has come. */
  recovery(message) {
    const now = this.explorer.shownStep();
    const known = message.recovery.filter(([step]) => step <= now);
    const later = message.recovery.filter(([step]) => step > now);
    if (!message.recovery.length) return [];
    const told = ([step, text]) => el("li", {}, el("span", { class: "cc-tick", "aria-hidden": "true" }, "•"), el("div", {}, el("p", {}, ...unbroken(text)), el("div", { class: "cc-row" }, this.stepButton(step))));
    return [
      el("h4", {}, "In the recovery"),
      el("ul", { class: "cc-reasons" }, ...known.map(told)),
      later.length ? el("div", { class: "cc-row" }, el("span", {}, "More is known at"), ...later.map(([step]) => this.stepButton(step))) : null,
    ].filter(Boolean);
  }

  reason(message, { id, colour }) {
    const { recorded, text, steps, later } = reasonOf(this.scene, message, id, this.explorer.shownStep());
    const isApplication = message.kind === "app";
    const verdict = recorded ? `recorded in ${message.caption}` : `not recorded in the channel${later.length ? " so far" : ""}`;
    return el("li", { "data-recorded": String(recorded) },
      el("span", { class: "cc-tick", "aria-hidden": "true" }, isApplication ? (recorded ? "✓" : "✗") : "•"),
      el("div", {},
        el("p", {}, snapshotDot(colour), el("strong", {}, isApplication ? `${id}: ${verdict}` : id)),
        el("p", {}, ...unbroken(text)),
        recorded ? el("p", {}, this.conclusion(message)) : null,
        el("div", { class: "cc-row" }, ...[...new Set(steps)].map((step) => this.stepButton(step))),
        later.length ? el("div", { class: "cc-row" }, el("span", {}, "More is known at"), ...later.map((step) => this.stepButton(step))) : null,
      ),
    );
  }

  /** What follows for a message that is recorded in its channel. */
  conclusion({ source, target }) {
    const [from, to] = [source, target].map((lane) => this.scene.lanes[lane]);
    return `${from}'s recorded state has the sending, ${to}'s has no receipt: so the message belongs to the channel.`;
  }

  facts(message) {
    const { scene } = this;
    const { source, target, sent, received, sent_time, arrival, sent_label, arrival_label, delay } = message;
    const at = (label) => (label ? ` as ${label}` : "");
    const end = received == null ? [el("strong", {}, scene.log ? "not in these rows" : neverComes(message))] : [`by ${scene.lanes[target]}${at(arrival_label)}, time ${plainNumber(arrival)} `, this.stepButton(received)];
    const begin = [`by ${scene.lanes[source]}${at(sent_label)}, time ${plainNumber(sent_time)} `, this.stepButton(sent)];
    const change = el("button", { type: "button", class: "cc-asks", onclick: () => this.explorer.openTab("change") }, "change it");
    const stamp = message.stamp ? [["Stamp", [message.stamp]]] : [];
    const now = this.explorer.shownStep();
    const isSent = sent <= now;
    const isReceived = received == null || received <= now;
    const again = message.again.flatMap((one) => this.factsAgain(message, one, now));
    const rows = [[isSent ? "Sent" : "Will be sent", begin], ...stamp, [isReceived ? "Received" : "Will be received", end], ...again, ["Delay", [delay == null ? "it does not arrive " : `${plainNumber(delay)} `, change]]];
    return el("dl", { class: "cc-told" }, ...rows.flatMap(([name, told]) => [el("dt", {}, name), el("dd", {}, ...told)]));
  }

  /** When a recovery puts a message back, and when that is received. */
  factsAgain({ target }, { put_back, time, received, arrival }, now) {
    const put = [put_back <= now ? "Put back" : "Will be put back", [`time ${plainNumber(time)} `, this.stepButton(put_back)]];
    if (received == null) return [put];
    return [put, [received <= now ? "Received" : "Will be received", [`by ${this.scene.lanes[target]}, time ${plainNumber(arrival)} `, this.stepButton(received)]]];
  }

  // ---------------------------------------------------------------- both

  heading(name, rest) {
    const clear = el("button", { type: "button", class: "cc-clear", "aria-label": "Ask nothing", title: "Ask nothing (Escape)", onclick: () => this.explorer.select(null) }, "×");
    return el("h3", { class: "cc-asked" }, el("span", { class: "cc-asked-name" }, ...unbroken(name)), el("span", {}, ...unbroken(rest)), clear);
  }

  stepButton(step) {
    const onclick = () => this.explorer.goTo(step);
    return el("button", { type: "button", class: "cc-to-step", title: `Show step ${step}`, onclick }, `Step ${step}`);
  }
}

function neverComes({ behind, held, lost, fenced }) {
  if (fenced) return "never: it is fenced off";
  if (lost != null) return "never: it is lost";
  if (behind) return `never: ${behind} is ahead of it and is held`;
  return held ? "never: it is held" : "not yet: it is on its way";
}

/** The sign of a relation, as in the diagram. */
function relationSign(name) {
  const sign = el("span", { class: "cc-relation-sign", "aria-hidden": "true" });
  sign.innerHTML = `<svg viewBox="0 0 16 16" width="16" height="16"><path d="${RELATION_SIGNS[name]}" /></svg>`;
  return sign;
}
