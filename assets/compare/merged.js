/* Several runs step together by time: their steps, merged into one series of moments. */

/**
 * A moment is [time, rank]: of the steps that a run makes at one time, the first has rank 0, the next one 1, and so on.
 * So the steps of one time come one by one, and those of the same rank at once.
 *
 * @param runs for each run the times of its steps, from step 0 on
 * @returns {moments, steps}: `steps[run][moment]` is the step that the run shows then: the last one that has come
 */
export function merged(runs) {
  const own = runs.map(momentsOf);
  const all = new Map(own.flat().map((moment) => [moment.join(), moment]));
  const moments = [...all.values()].sort(compare);
  return { moments, steps: own.map((steps) => stepsAt(moments, steps)) };
}

/** The last of `moments` that is not after `moment`, as an index; 0 where all are. */
export function lastUntil(moments, moment) {
  let at = 0;
  while (at + 1 < moments.length && compare(moments[at + 1], moment) <= 0) at += 1;
  return at;
}

/** Step 0 is before everything, whatever the time of the first step. */
function momentsOf(times) {
  let rank = 0;
  return times.map((time, step) => {
    if (step === 0) return [-Infinity, 0];
    rank = step > 1 && times[step - 1] === time ? rank + 1 : 0;
    return [time, rank];
  });
}

function stepsAt(moments, own) {
  let step = 0;
  return moments.map((moment) => {
    while (step + 1 < own.length && compare(own[step + 1], moment) <= 0) step += 1;
    return step;
  });
}

function compare([time, rank], [other, otherRank]) {
  return time === other ? rank - otherRank : time - other;
}
