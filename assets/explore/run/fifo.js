/* FIFO: no message arrives before one that was sent before it on its channel. This says,
 * while the user drags an arrow, what Python will answer (`in_order` in sim/core/scheduler.py). */

import { twelveDigits } from "./times.js";

/** The delay with which a message would arrive at `time`, were it alone on its channel. */
export function delayFor(message, time) {
  return twelveDigits(Math.max(0, time - message.earliest));
}

/**
 * When the messages of a FIFO channel arrive (Infinity: never), in the order of sending, given when each is due by its
 * own delay. A message that overtakes, a marker, waits only for other markers. None comes on a blocked channel before it
 * is freed.
 */
function fifoArrivals(queue) {
  let [last, lastFast] = [-Infinity, -Infinity];
  return queue.map(({ due, kind, overtakes, freed }) => {
    const arrival = Math.max(due ?? Infinity, overtakes ? lastFast : last, freed ?? Infinity);
    last = Math.max(last, arrival);
    if (overtakes || kind === "marker") lastFast = arrival;
    return arrival;
  });
}

/**
 * What follows if a message is due at `due`. Messages sent before a recovery and after it do not wait for each other.
 * @returns {arrival, front, moved}: when it arrives (null: never), the message that it waits behind or null, and
 *   those behind it that arrive at another time than now, as {message, arrival}
 */
export function arrivalIfDue(scene, message, due) {
  const channel = scene.channels.find(({ name }) => name === message.channel);
  if (!channel?.fifo) return { arrival: due, front: null, moved: [] };
  const isInLine = (other) => other.channel === message.channel && other.epoch === message.epoch;
  const queue = scene.messages.filter(isInLine);
  const index = queue.findIndex(({ id }) => id === message.id);
  const before = queue.slice(0, index).map((other) => ({ ...other, due: other.arrival }));
  const arrivals = fifoArrivals([...before, { ...message, due }, ...queue.slice(index + 1)]);
  const arrival = arrivals[index];
  const inFront = before.filter(({ kind, overtakes }) => overtakes || kind === "marker" || !message.overtakes);
  if (arrival === Infinity) {
    return { arrival: null, front: inFront.find((other) => other.arrival == null) ?? null, moved: [] };
  }
  const front = arrival > due ? inFront.findLast((other) => other.arrival === arrival) : null;
  const behind = queue.map((other, at) => ({ message: other, arrival: arrivals[at] })).slice(index + 1);
  const moved = behind.filter((one) => one.arrival < Infinity && one.arrival !== one.message.arrival);
  return { arrival, front, moved };
}
