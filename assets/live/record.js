/* What a snapshot has recorded: the table of Explore's tab Record, in a dialog that leaves the diagram as it is. */

import { Dialog } from "../explore/page/dialog.js";
import { el, setText } from "../explore/page/dom.js";
import { ChannelList, StateRow } from "../explore/panel/record_table.js";

const ALWAYS = 1; // the step at which everything is on show

export class Record {
  /** @param cluster has the address of a snapshot's record: `recordOf(id)` */
  constructor(cluster) {
    this.cluster = cluster;
    this.content = el("div", { class: "cc-live-record" });
    this.dialog = new Dialog(cluster, "What a snapshot has recorded", this.content);
  }

  open(snapshot) {
    this.snapshot = snapshot;
    this.isFinal = false;
    this.content.replaceChildren(el("p", {}, `${snapshot} …`));
    this.dialog.open();
    this.ask();
  }

  /** A frame has come: what is under way may have got on. */
  refresh() {
    if (this.dialog.node.open && !this.isFinal) this.ask();
  }

  async ask() {
    const { snapshot } = this;
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      const answer = await fetch(this.cluster.recordOf(snapshot), { cache: "no-store", signal: this.cluster.closed });
      if (!answer.ok) throw new Error(await answer.text());
      const record = await answer.json();
      if (snapshot === this.snapshot) this.show(record);
    } catch (problem) {
      if (this.cluster.closed.aborted) return;
      this.isFinal = true;
      this.content.replaceChildren(el("p", {}, problem instanceof TypeError ? "The server does not answer. Open it again." : problem.message));
    } finally {
      this.isAsking = false;
    }
    if (snapshot !== this.snapshot) this.ask();
  }

  show(record) {
    this.isFinal = record.is_final;
    const signature = JSON.stringify(record);
    if (signature === this.content.dataset.signature && this.content.childElementCount > 1) return;
    this.content.dataset.signature = signature;
    const rows = record.processes.map((process) => new StateRow(process, () => {}));
    const channels = new ChannelList(record.channels, () => {});
    for (const part of [...rows, channels]) part.stepTo(ALWAYS);
    const heading = el("h3", {}, `Snapshot ${record.id}`);
    const sum = el("p", { class: "cc-live-total" });
    setText(sum, record.sum);
    const note = record.note ? el("p", { class: "cc-live-note" }, record.note) : null;
    this.content.replaceChildren(heading, ...[note, record.sum ? sum : null].filter(Boolean),
      el("h4", {}, "Processes"), el("dl", { class: "cc-states" }, ...rows.flatMap((row) => row.nodes)),
      el("h4", {}, "Channels"), channels.node,
    );
  }
}
