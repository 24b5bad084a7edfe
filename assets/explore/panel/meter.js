/* The conservation meter: what of each conserved good is in processes and in channels. */

import { el, refill } from "../page/dom.js";
import { valueAt } from "../run/timeline.js";
import { plainNumber } from "../run/times.js";

/** Show the meter at a step: how things are now, which is not what a snapshot has recorded. */
export function showMeters(node, meters, step) {
  const readings = meters.map((meter) => [meter, valueAt(meter.processes, step), valueAt(meter.channels, step)]);
  const known = readings.filter(([, inProcesses, inChannels]) => inProcesses !== undefined && inChannels !== undefined);
  const signature = JSON.stringify([step, known.map(([meter, ...values]) => [meter.unit, meter.total, values])]);
  const found = known.map(([meter, inProcesses, inChannels]) => ({ ...meter, inProcesses, inChannels }));
  const heading = () => el("h4", {}, step ? `Now, after step ${step}` : "Now, at the start");
  refill(node, signature, () => (found.length ? [heading(), ...metersOf(found)] : []));
}

/** A bar for each good, as it was found: {unit, total, inProcesses, inChannels}. */
export function metersOf(found) {
  const weights = found.map(weighed);
  return weights.length > 1 ? [meterTable(weights)] : weights.map(meterRow);
}

/** Several goods: a line for each, and below them what the colours mean. */
function meterTable(weights) {
  const line = ({ unit, kept, sum, total, inProcesses, inChannels }) => {
    const judgement = kept ? "✓" : `, not ${plainNumber(total)} ✗`;
    return [
      el("strong", {}, unit),
      meterBar(inProcesses, inChannels, total),
      el("span", {}, `${plainNumber(inProcesses)} + ${plainNumber(inChannels)}`),
      el("span", { class: "cc-outcome", "data-holds": String(kept) }, `= ${plainNumber(sum)} ${judgement}`),
    ];
  };
  const legend = el("p", {}, meterLegend("processes", "in processes"), " + ", meterLegend("channels", "in channels"));
  return el("div", { class: "cc-meter cc-meter-table" }, ...weights.flatMap(line), legend);
}

/** One good: its bar, and below it the sum in words. */
function meterRow({ unit, kept, sum, total, inProcesses, inChannels }) {
  const legend = (part, value) => meterLegend(part, el("strong", {}, plainNumber(value)), ` in ${part}`);
  const judgement = kept ? "conserved ✓" : `not ${plainNumber(total)} ✗`;
  return el("div", { class: "cc-meter" },
    el("strong", {}, unit),
    meterBar(inProcesses, inChannels, total),
    el("span", { class: "cc-outcome", "data-holds": String(kept) }, judgement),
    el("p", {}, legend("processes", inProcesses), " + ", legend("channels", inChannels), ` = ${plainNumber(sum)}`),
  );
}

function weighed({ unit, total, inProcesses, inChannels }) {
  const sum = inProcesses + inChannels;
  return { unit, total, inProcesses, inChannels, sum, kept: Math.abs(sum - total) < 1e-9 };
}

function meterBar(inProcesses, inChannels, total) {
  const whole = Math.max(inProcesses + inChannels, total) || 1;
  const part = (name, value) => el("span", { "data-part": name, style: `width: ${(100 * value) / whole}%` });
  return el("div", { class: "cc-bar", "aria-hidden": "true" }, part("processes", inProcesses), part("channels", inChannels));
}

function meterLegend(part, ...words) {
  return el("span", { class: "cc-legend", "data-part": part }, ...words);
}
