/* How the diagram arranges the processes: {order, hidden, folded}, lists of names (diagrams/scene/arrangement.py). A view, no edit. */

/** Whether nothing is hidden or folded and every process lies where it does without an arrangement. */
export function isAsItIs({ order, hidden, folded }, lanes) {
  return !hidden.length && !folded.length && order.every((name, place) => name === lanes[place]);
}

/** Of these processes or services those of a run in the order of their lanes, hidden ones included. */
export function inOrder({ order }, names) {
  return order.filter((name) => names.includes(name));
}

/** The processes on show, in order. */
export function onShow(arrangement, processes) {
  return inOrder(arrangement, processes).filter((name) => !arrangement.hidden.includes(name));
}

/** Hide or show a process. */
export function hide(arrangement, name, isHidden) {
  return { ...arrangement, hidden: withOrWithout(arrangement.hidden, name, isHidden) };
}

/** Fold or unfold a process. */
export function fold(arrangement, name, isFolded) {
  return { ...arrangement, folded: withOrWithout(arrangement.folded, name, isFolded) };
}

/** Let a process change places with the next one on show, before (-1) or after (1) it. */
export function move(arrangement, name, by, processes) {
  const shown = onShow(arrangement, processes);
  const other = shown[shown.indexOf(name) + by];
  return other == null ? arrangement : put(arrangement, name, other);
}

/** Put a process where another one is; those between move up. */
export function put({ order, ...rest }, name, other) {
  const to = order.indexOf(other);
  const without = order.filter((own) => own !== name);
  return { ...rest, order: [...without.slice(0, to), name, ...without.slice(to)] };
}

function withOrWithout(names, name, isIn) {
  return isIn ? [...new Set([...names, name])] : names.filter((own) => own !== name);
}

/** What an arrangement leaves out, in words; "" where it leaves out nothing. Services are no processes of any cut. */
export function leftOut({ hidden: without, folded }, processes) {
  const [hidden, services] = [true, false].map((isProcess) => without.filter((name) => processes.includes(name) === isProcess));
  const many = (names) => (names.length > 4 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", "));
  const [are, them] = hidden.length === 1 ? ["is", "it"] : ["are", "them"];
  const told = [];
  if (hidden.length) told.push(`${hidden.length} of ${processes.length} processes ${are} hidden: ${many(hidden)}. The cut line runs over ${them}; records and verdicts still count ${them}.`);
  if (services.length) told.push(`${services.length === 1 ? "The lane of the" : "The lanes of"} ${many(services)} ${services.length === 1 ? "is" : "are"} hidden; the run is the same.`);
  if (folded.length) told.push(`Folded: ${many(folded)}. Messages stay, internal events and names of events are left out.`);
  return told.join(" ");
}
