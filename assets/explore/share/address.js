/* The address of a page: the query of its URL names a run, a step, and what else is on show. */

const SHOWN = ["tab", "cut", "predicate", "proof", "swaps"]; // as in sim/edit/link.py
const LEFT_OUT = [[], ["cut"], ["cut", "predicate"]]; // of an address, until it is short enough

/** The part of a query that names a run: without step, view and Streamlit's own parameters. */
export function runIn(query) {
  const params = new URLSearchParams(query);
  const names = ["scenario", "run", "edits"].filter((name) => params.has(name));
  return new URLSearchParams(names.map((name) => [name, params.get(name)])).toString();
}

export function stepIn(query) {
  return Number(new URLSearchParams(query).get("step") ?? 0) || 0;
}

/** What a query says of the page beside the step: texts by key. */
export function shownIn(query) {
  const params = new URLSearchParams(query);
  return Object.fromEntries(SHOWN.filter((key) => params.get(key)).map((key) => [key, params.get(key)]));
}

/**
 * The address of a run, named by the query `link`, at a step, with what else is `shown`; of the page alone if the link
 * is empty. Streamlit's own parameters stay. If it is longer than `most` characters, the cut is left out, and then the
 * predicate; the run itself may be too long still.
 */
export function addressOf(link, step, shown = {}, { most = Infinity, isPresenting = false } = {}) {
  const addresses = LEFT_OUT.map((keys) => wholeAddress(link, step, without(shown, keys), isPresenting));
  return addresses.find((address) => address.length <= most) ?? addresses[0];
}

function without(shown, keys) {
  return Object.fromEntries(Object.entries(shown).filter(([key]) => !keys.includes(key)));
}

function wholeAddress(link, step, shown, isPresenting) {
  const embedding = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith("embed"));
  const run = link ? [...new URLSearchParams(runIn(link)), ["step", step], ...Object.entries(shown)] : [];
  const query = new URLSearchParams([...embedding, ...run, ...(link && isPresenting ? [["view", "present"]] : [])]);
  return location.origin + location.pathname + (String(query) && `?${query}`);
}

/** Whether only the computer on which the page is open can follow addresses with this name of a server. */
export function isOnlyHere(hostname) {
  return /^(localhost|.+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[::1?\])$/.test(hostname);
}

/** Write an entry of the browser's history. A link too long for an address is in the entry's state, if it fits there. */
export function writeHistory(how, { address, ...entry }) {
  try {
    history[how](entry, "", address);
  } catch {
    history[how](null, "", address);
  }
}
