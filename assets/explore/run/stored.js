/* What the storage has at a moment {step, time}; its time is null where the run knows none. */

import { firstNot, valueAt } from "./timeline.js";

/** The ids of the snapshots that a rollback at a moment can go back to, in the order of their beginnings. */
export function goalsAt({ stored, steps, first }, { step, time }) {
  const then = time == null ? step : first + firstNot((index) => steps[index].time < time, steps.length) - 1;
  return (stored?.snapshots ?? []).filter(({ back }) => valueAt(back, then)).map(({ id }) => id);
}
