/* A list of many rows, made in blocks when they come near: it has the height of all and the nodes of few. */

import { el, ownName } from "../page/dom.js";
import { firstNot } from "../run/timeline.js";

const BLOCK = 50; // rows
const HIGH = 3.2; // the height of a row whose block is not made yet, in rem
const NEAR = "600px"; // a block is made when it is this near
const PAGE = 10; // rows that Page Up and Page Down pass

/** Arrow keys, Home, End and Page keys go from row to row; so does a click. */
export class RowBlocks {
  /** @param content makes the nodes of a row; @param onGo is called with the row that the user goes to */
  constructor(label, content, onGo) {
    this.name = ownName("cc-row"); // of the rows
    this.content = content;
    this.onGo = onGo;
    this.rows = [];
    this.made = new Map(); // the nodes that are made, by row
    this.active = null; // the row that was gone to last
    const listeners = { onkeydown: (event) => this.key(event), onclick: (event) => this.click(event) };
    this.node = el("div", { class: "cc-event-rows", role: "listbox", tabindex: "0", "aria-label": label, ...listeners });
    this.watch = new IntersectionObserver((seen) => this.come(seen), { root: this.node, rootMargin: NEAR });
  }

  /** @param rows numbers that ascend; @param steps the step of each; @param place another one scrolls to the step on show */
  fill(rows, steps, place) {
    const isElsewhere = this.place !== place;
    Object.assign(this, { rows, steps, place });
    this.made.clear();
    this.watch.disconnect();
    const blocks = Array.from({ length: Math.ceil(rows.length / BLOCK) }, (_, number) => this.block(number));
    this.node.replaceChildren(...blocks);
    blocks.forEach((block) => this.watch.observe(block));
    if (rows.length) this.make(blocks[0]);
    else this.node.append(el("p", { class: "cc-quiet", role: "none" }, "No such event among the steps on show."));
    if (this.step != null) this.stepTo(this.step, isElsewhere);
  }

  block(number) {
    const count = Math.min(BLOCK, this.rows.length - number * BLOCK);
    return el("div", { role: "none", "data-block": number, style: `min-height: ${count * HIGH}rem` });
  }

  come(seen) {
    for (const { isIntersecting, target } of seen) if (isIntersecting) this.make(target);
  }

  /** Make the rows of a block. */
  make(block) {
    if (block.childElementCount) return;
    const first = Number(block.dataset.block) * BLOCK;
    const own = this.rows.slice(first, first + BLOCK);
    const nodes = own.map((row) => {
      const node = el("div", { role: "option", id: `${this.name}-${row}`, "data-row": row }, ...this.content(row));
      this.made.set(row, node);
      this.dress(row, node);
      return node;
    });
    block.replaceChildren(...nodes);
    block.style.minHeight = "";
  }

  /** Mark the rows of the step on show, those that are still to come, and the active one. */
  dress(row, node) {
    const step = this.steps[row];
    const when = step === this.step ? "now" : step > this.step ? "ahead" : "past";
    if (node.dataset.when !== when) node.dataset.when = when;
    if (when === "now") node.setAttribute("aria-current", "step");
    else node.removeAttribute("aria-current");
    node.setAttribute("aria-selected", row === this.active);
  }

  dressAll() {
    this.made.forEach((node, row) => this.dress(row, node));
    if (this.made.has(this.active)) this.node.setAttribute("aria-activedescendant", `${this.name}-${this.active}`);
    else this.node.removeAttribute("aria-activedescendant");
  }

  /** Mark another step, and have it in sight: its first row, or where it would be. */
  stepTo(step, always = true) {
    this.step = step;
    this.dressAll();
    if (!always || !this.rows.length) return;
    const isActive = this.steps[this.active] === step && this.rows.includes(this.active);
    const index = firstNot((at) => this.steps[this.rows[at]] < step, this.rows.length);
    this.bringInSight(isActive ? this.rows.indexOf(this.active) : Math.min(index, this.rows.length - 1));
  }

  bringInSight(index) {
    const block = this.node.children[Math.floor(index / BLOCK)];
    if (!this.node.clientHeight) return;
    this.make(block);
    const { node } = this;
    const [top, high] = [this.made.get(this.rows[index]).offsetTop, this.made.get(this.rows[index]).offsetHeight];
    const isSeen = top >= node.scrollTop && top + high <= node.scrollTop + node.clientHeight;
    if (!isSeen) node.scrollTop = top - node.clientHeight * 0.35;
  }

  /** Make a row the active one, without going there. */
  activate(row) {
    this.active = row;
    this.dressAll();
    const index = this.rows.indexOf(row);
    if (index >= 0) this.bringInSight(index);
  }

  go(index) {
    const row = this.rows[Math.max(0, Math.min(this.rows.length - 1, index))];
    if (row == null) return;
    this.activate(row);
    this.onGo(row);
  }

  /** Give the list the focus, and go to its first row at or after the step on show. */
  enter() {
    this.node.focus();
    const index = firstNot((at) => this.steps[this.rows[at]] < this.step, this.rows.length);
    this.go(index < this.rows.length ? index : 0);
  }

  click(event) {
    const node = event.target.closest("[data-row]");
    if (node) this.go(this.rows.indexOf(Number(node.dataset.row)));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const here = this.rows.indexOf(this.active);
    const to = { ArrowDown: here + 1, ArrowUp: here - 1, PageDown: here + PAGE, PageUp: here - PAGE, Home: 0, End: this.rows.length - 1, Enter: here }[event.key];
    if (to == null) return;
    event.preventDefault();
    event.stopPropagation(); // these keys step the run, anywhere else
    if (here < 0 && !["Home", "End"].includes(event.key)) this.enter();
    else this.go(to);
  }
}
