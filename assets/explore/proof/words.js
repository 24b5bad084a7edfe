/* The sentences of Dijkstra's page. */

import { inversions, isInversion, messageBetween } from "./row.js";

/** What happened when the actions at `place` and after it were interchanged; `order` is the order before. */
export function saidOfSwap(page, scene, order, place) {
  const [red, white] = [order[place], order[place + 1]].map((number) => page.actions[number]);
  const left = inversions(page, order) - 1;
  return `${red.label} is red, ${white.label} is white, and no message leads from ${red.label} to ${white.label}: they change places. ${scene.processes[red.lane]} and ${scene.processes[white.lane]} see the same as before. ${leftInWords(left)}`;
}

function leftInWords(left) {
  return left === 0 ? "No inversion is left." : left === 1 ? "1 inversion is left." : `${left} inversions are left.`;
}

/** Why the actions at `place` and after it stay as they are. */
export function whyNot(page, scene, order, place) {
  const [one, next] = [order[place], order[place + 1]];
  const [first, second] = [page.actions[one], page.actions[next]];
  const message = messageBetween(page, one, next);
  if (first.lane === second.lane) return `${first.label} and ${second.label} are both actions of ${scene.processes[first.lane]}: its own order stays.`;
  if (message !== undefined) {
    const name = page.messages[message];
    const isWrong = isInversion(page, order, place);
    return `The message ${name} forbids it: ${first.label} sends it and ${second.label} accepts it, so ${first.label} comes first.${isWrong ? " It is a red message, accepted in a white action." : ""}`;
  }
  if (first.red === second.red) return `${first.label} and ${second.label} are both ${first.red ? "red" : "white"}: they are no inversion and stay as they are.`;
  return `${first.label} is white and ${second.label} is red: that is the order we want.`;
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

/** Why no order of the actions leads through the recorded state: a red message is accepted in a white action. */
export function whySharp({ name, sent, accepted, sender, acceptor }) {
  return `The message ${name} is red: ${sender} had turned red when it sent it (${sent}). ${acceptor} was still white when it accepted it (${accepted}). So in every order of these actions ${sender} turns red before ${acceptor} does, and ${sent} comes before ${accepted}.`;
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
