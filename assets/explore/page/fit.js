/* Texts that are made smaller until they fit the room they have. */

const SIZES = [1, 0.9, 0.8, 0.72, 0.65, 0.58]; // of the size that the style sheet gives it

const waiting = new Map(); // by text: its content and its box

/**
 * Set the largest size of `text` at which `content` lies within `box`, the room; else the smallest, and `box` scrolls.
 * All texts that change at a time are measured together, before they are painted: each measuring lays out the page.
 */
export function fitText(text, content, box) {
  if (!waiting.size) queueMicrotask(fitAll);
  waiting.set(text, { content, box });
}

function fitAll() {
  let left = [...waiting];
  waiting.clear();
  for (const size of SIZES) {
    for (const [text] of left) text.style.fontSize = `${size}em`;
    left = left.filter(([, { content, box }]) => !isWithin(content, box));
    if (!left.length) return;
  }
}

/** Whether an element is no higher than the box and ends no lower: something else may stand above it there. */
function isWithin(content, box) {
  return content.offsetHeight <= box.clientHeight && content.getBoundingClientRect().bottom <= box.getBoundingClientRect().bottom + 1;
}
