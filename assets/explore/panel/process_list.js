/* The processes in the order of their lanes: hide, fold and move them; services, whose lanes lie beyond theirs, are hidden
 * and folded. It changes the view, not the run. */

import { resolveColour } from "../page/colours.js";
import { el, refill, setText, unbroken } from "../page/dom.js";
import { fold, hide, inOrder, isAsItIs, move, onShow, put } from "../run/arrangement.js";

export class ProcessList {
  constructor(explorer) {
    this.explorer = explorer;
    this.summary = el("summary");
    this.list = el("ul", { "aria-label": "Lanes in their order" });
    const reset = () => explorer.arrange({ order: this.scene.lanes, hidden: [], folded: [] });
    this.reset = el("button", { type: "button", onclick: reset }, "Show all, in their own order");
    this.node = el("details", { class: "cc-processes" }, this.summary, this.list, this.reset);
  }

  show(scene, palette) {
    this.scene = scene;
    const { arrangement, processes, lanes } = scene;
    const shown = onShow(arrangement, processes);
    const isDown = this.explorer.visit.orientation === "down";
    const hidden = processes.length - shown.length;
    setText(this.summary, `Processes: hide, fold, move${hidden ? ` (${hidden} of ${processes.length} hidden)` : ""}`);
    this.reset.hidden = isAsItIs(arrangement, lanes);
    const focused = [...this.list.querySelectorAll("button")].indexOf(document.activeElement);
    const row = (name) => this.row(name, { arrangement, shown, isDown, colour: resolveColour(scene.colours[lanes.indexOf(name)], palette) });
    const services = lanes.filter((name) => !processes.includes(name));
    const names = [...inOrder(arrangement, processes), ...inOrder(arrangement, services)];
    refill(this.list, JSON.stringify([arrangement, isDown, palette.ink]), () => names.map(row));
    if (focused >= 0) this.list.querySelectorAll("button")[focused]?.focus();
  }

  row(name, { arrangement, shown, isDown, colour }) {
    const { explorer, scene } = this;
    const isService = !scene.processes.includes(name);
    const isHidden = arrangement.hidden.includes(name);
    const isFolded = arrangement.folded.includes(name);
    const place = shown.indexOf(name);
    const button = (text, label, wanted, attributes = {}) =>
      el("button", { type: "button", "aria-label": `${label} ${name}`, title: `${label} ${name}`, onclick: () => explorer.arrange(wanted(explorer.visit.arrangement)), ...attributes }, text);
    const moving = (by, sign, label) => button(sign, label, (now) => move(now, name, by, scene.processes), { disabled: isHidden || shown[place + by] == null });
    const node = el("li", { "data-hidden": isHidden, "data-process": isService ? null : name, style: `--cc-own: ${colour}` },
      el("span", { class: "cc-row-process" }, ...unbroken(name)),
      button(isHidden ? "Show" : "Hide", isHidden ? "Show" : "Hide", (now) => hide(now, name, !isHidden), { disabled: !isHidden && !isService && shown.length === 1 }),
      button(isFolded ? "Unfold" : "Fold", isFolded ? "Unfold" : "Fold", (now) => fold(now, name, !isFolded), { disabled: isHidden }),
      ...(isService ? [] : [moving(-1, isDown ? "←" : "↑", isDown ? "Move left" : "Move up"), moving(1, isDown ? "→" : "↓", isDown ? "Move right" : "Move down")]),
    );
    if (!isService) node.addEventListener("pointerdown", (event) => this.drag(event, name, node));
    return node;
  }

  /** Drag a process by its name to the place of another. */
  drag(event, name, node) {
    if (event.button || !event.target.closest(".cc-row-process")) return;
    event.preventDefault();
    const end = new AbortController();
    const under = ({ clientX, clientY }) => document.elementFromPoint(clientX, clientY)?.closest("[data-process]");
    const mark = (target) => [...this.list.children].forEach((own) => own.toggleAttribute("data-target", own === target && own !== node));
    const listen = (type, act) => window.addEventListener(type, act, { signal: end.signal });
    listen("pointermove", (moved) => mark(under(moved)));
    listen("pointerup", (released) => {
      const target = under(released);
      end.abort();
      mark(null);
      if (target && target !== node && this.list.contains(target)) this.explorer.arrange(put(this.explorer.visit.arrangement, name, target.dataset.process));
    });
    listen("pointercancel", () => {
      end.abort();
      mark(null);
    });
  }
}
