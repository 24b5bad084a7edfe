/* The Story tab: the scenario's story, its source and the cuts that it discusses. */

import { signsInFull } from "../diagram/signs.js";
import { el, unbroken } from "../page/dom.js";
import { rulesInFull } from "./rules.js";

/** @param onCut called with the number of the cut to show in the diagram, or null; @param onNotes opens the second window */
export function showStory(node, scene, { chosenCut, onCut, onNotes }) {
  const told = scene.story.map((text) => el("p", {}, ...unbroken(text)));
  if (scene.rules_before != null && scene.rule_book.length) told.splice(scene.rules_before, 0, rulesFirst(scene));
  const cuts = scene.cuts.length ? [el("h4", {}, "Cuts to look at"), cutList(scene.cuts, chosenCut, onCut)] : [];
  node.replaceChildren(
    el("h3", {}, scene.title),
    ...told,
    ...cuts,
    ...(scene.source ? [el("p", { class: "cc-source" }, `Source: ${scene.source}`)] : []),
    el("button", { type: "button", class: "cc-open-notes", title: "Opens a second window (S)", onclick: onNotes }, "Notes for the lecturer"),
    el("h4", {}, "Signs in the diagram"),
    signsInFull(scene.signs),
  );
}

/** The rules, before the first paragraph that needs them. */
function rulesFirst({ algorithm, rule_book: book }) {
  return el("section", { class: "cc-rules-first" }, el("h4", {}, `First the rules of ${algorithm}`), ...rulesInFull(book, []));
}

/** The cuts; one can be shown in the diagram. */
function cutList(cuts, chosenCut, onCut) {
  const radio = (cut) => {
    const onchange = () => onCut(cut);
    return el("input", { type: "radio", name: "cc-cut", checked: cut === chosenCut, onchange });
  };
  return el("div", { class: "cc-cuts", role: "radiogroup", "aria-label": "Cut shown in the diagram" },
    el("label", {}, radio(null), el("span", {}, "none in the diagram")),
    ...cuts.map((cut, number) => el("label", { "data-holds": String(cut.consistent) }, radio(number), cutText(cut))),
  );
}

function cutText({ name, text, consistent, witness, crossing }) {
  return el("span", {},
    el("strong", {}, `${consistent ? "✓" : "✗"} ${name}`),
    el("span", { class: "cc-badge" }, consistent ? "consistent" : "inconsistent"),
    ...unbroken(` ${text}`),
    witness ? ` Here ${witness} is received inside the cut, but sent outside it.` : null,
    crossing.length ? el("span", { class: "cc-quiet" }, ` ${crossing.join("; ")}.`) : null,
  );
}
