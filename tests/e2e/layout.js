/* The faults of the page as it is now, within the element of a selector and the line at the top, as sentences. */
(scope) => {
  const faults = [];
  const ignored = ".cc-hidden, [aria-hidden=true], .hoverlayer, .modebar, [data-testid=stSidebar], [data-testid=stSkipToContent], option, script, style, noscript, title, desc";
  const isSeen = (node) => node.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const name = (node) => `"${node.textContent.trim().replace(/\s+/g, " ").slice(0, 40)}"`;
  const isFixed = (node) => {
    for (let at = node; at; at = at.parentElement) if (["fixed", "sticky"].includes(getComputedStyle(at).position)) return at;
    return null;
  };
  // The box of what is really seen of a node: cut by every ancestor that hides or scrolls what is too long.
  const boxOf = (node, range) => {
    let { left, top, right, bottom } = (range ?? node).getBoundingClientRect();
    const whole = { left, top, right, bottom };
    let hides = false;
    for (let at = node; at && at !== document.body; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.overflowX === "visible" && style.overflowY === "visible") continue;
      const edge = at.getBoundingClientRect();
      const scrolls = [style.overflowX, style.overflowY].some((value) => ["auto", "scroll"].includes(value));
      const elides = style.textOverflow === "ellipsis";
      if (!scrolls && !elides && (right > edge.right + 1.5 || left < edge.left - 1.5 || bottom > edge.bottom + 2.5 || top < edge.top - 2.5)) hides = true;
      [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
      [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
    }
    return { left, top, right, bottom, whole, hides };
  };
  const root = document.querySelector(scope);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const parent = node.parentElement;
    if (!node.textContent.trim() || !parent || parent.closest(ignored) || !isSeen(parent)) continue;
    if (!root.contains(parent) && !parent.closest("[data-testid=stHeader]")) continue;
    const range = document.createRange(); // of what is seen: a name in the diagram has spaces around it
    range.setStart(node, node.data.length - node.data.trimStart().length);
    range.setEnd(node, node.data.trimEnd().length);
    const boxes = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1);
    for (const rect of boxes) {
      const box = boxOf(parent, { getBoundingClientRect: () => rect });
      if (box.hides) faults.push(`${name(parent)} is cut off`);
      if (box.right - box.left < 1 || box.bottom - box.top < 1) continue;
      texts.push({ node: parent, fixed: isFixed(parent), ...box });
    }
  }
  const width = document.documentElement.clientWidth;
  for (const { node, left, right } of texts) {
    if (left < -1 || right > width + 1) faults.push(`${name(node)} lies beyond the edge of the page`);
  }
  for (const scroller of [document.scrollingElement, ...document.querySelectorAll("[data-testid=stMain]")]) {
    if (scroller.scrollWidth > scroller.clientWidth + 1) faults.push("the page scrolls sideways");
  }
  texts.sort((a, b) => a.top - b.top);
  const touch = 0.2; // texts may touch by this part of a line: it is higher than its letters
  texts.forEach((a, index) => {
    for (const b of texts.slice(index + 1)) {
      if (b.top > a.bottom) break;
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      const depth = touch * Math.min(a.bottom - a.top, b.bottom - b.top);
      if (across > 4 && down > Math.max(4, depth) && a.node !== b.node && a.fixed === b.fixed)
        faults.push(`${name(a.node)} overlaps ${name(b.node)}`);
    }
  });
  return [...new Set(faults)];
}
