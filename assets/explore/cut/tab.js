/* The Cut tab: whether the cut in the diagram is consistent and why, and what it finds. */

import { el, refill, setText, unbroken } from "../page/dom.js";
import { metersOf } from "../panel/meter.js";
import { countedEvents } from "../run/cut_stops.js";

const MOST_LISTED = 24; // of messages that decide, of channels, of processes; the others are counted

export class CutView {
  constructor(node, explorer) {
    this.explorer = explorer;
    this.verdict = el("p", { class: "cc-lead cc-cut-verdict", role: "status" });
    this.why = el("ul", { class: "cc-cut-why" });
    this.moves = el("div", { class: "cc-row cc-cut-moves", role: "group", "aria-label": "Put the cut elsewhere" });
    this.channels = el("ul", { class: "cc-channels" });
    this.others = el("p", { class: "cc-rest" });
    this.amounts = el("div", {});
    this.faults = el("div", {});
    this.inside = el("dl", { class: "cc-states" });
    this.counts = el("p", { class: "cc-facts" });
    node.append(
      this.verdict,
      this.why,
      el("p", { class: "cc-quiet" }, "A cut has the first few events of each process inside. Drag its handles.", el("span", { class: "cc-by-keys" }, " With the keys: Tab, then the arrows.")),
      this.moves,
      el("h4", {}, "Channel contents: sent inside, not received inside"),
      this.channels,
      this.others,
      this.amounts,
      el("h4", {}, "Events inside"),
      this.inside,
      this.faults,
      this.counts,
    );
  }

  show(scene) {
    this.scene = scene;
    const caption = new Map(scene.channels.map(({ name, caption }) => [name, caption]));
    this.captions = scene.events.channels.map(({ name }) => caption.get(name) ?? name);
    this.names = new Map(scene.messages.map(({ id, name }) => [id, name]));
    setText(this.counts, countsInWords(scene.cut_counts, scene.log ? "through these rows" : "of this run"));
    this.makeMoves();
    this.cutMoved();
  }

  stepTo(step) {
    setText(this.asNow, `As after step ${step}`);
    if (String(this.held.frontier) !== this.told) this.cutMoved();
  }

  get held() {
    return this.explorer.cut;
  }

  makeMoves() {
    const { scene, held } = this;
    const button = (text, to, title) => el("button", { type: "button", title, onclick: () => held.set(to()) }, text);
    this.asNow = button(`As after step ${this.explorer.shownStep()}`, () => held.cuts.atStep(this.explorer.shownStep()), "Every event up to this step");
    this.above = button("Grow to a consistent cut", () => held.cuts.above(held.frontier));
    const complete = scene.snapshots.filter(({ truth }) => truth.cut);
    this.moves.replaceChildren(
      button("Shrink to a consistent cut", () => held.cuts.below(held.frontier), "The greatest consistent cut inside this one"),
      this.above,
      ...complete.map(({ id, truth }) => button(`Cut of ${id}`, () => truth.cut, `The cut of the snapshot ${id}`)),
      this.asNow,
    );
  }

  /** Another cut: say what it is. */
  cutMoved(frontier = this.held.frontier) {
    const { cuts } = this.held;
    this.told = String(frontier);
    const violations = cuts.violations(frontier);
    const holds = !violations.length;
    this.verdict.dataset.holds = this.why.dataset.holds = String(holds);
    setText(this.verdict, holds ? "✓ This cut is consistent" : "✗ This cut is not consistent");
    this.showWhy(violations, frontier);
    this.above.disabled = cuts.above(frontier) == null;
    this.above.title = this.above.disabled ? "There is none: a recovery has taken back what was sent to this cut" : "The least consistent cut around this one";
    this.showChannels(cuts.inChannels(frontier), cuts.waiting(frontier), (message) => cuts.isPerhapsLost(message, frontier));
    this.showAmounts(frontier);
    this.showInside(frontier);
    this.showFaults(cuts.faultsThatMatter(frontier));
  }

  showWhy(violations, frontier) {
    const told = violations.slice(0, MOST_LISTED).map((message) => this.offence(message, frontier));
    const rest = violations.length - told.length;
    const lines = told.length ? told : ["Every message that is received inside is sent inside too."];
    if (rest) lines.push(`${rest} more ${rest === 1 ? "message is" : "messages are"} received inside and not sent inside.`);
    refill(this.why, JSON.stringify(lines), () => lines.map((text) => el("li", {}, ...unbroken(text))));
  }

  /** "H→D is received at D inside the cut, sent at H outside it." */
  offence(message, frontier) {
    const { events } = this.explorer;
    const { cuts } = this.held;
    const [name, sent] = [this.nameOf(message), events.label(message.sentAt)].map(quoted);
    const isOutside = message.sent > frontier[message.source];
    if (isOutside && message.received <= frontier[message.target]) {
      const received = `${name}: received at ${quoted(events.label(message.receivedAt))} inside the cut`;
      return message.isUnsent ? `${received}, but a recovery has taken back that ${sent} sent it.` : `${received}, sent at ${sent} outside it.`;
    }
    const absence = cuts.absence(message, frontier);
    if (absence) return `${name}: sent at ${sent} ${isOutside ? "outside" : "inside"} the cut, and ${absence.name} is ${isOutside ? "inside" : "outside"} it.`;
    return `${name}: lost inside the cut as it came, sent at ${sent} outside it.`;
  }

  nameOf({ id, sentAt, receivedAt }) {
    const { events } = this.explorer;
    const ends = () => `${events.label(sentAt)} → ${receivedAt < 0 ? "…" : events.label(receivedAt)}`;
    return this.names.get(id) ?? ends();
  }

  /**
   * @param found the messages of the run by channel number; @param waiting those of a log that came before its window;
   * @param isPerhapsLost whether a message is lost on its way, and the cut does not say whether before it
   */
  showChannels(found, waiting, isPerhapsLost) {
    const { log, channels, events } = this.scene;
    const held = new Map([...waiting].map(([name, own]) => [name, { ...own, names: [...own.names] }]));
    for (const [channel, messages] of found) {
      const { name } = events.channels[channel];
      if (log?.unknown[name]) continue;
      if (!held.has(name)) held.set(name, { caption: this.captions[channel], names: [], more: 0 });
      held.get(name).names.push(...messages.map((message) => `${this.nameOf(message)}${isPerhapsLost(message) ? " (on its way, or lost already)" : ""}`));
    }
    const told = ({ caption, names, more }) => `${caption} = <${[...names, ...(more ? [`${more} more`] : [])].join(", ")}>`;
    const lines = [...held.values()].slice(0, MOST_LISTED).map(told);
    refill(this.channels, JSON.stringify(lines), () => lines.map((text) => el("li", { "data-state": "messages" }, ...unbroken(text))));
    const [more, areListed] = [held.size - lines.length, lines.length > 0];
    setText(this.others, log ? othersOfLog(log, more, areListed) : othersInWords(more, channels.length - held.size, areListed));
  }

  showAmounts(frontier) {
    const { cuts } = this.held;
    const weights = this.scene.conserved.map((good) => ({ ...good, ...cuts.amounts(good, frontier) }));
    const signature = JSON.stringify(weights.map(({ inProcesses, inChannels, lost, copied, isStateLost }) => [inProcesses, inChannels, lost, copied, isStateLost]));
    refill(this.amounts, `${this.scene.name} ${signature}`, () => (weights.length ? [el("h4", {}, "Contents of this cut"), ...metersOf(weights)] : []));
  }

  /** The faults inside that tell this cut from others: "† the crash of P2". */
  showFaults(faults) {
    const shown = faults.slice(0, MOST_LISTED).map(({ sign, name }) => [sign, name]);
    if (faults.length > shown.length) shown.push(["…", `and ${faults.length - shown.length} more`]);
    refill(this.faults, JSON.stringify(shown), () => (shown.length ? [el("h4", {}, "Faults inside, after these events"), el("ul", { class: "cc-cut-faults" }, ...shown.map(([sign, name]) => el("li", {}, el("b", {}, sign), ` ${name}`)))] : []));
  }

  showInside(frontier) {
    const { processes } = this.scene;
    const shown = processes.slice(0, MOST_LISTED);
    const { events } = this.explorer;
    const words = shown.map((name, lane) => [name, insideInWords(events, lane, frontier[lane], this.held)]);
    if (processes.length > shown.length) words.push(["…", `and ${processes.length - shown.length} more processes`]);
    refill(this.inside, JSON.stringify(words), () => words.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]));
  }
}

/** A label of several words stands in quotes. */
function quoted(label) {
  return label.includes(" ") ? `“${label}”` : label;
}

/** "5 more channels hold messages. The other 5 channels are empty." */
function othersInWords(more, empty, areListed) {
  const channels = (count) => (count === 1 ? "channel" : `${count} channels`);
  if (!empty) return othersThatHold(more);
  return areListed ? `${othersThatHold(more)}The other ${channels(empty)} ${empty === 1 ? "is" : "are"} empty.` : "All channels are empty.";
}

function othersThatHold(more) {
  return more ? `${more} more ${more === 1 ? "channel holds" : "channels hold"} messages. ` : "";
}

/** "3 events, up to H". */
function insideInWords(events, lane, inside, { cuts, stops }) {
  const { together } = stops[lane].find(({ count }) => count === inside) ?? {};
  const label = inside ? events.label(events.nth(lane, inside)) : "";
  return countedEvents([{ number: cuts.number(lane, inside), label, together }], 0);
}

/** What a log says of the other channels, and what it does not say. */
function othersOfLog({ exact, unknown }, more, areListed) {
  const names = Object.values(unknown);
  const silent = names.length ? ` The log does not say what is in ${names.slice(0, MOST_LISTED).join(", ")}.` : "";
  if (exact) return `${othersThatHold(more)}No message is in ${areListed ? "any other" : "a"} channel.${silent}`;
  const unseen = areListed ? "A channel may hold more" : "No message is known to be in a channel";
  return `${othersThatHold(more)}${unseen}: the clocks of this log do not show every message.${silent}`;
}

/** "31 of the 96 cuts of this run are consistent." */
function countsInWords({ frontiers, consistent, is_all: isAll }, where) {
  if (consistent == null) return `There are ${frontiers} cuts ${where}, too many to count the consistent ones.`;
  return `${isAll ? "" : "More than "}${consistent} of the ${frontiers} cuts ${where} ${isAll && consistent === "1" ? "is" : "are"} consistent.`;
}
