/* Why a message is recorded, or not. Python sends the sentences (sim/explain/reasons.py); their fields are filled in here. */

/**
 * For a message and a snapshot, as far as the run has come at `step`: whether it is recorded, why, the steps of the events
 * that decide, and the later `steps` at which more is decided. Nobody knows of what is still to come.
 */
export function reasonOf(scene, message, snapshot, step) {
  const told = message.reasons[snapshot];
  const later = told.map(([since]) => since).filter((since) => since > step);
  const known = told.findLast(([since]) => since <= step);
  if (!known) return { recorded: false, text: "This message has not been sent yet.", steps: [], later };
  const [, rule, recorded, first, second, receive] = known;
  const fields = {
    message: message.name,
    send: message.sent_moment,
    receive: receive ?? message.arrival_moment,
    source: scene.lanes[message.source],
    target: scene.lanes[message.target],
    channel: message.caption,
    stamp: message.stamp,
    marker: scene.marker,
    control: scene.control,
    algorithm: scene.algorithm,
    snapshot,
    first,
    second,
  };
  const text = scene.cases[rule].replace(/\{(\w+)\}/g, (_, name) => fields[name]);
  return { recorded, text, steps: [first, second].filter((own) => own != null), later };
}
