/* The app's entry: Streamlit calls its default export (views/component.py). */

import { cacheArrayAttributes } from "./diagram/diagram.js";
import { Explorer } from "./explorer.js";
import { el } from "./page/dom.js";
import { ExportDialog, ShareDialog } from "./share/dialogs.js";
import { TabMemory } from "./share/tab_memory.js";

const explorers = new WeakMap(); // by the element that Streamlit gives it

/** Load a script or a style sheet from this server, once per page. */
function load(tag, attributes) {
  const url = attributes.src ?? attributes.href;
  window.consistentCutFiles ??= {};
  window.consistentCutFiles[url] ??= new Promise((resolve, reject) => {
    const node = el(tag, attributes);
    node.addEventListener("load", resolve);
    node.addEventListener("error", () => reject(new Error(`${url} did not load: reload the page.`)));
    document.head.append(node);
  });
  return window.consistentCutFiles[url];
}

/** The parts that need a server: links, exports, and the memory of the tab. */
function serverParts(explorer) {
  const [share, exporter] = [new ShareDialog(explorer), new ExportDialog(explorer)];
  explorer.tools.share = () => share.open();
  explorer.tools.export = () => exporter.open();
  return [share, exporter, new TabMemory(explorer)];
}

/** Streamlit calls this at every run and every change of theme; it calls the returned function when the element goes. */
export default async function show({ data: bytes, parentElement, setStateValue }) {
  const data = JSON.parse(new TextDecoder().decode(bytes));
  await Promise.all([
    load("script", { src: data.plotly_url }),
    load("link", { rel: "stylesheet", href: data.styles_url }),
  ]);
  cacheArrayAttributes();
  const root = parentElement.querySelector(".cc");
  if (!explorers.has(root)) explorers.set(root, new Explorer(root, serverParts));
  const explorer = explorers.get(root);
  explorer.receive(data, setStateValue);
  return () => {
    if (root.isConnected) return; // Streamlit calls this too for an answer that a later one has overtaken
    explorers.delete(root);
    explorer.close();
  };
}
