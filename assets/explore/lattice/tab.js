/* The Lattice tab: the consistent cuts of the run, its own path through them, and what a predicate does there. */

import { el, field, refill, setText } from "../page/dom.js";
import { LatticePicture } from "./picture.js";

const MOST_LETTERS = 200; // of a predicate (sim/theory/expressions.py)
const MOST_NUMBERS = 12; // in a cut that is written out

/**
 * Python draws the lattice while the tab is open, with the look (views/widgets/look.py), and answers in `scene.lattice`
 * (diagrams/panels/lattice/document.py). The predicate is `visit.shown.predicate`.
 */
export class LatticeView {
  constructor(node, explorer) {
    this.node = node;
    this.explorer = explorer;
    this.lead = el("p", { class: "cc-lead cc-lattice-lead" });
    this.picture = new LatticePicture((number) => explorer.cut.set(this.lattice.cuts[number]));
    this.reading = el("p", { class: "cc-quiet" });
    this.here = el("p", { class: "cc-lattice-here", role: "status" });
    this.words = el("div", { class: "cc-lattice-words" });
    this.input = el("input", { type: "text", maxlength: MOST_LETTERS, autocomplete: "off", spellcheck: "false" });
    this.examples = el("p", { class: "cc-lattice-examples" });
    this.answers = el("div", { class: "cc-lattice-answers", role: "status" });
    const ask = el("button", { type: "submit" }, "Ask");
    this.form = el("form", { class: "cc-lattice-ask", onsubmit: (event) => this.submit(event) },
      el("div", { class: "cc-row" }, field("At which cuts does this hold?", this.input), ask),
      this.examples,
    );
    node.append(this.lead, this.reading, this.picture.node, this.here, this.form, this.answers, this.words);
  }

  show(scene, palette, step) {
    const { text, problem } = scene.lattice ?? {};
    this.lattice = problem ? null : scene.lattice;
    this.text = text; // the predicate that has been asked, also where there is a problem
    this.ask();
    this.node.dataset.drawn = Boolean(this.lattice);
    if (!this.lattice) return this.wait(problem);
    const { words: [lead, reading], snapshots } = this.lattice;
    setText(this.lead, lead);
    setText(this.reading, reading);
    refill(this.words, JSON.stringify(snapshots), () => snapshots.map((text) => el("p", {}, text)));
    this.numbers = new Map(this.lattice.cuts.map((cut, number) => [String(cut), number]));
    this.picture.show(this.lattice, palette, scene.name);
    this.showPredicate();
    this.stepTo(step);
    this.cutMoved();
  }

  /** There is nothing to show: yet, or because of a problem; a page without a server never gets it. */
  wait(problem) {
    const isStill = this.explorer.root.hasAttribute("data-still");
    setText(this.lead, problem ?? (isStill ? "This page does not hold the lattice: the run has too many consistent cuts." : "Drawing the lattice …"));
  }

  /** What Python shall draw while this tab is open. */
  get wanted() {
    return { lattice: true, predicate: this.explorer.visit.shown.predicate ?? "" };
  }

  /** Ask Python for the lattice, or for another predicate, unless that is there or on its way. */
  ask() {
    const { visit } = this.explorer;
    if (visit.tab !== "lattice" || this.text === this.wanted.predicate) return;
    const { predicate } = this.wanted;
    const isComing = visit.outbox.waiting.some(({ edit }) => edit.do === "look" && edit.lattice && edit.predicate === predicate);
    if (!isComing) this.explorer.tellLook();
  }

  noted() {
    if (!this.lattice) return;
    this.ask();
    this.cutMoved();
  }

  stepTo(step) {
    if (!this.lattice) return;
    this.step = step;
    this.picture.stepTo(step);
    this.cutMoved();
  }

  /** Move the ring to another cut, and say which cuts the two rings are at. */
  cutMoved(frontier = this.explorer.cut.frontier) {
    if (!this.lattice) return;
    const { cuts } = this.explorer.cut;
    this.picture.hold(this.numbers.get(String(cuts.placed(frontier))));
    const places = [["now", "the run at this step", cuts.atStep(this.step)], ["held", "the cut in the diagram", frontier]];
    const told = places.map(([ring, what, cut]) => [ring, `${what}: ${this.called(cut)}`]);
    refill(this.here, JSON.stringify(told), () => told.map(([ring, text]) => el("span", {}, el("i", { class: `cc-lattice-ring cc-lattice-${ring}` }), text)));
  }

  /** A cut as in the picture, and why it is not there. */
  called(cut) {
    const { cuts } = this.explorer.cut;
    const written = cuts.signed(cut, MOST_NUMBERS);
    if (this.numbers.has(String(cuts.placed(cut)))) return written;
    const isConsistent = !cuts.violations(cut).length;
    return `${written} ${isConsistent ? "(outside this part)" : "(not consistent: no dot)"}`;
  }

  // ------------------------------------------------------------------ the predicate

  submit(event) {
    event.preventDefault();
    this.explorer.note({ predicate: this.input.value.trim() || null });
  }

  choose(example) {
    this.input.value = example;
    this.explorer.note({ predicate: example });
  }

  showPredicate() {
    const { predicate, text, examples } = this.lattice;
    if (document.activeElement !== this.input) this.input.value = text;
    this.input.readOnly = this.explorer.root.hasAttribute("data-still"); // there is no server to ask
    this.form.toggleAttribute("data-asked", Boolean(text));
    refill(this.examples, JSON.stringify(examples), () => ["For example ", ...examples.map((example) => el("button", { type: "button", onclick: () => this.choose(example) }, example))]);
    refill(this.answers, JSON.stringify(predicate), () => (predicate ? this.answersTo(predicate) : []));
  }

  answersTo({ problem, possibly, definitely }) {
    this.next = 0;
    return [
      possibly && answer("Possibly", possibly, possibly.cut && el("button", { type: "button", onclick: () => this.explorer.cut.set(possibly.cut) }, "Show one")),
      definitely && answer("Definitely", definitely, definitely.avoiding.length ? el("button", { type: "button", onclick: () => this.walk(definitely.avoiding) }, "Walk it") : null),
      problem && el("p", { class: "cc-lattice-problem" }, problem),
    ].filter(Boolean);
  }

  /** Put the cut on the next place of a way; after its end, at its beginning. */
  walk(way) {
    this.explorer.cut.set(way[this.next % way.length]);
    this.next += 1;
  }
}

/** "✓ Possibly: it holds at 3 of the 31 consistent cuts." */
function answer(word, { holds, told }, button) {
  return el("p", { "data-holds": String(holds) },
    el("strong", {}, `${holds ? "✓" : "✗"} ${holds ? word : `Not ${word.toLowerCase()}`}.`), ` ${told} `, button,
  );
}
