/* The predicted cut, over the diagram. */

import { CutHandles, KNOB } from "../cut/handles.js";
import { resolveColour } from "../page/colours.js";
import { setShape, shape } from "../page/svg.js";

const WORDS = 90; // pixels that the words of a start take

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
    const flags = scene.snapshots.flatMap(({ id, colour, initiators, truth }) =>
      initiators.map((name) => ({ id, colour, lane: scene.processes.indexOf(name), step: truth.record_steps[name] })),
    );
    const box = diagram.plotBox();
    this.starts.replaceChildren(
      ...flags.filter(({ step, lane }) => step != null && !diagram.hidden.has(lane)).map(({ id, colour, lane, step }) => {
        const [x, y] = diagram.spot(lane, scene.asked_positions[step]);
        const [handleX, handleY] = positions[lane] == null ? [NaN, NaN] : diagram.spot(lane, positions[lane]);
        const [dx, dy, anchor] = diagram.isDown ? besideDown(lane === diagram.lanesShown()[0] && x - box.left > WORDS, handleY - y) : besideRight(handleX - x);
        const text = shape("text", { x: dx, y: dy, "text-anchor": anchor, "dominant-baseline": "central" });
        const paint = resolveColour(colour, palette);
        const isChosen = id === this.predictor.chosen;
        text.textContent = isChosen ? `starts ${id}` : "";
        return shape("g", { class: "cc-start", transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, style: `--cc-own: ${paint}`, "data-chosen": isChosen }, shape("path", { d: "M-8 0H8M0-8V8" }), text);
      }),
    );
  }
}

/** Where the words of a start go, beside a vertical line, clear of the handle that is `away` pixels off. */
function besideDown(isBefore, away) {
  const dy = Math.abs(away) < 2 * KNOB ? (away > 0 ? -2 * KNOB : 2 * KNOB) : 0;
  return isBefore ? [-16, dy, "end"] : [16, dy, "start"];
}

/** The same above a horizontal line. */
function besideRight(away) {
  if (!(Math.abs(away) < 5 * KNOB)) return [0, -20, "middle"];
  return away > 0 ? [0, -24, "end"] : [0, -24, "start"];
}
