/* Texts of the diagram in little room: none is cut off at the edge, and of two that would lie over each other the shorter is
 * shown. What an event is called is shorter than what a message carries, and that stands in the panel as well. */

const MOST_TEXTS = 400; // among more, none could be read anyway
const TOUCH = 4; // texts may lie over each other by this many pixels: a line is higher than its letters

export function arrangeTexts(node) {
  const texts = [...node.querySelectorAll(".textpoint text")];
  if (texts.length > MOST_TEXTS) return;
  for (const { style } of texts) if (style.translate) style.removeProperty("translate");
  const edge = node.getBoundingClientRect();
  const all = texts.map((text) => ({ text, ...inside(text.getBoundingClientRect(), edge), length: text.textContent.length }));
  const shown = [];
  for (const one of all.filter(({ left, right }) => right > left).sort((a, b) => a.length - b.length)) {
    const isFree = !shown.some((other) => overlap(one, other));
    const visibility = isFree ? "" : "hidden";
    if (one.text.style.visibility !== visibility) one.text.style.visibility = visibility;
    if (one.moved) one.text.style.translate = `${one.moved}px 0`;
    if (isFree) shown.push(one);
  }
}

/** A box moved sideways so that it lies within the edges, as far as it fits, and how far it is moved. */
function inside({ left, top, right, bottom }, edge) {
  const moved = Math.max(edge.left - left, Math.min(0, edge.right - right));
  return { left: left + moved, right: right + moved, top, bottom, moved };
}

function overlap(a, b) {
  const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
  const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
  return across > TOUCH && down > TOUCH;
}
