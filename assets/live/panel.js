/* The cluster beside its diagram: its processes, channels and snapshots, and what one does to them. */

import { el, fillMenu, refill } from "../explore/page/dom.js";
import { milliseconds } from "./charts.js";

const WORDS = {
  STARTING: "starting", RUNNING: "runs", FAILED: "has ended", ENDED: "has ended", RECOVERING: "goes back", ABSENT: "is not there",
  INITIATED: "begins", IN_PROGRESS: "under way", COMPLETED: "complete", EXPIRED: "expired", CANCELLED: "cancelled",
};

export class Panel {
  /** @param submit takes what somebody wants done to the cluster */
  constructor(root, submit) {
    this.nodes = root.querySelector(".cc-live-nodes");
    this.snapshots = root.querySelector(".cc-live-snapshots");
    this.channels = root.querySelector(".cc-live-channels select");
    this.submit = submit;
  }

  show(frame, mayAct) {
    const { nodes, snapshots, taken, processes } = frame;
    const canAct = mayAct && frame.state === "running";
    refill(this.nodes, JSON.stringify([nodes, canAct]), () => nodes.map((node) => this.node(node, canAct)));
    const listed = JSON.stringify([snapshots, taken]);
    refill(this.snapshots, listed, () => (snapshots.length ? snapshots.map(snapshotItem) : [el("li", { class: "cc-quiet" }, "None yet.")]));
    if (processes) this.fillChannels(processes);
  }

  node({ name, status, epoch, ended }, canAct) {
    const kill = () => this.submit({ do: "kill", node: name });
    const button = canAct && status === "RUNNING" && el("button", { type: "button", onclick: kill, title: `End the process of ${name} with kill -9`, "aria-label": `Kill ${name}` }, "Kill");
    const last = ended == null ? "" : `, ended at ${ended.toFixed(0)} s`;
    const life = epoch || last ? el("small", { class: "cc-quiet", title: "Each recovery begins a new life of all processes" }, ` life ${epoch + 1}${last}`) : null;
    return el("li", {}, el("b", {}, name), el("span", { "data-status": status }, WORDS[status], life), button || null);
  }

  fillChannels(processes) {
    const pairs = processes.flatMap((source) => processes.filter((target) => target !== source).map((target) => `${source}->${target}`));
    fillMenu(this.channels, [["", "All channels"], ...processes.map((name) => [`to ${name}`, `All to ${name}`]), ...pairs.map((name) => [name, name])]);
    this.processes = processes;
  }

  /** The names of the chosen channels. */
  get chosen() {
    const { value } = this.channels;
    if (!value.startsWith("to ")) return value ? [value] : [];
    const target = value.slice(3);
    return this.processes.filter((name) => name !== target).map((name) => `${name}->${target}`);
  }
}

function snapshotItem({ id, status, took, reason, parts, of }) {
  const words = status === "FAILED" ? "failed" : WORDS[status];
  const told = took != null ? `, ${milliseconds(took)}` : of ? `, ${parts} of ${of} parts` : "";
  const item = el("li", { title: reason || null }, el("b", {}, id), el("span", { "data-status": status }, words), el("span", { class: "cc-quiet" }, told.slice(2)));
  if (reason && status !== "COMPLETED") item.append(el("small", { class: "cc-quiet" }, reason));
  return item;
}

