/* Long traces in pieces. Plotly redraws a trace as a whole; a step changes one or two arrows of, say, two
 * thousand, so a long trace is drawn as several shorter ones and a step touches only the pieces it changes. */

/**
 * More elements than this are split: 2,000 arrows in pieces of 200 take 65 ms a step and not 330, and a window of
 * 250 events in pieces of 40 takes 41 ms and not 57.
 */
const CHUNK = 40;

/** The trace itself, or its pieces of at most CHUNK elements each. */
export function inChunks(trace) {
  const { stride, show, messages, grow } = trace.meta ?? {};
  if (!show || show.length <= CHUNK) return [trace];
  const pieces = [];
  for (let from = 0; from < show.length; from += CHUNK) {
    const until = Math.min(from + CHUNK, show.length);
    const piece = pointsOf(trace, trace.x.length, (list) => list.slice(from * stride, until * stride));
    const own = (list) => list?.slice(from, until);
    const places = trace.meta.places?.slice(from * stride, until * stride);
    piece.meta = { ...trace.meta, stride, show: own(show), messages: own(messages), grow: own(grow), places };
    pieces.push(piece);
  }
  return pieces;
}

/** A copy in which some points are taken of every list that has one value for each of the `points`. */
export function pointsOf(value, points, take) {
  if (Array.isArray(value)) return value.length === points ? take(value) : value;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, pointsOf(item, points, take)]));
}
