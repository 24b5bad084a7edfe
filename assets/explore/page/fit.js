/* A text that is made smaller until it fits the room it has. */

const SIZES = [1, 0.9, 0.8, 0.72, 0.65, 0.58]; // of the size that the style sheet gives it

/** Set the largest size of `text` at which `content` is no higher than `box`, the room; else the smallest, and `box` scrolls. */
export function fitText(text, content, box) {
  for (const size of SIZES) {
    text.style.fontSize = `${size}em`;
    if (content.offsetHeight <= box.clientHeight) return;
  }
}
