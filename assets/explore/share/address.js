/* The address of a page: the query of its URL names a run and a step. */

/** The part of a query that names a run: without step, view and Streamlit's own parameters. */
export function runIn(query) {
  const params = new URLSearchParams(query);
  const names = ["scenario", "run", "edits"].filter((name) => params.has(name));
  return new URLSearchParams(names.map((name) => [name, params.get(name)])).toString();
}

export function stepIn(query) {
  return Number(new URLSearchParams(query).get("step") ?? 0) || 0;
}

/**
 * The address of a run, named by the query `link`, at a step, with what else is `shown`; of the page alone if the link
 * is empty. Streamlit's own parameters stay.
 */
export function addressOf(link, step, shown = {}, isPresenting = false) {
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
