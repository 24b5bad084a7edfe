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

/** The address of a run, named by the query `link`, at a step. Streamlit's own parameters stay. */
export function addressOf(link, step, isPresenting = false) {
  const embedding = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith("embed"));
  const view = isPresenting ? [["view", "present"]] : [];
  const query = new URLSearchParams([...embedding, ...new URLSearchParams(runIn(link)), ["step", step], ...view]);
  return `${location.origin}${location.pathname}?${query}`;
}

/** The address without a run, for a run whose link is too long. */
export function bareAddress() {
  const embedding = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith("embed"));
  return location.origin + location.pathname + (embedding.length ? `?${new URLSearchParams(embedding)}` : "");
}

/** Write an entry of the browser's history. A link too long for an address is in the entry's state, if it fits there. */
export function writeHistory(how, { address, ...entry }) {
  try {
    history[how](entry, "", address);
  } catch {
    history[how](null, "", address);
  }
}
