/* What stands still at a moment, and the edits that sever channels, mend them, split the network or heal it, lose messages or copy them. A moment is
 * {step, time}; its time is null where the run knows none. */

import { isShown, stepAt } from "./timeline.js";

/** The moment of a step. */
export function momentOf(scene, step) {
  return { step, time: scene.has_time ? stepAt(scene, step).time : null };
}

/** The stops of the run that last at a moment. */
export function stopsAt(scene, { step, time }) {
  const lasts = ({ since, ended, from, until }) => (time == null ? isShown([from, until], step) : isShown([since, ended], time));
  return scene.stops.filter(lasts);
}

/** The names of the channels that are severed at a moment. */
export function severedAt(scene, moment) {
  return new Set(stopsAt(scene, moment).filter(({ kind }) => kind === "down").map(({ channel }) => channel));
}

/** The channels between two processes: the one from the first to the second, and the one back; undefined where there is none. */
export function channelsBetween({ channels }, from, to) {
  const way = (source, target) => channels.find((own) => own.source === source && own.target === target);
  return [way(from, to), way(to, from)];
}

/** What can be done to the channels between two processes at a moment, each {words, edit}: only what changes something. */
export function severings(scene, from, to, moment) {
  const severed = severedAt(scene, moment);
  const there = channelsBetween(scene, from, to).filter(Boolean);
  const kindOf = ({ name }) => (severed.has(name) ? "mend" : "sever");
  const act = (kind, words, channels) => ({ words: `${kind === "sever" ? "Sever" : "Mend"} ${words}`, edit: faultAt(kind, { channels }, moment) });
  const entries = there.map((own) => act(kindOf(own), own.name, [own.name]));
  const [one, other] = there;
  const isBoth = other && kindOf(one) === kindOf(other);
  return isBoth ? [...entries, act(kindOf(one), "both ways", [one.name, other.name])] : entries;
}

/** An edit that severs or mends channels, `about` {channels} or {groups}. */
export function faultAt(kind, about, { time }) {
  return { do: "fault", kind, ...about, ...(time == null ? {} : { at: time }) };
}

/** What may become of a message by a fault. */
export const FATES = ["lose", "copy"];

/** What can be done to a message at a moment, {words, edit}: it is lost or copied, or it is not any more.
 * At a moment at which it is on its way that happens then, else as soon as it is sent. */
export function fateOf(message, kind, { step, time }) {
  const planned = message.faults.find((own) => own.kind === kind);
  if (planned) return { words: kind === "lose" ? "Do not lose it" : "Do not copy it", edit: { do: "delete", item: planned.item } };
  const isOnItsWay = isShown([message.sent, message.received ?? message.lost], step) && time > message.sent_time;
  const at = time != null && isOnItsWay ? { at: time } : {};
  return { words: kind === "lose" ? "Lose it" : "Copy it", edit: { do: "fault", kind, message: message.named, ...at } };
}

/** The split of the network that lasts at a step; undefined where it is whole. */
export function splitAt({ splits }, step) {
  return splits.find(({ from, until }) => isShown([from, until], step));
}

/** How many channels join processes of which one is among `chosen` and one is not, and are not severed at a moment. */
export function cutBy(scene, chosen, moment) {
  const severed = severedAt(scene, moment);
  const crosses = ({ source, target }) => chosen.includes(source) !== chosen.includes(target);
  return scene.channels.filter((own) => crosses(own) && !severed.has(own.name)).length;
}
