/* HTML elements: make them, fill them, change their text. diagrams/browser/modules.py joins these modules into one script. */

/** A line may end inside a word longer than this (in letters), which would not fit the panel. */
const LONGEST_UNBROKEN = 26;

/**
 * Make an element: el("p", {class: "cc-why"}, "text", child). Functions become listeners, false and null
 * attributes are left out. Text is always set as text, never as HTML, so no name can smuggle in markup.
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

let named = 0;

/** A name that no other element has: a page may hold several explorers. */
export function ownName(name) {
  named += 1;
  return `${name}-${named}`;
}

/** Set a text if it differs: an unchanged node keeps the user's selection and is not read aloud again. */
export function setText(node, text) {
  if (node.textContent !== text) node.replaceChildren(...unbroken(text));
}

/** A text as nodes, so that no line ends inside a name like "P1->P2": browsers break lines after a hyphen. */
export function unbroken(text) {
  if (!text.includes("->")) return [text];
  const isName = (part) => part.includes("->") && part.length <= LONGEST_UNBROKEN;
  return text.split(/(\S*->\S*)/).map((part) => (isName(part) ? el("span", { class: "cc-unbroken" }, part) : part));
}

/** Replace a list's children when `signature` changed since the last call on this node. */
export function refill(node, signature, makeChildren) {
  if (node.dataset.signature === signature) return;
  node.dataset.signature = signature;
  node.replaceChildren(...makeChildren());
}

/** A control with its label. It is an attribute too: a label around a menu would be read with all options. */
export function field(label, control) {
  control.setAttribute("aria-label", label);
  return el("label", { class: "cc-field" }, el("span", {}, label), control);
}

/** A user's text, escaped for Plotly, which reads tags such as <b> in every text. */
export function escapedForPlotly(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Fill a select with options, each a value and its text; the chosen one stays chosen if it is still there. */
export function fillMenu(select, options) {
  const chosen = select.value;
  refill(select, JSON.stringify(options), () => options.map(([value, text]) => el("option", { value }, text)));
  if (options.some(([value]) => String(value) === chosen)) select.value = chosen;
}

/** Fill a select with names. */
export function fillNames(select, names) {
  fillMenu(select, names.map((name) => [name, name]));
}

/** The element that scrolls the page around a node. */
export function scrollerOf(node) {
  for (let around = node.parentElement; around; around = around.parentElement) {
    if (["auto", "scroll"].includes(getComputedStyle(around).overflowY)) return around;
  }
  return document.scrollingElement;
}

/** Copy a field's text; answers whether that worked. Without HTTPS a page has only the old way. */
export async function copied(input) {
  try {
    await navigator.clipboard.writeText(input.value);
    return true;
  } catch {
    input.select();
    return document.execCommand("copy");
  }
}
