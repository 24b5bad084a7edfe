/* Dijkstra's page: the tab, the row of actions below the diagram, and the diagram of the row, which moves with it. */

import { el, fillNames, refill, setText } from "../page/dom.js";
import { asItHappened, between, changed, firstChange, interchanged, inversions, isFault, isInversion, isStraightIn, mayChange, placesOf, read, STRAIGHT, written } from "./row.js";
import { Strip } from "./strip.js";
import { Walk } from "./walk.js";
import { saidOfRow, saidOfSwap, statesInWords, whyNot } from "./words.js";

const GLIDE_MS = 420; // how long actions take to change places
const PLAY_MS = 900; // from one interchange to the next
const PLAY_STEPS = 30; // a long row is played in about so many steps
const MOST_FAULTS = 8; // in words
const MOST_GLIDING = 120; // actions; more are put to their new places at once

export class ProofView {
  constructor(node, explorer) {
    this.node = node;
    this.explorer = explorer;
    this.strip = new Strip((place) => this.press(place));
    explorer.diagram.node.after(this.strip.node);
    const button = (text, onclick) => el("button", { type: "button", onclick }, text);
    this.choice = el("select", { onchange: () => this.choose(this.choice.value) });
    this.chosen = el("label", { class: "cc-row" }, "Snapshot", this.choice);
    this.count = el("strong");
    this.faults = el("div");
    this.counted = el("p", { class: "cc-proof-count" }, this.count, el("span"));
    this.swap = button("Swap one pair", () => this.swapNext());
    this.playing = button("Play the swaps", () => this.togglePlay());
    this.all = button("Swap all", () => this.setTo(interchanged(this.page, this.order)));
    this.back = button("As it happened", () => this.setTo(asItHappened(this.page)));
    this.straight = button("Straighten", () => this.straighten());
    this.said = el("p", { class: "cc-proof-said", role: "status" });
    this.result = el("div");
    this.walk = new Walk((stop) => this.goTo(stop));
    this.problem = el("p", { class: "cc-quiet" });
    this.ends = el("p", { class: "cc-quiet" });
    this.whole = el("div", {},
      this.ends,
      el("p", {}, "An action is white while its process has not recorded, and red from then on. A red action before a white one is an inversion. Swap two such neighbours: no process notices."),
      this.counted,
      el("div", { class: "cc-row" }, this.swap, this.playing, this.all),
      el("div", { class: "cc-row" }, this.straight, this.back),
      this.said,
      this.faults,
      this.result,
    );
    node.append(this.walk.node, this.chosen, this.problem, this.whole);
    new ResizeObserver(() => this.showStrip()).observe(explorer.diagram.node);
    explorer.closed.addEventListener("abort", () => this.stop());
  }

  // ------------------------------------------------------------------------- what the hub asks

  /** The snapshot of the page: the one in the link, else the first that all who take part have recorded. */
  snapshotIn(scene) {
    const { snapshots } = scene;
    const asked = snapshots.find(({ id }) => id === this.explorer.visit.shown.proof);
    const isWhole = ({ truth }) => truth.members.length && truth.members.every((name) => truth.inside[name] != null);
    return asked ?? snapshots.find(isWhole) ?? snapshots[0] ?? null;
  }

  /** What Python draws for this tab beside the scene (views/widgets/look.py). */
  get wanted() {
    return { proof: this.snapshotIn(this.explorer.scene)?.id };
  }

  /** The page of a scene, ready to be drawn: its figures, and where its row lies; null until Python has sent it. */
  drawn(scene) {
    const snapshot = this.snapshotIn(scene);
    const page = snapshot && scene.proofs[snapshot.id];
    this.take(page?.actions ? page : null, snapshot);
    this.scene = scene;
    this.showStrip(); // before the diagram, which has the room that is left
    return this.page && { figures: page.figures, moves: this.moves() };
  }

  /** Take a page; the row stays as it is if its actions are the same, and no link has brought other interchanges. */
  take(page, snapshot) {
    const key = page && JSON.stringify([snapshot.id, page.actions, page.turns]);
    Object.assign(this, { page, snapshot });
    const { swaps = null } = this.explorer.visit.shown;
    if (!page || (key === this.key && swaps === this.inLink)) return;
    Object.assign(this, { key, inLink: swaps });
    this.stop();
    this.message = null;
    this.isStraight = isStraightIn(page, swaps);
    this.order = read(page, swaps ?? "");
    this.places = placesOf(page, this.order, this.isStraight);
  }

  /** What the diagram needs to draw the row as it lies now. */
  moves() {
    const { page, places, explorer } = this;
    const of = new Map();
    page.actions.forEach(({ lane, first, last }, number) => {
      for (let index = first; index <= last; index += 1) of.set(`${lane} ${index}`, places.actions[number] - (0.5 * (last - index)) / (last - first + 1));
    });
    const { lane, index } = explorer.events;
    return { page, places, positionOf: (at) => of.get(`${lane[at]} ${index[at]}`) ?? null };
  }

  show(scene, palette, step) {
    const { snapshots } = scene;
    this.scene = scene;
    this.chosen.hidden = snapshots.length < 2;
    fillNames(this.choice, snapshots.map(({ id }) => id));
    this.choice.value = this.snapshot?.id ?? "";
    this.whole.hidden = !this.page;
    this.problem.hidden = Boolean(this.page);
    setText(this.problem, this.page ? "" : this.missing());
    const ends = this.page?.ends ?? null;
    this.ends.hidden = ends === null;
    setText(this.ends, `This is the run up to step ${ends}, with which ${this.snapshot?.id} is complete. Later a recovery takes back what is inside.`);
    this.step = step;
    this.walk.show(scene, Boolean(this.page));
    this.refresh();
  }

  /** Why there is no page; where Python has not been asked for it, ask. */
  missing() {
    const { explorer, snapshot, scene } = this;
    if (!snapshot) return "This run takes no snapshot. Start one in the tab Change, or with a click on the line of a process.";
    const page = scene.proofs[snapshot.id];
    if (page) return page.problem;
    if ("still" in explorer.root.dataset) return "This page was saved without it.";
    if (!explorer.isLoading) explorer.tellLook();
    return "Colouring the actions …";
  }

  stepTo(step) {
    this.step = step;
    this.showStrip();
  }

  leave() {
    this.stop();
    this.strip.show(null);
  }

  /** A click on an action in the diagram goes to its step; nothing else is there to be clicked. */
  claims({ kind, at }) {
    const { explorer } = this;
    if (!explorer.diagram.moves) return false;
    if (kind === "event") explorer.goTo(explorer.events.step[at]);
    return true;
  }

  // ------------------------------------------------------------------------- what the user does

  /** Show what a stop of the guided walk is about. */
  goTo({ step, swaps }) {
    this.stop();
    this.setTo(read(this.page, String(swaps)), isStraightIn(this.page, swaps));
    if (step != null) this.explorer.goTo(Math.min(step, this.scene.last));
  }

  choose(snapshot) {
    this.explorer.note({ proof: snapshot, swaps: null });
    this.explorer.redraw();
  }

  /** A press between two actions. */
  press(place) {
    this.pause();
    if (mayChange(this.page, this.order, place)) this.change(place);
    else this.say(whyNot(this.page, this.scene, this.order, place));
  }

  change(place) {
    const said = saidOfSwap(this.page, this.scene, this.order, place);
    this.setTo(changed(this.order, place));
    this.say(said);
  }

  swapNext() {
    this.pause();
    const place = firstChange(this.page, this.order);
    if (place >= 0) this.change(place);
  }

  straighten() {
    this.setTo(interchanged(this.page, this.order), !this.isStraight);
  }

  togglePlay() {
    if (this.timer) return this.pause();
    const step = Math.max(1, Math.ceil(inversions(this.page, this.order) / PLAY_STEPS));
    const play = () => {
      if (firstChange(this.page, this.order) < 0) return this.pause();
      if (step === 1) this.change(firstChange(this.page, this.order));
      else this.setTo(interchanged(this.page, this.order, step));
      this.timer = setTimeout(play, PLAY_MS);
      this.refresh();
    };
    this.timer = setTimeout(play, 0);
    this.refresh();
  }

  pause() {
    this.stop();
    this.refresh();
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
  }

  /** Show another order of the actions. */
  setTo(order, isStraight = false) {
    Object.assign(this, { order, isStraight, message: null });
    this.inLink = isStraight ? STRAIGHT : written(this.page, order);
    this.explorer.note({ swaps: this.inLink });
    this.glideTo(placesOf(this.page, order, isStraight));
    this.refresh();
  }

  /** Move the diagram from where the row lies to where it is to lie. */
  glideTo(places) {
    const from = this.places;
    const isQuick = this.page.actions.length > MOST_GLIDING || this.explorer.transport.lessMotion.matches;
    cancelAnimationFrame(this.frame);
    const begun = performance.now();
    const move = (now) => {
      const share = isQuick ? 1 : Math.min(1, Math.max(0, now - begun) / GLIDE_MS);
      this.places = share < 1 ? between(from, places, share * share * (3 - 2 * share)) : places;
      if (!this.explorer.diagram.moves) return; // another diagram is on show
      this.explorer.diagram.rearrange(this.moves());
      if (share < 1) this.frame = requestAnimationFrame(move);
    };
    move(begun);
  }

  say(text) {
    this.message = text;
    setText(this.said, text);
  }

  // ------------------------------------------------------------------------- what is seen

  refresh() {
    this.showStrip();
    if (!this.page) return;
    const { page, order, isStraight } = this;
    const left = inversions(page, order);
    const next = firstChange(page, order);
    refill(this.faults, this.key, () => this.faultsInWords());
    setText(this.count, String(left));
    setText(this.counted.lastChild, left === 1 ? " inversion" : " inversions");
    this.swap.disabled = this.all.disabled = next < 0;
    this.playing.disabled = next < 0 && !this.timer;
    setText(this.playing, this.timer ? "Pause" : "Play the swaps");
    this.back.disabled = left === page.inversions && !isStraight;
    this.straight.disabled = page.forbidden.length > 0;
    this.straight.setAttribute("aria-pressed", String(isStraight));
    setText(this.said, this.message ?? saidOfRow(page, order, isStraight));
    refill(this.result, JSON.stringify([this.key, left === 0]), () => this.results(left));
  }

  showStrip() {
    const { page, order, step } = this;
    if (!page || this.explorer.visit.tab !== "proof") return this.strip.show(null);
    const inversion = order.findIndex((_, place) => isInversion(page, order, place));
    const around = inversion >= 0 ? inversion : Math.round(page.whites - page.first);
    const now = page.actions.findLastIndex((action) => action.step <= (step ?? this.explorer.shownStep()));
    this.strip.show(page, order, around, now);
  }

  results(left) {
    const { page, snapshot, scene } = this;
    if (page.forbidden.length) {
      return [
        el("h4", {}, "The condition is sharp"),
        ...page.forbidden.slice(0, 3).map((why) => el("p", {}, why)),
        el("p", {}, "A red action stays before a white one, so the recorded state is not possible in this run: it is no consistent cut."),
      ];
    }
    const seen = scene.processes.map((name, lane) => el("li", {}, el("b", {}, name), " ", ...this.seenBy(lane)));
    return [
      ...(left === 0 ? this.compared() : []),
      el("h4", {}, "S0 → SSS → S1"),
      el("dl", { class: "cc-told" }, ...statesInWords(page, snapshot).flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])),
      el("p", { class: "cc-quiet" }, "SSS is possible after S0, and S1 is possible after SSS. So what stays true once it is true, and holds in S0, holds in SSS; and if it holds in SSS, it holds in S1."),
      el("h4", {}, "What each process sees, whatever we swap"),
      el("ul", { class: "cc-seen" }, ...seen),
      ...this.whatBreaks(),
    ];
  }

  /** The faults on show, each with its sign and its sentence. */
  faultsInWords() {
    const own = this.page.actions.filter(isFault);
    const shown = own.slice(0, MOST_FAULTS).map(({ label, told, red }) => el("li", {}, el("span", { class: "cc-action", "data-red": String(red) }, label), el("span", {}, told)));
    const more = own.length > MOST_FAULTS ? [el("li", {}, `and ${own.length - MOST_FAULTS} more`)] : [];
    const colours = own.some(({ lane }) => lane == null) ? [el("p", { class: "cc-quiet" }, "A loss or a copy on its way is at no process. It has the colour with which the recorded channels are right.")] : [];
    return own.length ? [el("h4", {}, "Faults are actions, too"), el("ul", { class: "cc-faults" }, ...shown, ...more), ...colours] : [];
  }

  /** Where the run can be edited, and its algorithm needs FIFO: the way to a channel that is not FIFO. */
  whatBreaks() {
    if ("still" in this.explorer.root.dataset || !this.scene.fails_without_fifo) return [];
    const open = el("button", { type: "button", onclick: () => this.explorer.openTab("change") }, "Take FIFO away");
    return [
      el("h4", {}, "When does it fail?"),
      el("p", {}, "When a red message is accepted in a white action. FIFO channels prevent that. Let messages overtake each other, and see."),
      el("div", { class: "cc-row" }, open),
    ];
  }

  /** The actions of a process, in its own order. */
  seenBy(lane) {
    const own = this.page.actions.filter((action) => action.lane === lane);
    const shown = own.slice(0, 12).map(({ label, red }) => el("span", { class: "cc-action", "data-red": String(red) }, label));
    return own.length > shown.length ? [...shown, ` and ${own.length - shown.length} more`] : shown;
  }

  /** What was recorded beside what the engine found after all white actions. */
  compared() {
    const rows = this.page.compared.map(({ name, recorded, found, equal }) =>
      el("tr", { "data-holds": equal == null ? null : String(equal) },
        el("th", { scope: "row" }, name), el("td", {}, recorded), el("td", {}, found),
        el("td", { class: "cc-tick" }, equal == null ? "–" : equal ? "✓" : "✗", el("span", { class: "cc-hidden" }, equal ? "equal" : "")),
      ),
    );
    const isEqual = this.page.compared.every(({ equal }) => equal !== false);
    return [
      el("h4", {}, "Between white and red"),
      el("p", {}, isEqual ? "The engine carried out all white actions and no red one. It met what the snapshot recorded:" : "The engine carried out all white actions and no red one. It met another state than the snapshot recorded:"),
      el("table", { class: "cc-compared" },
        el("thead", {}, el("tr", {}, ...["", "recorded", "met", ""].map((head) => el("th", { scope: "col" }, head)))),
        el("tbody", {}, ...rows),
      ),
    ];
  }
}
