/* The sentences of Dijkstra's page. */

import { inversions, isFault, isInversion, whyFirst } from "./row.js";

/** What happened when the actions at `place` and after it were interchanged; `order` is the order before. */
export function saidOfSwap(page, scene, order, place) {
  const [red, white] = [order[place], order[place + 1]].map((number) => page.actions[number]);
  const left = inversions(page, order) - 1;
  return `${capital(red)} is red, ${white.name} is white, and nothing leads from ${red.name} to ${white.name}: they change places. ${seenByBoth(scene, red, white)} ${leftInWords(left)}`;
}

/** The name of an action with a capital letter in front, if it is a fault; those of events are their own. */
function capital(action) {
  return isFault(action) ? action.name[0].toUpperCase() + action.name.slice(1) : action.name;
}

/** A loss or a copy on its way is no action of a process. */
function seenByBoth({ processes }, ...actions) {
  const names = actions.filter(({ lane }) => lane != null).map(({ lane }) => processes[lane]);
  return names.length === 2 ? `${names.join(" and ")} see the same as before.` : names.length ? `${names[0]} sees the same as before.` : "No process sees any of it.";
}

function leftInWords(left) {
  return left === 0 ? "No inversion is left." : left === 1 ? "1 inversion is left." : `${left} inversions are left.`;
}

/** Why the actions at `place` and after it stay as they are. */
export function whyNot(page, scene, order, place) {
  const [one, next] = [order[place], order[place + 1]];
  const [first, second] = [page.actions[one], page.actions[next]];
  const why = whyFirst(page, one, next);
  if (first.lane != null && first.lane === second.lane) return `${capital(first)} and ${second.name} are both of ${scene.processes[first.lane]}: its own order stays.`;
  if (why !== undefined) {
    const isWrong = isInversion(page, order, place);
    return `They stay in this order: ${why}.${isWrong ? ` But ${first.name} is red, and ${second.name} is white.` : ""}`;
  }
  if (first.red === second.red) return `${capital(first)} and ${second.name} are both ${first.red ? "red" : "white"}: they are no inversion and stay as they are.`;
  return `${capital(first)} is white and ${second.name} is red: that is the order we want.`;
}

/** What the row says before anything is done, or when all is done. */
export function saidOfRow(page, order, isStraight) {
  const left = inversions(page, order);
  if (page.forbidden.length) return page.swaps === page.inversions - left ? "No further pair can be swapped, and white and red are not apart." : "Here some red action stays before a white one, whatever we swap.";
  if (isStraight) return "The speeds are adjusted: all processes turn red at one instant. The state at this instant is the recorded one.";
  if (left) return page.inversions === left ? `As the run happened, it never was in the recorded state: ${left === 1 ? "1 red action comes" : `${left} times a red action comes`} before a white one.` : leftInWords(left);
  if (page.inversions) return "All white actions come first, then all red ones. Between them the run is in the recorded state.";
  return "No red action comes before a white one: the run itself was in the recorded state.";
}

/** S0, SSS and S1 in words. */
export function statesInWords(page, snapshot) {
  const isComplete = snapshot.completed != null;
  return [
    ["S0", "Before the snapshot begins. All processes are white."],
    ["SSS", "The snapshot state: all white actions are done, and no red one."],
    ["S1", isComplete ? "The snapshot is complete. All processes are red, and so are all messages in the channels." : "The end of the run: the snapshot is not complete there."],
  ];
}
