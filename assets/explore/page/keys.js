/* Which keys step the run, and which belong to what has the focus. */

/** The keys with which the page steps. */
export const STEPPING = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);

/** Whether keys belong to the element that has the focus: a field, a menu (the page's own, too), or anything in a dialog. */
export function typesInto(target) {
  if (!(target instanceof Element)) return false;
  if (target.matches(".cc-slider")) return false;
  return Boolean(target.closest("input, textarea, select, [contenteditable=true], [role=dialog], [role=menu]"));
}

/** Move the focus among `nodes` with two arrow keys; Home and End too. */
export function walk(event, nodes, [back, on]) {
  const place = nodes.indexOf(document.activeElement);
  const count = nodes.length;
  const to = {
    [on]: place < 0 ? 0 : (place + 1) % count,
    [back]: place < 0 ? count - 1 : (place - 1 + count) % count,
    Home: 0,
    End: count - 1,
  }[event.key];
  const typing = event.target.matches("input, select");
  if (to === undefined || !count || (typing && !["ArrowDown", "ArrowUp"].includes(event.key))) return;
  if (event.target.matches("select")) return;
  event.preventDefault();
  event.stopPropagation();
  nodes[to].focus();
}
