/* The rules of the run's algorithm: in a dialog behind the badge of a step, and in the story. */

import { Dialog } from "../page/dialog.js";
import { el, unbroken } from "../page/dom.js";
import { stepAt } from "../run/timeline.js";

/** The badge beside the sentence. It opens the whole rule book, with what this step has carried out marked. */
export class RuleBook {
  constructor(explorer) {
    this.explorer = explorer;
    this.content = el("div", { class: "cc-rule-book" });
    this.dialog = new Dialog(explorer, "The rules", this.content);
    this.badge = explorer.root.querySelector(".cc-rule");
    this.badge.addEventListener("click", () => this.open());
  }

  open() {
    const { scene, visit } = this.explorer;
    const { rules } = stepAt(scene, visit.step);
    this.content.replaceChildren(el("p", {}, leadOf(scene, visit.step, rules)), ...rulesInFull(scene.rule_book, rules));
    this.dialog.open();
    this.content.querySelector("[aria-current]")?.scrollIntoView({ block: "center" });
  }
}

/** What the step on show has to do with the rules. */
function leadOf({ algorithm, rule_book: book }, step, rules) {
  const named = book.some(({ clauses }) => clauses.some(({ name }) => rules.includes(name)));
  if (named) return `These are the rules of ${algorithm}. Step ${step} does what is marked.`;
  return `These are the rules of ${algorithm}. Step ${step} is the program's own: no rule of the snapshot asks for it.`;
}

/** Every rule with its clauses; those named in `marked` are marked. Rules of one paper stand above its name. */
export function rulesInFull(book, marked) {
  return book.flatMap(({ title, clauses, source }, number) => [
    el("h4", {}, title),
    el("ul", {}, ...clauses.map((clause) => clauseText(clause, title, marked.includes(clause.name)))),
    book[number + 1]?.source === source ? null : el("p", { class: "cc-source" }, `Source: ${source}.`),
  ]).filter(Boolean);
}

/** A clause below the title of its rule: of its name only what the title does not say. */
function clauseText({ name, text }, title, isMarked) {
  const rest = name.startsWith(title) ? name.slice(title.length).replace(/^, /, "") : name;
  const mark = isMarked ? el("span", { class: "cc-badge" }, "this step") : null;
  const head = rest || mark ? el("strong", {}, `${rest.slice(0, 1).toUpperCase()}${rest.slice(1)}`, mark) : null;
  return el("li", { "aria-current": isMarked ? "step" : null }, head, ...unbroken(text));
}
