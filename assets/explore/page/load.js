/* Files of this server that a page needs once: scripts and style sheets. */

import { el } from "./dom.js";

const TRIES = 3; // a class's network may lose a request
const PAUSE_MS = 400; // before the next try

/** Load what every explorer needs, by the addresses that Python sends. */
export async function loadPage({ plotly_url: plotly, styles_url: styles }) {
  await Promise.all([load("script", { src: plotly }), load("link", { rel: "stylesheet", href: styles })]);
}

/** Load a script or a style sheet from this server, once per page. */
export function load(tag, attributes) {
  const url = attributes.src ?? attributes.href;
  window.consistentCutFiles ??= {};
  window.consistentCutFiles[url] ??= loaded(tag, attributes, url);
  return window.consistentCutFiles[url];
}

async function loaded(tag, attributes, url) {
  for (let tried = 0; tried < TRIES; tried += 1) {
    if (tried) await new Promise((done) => setTimeout(done, PAUSE_MS));
    const node = el(tag, attributes);
    const ended = new Promise((done) => ["load", "error"].forEach((name) => node.addEventListener(name, () => done(name))));
    document.head.append(node);
    if ((await ended) === "load") return;
    node.remove();
  }
  throw new Error(`${url} did not load: reload the page.`);
}
