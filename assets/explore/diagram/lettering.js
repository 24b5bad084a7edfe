/* Texts of the diagram in little room: none is cut off at the edge, none is shown over an event, and of two that would lie
 * over each other the shorter is shown. What an event is called is shorter than what a message carries, and that stands in
 * the panel as well. */

const MOST_TEXTS = 400; // among more, none could be read anyway
const TOUCH = 4; // texts may lie over each other by this many pixels: a line is higher than its letters
const SHARE = 0.25; // of an event may lie under letters
const MARKS = ["event", "event ahead", "recording", "complete snapshot", "expired snapshot", "failed snapshot"]; // the signs of traces that no text covers

export function arrangeTexts(node) {
  const texts = [...node.querySelectorAll(".textpoint text")];
  if (texts.length > MOST_TEXTS) return;
  const points = marksOf(node);
  if (isArranged(node, texts, points)) return;
  for (const { style } of texts) if (style.translate) style.removeProperty("translate");
  const edge = node.getBoundingClientRect();
  const marks = points.map((mark) => mark.getBoundingClientRect());
  const all = texts.map((text) => ({ text, ...inside(text.getBoundingClientRect(), edge), length: text.textContent.length }));
  const shown = [];
  for (const one of all.filter(({ left, right }) => right > left).sort((a, b) => a.length - b.length)) {
    const isFree = !shown.some((other) => overlap(one, other)) && !marks.some((mark) => covers(one, mark));
    const visibility = isFree ? "" : "hidden";
    if (one.text.style.visibility !== visibility) one.text.style.visibility = visibility;
    if (one.moved) one.text.style.translate = `${one.moved}px 0`;
    if (isFree) shown.push(one);
  }
}

const arranged = new WeakMap(); // by node: what was measured there last

/** Whether these texts and marks, where they are now, are those that were measured last: to measure is slow. */
function isArranged(node, texts, marks) {
  const { width, height } = node._fullLayout ?? {};
  const told = [...texts, ...marks].map((own) => ["transform", "x", "y", "d"].map((name) => own.getAttribute(name)).join());
  const look = [width, height, document.fonts?.status, ...told, ...texts.map(({ textContent, style }) => `${textContent} ${style.fontSize}`)].join("|");
  const nodes = [...texts, ...marks];
  const last = arranged.get(node);
  arranged.set(node, { look, nodes });
  return last?.look === look && last.nodes.length === nodes.length && nodes.every((own, place) => own === last.nodes[place]);
}

/** The dots, diamonds and decisions that are drawn; none where there are more than texts could be held against. */
function marksOf(node) {
  const groups = node.data.filter(({ meta, visible }) => visible !== false && MARKS.includes(meta?.sign)).map(({ uid }) => `.trace${uid} .point`);
  const marks = groups.length ? [...node.querySelectorAll(groups.join(", "))] : [];
  return marks.length > MOST_TEXTS ? [] : marks;
}

/** A box moved sideways so that it lies within the edges, as far as it fits, and how far it is moved. */
function inside({ left, top, right, bottom }, edge) {
  const moved = Math.max(edge.left - left, Math.min(0, edge.right - right));
  return { left: left + moved, right: right + moved, top, bottom, moved };
}

function overlap(a, b) {
  const [across, down] = common(a, b);
  return across > TOUCH && down > TOUCH;
}

/** Whether a text hides an event. Space before or after its letters puts a text beside an event: it hides none. */
function covers(own, mark) {
  if (own.text.textContent !== own.text.textContent.trim()) return false;
  const [across, down] = common(own, mark);
  return across > 0 && down > 0 && across * down > SHARE * mark.width * mark.height;
}

/** How wide and how high the part is that two boxes have in common; negative: how far they are apart. */
function common(a, b) {
  return [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
}
