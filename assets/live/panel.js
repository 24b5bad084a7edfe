/* The cluster beside its diagram: its processes, channels and snapshots, and what one does to them. */

import { el, fillMenu, refill } from "../explore/page/dom.js";
import { milliseconds } from "./charts.js";

const WORDS = {
  STARTING: "starting", RUNNING: "runs", FAILED: "has ended", ENDED: "has ended", RECOVERING: "goes back", FROZEN: "stands still", ABSENT: "is not there",
  INITIATED: "begins", IN_PROGRESS: "under way", COMPLETED: "complete", EXPIRED: "expired", CANCELLED: "cancelled",
};

export class Panel {
  /**
   * @param submit takes what the user wants done to the cluster
   * @param open shows what a snapshot has recorded
   */
  constructor(root, submit, open) {
    this.nodes = root.querySelector(".cc-live-nodes");
    this.snapshots = root.querySelector(".cc-live-snapshots");
    this.channels = root.querySelector(".cc-live-channels select");
    this.submit = submit;
    this.open = open;
  }

  show(frame, mayAct) {
    const { nodes, snapshots, taken, processes } = frame;
    const canAct = mayAct && frame.state === "running";
    refill(this.nodes, JSON.stringify([nodes, canAct]), () => nodes.map((node) => this.node(node, canAct)));
    const listed = JSON.stringify([snapshots, taken]);
    refill(this.snapshots, listed, () => (snapshots.length ? snapshots.map((snapshot) => this.snapshot(snapshot)) : [el("li", { class: "cc-quiet" }, "None yet.")]));
    if (processes) this.fillChannels(processes);
  }

  node({ name, status, epoch, ended }, canAct) {
    const isStill = status === "FROZEN";
    const buttons = !canAct || !(isStill || status === "RUNNING") ? [] : [
      isStill
        ? this.act("Thaw", "thaw", name, `Let ${name} go on (SIGCONT)`)
        : this.act("Freeze", "freeze", name, `Let ${name} stand still, with all that it holds (SIGSTOP)`),
      this.act("Kill", "kill", name, `End the process of ${name} with kill -9`),
    ];
    const last = ended == null ? "" : `, ended at ${ended.toFixed(0)} s`;
    const about = epoch || last ? el("small", { class: "cc-quiet", title: "Each recovery begins a new epoch" }, ` epoch ${epoch}${last}`) : null;
    return el("li", {}, el("b", {}, name), el("span", { "data-status": status }, WORDS[status], about), ...buttons);
  }

  act(words, what, node, title) {
    return el("button", { type: "button", title, "aria-label": `${words} ${node}`, onclick: () => this.submit({ do: what, node }) }, words);
  }

  snapshot({ id, status, took, reason, parts, of }) {
    const words = status === "FAILED" ? "failed" : WORDS[status];
    const told = took != null ? milliseconds(took) : of ? `${parts} of ${of} parts` : "";
    const button = el("button", { type: "button", class: "cc-came", title: "Show what it recorded", onclick: () => this.open(id) }, id);
    const item = el("li", { title: reason || null }, button, el("span", { "data-status": status }, words), el("span", { class: "cc-quiet" }, told));
    if (reason && status !== "COMPLETED") item.append(el("small", { class: "cc-quiet" }, reason));
    return item;
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
