/* What a channel's order makes of a wish: foretold in the browser while somebody drags, decided by Python. */

/** The delay with which a message would arrive at `time`, were it alone on its channel. */
function delayFor(message, time) {
  return clean(Math.max(0, time - message.earliest));
}

/** When a message would arrive by its own delay, whatever is before it (null: never). */
function ownArrival(message) {
  return message.due ?? message.arrival;
}

/**
 * What becomes of a message that is to arrive at `wanted`.
 * @returns {arrival, front, moved}: when it arrives (null: never), the message that it waits behind or null, and
 *   those behind it that arrive at another time than now, as {message, arrival}
 */
function foretell(scene, message, wanted) {
  const channel = scene.channels.find(({ name }) => name === message.channel);
  if (!channel?.fifo || message.overtakes) return { arrival: wanted, front: null, moved: [] };
  const queue = scene.messages.filter((other) => other.channel === message.channel);
  const place = queue.findIndex(({ id }) => id === message.id);
  const before = queue.slice(0, place);
  const stuck = before.find(({ arrival }) => arrival == null);
  if (stuck) return { arrival: null, front: stuck, moved: [] };
  const front = before.findLast((other) => other.arrival > wanted) ? before.at(-1) : null;
  const arrival = front ? front.arrival : wanted;
  return { arrival, front, moved: pushed(queue.slice(place + 1), arrival) };
}

/** The messages behind one that arrives at `arrival`, as far as that changes when they arrive. */
function pushed(behind, arrival) {
  const moved = [];
  let last = arrival;
  for (const message of behind) {
    const own = ownArrival(message);
    if (own == null) break;
    last = Math.max(own, last);
    if (last !== message.arrival) moved.push({ message, arrival: last });
  }
  return moved;
}
