/* What a snapshot has recorded at a step, as one caption for each process and channel. */

import { valueAt } from "./timeline.js";

/**
 * The captions of a snapshot, the processes before the channels: `at(step)` is {state, text}, and `steps` are those at
 * which it changes. A state is "idle", "process" (recorded), "recording", "messages" or "empty".
 */
export function captionsOf({ processes, channels }) {
  const ofProcess = (process) => ({ at: (step) => processAt(process, step), steps: stepsOf(process.text), isChannel: false });
  const ofChannel = (channel) => ({
    at: (step) => channelAt(channel, step),
    steps: stepsOf([...channel.text, ...channel.state]),
    isChannel: true,
  });
  return [...processes.map(ofProcess), ...channels.map(ofChannel)];
}

/** The longest text that a caption ever has: its place on the screen is as broad as this, at every step. */
export function longestOf({ at, steps }) {
  return steps.map((step) => at(step).text).reduce((longest, text) => (text.length > longest.length ? text : longest), "");
}

/** The captions that say something at a step, the latest first: of too many to show, these matter. */
export function latestOf(captions, step) {
  const since = ({ steps }) => steps.findLast((own) => own <= step);
  return captions.filter(({ at }) => at(step).state !== "idle").sort((a, b) => since(b) - since(a));
}

/** All captions of a snapshot at a step, counted: "57 of 100 processes; channels: 31 with messages, 9 recording, 80 empty". */
export function countedAt(captions, step) {
  const states = captions.map(({ at }) => at(step).state);
  const count = (state) => states.filter((own) => own === state).length;
  const processes = captions.filter(({ isChannel }) => !isChannel).length;
  const channels = `channels: ${count("messages")} with messages, ${count("recording")} recording, ${count("empty")} empty`;
  return `${count("process")} of ${processes} processes; ${channels}`;
}

function stepsOf(timeline) {
  return [...new Set([0, ...timeline.map(([step]) => step)])].sort((a, b) => a - b);
}

function processAt({ name, text }, step) {
  const state = valueAt(text, step) ?? "not recorded yet";
  if (state === "not recorded yet") return { state: "idle", text: name };
  return { state: state === "thrown away" ? "idle" : "process", text: `${name} = ${state}` };
}

/** "C12 = <…>" for "C12 = ...recording...", and "C12 = <3 …>" where a message has come: the list is still open. */
function channelAt({ caption, text, state }, step) {
  const told = (valueAt(text, step) ?? caption).replace(/ = \.\.\.recording\.\.\.$/, " = <…>").replace(/, \.\.\.recording\.\.\.$/, " …>");
  return { state: valueAt(state, step) ?? "idle", text: told };
}
