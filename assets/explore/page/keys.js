/* Which keys step the run, and which elements keep these keys for themselves. */

/** The keys that step the run. */
export const STEP_KEYS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);

/** Whether an element uses the keys itself: a field, a menu (Streamlit's, too), or anything in a dialog. */
export function keepsKeys(target) {
  if (!(target instanceof Element) || target.matches(".cc-slider")) return false;
  return Boolean(target.closest("input, textarea, select, [contenteditable=true], [role=dialog], [role=menu]"));
}

/** Move the focus among `nodes`: two arrow keys go back and on, Home and End to the ends. */
export function moveFocus(event, nodes, [back, on]) {
  const index = nodes.indexOf(document.activeElement);
  const count = nodes.length;
  const to = {
    [on]: index < 0 ? 0 : (index + 1) % count,
    [back]: index < 0 ? count - 1 : (index - 1 + count) % count,
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
