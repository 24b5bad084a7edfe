/* Why a message is recorded, or not. Python sends the sentences (sim/explain/reasons.py); their fields are filled in here. */

/** For a message and a snapshot: whether it is recorded, why, and the steps of the two events that decide. */
export function reasonOf(scene, message, snapshot) {
  const [rule, recorded, first, second] = message.reasons[snapshot];
  const fields = {
    message: message.name,
    send: message.sent_moment,
    receive: message.arrival_moment,
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
  return { recorded, text, steps: [first, second].filter((step) => step != null) };
}
