/* Small windows over the diagram. */

import { el, setText } from "../page/dom.js";
import { STEP_KEYS } from "../page/keys.js";

const BESIDE = 16; // the distance (in pixels) between a window and the point that it belongs to
const DETOUR = 45; // a window moves this far (in pixels) rather than cover one more point of `alsoThere`

/**
 * Put a window beside a point of its layer. It lies inside the layer, covers no point of `keepFree` if possible, and
 * as few points of `alsoThere` as it can without moving far away.
 */
function placeBeside(node, [x, y], keepFree, alsoThere) {
  const { clientWidth: width, clientHeight: height } = node.parentElement;
  const { offsetWidth: wide, offsetHeight: high } = node;
  const after = (by) => (at) => at + BESIDE + by;
  const before = (by) => (at, size) => at - BESIDE - by - size;
  const centred = (at, size) => at - size / 2;
  const alongs = [0, 40, 80, 120].flatMap((by) => [after(by), before(by)].map((along) => ({ along, by })));
  const ways = [after(0), before(0), centred].flatMap((across) => alongs.map(({ along, by }) => [across, along, by]));
  const inside = (at, size, room) => Math.max(2, Math.min(at, room - size - 2));
  const spots = ways.map(([across, along, by]) => {
    const wanted = [across(x, wide), along(y, high)];
    const [left, top] = [inside(wanted[0], wide, width), inside(wanted[1], high, height)];
    const isCovered = ([px, py]) => px > left - 10 && px < left + wide + 10 && py > top - 10 && py < top + high + 10;
    const hidden = [[x, y], ...keepFree].filter(isCovered).length * 1000 + alsoThere.filter(isCovered).length * DETOUR;
    return { left, top, cost: hidden + by + Math.hypot(left - wanted[0], top - wanted[1]) };
  });
  const { left, top } = spots.reduce((best, spot) => (spot.cost < best.cost ? spot : best));
  node.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
}

/**
 * A small window over the diagram. Manipulation closes it on Escape, which gives the focus back, and on a press
 * elsewhere. Opened with the mouse it takes the focus itself, because clicked buttons lose theirs (`returnFocus`).
 */
export class Popup {
  /** @param manipulation the Manipulation that owns this */
  constructor(manipulation, attributes) {
    this.manipulation = manipulation;
    this.title = el("strong");
    this.node = el("div", { ...attributes, tabindex: "-1" });
    this.node.classList.add("cc-popup");
    this.node.addEventListener("keydown", (event) => this.key(event));
  }

  get isOpen() {
    return this.node.isConnected;
  }

  /** Write the title; `name` is read to users who cannot see it. */
  entitle(title, name = title) {
    setText(this.title, title);
    this.node.setAttribute("aria-label", name);
  }

  /** The points that the window must not cover. */
  heads() {
    return [];
  }

  /**
   * @param giveBack returns the element that gets the focus when Escape closes the window, or null
   * @param layer over what it lies, to which `point` belongs
   */
  open(point, { giveBack = null, focus = null, byKeyboard = false, layer = this.manipulation.layer }) {
    this.point = point;
    this.giveBack = giveBack;
    layer.append(this.node);
    this.place();
    if (byKeyboard) focus?.focus();
    else if (focus) this.node.focus({ preventScroll: true });
  }

  place() {
    const { layer, handles } = this.manipulation;
    const isOverDiagram = this.node.parentElement === layer;
    placeBeside(this.node, this.point, this.heads(), isOverDiagram ? handles.points() : []);
  }

  close(giveBack = false) {
    if (!this.isOpen) return;
    this.node.remove();
    if (giveBack) this.giveBack?.()?.focus?.();
    this.giveBack = null;
    this.onClose?.();
  }

  /** The keys that step the run do nothing else while a window has the focus. */
  key(event) {
    if (event.key === " " || STEP_KEYS.has(event.key)) event.stopPropagation();
  }
}
