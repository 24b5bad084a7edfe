/* The predicted cut, over the diagram. */

import { CutHandles, KNOB } from "../cut/handles.js";
import { resolveColour } from "../page/colours.js";
import { setShape, shape } from "../page/svg.js";

const WORDS = 90; // pixels that the words of a start take
// Beside a horizontal line: how far from a start its words are, and which end of theirs is there; the best spot first.
const SPOTS = [-20, 22, -40, 42].flatMap((dy) => [[0, dy, "middle"], [8, dy, "start"], [-8, dy, "end"]]);

/** A handle on every process line, and a line through them: the predicted cut. */
export class PredictedCut extends CutHandles {
  /** @param onMove called with a lane and the stop to which its handle was moved */
  constructor(explorer, onMove) {
    const starts = shape("g");
    super(explorer, { class: "cc-cut-over cc-predicted-cut", "aria-label": "The cut you predict" }, [starts]);
    Object.assign(this, { starts, moveTo: onMove, verb: "records" });
  }

  get first() {
    return this.predictor ? super.first : null;
  }

  get stops() {
    return this.predictor.stops;
  }

  stopOf(lane) {
    return this.predictor.prediction.stops[lane];
  }

  get isFixed() {
    return this.predictor.phase !== "asking";
  }

  get otherKeys() {
    return { Delete: null };
  }

  /** Show the cut of a Predictor (null: none). */
  show(predictor) {
    const isNew = this.predictor !== predictor || this.scene !== this.explorer.scene;
    this.predictor = predictor;
    this.node.toggleAttribute("hidden", !predictor);
    if (!predictor) return;
    if (isNew) this.makeHandles();
    this.lay();
  }

  /** Place everything for the present zoom of the diagram. */
  lay() {
    if (!this.predictor || !this.explorer.diagram.drawn) return;
    this.layHandles();
    this.node.dataset.phase = this.predictor.phase;
    this.layStarts();
  }

  layHandle(node, lane) {
    super.layHandle(node, lane);
    const stop = this.stopOf(lane);
    const right = this.isFixed ? this.predictor.prediction.result.processes[lane].isRight : null;
    setShape(node, { "data-right": right });
    node.lastChild.textContent = right == null ? (stop == null ? "–" : "") : right ? "✓" : "✗";
  }

  /** Show where processes start snapshots, which is not secret; with words for the chosen snapshot. */
  layStarts() {
    const { positions } = this;
    const { scene, palette, diagram } = this.explorer;
    const flags = this.predictor.snapshots.flatMap(({ id, colour, truth }) =>
      Object.entries(truth.start_steps).map(([name, step]) => ({ id, colour, lane: scene.processes.indexOf(name), step })),
    );
    const box = diagram.plotBox();
    this.starts.replaceChildren(
      ...flags.filter(({ lane }) => !diagram.hidden.has(lane)).map(({ id, colour, lane, step }) => {
        const [x, y] = diagram.spot(lane, scene.asked_positions[step]);
        const [handleX, handleY] = positions[lane] == null ? [NaN, NaN] : diagram.spot(lane, positions[lane]);
        const [dx, dy, anchor] = diagram.isDown ? besideDown(lane === diagram.lanesShown()[0] && x - box.left > WORDS, handleY - y) : SPOTS[0];
        const text = shape("text", { x: dx, y: dy, "text-anchor": anchor, "dominant-baseline": "central" });
        const paint = resolveColour(colour, palette);
        const isChosen = id === this.predictor.chosen;
        text.textContent = isChosen ? `starts ${id}` : "";
        return shape("g", { class: "cc-start", transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, style: `--cc-own: ${paint}`, "data-chosen": isChosen }, shape("path", { d: "M-8 0H8M0-8V8" }), text);
      }),
    );
    if (!diagram.isDown) this.clearWords(box);
  }

  /** Move the words above a horizontal line to the first of their spots that no other text and no handle takes up. */
  clearWords(box) {
    const shown = [...this.explorer.diagram.node.querySelectorAll(".textpoint text")].filter(({ style }) => style.visibility !== "hidden");
    const taken = [...shown, ...this.node.querySelectorAll(".cc-knob")].map((node) => node.getBoundingClientRect());
    const { left, top } = this.explorer.diagram.node.getBoundingClientRect();
    for (const text of this.starts.querySelectorAll("text")) {
      const isFree = ([dx, dy, anchor]) => {
        setShape(text, { x: dx, y: dy, "text-anchor": anchor });
        const own = text.getBoundingClientRect();
        const isAcross = own.left - left >= box.left && own.right - left <= box.right;
        const isInside = isAcross && own.top - top >= box.top && own.bottom - top <= box.bottom;
        return isInside && !taken.some((other) => meet(own, other));
      };
      if (text.textContent && !SPOTS.some(isFree)) isFree(SPOTS[0]);
      taken.push(text.getBoundingClientRect());
    }
  }
}

/** Where the words of a start go, beside a vertical line, clear of the handle that is `away` pixels off. */
function besideDown(isBefore, away) {
  const dy = Math.abs(away) < 2 * KNOB ? (away > 0 ? -2 * KNOB : 2 * KNOB) : 0;
  return isBefore ? [-16, dy, "end"] : [16, dy, "start"];
}

function meet(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
