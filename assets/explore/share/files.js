/* Files of this run, made by the server. */

import { el } from "../page/dom.js";

const ACKNOWLEDGED_MS = 5_000; // at most, for Python to apply all edits: a file is to have them too
const LOOK_MS = 50;

/** The server's answer with a file of a format. Throws an Error with the server's sentence. */
export async function fileOf(explorer, format, options, signal) {
  await acknowledged(explorer, signal);
  const query = new URLSearchParams(options);
  const { exports_url: exports, session } = explorer.data;
  const answer = await fetch(`${exports}/${session}/${format}?${query}`, { signal }).catch((problem) => {
    throw signal?.aborted ? problem : new Error("The server cannot be reached. Try again once it is back.");
  });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

/** Download an exported file, and answer its name. Throws as `fileOf`. */
export async function saveExport(explorer, format, options, signal) {
  const answer = await fileOf(explorer, format, options, signal);
  const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition"))?.[1] ?? `export.${format}`;
  const url = URL.createObjectURL(await answer.blob());
  const link = el("a", { href: url, download: name, hidden: true });
  explorer.root.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  return name;
}

/** The first lines of a text that the server sends, and whether there are more; the rest is not waited for. */
export async function firstLines(answer, most) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    text += piece.value;
    if (text.split("\n").length > most + 1) break;
  }
  reader.cancel().catch(() => {});
  const lines = text.trimEnd().split("\n");
  return { text: lines.slice(0, most).join("\n"), isAll: lines.length <= most };
}

async function acknowledged({ visit }, signal) {
  for (let waited = 0; waited < ACKNOWLEDGED_MS && visit.outbox.waiting.length && !signal?.aborted; waited += LOOK_MS) {
    await new Promise((done) => setTimeout(done, LOOK_MS));
  }
}
