/* The row of white and red actions, below the diagram. Between two actions is a button: it interchanges them, or says why not. */

import { el } from "../page/dom.js";
import { inversions, isFault, isInversion, mayChange } from "./row.js";

const LINES = 2; // of actions; a longer row is cropped
const A_FEW = 3; // actions are not worth cropping
const FULL = 0.95; // of a line, before the next action goes to the next one
const BETWEEN = 12; // pixels, on average, between two actions
const [PAD, LETTER, MOST_LETTERS] = [16, 8.5, 6]; // of an action, in pixels and letters

export class Strip {
  /** @param onPair called with the place of the first of two actions */
  constructor(onPair) {
    this.onPair = onPair;
    this.list = el("div", { class: "cc-actions-row" });
    this.cropped = el("p", { class: "cc-actions-cropped" });
    this.node = el("div", { class: "cc-actions", role: "group", "aria-label": "The actions in their order, white and red", hidden: true }, this.list, this.cropped);
  }

  /** Show the row; `around` is the place of which a long row shows the neighbours, `now` the index of this step's action. */
  show(page, order, around, now) {
    this.node.hidden = !page;
    if (!page) return this.hold(null);
    this.hold(page);
    const [from, until] = this.part(page, order.length, around);
    const focused = this.list.querySelector(":focus")?.dataset.place;
    this.list.replaceChildren(...order.slice(from, until).flatMap((number, index) => this.nodes(page, order, from + index, until, number === now)));
    this.list.querySelector(`[data-place="${focused}"]`)?.focus({ preventScroll: true });
    const [first, last] = [page.first + from, page.first + until - 1];
    this.cropped.textContent = until - from < page.total ? `Actions ${first} to ${last} of ${page.total}` : "";
  }

  /** A row keeps the height that it once had, so that the diagram above stays where it is. */
  hold(page) {
    const width = this.node.clientWidth;
    const isSame = this.page === page && this.width === width;
    this.list.style.minHeight = isSame ? `${this.list.offsetHeight}px` : "";
    Object.assign(this, { page, width });
  }

  /** The part of a row that fits into the lines. */
  part({ actions }, count, around) {
    const letters = actions.reduce((sum, { label }) => sum + Math.min(label.length, MOST_LETTERS), 0) / count;
    const width = this.node.clientWidth || this.node.parentElement?.clientWidth || 0;
    const most = Math.max(6, Math.floor((LINES * width * FULL) / (PAD + LETTER * letters + BETWEEN)));
    if (count <= most + A_FEW) return [0, count];
    const from = Math.max(0, Math.min(around - (most >> 1), count - most));
    return [from, Math.min(count, from + most)];
  }

  nodes(page, order, place, until, isNow) {
    const action = page.actions[order[place]];
    const kind = kindOf(action);
    const title = `${action.told} ${action.red ? "Red" : "White"}, step ${action.step}.`;
    const node = el("span", { class: "cc-action", "data-red": String(action.red), "aria-current": isNow ? "step" : null, title }, cropped(action.label), el("span", { class: "cc-hidden" }, ` ${isFault(action) ? `${action.name} ` : ""}${kind}`));
    return place + 1 < until ? [node, this.pair(page, order, place)] : [node];
  }

  pair(page, order, place) {
    const [one, other] = [order[place], order[place + 1]].map((number) => page.actions[number].name);
    const isWrong = isInversion(page, order, place);
    const isState = page.first + place === page.whites && inversions(page, order) === 0;
    const kind = mayChange(page, order, place) ? "swap" : isWrong ? "forbidden" : isState ? "state" : "right";
    const about = `About ${one} and ${other}`;
    const label = { swap: `Swap ${one} and ${other}`, forbidden: `Why ${one} and ${other} cannot be swapped`, state: `SSS: ${about}` }[kind] ?? about;
    const onclick = () => this.onPair(place);
    return el("button", { type: "button", class: "cc-pair", "data-kind": kind, "data-place": place, "aria-label": label, title: label, tabindex: ["swap", "forbidden"].includes(kind) ? "0" : "-1", onclick }, { swap: "⇄", forbidden: "✕", state: "SSS" }[kind] ?? "");
  }
}

function kindOf({ red: isRed }) {
  return isRed ? "red" : "white";
}

function cropped(label) {
  return label.length > MOST_LETTERS ? `${label.slice(0, MOST_LETTERS - 1)}…` : label;
}
