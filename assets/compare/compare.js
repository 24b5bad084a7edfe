/* The entry of the Compare page: Streamlit calls its default export (views/compare/component.py). */

import { cacheArrayAttributes } from "../explore/diagram/diagram.js";
import { loadPage } from "../explore/page/load.js";
import { Comparison } from "./comparison.js";

const comparisons = new WeakMap(); // by the element that Streamlit gives it

/** Streamlit calls this at every run and every change of theme; it calls the returned function when the element goes. */
export default async function show({ data: bytes, parentElement, setStateValue }) {
  const data = JSON.parse(new TextDecoder().decode(bytes));
  await loadPage(data);
  cacheArrayAttributes();
  const root = parentElement.querySelector(".cc-comparison");
  if (!comparisons.has(root)) comparisons.set(root, new Comparison(root));
  const comparison = comparisons.get(root);
  comparison.receive(data, setStateValue);
  return () => {
    if (root.isConnected) return; // Streamlit calls this too for an answer that a later one has overtaken
    comparisons.delete(root);
    comparison.close();
  };
}
