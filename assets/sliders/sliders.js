/* The sliders of the page Ensembles: while one is dragged, the server is asked again and again, and the charts are
 * drawn anew in place. One question at a time is under way; of those that come meanwhile the last one counts. */

import { schemeOf } from "../explore/page/colours.js";
import { el, setText } from "../explore/page/dom.js";
import { load } from "../explore/page/load.js";
import { answered } from "./answers.js";
import { Memory } from "./memory.js";

const AGAIN_MS = 1000; // before the same question, where the runs are being compiled
const LONGEST_MS = 8000; // between two tries; it is doubled from AGAIN_MS on
const REST_MS = 800; // so long a slider has rested when a screen reader tells what came of it
const CONFIG = { displayModeBar: false };

/** Streamlit calls this with the component's data at every run of the page, and when the theme changes. */
export default async function show({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".cut-try");
  try {
    await load("script", { src: data.plotly_url });
  } catch {
    setText(root.querySelector(".cut-sentence"), "The charts did not load: reload the page.");
    return () => {};
  }
  root.sliders ??= new Sliders(root, data);
  root.sliders.take(data, (run) => setTriggerValue("open", run));
  return () => root.isConnected || root.sliders.close();
}

class Sliders {
  constructor(root, { sliders, graphs }) {
    this.root = root;
    this.memory = new Memory();
    const kept = this.memory.read();
    this.graph = el("select", { name: "topology", onchange: () => this.changed() }, ...Object.entries(graphs).map(
      ([value, text]) => el("option", { value, selected: kept.topology === value }, text)));
    this.inputs = sliders.map((slider) => this.slider(slider, kept[slider.name] ?? slider.first));
    root.querySelector(".cut-sliders").append(
      ...this.inputs.map(({ field }) => field), el("label", {}, el("span", {}, "Network"), this.graph));
    this.plots = [];
    this.buttons = new Map(); // by their words
    this.failures = 0; // one after the other
    this.resized = new ResizeObserver((changes) => changes.forEach(({ target }) => Plotly.Plots.resize(target)));
    this.changed();
  }

  slider({ name, label, least, most, unit }, value) {
    const written = el("b", {});
    const range = { type: "range", name, min: least, max: most, step: 1, value, "aria-label": label };
    const input = el("input", { ...range, oninput: () => this.changed() });
    const write = () => {
      written.replaceChildren(input.value, el("span", {}, unit && ` ${unit}`));
      input.setAttribute("aria-valuetext", written.textContent);
    };
    return { input, write, field: el("label", {}, el("span", {}, label, " ", written), input) };
  }

  take({ url }, open) {
    Object.assign(this, { url, open });
    this.ask();
  }

  /** Where the sliders stand, by name. */
  values() {
    const numbers = this.inputs.map(({ input }) => [input.name, input.value]);
    return Object.fromEntries([...numbers, ["topology", this.graph.value]]);
  }

  changed() {
    this.inputs.forEach(({ write }) => write());
    this.memory.write(this.values());
    if (this.url) this.ask();
  }

  async ask() {
    this.wanted = new URLSearchParams({ ...this.values(), theme: schemeOf(this.root) }).toString();
    if (this.isAsking) return;
    this.isAsking = true;
    while (![this.shown, this.refused].includes(this.wanted) && !this.isClosed) await this.askOnce(this.wanted);
    this.isAsking = false;
  }

  async askOnce(query) {
    clearTimeout(this.resting);
    const { found, problem, isFinal } = await answered(`${this.url}?${query}`);
    if (this.isClosed) return;
    this.root.toggleAttribute("data-old", !found);
    this.failures = found || isFinal ? 0 : this.failures + 1;
    if (found) return this.draw(found, query);
    this.shown = null;
    this.tell(problem);
    if (isFinal) this.refused = query;
    else await pause(Math.min(LONGEST_MS, AGAIN_MS * 2 ** (this.failures - 1)));
  }

  /** Write a sentence; a screen reader hears the last one, when the sliders rest. */
  tell(text) {
    setText(this.root.querySelector(".cut-sentence"), text);
    clearTimeout(this.resting);
    this.resting = setTimeout(() => setText(this.root.querySelector("[role=status]"), text), REST_MS);
  }

  draw({ told, how, figures, extremes, is_first }, query) {
    this.shown = query;
    this.refused = null;
    this.drawn = Object.fromEntries(new URLSearchParams(query));
    this.tell(told);
    setText(this.root.querySelector(".cut-how"), how);
    figures.forEach((figure, number) => this.plot(number, figure));
    this.seeds = extremes;
    Object.keys(extremes).forEach((text) => this.addButton(text));
    this.root.dataset.ready = "true";
    if (is_first) setTimeout(() => this.again(query), AGAIN_MS);
  }

  /** A button that opens one of the runs on show; it stays, and keeps the focus, when the runs are others. */
  addButton(text) {
    if (this.buttons.has(text)) return;
    const button = el("button", { type: "button", onclick: () => this.openRun(this.seeds[text]) }, text);
    this.buttons.set(text, button);
    this.root.querySelector(".cut-open").append(button);
  }

  /** The same question once more: more runs may be answered now. */
  again(query) {
    if (this.shown === query) this.shown = null;
    this.ask();
  }

  plot(number, { data, layout }) {
    let node = this.plots[number];
    if (!node) {
      node = el("div", { class: "cut-plot", role: "img" });
      this.root.querySelector(".cut-bars").append(node);
      this.plots.push(node);
      this.resized.observe(node);
    }
    node.setAttribute("aria-label", layout.meta.told);
    delete layout.height;
    Plotly.react(node, data, layout, CONFIG);
    if (!node.listens) node.on("plotly_click", ({ points: [bar] }) => this.openRun(bar.customdata));
    node.listens = true;
  }

  openRun(seed) {
    this.open({ ...this.drawn, seed });
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.resting);
    this.resized.disconnect();
    this.plots.forEach((node) => Plotly.purge(node));
  }
}

function pause(milliseconds) {
  return new Promise((done) => setTimeout(done, milliseconds));
}
