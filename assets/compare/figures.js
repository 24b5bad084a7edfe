/* The table of figures: what each algorithm costs. */

import { el, refill } from "../explore/page/dom.js";

/** Fill `node` with the figures that Python sent; what differs from the first algorithm has a sign. */
export function showFigures(node, { figures, columns }) {
  const names = columns.map(({ name }) => name);
  refill(node, JSON.stringify([figures, names]), () => [
    el("h2", {}, "What each costs"),
    el("p", { class: "cc-quiet" }, "≠ marks what is different from the first. Names with ", flink(), " are those of columns in which Apache Flink shows a checkpoint."),
    el("div", { class: "cc-costs-frame", tabindex: "0", role: "group", "aria-label": "Figures" },
      el("table", {},
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Figure"), ...names.map((name) => el("th", { scope: "col" }, name)))),
        el("tbody", {}, ...figures.map(row)),
      ),
    ),
  ]);
}

function row({ title, sentence, unit, is_flinks: isFlinks, cells }) {
  const name = el("th", { scope: "row" }, el("span", { class: "cc-figure" }, title, isFlinks ? flink() : null), el("span", { class: "cc-quiet" }, unit ? `${sentence} In ${unit}.` : sentence));
  return el("tr", {}, name, ...cells.map(({ text, more, differs }) => el("td", { "data-differs": differs },
    el("b", {}, differs ? el("span", { title: "different from the first", "aria-label": "different:" }, "≠ ") : null, text),
    more ? el("span", { class: "cc-quiet" }, more) : null,
  )));
}

function flink() {
  return el("abbr", { class: "cc-flink", title: "A column in which Apache Flink shows a checkpoint" }, "F");
}
