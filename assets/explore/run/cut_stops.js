/* The stops of a cut: the points where it can cross the line of each process. */

const BEYOND = 0.045; // the first and last stop of a process lie this far beyond its events, as a share of the run

/**
 * The stops of each process in the scene's window: before its first event there, and after each one, or (`byStep`) after
 * each step with events of it. A stop has the `count` of the events of its process before it (in a log's own numbers,
 * its `number`), the `label` and `step` of the last of them, and its `position` on the time axis. `positions` are those
 * of the steps, and `positionOf` gives that of an event.
 */
export function stopsOf(scene, events, positions, positionOf, byStep = false) {
  const [least, most] = [Math.min(...positions), Math.max(...positions)];
  const room = BEYOND * (most - least || 1);
  const found = scene.processes.map(() => [{ count: 0, label: "", step: 0, at: null }]);
  const stopAfter = (at) => ({ count: events.index[at], label: events.label(at), step: events.step[at], at: positionOf(at) });
  const from = events.firstFrom(scene.first);
  for (let at = 0; at < from; at += 1) if (!events.isGone(at)) found[events.lane[at]][0] = { ...stopAfter(at), at: null };
  for (const at of events.surviving(scene)) {
    const own = found[events.lane[at]];
    if (byStep && own.length > 1 && own.at(-1).step === events.step[at]) own.pop();
    own.push(stopAfter(at));
  }
  for (const own of found) {
    own.forEach((stop, index) => {
      const after = own[index + 1]?.at;
      if (stop.at == null) stop.position = after == null ? least : after - room;
      else stop.position = after == null ? stop.at + room : (stop.at + after) / 2;
    });
  }
  return found;
}

/** The events before a stop: "3 events, up to H"; "4 events, up to m; the last 2 are one step". */
export function countedEvents(stops, stop) {
  if (stop == null) return "nothing, never";
  const { count, number = count, label, together = 1 } = stops[stop] ?? stops[0];
  const step = together > 1 ? `; the last ${together} are one step` : "";
  const last = label ? `, up to ${label}${step}` : ", all before these rows";
  return number ? `${number.toLocaleString("en")} ${number > 1 ? "events" : "event"}${last}` : "no event";
}
