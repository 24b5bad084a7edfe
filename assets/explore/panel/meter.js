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

/**
 * A bar for each good, as it was found: {unit, total, inProcesses, inChannels}; at a cut also how much of it is `lost`
 * and `copied` inside, so that found + lost - copied is the total, and `isStateLost`: a process had lost what it held.
 */
export function metersOf(found) {
  const weights = found.map(weighed);
  return weights.length > 1 ? [meterTable(weights)] : weights.map(meterRow);
}

/** Several goods: a line for each, and below them what the colours mean. */
function meterTable(weights) {
  const line = (weight) => {
    const { unit, kept, sum, total, inProcesses, inChannels } = weight;
    const judgement = kept ? "✓" : kept == null ? "?" : `, not ${plainNumber(total)} ✗`;
    return [
      el("strong", {}, unit),
      meterBar(inProcesses, inChannels, total),
      el("span", {}, `${plainNumber(inProcesses)} + ${plainNumber(inChannels)}${faultsInWords(weight)}`),
      el("span", { class: "cc-outcome", "data-holds": kept == null ? null : String(kept) }, `= ${plainNumber(sum)} ${judgement}`),
    ];
  };
  const legend = el("p", {}, meterLegend("processes", "in processes"), " + ", meterLegend("channels", "in channels"));
  return el("div", { class: "cc-meter cc-meter-table" }, ...weights.flatMap(line), legend);
}

/** One good: its bar, and below it the sum in words. */
function meterRow(weight) {
  const { unit, kept, sum, total, inProcesses, inChannels } = weight;
  const legend = (part, value) => meterLegend(part, el("strong", {}, plainNumber(value)), ` in ${part}`);
  const judgement = kept ? "conserved ✓" : kept == null ? "undecided" : `not ${plainNumber(total)} ✗`;
  return el("div", { class: "cc-meter" },
    el("strong", {}, unit),
    meterBar(inProcesses, inChannels, total),
    el("span", { class: "cc-outcome", "data-holds": kept == null ? null : String(kept) }, judgement),
    el("p", {}, legend("processes", inProcesses), " + ", legend("channels", inChannels), `${faultsInWords(weight)} = ${plainNumber(sum)}`),
    kept == null ? el("p", {}, `At first there were ${plainNumber(total)}. A process had lost what it held.`) : null,
  );
}

function weighed({ unit, total, inProcesses, inChannels, lost = 0, copied = 0, isStateLost = false }) {
  const sum = inProcesses + inChannels + lost - copied;
  return { unit, total, inProcesses, inChannels, lost, copied, sum, kept: isStateLost ? null : Math.abs(sum - total) < 1e-9 };
}

/** " + 20 lost - 30 copied". */
function faultsInWords({ lost, copied }) {
  return `${lost ? ` + ${plainNumber(lost)} lost` : ""}${copied ? ` − ${plainNumber(copied)} copied` : ""}`;
}

function meterBar(inProcesses, inChannels, total) {
  const whole = Math.max(inProcesses + inChannels, total) || 1;
  const part = (name, value) => el("span", { "data-part": name, style: `width: ${(100 * value) / whole}%` });
  return el("div", { class: "cc-bar", "aria-hidden": "true" }, part("processes", inProcesses), part("channels", inChannels));
}

function meterLegend(part, ...words) {
  return el("span", { class: "cc-legend", "data-part": part }, ...words);
}
