/* The preview of an export: the very file that would be saved, and beside a picture its caption. */

import { copied, el, fillMenu, setText } from "../page/dom.js";
import { fileOf, firstLines } from "./files.js";
import { spaced } from "./asked.js";
import { shownOf } from "./shown_of.js";

const REST_MS = 400; // after a change, before the server is asked
const MOST_LINES = 40; // of a text
const CAPTION = "caption"; // the format with a picture's caption
const PAPER = "170mm"; // as wide as a picture is on paper, where only its letters are said

/** Follows the dialog's options: one request at a time, and the file on show stays until the next one is there. */
export class Preview {
  constructor(explorer) {
    this.explorer = explorer;
    this.shown = el("div", { class: "cc-export-preview-shown", tabindex: "0", role: "group", "aria-label": "The file" });
    this.said = el("p", { class: "cc-export-preview-said", role: "status" });
    this.caption = el("textarea", { readonly: true, rows: "4", "aria-label": "Caption", onfocus: () => this.caption.select() });
    this.markup = el("select", { "aria-label": "Caption written as", onchange: () => this.resume() });
    this.copied = el("span", { class: "cc-said-so", role: "status" });
    this.captioned = el("div", { class: "cc-caption", hidden: true },
      el("div", { class: "cc-row" },
        el("h3", {}, "Caption"),
        this.markup,
        el("button", { type: "button", onclick: () => this.copy() }, "Copy caption"),
        this.copied,
      ),
      this.caption,
    );
    this.node = el("section", { class: "cc-export-preview", "aria-label": "Preview" }, this.shown, this.said, this.captioned);
    this.sizes = new ResizeObserver(() => this.say());
  }

  /** Show the file of a format (as the server lists it) with these options, when they have come to rest. */
  follow(format, options, pause = REST_MS) {
    this.stop();
    this.wanted = [format, options];
    this.isThere = false;
    this.work = new AbortController();
    const { signal } = this.work;
    this.timer = setTimeout(() => this.load(format, options, signal), pause);
    this.node.setAttribute("aria-busy", "true");
  }

  stop() {
    clearTimeout(this.timer);
    this.work?.abort();
    this.node.setAttribute("aria-busy", "false");
  }

  /** Go on after a stop, or show the same anew. */
  resume() {
    this.follow(...this.wanted, 0);
  }

  async load(format, options, signal) {
    this.captioned.hidden = !this.isCaptioned(format);
    try {
      await this.showFile(format, options, signal);
      if (this.isCaptioned(format)) await this.showCaption(format, options, signal);
    } catch (problem) {
      if (!signal.aborted) this.put([{ node: el("p", { class: "cc-export-preview-problem" }, problem.message) }]);
    }
    if (signal.aborted) return;
    this.isThere = true;
    this.node.setAttribute("aria-busy", "false");
  }

  async showFile({ name, preview }, options, signal) {
    if (!preview) return this.put([{ node: el("p", { class: "cc-quiet" }, "This file cannot be shown here. Download it, and open it.") }]);
    const parts = [];
    for (const way of preview.split(" ")) {
      parts.push(await (way === "text" ? this.text(name, options, signal) : this.picture(name, way, options, signal)));
    }
    if (!signal.aborted) this.put(parts);
  }

  async picture(name, way, options, signal) {
    const { asked, said } = shownOf(name, way, options, this.explorer.scene);
    const url = URL.createObjectURL(await (await fileOf(this.explorer, way, asked, signal)).blob());
    const node = el("img", { src: url, alt: "The picture as it will be saved" });
    await node.decode().catch(() => {}); // the picture before stays until this one can be seen
    if (signal.aborted) URL.revokeObjectURL(url);
    const paper = options.width || (options["font-size"] && PAPER);
    if (paper) node.style.width = paper;
    return { node, url, paper, said };
  }

  async text(name, options, signal) {
    const { text, isAll } = await firstLines(await fileOf(this.explorer, name, options, signal), MOST_LINES);
    return { node: el("pre", {}, text), said: isAll ? "The whole file." : `Its first ${MOST_LINES} lines.` };
  }

  /** Put parts, each a node and what is said of it, in place of what is shown; at most one is a picture. */
  put(parts) {
    if (this.pictured) URL.revokeObjectURL(this.pictured.url);
    this.sizes.disconnect();
    this.parts = parts;
    this.pictured = parts.find(({ url }) => url);
    this.shown.replaceChildren(...parts.map(({ node }) => node));
    if (this.pictured) this.sizes.observe(this.pictured.node);
    this.say();
  }

  /** What is on show; of a picture on paper whether it is seen at its true size, which depends on the room. */
  say() {
    const { paper, node } = this.pictured ?? {};
    const isTrue = paper && node.offsetWidth >= Math.floor(inPixels(paper));
    const size = paper ? `${spaced(paper)} wide on paper, shown ${isTrue ? "at its true size" : "smaller here"}.` : "";
    setText(this.said, [size, ...this.parts.map(({ said }) => said)].filter(Boolean).join(" "));
  }

  /** Whether a format is a picture, which has a caption. */
  isCaptioned({ name, options }) {
    return name !== CAPTION && options.some((option) => option.name === "drawing");
  }

  async showCaption({ suffix }, options, signal) {
    const format = this.explorer.data.formats.find(({ name }) => name === CAPTION);
    setText(this.copied, "");
    fillMenu(this.markup, format.options.find(({ name }) => name === "markup").choices);
    if (this.captioned.dataset.suffix !== suffix) this.markup.value = suffix === ".tex" ? "latex" : "plain";
    this.captioned.dataset.suffix = suffix;
    const shared = Object.entries(options).filter(([key]) => format.options.some(({ name }) => name === key));
    const asked = { ...Object.fromEntries(shared), markup: this.markup.value };
    const told = await (await fileOf(this.explorer, CAPTION, asked, signal)).text();
    this.caption.value = told.trim();
  }

  async copy() {
    setText(this.copied, (await copied(this.caption)) ? "Copied ✓" : "Press Ctrl+C to copy it.");
  }
}

/** A length such as 84mm, in pixels of the screen. */
function inPixels(length) {
  const points = { mm: 72 / 25.4, cm: 72 / 2.54, in: 72, pt: 1 }[length.replace(/[\d.]+/, "")];
  return (parseFloat(length) * points * 96) / 72;
}
