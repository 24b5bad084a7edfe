/* The tab Stored: what the storage has of each snapshot at the step on show, and what a rollback to it would bring back. */

import { resolveColour, snapshotDot } from "../page/colours.js";
import { el, refill, setText, unbroken } from "../page/dom.js";
import { valueAt } from "../run/timeline.js";
import { plainNumber } from "../run/times.js";

const WHAT = "A snapshot is valid once all its parts are stored, and a manifest that names them. Only then can the system go back to it: each process to its part, each channel to its recorded messages.";

export class StoredView {
  constructor(node, explorer) {
    this.explorer = explorer;
    this.nothing = el("p", {}, "Nothing is stored yet.");
    this.partly = el("p", { class: "cc-quiet" });
    this.cards = el("div");
    node.append(el("p", { class: "cc-quiet" }, WHAT), this.nothing, this.cards, this.partly);
  }

  show(scene, palette, step) {
    this.stored = scene.stored ?? { snapshots: [], moments: [], partly: "" };
    const mayEdit = scene.log == null && !("still" in this.explorer.root.dataset);
    const submit = mayEdit && !scene.recovery.refused ? (edit) => this.explorer.submit(edit) : null;
    this.parts = this.stored.snapshots.map((own) => new StoredCard(own, palette, submit));
    this.cards.replaceChildren(...this.parts.map(({ node }) => node));
    setText(this.partly, this.stored.partly);
    this.partly.hidden = !this.stored.partly;
    this.first = scene.first;
    this.stepTo(step);
  }

  stepTo(step) {
    const [then, at] = this.stored.moments[step - this.first] ?? [step, null];
    this.parts.forEach((part) => part.stepTo(step, then, at));
    this.nothing.hidden = this.parts.some(({ node }) => !node.hidden);
  }
}

/** One snapshot. */
class StoredCard {
  /** @param submit takes an edit; null where nothing is edited */
  constructor(own, palette, submit) {
    this.own = own;
    this.status = el("p", { class: "cc-status" });
    this.text = el("p");
    this.brings = el("p");
    this.table = el("table", { class: "cc-brings" });
    this.button = el("button", { type: "button", onclick: () => submit(this.edit) });
    this.button.hidden = !submit;
    this.back = el("div", { class: "cc-back" }, this.brings, this.button, this.table);
    const heading = el("h3", {}, snapshotDot(resolveColour(own.colour, palette)), own.id);
    this.node = el("article", { class: "cc-card cc-stored", "data-snapshot": own.id }, el("header", {}, heading, this.status), this.text, this.back);
  }

  /** @param then the last step before a rollback that follows this one; @param at its time, null where the run knows none */
  stepTo(step, then, at) {
    const told = valueAt(this.own.told, step);
    this.node.hidden = !told;
    if (!told) return;
    this.node.dataset.phase = told.phase;
    setText(this.status, told.status);
    setText(this.text, told.text);
    const back = valueAt(this.own.back, step) && valueAt(this.own.back, then);
    this.back.hidden = !back;
    if (!back) return;
    const rows = back.processes.map(({ name, state, abandons }) => [name, told.bytes?.[name], state, valueAt(abandons, then) ?? 0]);
    refill(this.table, JSON.stringify(rows), () => tableOf(rows));
    const total = rows.reduce((sum, [, , , count]) => sum + count, 0);
    setText(this.brings, `A rollback to it now would abandon ${eventsIn(total)}. ${back.messages}`);
    const { id } = this.own;
    setText(this.button, at == null ? `Roll back to ${id}` : `Roll back to ${id} at ${plainNumber(at)}`);
    this.edit = { do: "roll_back", to: id, ...(at == null ? {} : { at }) };
  }
}

/** What each process goes back to: rows [name, bytes of its part, state, number of events that are abandoned]. */
function tableOf(rows) {
  const hasBytes = rows.some(([, bytes]) => bytes != null);
  const head = ["Process", ...(hasBytes ? ["Its part"] : []), "Goes back to", "Abandons"];
  const line = ([name, bytes, state, count]) => el("tr", {},
    el("th", { scope: "row" }, name),
    hasBytes ? el("td", {}, bytes == null ? "" : `${bytes} B`) : null,
    el("td", {}, ...unbroken(state)),
    el("td", {}, eventsIn(count)),
  );
  return [
    el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { scope: "col" }, text)))),
    el("tbody", {}, ...rows.map(line)),
  ];
}

function eventsIn(count) {
  if (count === 0) return "no event";
  return `${count} ${count === 1 ? "event" : "events"}`;
}
