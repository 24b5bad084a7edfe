/* The Story tab: the scenario's story, its source and the cuts that it discusses. */

import { signsInFull } from "../diagram/signs.js";
import { el, ownName, unbroken } from "../page/dom.js";
import { rulesInFull } from "./rules.js";
import { RunLink } from "./run_link.js";

export class StoryView {
  constructor(node, explorer) {
    this.node = node;
    this.explorer = explorer;
    this.name = ownName("cc-cut"); // of the radio buttons
    this.links = ["every-run", "compare"].map((page) => new RunLink(page));
  }

  history(data) {
    this.links.forEach((link) => link.follow(data));
  }

  show(scene) {
    const told = scene.story.map((text) => el("p", {}, ...unbroken(text)));
    if (scene.rules_before != null && scene.rule_book.length) told.splice(scene.rules_before, 0, rulesFirst(scene));
    const cuts = scene.cuts.length ? [el("h4", {}, "Cuts to look at"), this.cutList(scene.cuts)] : [];
    const onclick = () => this.explorer.tools.notes();
    this.node.replaceChildren(
      el("h3", {}, scene.title),
      ...told,
      ...cuts,
      ...(scene.source ? [el("p", { class: "cc-source" }, `Source: ${scene.source}`)] : []),
      el("button", { type: "button", class: "cc-open-notes", title: "Opens a second window (S)", onclick }, "Notes for the lecturer"),
      el("p", {}, ...this.links.map(({ node }) => node)),
      el("h4", {}, "Signs in the diagram"),
      signsInFull(scene.signs),
    );
  }

  /** The cuts; one can be shown in the diagram, as the cut that one holds (cut/held_cut.js). */
  cutList(cuts) {
    const { cut: held, visit } = this.explorer;
    const radio = (number) => {
      const onchange = () => held.showOfStory(number);
      return el("input", { type: "radio", name: this.name, value: number ?? "", checked: number === visit.cut, onchange });
    };
    return el("div", { class: "cc-cuts", role: "radiogroup", "aria-label": "Cut shown in the diagram" },
      el("label", {}, radio(null), el("span", {}, "none in the diagram")),
      ...cuts.map((cut, number) => el("label", { "data-holds": String(cut.consistent) }, radio(number), cutText(cut))),
    );
  }

  /** Somebody has moved the cut: it is no longer one of these. */
  cutMoved() {
    const { cut } = this.explorer.visit;
    for (const input of this.node.querySelectorAll(`[name=${this.name}]`)) input.checked = input.value === String(cut ?? "");
  }
}

/** The rules, before the first paragraph that needs them. */
function rulesFirst({ algorithm, rule_book: book }) {
  return el("section", { class: "cc-rules-first" }, el("h4", {}, `First the rules of ${algorithm}`), ...rulesInFull(book, []));
}

function cutText({ name, text, consistent, witness, crossing }) {
  return el("span", {},
    el("strong", {}, `${consistent ? "✓" : "✗"} ${name}`),
    el("span", { class: "cc-badge" }, consistent ? "consistent" : "inconsistent"),
    ...unbroken(` ${text}`),
    witness ? ` Here ${witness}.` : null,
    crossing.length ? el("span", { class: "cc-quiet" }, ` ${crossing.join("; ")}.`) : null,
  );
}
