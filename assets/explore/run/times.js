/* Times and delays, rounded as a person would write them. */

/** A time or delay as people write it: no trailing zeros, at most three decimals. */
export function plainNumber(value) {
  return String(Math.round(value * 1000) / 1000);
}

/** A number without errors of binary fractions: 0.3 and not 0.30000000000000004. */
export function twelveDigits(value) {
  return Number(value.toPrecision(12));
}

/** About a twentieth of a length: 1, 2 or 5 times a power of ten. */
export function roundTwentieth(length) {
  const rough = (length || 20) / 20;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([5, 2].find((factor) => factor * power <= rough) ?? 1);
}

/** A round time near `time`, in a diagram that shows `length` units of time. */
export function roundedTime(scene, time, length) {
  const grid = scene.whole_times ? 1 : roundTwentieth(length) / 10;
  return twelveDigits(Math.round(time / grid) * grid);
}

/** How far one nudge moves something: about a hundredth of the run, or a twentieth if `large`. */
export function nudgeSize(scene, large) {
  const step = roundTwentieth(scene.end) * (large ? 1 : 0.2);
  return scene.whole_times ? Math.max(1, Math.round(step)) : step;
}
