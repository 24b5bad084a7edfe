/* The signs of the diagram, as diagrams/panels/legend.py lists them: a word for each below the diagram, sentences in the story. */

import { el, refill } from "../page/dom.js";

/** The list below the diagram, of the signs that are drawn now: in the "run", when the user is "asked", in the "proof". */
export function showSigns(node, all, now) {
  const signs = all.filter(({ drawn }) => drawn === now || (drawn === "always" && now !== "proof"));
  const item = (sign) => el("li", { title: sign.title, "data-sign": sign.key, "data-rare": sign.rare }, signIcon(sign), ` ${sign.label}`);
  refill(node, JSON.stringify(signs), () => signs.map(item));
}

/** Each sign of the run with its sentence. */
export function signsInFull(all) {
  const signs = all.filter(({ drawn }) => drawn === "run" || drawn === "always");
  return el("ul", { class: "cc-signs-in-full" }, ...signs.map((sign) => el("li", {}, signIcon(sign), el("span", {}, sign.title))));
}

/** A sign's picture. It is markup of our own, with nothing in it that a user wrote. */
function signIcon({ icon }) {
  const holder = document.createElement("template");
  holder.innerHTML = icon;
  return holder.content.firstElementChild;
}
