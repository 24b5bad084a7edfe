/* The app's entry: Streamlit calls its default export (views/widgets/explorer.py). */

import { cacheArrayAttributes } from "./diagram/diagram.js";
import { noLineMenu } from "./edit/line_menu.js";
import { Explorer } from "./explorer.js";
import { loadPage } from "./page/load.js";
import { ExportDialog } from "./share/export_dialog.js";
import { LogAddress } from "./share/log_address.js";
import { ShareDialog } from "./share/share_dialog.js";
import { TabMemory } from "./share/tab_memory.js";

const explorers = new WeakMap(); // by the element that Streamlit gives it

/** The parts that need a server: links, exports, and the memory of the tab. */
function serverParts(explorer) {
  const share = new ShareDialog(explorer);
  explorer.tools.share = () => share.open();
  return [share, exporter(explorer), new TabMemory(explorer)];
}

/** The same for a window of a log, in which nothing is edited. */
function logParts(explorer) {
  return [exporter(explorer), new LogAddress(explorer), noLineMenu];
}

function exporter(explorer) {
  const dialog = new ExportDialog(explorer);
  explorer.tools.export = () => dialog.open();
  return dialog;
}

/** Streamlit calls this at every run and every change of theme; it calls the returned function when the element goes. */
export default async function show({ data: bytes, parentElement, setStateValue }) {
  const data = JSON.parse(new TextDecoder().decode(bytes));
  await loadPage(data);
  cacheArrayAttributes();
  const root = parentElement.querySelector(".cc");
  if (!explorers.has(root)) explorers.set(root, new Explorer(root, data.scene.log ? logParts : serverParts));
  const explorer = explorers.get(root);
  explorer.receive(data, setStateValue);
  return () => {
    if (root.isConnected) return; // Streamlit calls this too for an answer that a later one has overtaken
    explorers.delete(root);
    explorer.close();
  };
}
