/* Dijkstra's row of white and red actions, in the browser: what may be interchanged, and where everything lies then.
 * The same as sim/theory/interchange.py and diagrams/panels/proof/panel.py. An order is a list of indices into the actions of a page. */

export const STRAIGHT = "straight";

const AT = "at-"; // before the places of interchanges: "at-5-4-7"
const MOST_WRITTEN = 1000; // letters of the interchanges in a link (MOST_SHOWN in sim/edit/link.py)

const APART = 0.3; // of a place: by this much straightened white actions lie earlier, and red ones later

/** The actions in the order of the run. */
export function asItHappened({ actions }) {
  return [...actions.keys()];
}

/** Whether an action is none of the application. */
export function isFault({ first, last }) {
  return last < first;
}

/** The number of pairs of a red action and a white one after it. */
export function inversions({ actions }, order) {
  let [red, found] = [0, 0];
  for (const number of order) {
    if (actions[number].red) red += 1;
    else found += red;
  }
  return found;
}

/** Why one action comes directly before the next one in every order, as a clause; undefined: it need not. */
export function whyFirst({ actions }, one, next) {
  return actions[next].after.find(([other]) => other === one)?.[1];
}

/** Whether the actions at `place` and after it are an inversion. */
export function isInversion({ actions }, order, place) {
  return actions[order[place]].red && actions[order[place + 1]]?.red === false;
}

/** Whether they may be interchanged as well. */
export function mayChange(page, order, place) {
  return isInversion(page, order, place) && whyFirst(page, order[place], order[place + 1]) === undefined;
}

/** The order with the actions at `place` and after it interchanged. */
export function changed(order, place) {
  const now = order.slice();
  [now[place], now[place + 1]] = [now[place + 1], now[place]];
  return now;
}

/** The order after at most `most` interchanges: white actions move to the front, each as far as it can. */
export function interchanged(page, order, most = Infinity) {
  const now = order.slice();
  let left = most;
  for (let start = 1; start < now.length; start += 1) {
    for (let place = start - 1; place >= 0 && left > 0 && mayChange(page, now, place); place -= 1) {
      [now[place], now[place + 1]] = [now[place + 1], now[place]];
      left -= 1;
    }
  }
  return now;
}

/** The places of the interchanges that lead from the run to an order: of the first action of each pair. */
function interchangesTo(page, order) {
  const end = new Array(order.length);
  order.forEach((number, place) => (end[number] = place));
  const [now, found] = [asItHappened(page), []];
  for (let start = 1; start < now.length; start += 1) {
    for (let place = start - 1; place >= 0 && end[now[place]] > end[now[place + 1]]; place -= 1) {
      [now[place], now[place + 1]] = [now[place + 1], now[place]];
      found.push(page.first + place);
    }
  }
  return found;
}

/** An order in a link: the number of interchanges where Play makes the same ones, else their places; null: as it happened. */
export function written(page, order) {
  const done = page.inversions - inversions(page, order);
  const number = done ? String(done) : null;
  if (String(interchanged(page, asItHappened(page), done)) === String(order)) return number;
  const text = AT + interchangesTo(page, order).join("-");
  return text.length <= MOST_WRITTEN ? text : number;
}

/** Whether a link asks for the straightened row, and this one can be straightened. */
export function isStraightIn({ forbidden }, text) {
  return text === STRAIGHT && !forbidden.length;
}

/** The order that a link has written; as it happened where that is none of this row. */
export function read(page, text) {
  if (isStraightIn(page, text)) return interchanged(page, asItHappened(page));
  if (/^\d{1,7}$/.test(text)) return interchanged(page, asItHappened(page), Number(text));
  if (!/^at(-\d{1,7})+$/.test(text)) return asItHappened(page);
  let order = asItHappened(page);
  for (const place of text.slice(AT.length).split("-").map((number) => number - page.first)) {
    if (!(place >= 0 && place < order.length && mayChange(page, order, place))) return asItHappened(page);
    order = changed(order, place);
  }
  return order;
}

/** The place of the first pair that may be interchanged; -1: there is none. */
export function firstChange(page, order) {
  return order.findIndex((_, place) => mayChange(page, order, place));
}

/** Where the row lies: `actions`, the place of each, and `turns`, that at which each process turns red, by lane. */
export function placesOf(page, order, isStraight = false) {
  const actions = new Array(order.length);
  order.forEach((number, place) => (actions[number] = page.first + place));
  const turns = page.turns.map((place) => (isStraight ? page.whites + 0.5 : place));
  if (isStraight) page.actions.forEach(({ red }, number) => (actions[number] += red ? APART : -APART));
  return { actions, turns };
}

/** Between two layouts of the row: `share` of the way from one to the other. */
export function between(from, to, share) {
  const mixed = (name) => to[name].map((end, index) => from[name][index] + share * (end - from[name][index]));
  return { actions: mixed("actions"), turns: mixed("turns") };
}

/** Whether any point of a trace with this `meta` moves between two layouts of the row. */
export function hasMoved(meta, from, to) {
  const isOther = (number) => typeof number === "number" && from.actions[number] !== to.actions[number];
  const moves = (anchor) => (Array.isArray(anchor) ? isOther(anchor[0]) || isOther(anchor[1]) : isOther(anchor));
  return Boolean(meta.places?.some(moves) || meta.turns?.some((lane) => from.turns[lane] !== to.turns[lane]));
}

/** The coordinates on the time axis of a trace of the page's figure, moved to where the row lies (`meta`: proof_figure.py). */
export function movedCoordinates(values, meta, { first }, { actions, turns }) {
  if (meta?.turns) return values.map((_, point) => turns[meta.turns[point]]);
  const by = (number) => actions[number] - first - number;
  return values.map((value, point) => {
    const anchor = meta?.places?.[point];
    if (value == null || anchor == null) return value;
    if (typeof anchor === "number") return value + by(anchor);
    const [one, other, share] = anchor;
    return value + (1 - share) * by(one) + share * by(other);
  });
}
