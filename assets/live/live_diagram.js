/* The diagram of the page Live: a click means the line of a process, or the cut of a snapshot; whichever is nearer. */

import { Diagram, distanceToSegment, REACH } from "../explore/diagram/diagram.js";

export class LiveDiagram extends Diagram {
  /** {kind: "line", lane, time}, {kind: "cut", snapshot}, or {kind: "nothing"}. Events and messages are not asked about. */
  pickAt(event) {
    const point = this.within(event);
    if (!point) return { kind: "nothing" };
    const { lane, position, distance } = this.laneAt(point);
    const cut = this.cutAt(point);
    if (cut && cut.distance < Math.min(distance, REACH.arrow)) return { kind: "cut", snapshot: cut.snapshot };
    return distance <= REACH.line ? { kind: "line", lane, time: Math.max(0, position) } : { kind: "nothing" };
  }

  /** The cut nearest to a point: its snapshot and the distance in pixels; undefined where there is none. */
  cutAt(point) {
    const { _fullLayout: { xaxis, yaxis } } = this.node;
    const pixel = (x, y) => [xaxis._offset + xaxis.d2p(x), yaxis._offset + yaxis.d2p(y)];
    const found = this.traces.flatMap(({ x, y, meta, visible }) => {
      if (!meta?.bends || !meta.snapshots || visible === false) return [];
      const ends = [...x.keys()].slice(1).filter((at) => x[at] != null && x[at - 1] != null);
      const distances = ends.map((at) => distanceToSegment(point, pixel(x[at - 1], y[at - 1]), pixel(x[at], y[at])));
      return [{ snapshot: meta.snapshots[0], distance: Math.min(...distances) }];
    });
    return found.sort((one, other) => one.distance - other.distance)[0];
  }
}
