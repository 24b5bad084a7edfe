/* Which part of an export its preview shows: of a file with a page for each step never all of them. */

const MOST_FRAMES = 20; // of an animation
const MOST_PAGES = 300; // of a file with a page for each step (diagrams/still/slides.py)

/** What the server is asked for in order to show a file of a format, and what is to be said of the difference. */
export function shownOf(name, way, options, scene) {
  if (way !== "gif") return { asked: options, said: name === way ? "" : `This is the same picture as ${way.toUpperCase()}.` };
  const [from, to] = pagesOf(options, scene);
  if (!(from <= to && to - from < MOST_PAGES)) return { asked: options, said: "" }; // the server refuses it
  if (name !== "gif") return { asked: { ...options, from: to, to }, said: `Its page of step ${to}, the last one.` };
  const last = Math.min(to, from + MOST_FRAMES - 1);
  return { asked: { ...options, from, to: last }, said: last < to ? `Its first ${MOST_FRAMES} steps.` : "" };
}

/** The first and the last step of a file with a page for each; NaN for what is no step of the diagram. */
function pagesOf({ from, to, crop }, scene) {
  const [first, last] = crop ? crop.split("..").map(Number) : [scene.first, scene.until];
  if (!from && !to) return [first, last];
  return [from, to].map((step) => (/^\d+$/.test(step) && first <= step && step <= last ? Number(step) : NaN));
}
