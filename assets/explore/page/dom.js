/* Small helpers for building the page. The files of this folder are joined into one module
 * (views/component.py has the order), so what is declared here is known in the files below. */

/** A longer word may be broken after all, or it would not fit the panel. */
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

/** Write text only where it differs: an untouched node keeps its selection and is not announced again. */
export function setText(node, text) {
  if (node.textContent !== text) node.replaceChildren(...unbroken(text));
}

/** Text in which no line ends inside a name like "P1->P2", which a browser would break after its hyphen. */
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

/** A control with its label. The label is an attribute too: around a menu it would take in all its options. */
export function field(label, control) {
  control.setAttribute("aria-label", label);
  return el("label", { class: "cc-field" }, el("span", {}, label), control);
}

/** A user's text as Plotly is to show it: it reads tags such as <b> in every text. */
export function plain(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Put options into a select, keeping the one chosen where it still exists. */
export function offer(select, names) {
  const chosen = select.value;
  refill(select, JSON.stringify(names), () => names.map((name) => el("option", { value: name }, name)));
  if (names.includes(chosen)) select.value = chosen;
}
