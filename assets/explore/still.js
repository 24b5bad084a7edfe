/* The entry of the off-line page: the explorer in one file, with the run inside it (diagrams/export/html.py). */

import { cacheArrayAttributes } from "./diagram/diagram.js";
import { noLineMenu } from "./edit/line_menu.js";
import { Explorer } from "./explorer.js";
import { el, setText } from "./page/dom.js";
import { bytesOf } from "./run/rows.js";

/** The switch between light and dark. Until it is used, the reader's system decides. */
class Theme {
  constructor(onChange) {
    this.onChange = onChange;
    this.system = matchMedia("(prefers-color-scheme: dark)");
    this.system.addEventListener("change", () => this.chosen == null && this.apply());
    this.button = el("button", { type: "button", onclick: () => this.toggle() });
    this.apply();
  }

  get isDark() {
    return this.chosen ?? this.system.matches;
  }

  toggle() {
    this.chosen = !this.isDark;
    this.apply();
  }

  apply() {
    document.documentElement.dataset.theme = this.isDark ? "dark" : "light";
    setText(this.button, this.isDark ? "Light" : "Dark");
    this.button.title = `Show it ${this.isDark ? "dark on light" : "light on dark"}`;
    this.onChange();
  }
}

/** The text of a compressed element of the page. */
async function unpacked(id) {
  const bytes = new Blob([bytesOf(document.getElementById(id).textContent)]);
  return new Response(bytes.stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

async function openPage() {
  const [run, plotly] = await Promise.all(["run", "plotly"].map(unpacked));
  document.head.append(el("script", {}, plotly)); // runs at once
  cacheArrayAttributes();
  const root = document.querySelector(".cc");
  const data = JSON.parse(run);
  const explorer = new Explorer(root, () => [noLineMenu]);
  explorer.submit = () => {}; // there is no server to take an edit
  const theme = new Theme(() => explorer.scene && explorer.redraw());
  root.querySelector(".cc-tools").append(theme.button);
  explorer.receive(data, () => {});
}

openPage().catch((problem) => {
  document.querySelector(".cc-words").textContent = `This browser cannot show the page: ${problem.message}`;
});
