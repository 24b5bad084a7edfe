/* The entry of the page Live: Streamlit calls its default export (views/live/component.py). */

import { cacheArrayAttributes } from "../explore/diagram/diagram.js";
import { loadPage } from "../explore/page/load.js";
import { LiveCluster } from "./live_cluster.js";

const clusters = new WeakMap(); // by the element that Streamlit gives it

/** Streamlit calls this at every run and every change of theme; it calls the returned function when the element goes. */
export default async function show({ data: bytes, parentElement, setStateValue }) {
  const data = JSON.parse(new TextDecoder().decode(bytes));
  await loadPage(data);
  cacheArrayAttributes();
  const root = parentElement.querySelector(".cc-live");
  if (!clusters.has(root)) clusters.set(root, new LiveCluster(root));
  const cluster = clusters.get(root);
  cluster.receive(data, setStateValue);
  return () => {
    if (root.isConnected) return; // Streamlit calls this too for an answer that a later one has overtaken
    clusters.delete(root);
    cluster.close();
  };
}
