/* SVG elements, for what lies over the diagram. */

const SVG = "http://www.w3.org/2000/svg";

/** Make an SVG element, as `el` makes an HTML element. */
export function shape(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  setShape(node, attributes);
  node.append(...children.filter((child) => child != null));
  return node;
}

/** Set attributes of an SVG element; null takes one away. */
export function setShape(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null) node.removeAttribute(name);
    else node.setAttribute(name, value);
  }
}
