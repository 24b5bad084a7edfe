/* Times and delays as numbers a person would write. */

/** A time or delay as people write it: no trailing zeros, at most three decimals. */
export function plainNumber(value) {
  return String(Math.round(value * 1000) / 1000);
}

/** A number without the dust of binary fractions. */
export function clean(value) {
  return Number(value.toPrecision(12));
}

/** About a twentieth of the run, as 1, 2 or 5 times a power of ten. */
export function niceFraction(length) {
  const rough = (length || 20) / 20;
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([5, 2].find((factor) => factor * power <= rough) ?? 1);
}

/** A time near `time` that a person would name, when `length` units of time are on show. */
export function roundedTime(scene, time, length) {
  const grid = scene.whole_times ? 1 : niceFraction(length) / 10;
  return clean(Math.round(time / grid) * grid);
}

/** What one nudge changes: a hundredth of the run, or a twentieth. */
export function nudgeOf(scene, large) {
  const step = niceFraction(scene.end) * (large ? 1 : 0.2);
  return scene.whole_times ? Math.max(1, Math.round(step)) : step;
}
