/* The conservation meter and the little signs for snapshots and messages. */

/** Per conserved good a bar of what is in the processes and in the channels, against the total. */
function showMeters(node, meters, step) {
  const readings = meters.map((meter) => [meter, valueAt(meter.processes, step), valueAt(meter.channels, step)]);
  const known = readings.filter(([, inProcesses, inChannels]) => inProcesses !== undefined && inChannels !== undefined);
  const signature = JSON.stringify(known.map(([meter, ...values]) => [meter.unit, meter.total, values]));
  refill(node, signature, () => known.map((reading) => meterRow(...reading)));
}

function meterRow({ unit, total }, inProcesses, inChannels) {
  const sum = inProcesses + inChannels;
  const whole = Math.max(sum, total) || 1;
  const bar = (part, value) => el("span", { "data-part": part, style: `width: ${(100 * value) / whole}%` });
  const legend = (part, value) =>
    el("span", { class: "cc-legend", "data-part": part }, el("strong", {}, plainNumber(value)), ` in ${part}`);
  const kept = Math.abs(sum - total) < 1e-9;
  const judgement = kept ? "conserved ✓" : `but there were ${plainNumber(total)} ✗`;
  return el(
    "div",
    { class: "cc-meter" },
    el("strong", {}, unit),
    el("div", { class: "cc-bar", "aria-hidden": "true" }, bar("processes", inProcesses), bar("channels", inChannels)),
    el(
      "p",
      {},
      legend("processes", inProcesses),
      " + ",
      legend("channels", inChannels),
      el("span", { class: "cc-outcome", "data-holds": String(kept) }, ` = ${plainNumber(sum)}, ${judgement}`),
    ),
  );
}

/** The colour of a snapshot, as a dot beside its name. */
function chip(colour) {
  return el("span", { class: "cc-chip", style: `background: ${colour}`, "aria-hidden": "true" });
}

/** A message's sign: a disc for an application message, a diamond for a marker, as in the network view. */
function swatch(kind, colour) {
  return el("span", { class: `cc-swatch cc-${kind}`, style: `background: ${colour}`, "aria-hidden": "true" });
}
