/* Colours by meaning. A figure names tokens ("@ink", "@p0/0.25"); the page decides what they look like. */

import { el } from "./dom.js";

const TOKEN = /^@([\w-]+)(?:\/([\d.]+))?$/;

/** Keys whose values are words or numbers of the scenario, never colours. */
const NOT_COLOURS = new Set(["x", "y", "text", "hovertext", "hovertemplate", "customdata", "name", "meta"]);

/** "light" or "dark", by the luminance of the page's background: users may have a theme of their own. */
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

/** The CSS colour of a token; any other string stays as it is. */
export function resolveColour(value, palette) {
  const match = TOKEN.exec(value);
  if (!match) return value;
  const colour = palette[match[1]];
  if (!colour) return value;
  return match[2] ? withOpacity(colour, Number(match[2])) : colour;
}

/** "#rrggbb" with an opacity. */
function withOpacity(hex, opacity) {
  const [red, green, blue] = hex.match(/\w\w/g).map((pair) => parseInt(pair, 16));
  return `rgba(${red}, ${green}, ${blue}, ${opacity})`;
}

const WIDE = 540; // pixels: in a narrower diagram things are drawn smaller
const HIGH = 300; // pixels: in a lower one, too
const SMALLEST = 0.8;

/** The factor by which things are larger than on a laptop's screen: that of the page's type (page.css), less in little room. */
export function magnification({ clientWidth, clientHeight = HIGH }) {
  const room = Math.max(SMALLEST, Math.min(1, clientWidth / WIDE, clientHeight / HIGH));
  return (parseFloat(getComputedStyle(document.documentElement).fontSize) / 16) * Number(room.toFixed(1));
}

/** Keys whose values are lengths in pixels, and keys whose values are data. */
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
export function snapshotDot(colour) {
  return el("span", { class: "cc-chip", style: `background: ${colour}`, "aria-hidden": "true" });
}

/** A message's sign: a disc (application message), a diamond (marker) or a triangle (control message). */
export function messageSign(kind, colour) {
  return el("span", { class: `cc-swatch cc-${kind}`, style: `background: ${colour}`, "aria-hidden": "true" });
}
