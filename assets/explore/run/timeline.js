/* What holds at a step: timelines ([[step, value], ...]) and masks (which elements of a trace are shown). */

/** The first of `count` indices for which `isBefore` does not hold, or `count`. */
export function firstNot(isBefore, count) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The value of the last pair whose step is <= `step`; undefined before the first one. */
export function valueAt(timeline, step) {
  return timeline[firstNot((index) => timeline[index][0] <= step, timeline.length) - 1]?.[1];
}

/** A step of the scene: {time, position, rule, sentence}; for a step outside the window, that of its nearest step. */
export function stepAt(scene, step) {
  return scene.steps[Math.min(Math.max(step, scene.first), scene.until) - scene.first];
}

/** True when an element that is shown on [from, until) can be seen at `step`. */
export function isShown([from, until], step) {
  return from <= step && (until == null || step < until);
}

/**
 * The mask of one trace. Element e owns the points e*stride .. e*stride+stride-1 and is hidden by putting
 * null into them, so a trace keeps its number and its length whatever the step.
 */
export class Mask {
  constructor(trace) {
    this.x = trace.x;
    this.y = trace.y;
    this.stride = trace.meta.stride;
    this.show = trace.meta.show;
    this.grow = trace.meta.grow;
    const steps = new Set(this.show.flat().filter((step) => step != null));
    this.changes = [...steps].sort((a, b) => a - b);
  }

  /** Whether anything looks different at `to` from what it was at `from`. */
  differs(from, to) {
    const low = Math.min(from, to);
    const high = Math.max(from, to);
    return this.changes.some((step) => low < step && step <= high) || this.isGrowing(to);
  }

  /** Whether some arrow grows at a step: its message is on its way. */
  isGrowing(step) {
    return Boolean(this.grow) && this.show.some((span) => isShown(span, step));
  }

  /** The coordinates to draw at a step; `position` is the present one on the time axis. */
  at(step, position) {
    const x = this.x.slice();
    const y = this.y.slice();
    this.show.forEach((span, element) => {
      const start = element * this.stride;
      if (!isShown(span, step)) {
        x.fill(null, start, start + this.stride);
        y.fill(null, start, start + this.stride);
      } else if (this.grow) {
        const share = shareOfWay(this.grow[element], position);
        x[start + 1] = x[start] + share * (x[start + 1] - x[start]);
        y[start + 1] = y[start] + share * (y[start + 1] - y[start]);
      }
    });
    return { x, y };
  }
}

/** The share of its way that a message has gone; at least `least`, for its head must be clear of where it begins. */
function shareOfWay([from, to, least], position) {
  const share = to > from ? (position - from) / (to - from) : 1;
  return Math.min(1, Math.max(least, share));
}

/** Messages on their way at a step: sent, and not yet received or lost; or put back by a recovery, from then on. */
export function inFlight(messages, step) {
  const putBack = (message) => message.again.map(({ put_back, time, received, arrival, fenced }) => ({ ...message, sent: put_back, sent_time: time, received, arrival, lost: fenced }));
  return messages.flatMap((message) => {
    const ways = [...(message.again.length ? putBack(message) : []), message];
    return ways.filter(({ sent, received, lost }) => isShown([sent, received ?? lost], step)).slice(0, 1);
  });
}
