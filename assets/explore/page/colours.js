/* Colours by meaning. A figure names tokens ("@ink", "@p0/0.25"); the page decides what they look like. */

import { el } from "./dom.js";

const TOKEN = /^@([\w-]+)(?:\/([\d.]+))?$/;

/** Keys whose values are words or numbers of the scenario, never colours. */
const NOT_COLOURS = new Set(["x", "y", "text", "hovertext", "hovertemplate", "customdata", "name", "meta"]);

/** "light" or "dark", by the luminance of the page's background: the theme may be the user's own. */
export function schemeOf(element) {
  const background = getComputedStyle(element).getPropertyValue("--st-background-color");
  if (!background) return "light";
  const probe = el("span", { hidden: true });
  probe.style.color = background;
  element.append(probe);
  const [red, green, blue] = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.remove();
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128 ? "dark" : "light";
}

/** One token as a CSS colour; any other string is handed back as it is. */
export function resolveColour(value, palette) {
  const match = TOKEN.exec(value);
  if (!match) return value;
  const colour = palette[match[1]];
  if (!colour) return value;
  return match[2] ? withOpacity(colour, Number(match[2])) : colour;
}

/** "#rgb" or "#rrggbb" with an opacity. */
function withOpacity(hex, opacity) {
  const short = hex.length === 4;
  const digits = short ? [...hex.slice(1)].map((digit) => digit + digit) : hex.slice(1).match(/../g);
  const [red, green, blue] = digits.map((pair) => parseInt(pair, 16));
  return `rgba(${red}, ${green}, ${blue}, ${opacity})`;
}

/** How much larger than on a small screen things are drawn: as much as the page's own type (page.css). */
export function magnification() {
  return parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
}

/** Keys whose values are lengths in pixels, and those that hold data and nothing else. */
const LENGTHS = new Set(["size", "width", "standoff", "ticklen", "ticklabelstandoff", "l", "r", "t", "b"]);
const DATA = new Set(["x", "y", "text", "meta", "tickvals", "ticktext", "range"]);

/** Make every length of a figure larger, in place. */
export function enlarge(figure, factor) {
  const larger = (value) => (Array.isArray(value) ? value.map(larger) : value * factor);
  for (const [key, value] of Object.entries(figure)) {
    if (LENGTHS.has(key)) figure[key] = larger(value);
    else if (value !== null && typeof value === "object" && !DATA.has(key)) enlarge(value, factor);
  }
  return figure;
}

/** A deep copy of a figure with every colour token resolved. Plotly writes into what it is given, so copy. */
export function painted(value, palette) {
  if (typeof value === "string") return resolveColour(value, palette);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item) => painted(item, palette));
  const entries = Object.entries(value).map(([key, item]) => [
    key,
    NOT_COLOURS.has(key) ? structuredClone(item) : painted(item, palette),
  ]);
  return Object.fromEntries(entries);
}

/** The colour of a snapshot, as a dot beside its name. */
export function chip(colour) {
  return el("span", { class: "cc-chip", style: `background: ${colour}`, "aria-hidden": "true" });
}

/** A message's sign: a disc for an application message, a diamond for a marker, a triangle for a control message, as in the network view. */
export function swatch(kind, colour) {
  return el("span", { class: `cc-swatch cc-${kind}`, style: `background: ${colour}`, "aria-hidden": "true" });
}
