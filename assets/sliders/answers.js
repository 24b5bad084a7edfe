/* What the server answers to the sliders, and in which words it is told that it does not. */

const SILENT = "The server does not answer. The page tries again.";
const TOLD = [400, 503]; // with these the server says itself, in a sentence, what is wrong
const REFUSED = 400;

/**
 * Ask the server: {found}, or {problem, isFinal} where there is no answer, with a sentence for the page. `isFinal`
 * where the same question has no answer later either.
 */
export async function answered(address) {
  try {
    return await read(await fetch(address));
  } catch {
    return { problem: SILENT, isFinal: false };
  }
}

/** What a response says. It throws a SyntaxError where a page came in place of the answer: of a proxy, or to sign in. */
async function read(response) {
  if (response.ok) return { found: await response.json() };
  const isFinal = response.status === REFUSED;
  const isText = response.headers.get("Content-Type")?.startsWith("text/plain");
  if (isText && TOLD.includes(response.status)) return { problem: await response.text(), isFinal };
  return { problem: isFinal ? "The server refused these values. Move a slider." : SILENT, isFinal };
}
