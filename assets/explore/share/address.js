/* Addresses of runs. */

/** Of a query only what names a run: no step, no view, nothing of Streamlit's. */
export function runIn(query) {
  const params = new URLSearchParams(query);
  const names = ["scenario", "run", "edits"].filter((name) => params.has(name));
  return new URLSearchParams(names.map((name) => [name, params.get(name)])).toString();
}

export function stepIn(query) {
  return Number(new URLSearchParams(query).get("step") ?? 0) || 0;
}

/** The address of a run (the query that names it) at a step. Streamlit's own parameters stay. */
export function addressOf(link, step, isPresenting = false) {
  const shell = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith("embed"));
  const view = isPresenting ? [["view", "present"]] : [];
  const query = new URLSearchParams([...shell, ...new URLSearchParams(runIn(link)), ["step", step], ...view]);
  return `${location.origin}${location.pathname}?${query}`;
}

/** Where no link fits the address names no run at all, or it would name another one. */
export function bareAddress() {
  const shell = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith("embed"));
  return location.origin + location.pathname + (shell.length ? `?${new URLSearchParams(shell)}` : "");
}

/** An entry of the history. A link too long for the address lies beside it, as far as the browser takes it. */
export function remember(how, { address, ...entry }) {
  try {
    history[how](entry, "", address);
  } catch {
    history[how](null, "", address);
  }
}
