/* The tab's memory: the address bar names this run, and sessionStorage keeps its link and the edits under way. */

import { isAsItIs } from "../run/arrangement.js";
import { addressOf, runIn, shownIn, stepIn, writeHistory } from "./address.js";

const ADDRESS_MS = 400; // the address is written when the step has not changed for this long, in milliseconds

const STORAGE_KEY = "consistent-cut";

/** Edits that are not kept: they only open a dialog or another window. */
const NOT_KEPT = new Set(["scenarios", "open", "look"]);

let hasArrived = false; // whether the tab's first session has begun: it alone asks by which address the user came

/**
 * The address bar follows the run and the step; another scenario is a new entry of the browser's history. The tab keeps
 * the present link, of any length, and the edits that Python has not acknowledged. A new session in the same tab (after
 * a reload, a lost connection, a restart of the server) is sent both: first the link, then the edits, each once.
 */
export class TabMemory {
  constructor(explorer) {
    this.explorer = explorer;
    this.session = null; // the session that shows what was kept
    this.awaited = null; // the link sent to Python and not opened yet: {seq, link, step, revision, waiting}
    this.path = location.pathname; // of this page: on another page of the app the address is left alone
    const { root, closed: signal } = explorer;
    const onClick = ({ target }) => root.contains(target) || this.settle(); // the click may lead to another page
    window.addEventListener("popstate", (event) => this.goBack(event.state), { signal });
    window.addEventListener("pagehide", () => this.settle(), { signal });
    document.addEventListener("click", onClick, { capture: true, signal });
    signal.addEventListener("abort", () => this.settle());
  }

  history() {
    queueMicrotask(() => this.received()); // after all parts have the new scene
  }

  pending() {
    this.save();
  }

  stepTo() {
    this.noted();
  }

  noted() {
    this.save();
    this.showAddress();
  }

  /** Python has answered, perhaps in a new session that does not know this tab's run. */
  received() {
    const { data } = this.explorer;
    if (data.session !== this.session) this.begin(data);
    else if (this.awaited && data.ack >= this.awaited.seq) this.resume(data);
    this.save();
    this.showAddress();
  }

  begin({ session, link, chosen }) {
    this.session = session;
    this.awaited = null;
    const kept = readKept();
    const isFirst = !hasArrived;
    hasArrived = true;
    if (kept?.session === session) return this.comeBack();
    if (!kept || chosen || (isFirst && cameByAnotherAddress(kept))) return;
    if (kept.tab) this.explorer.openTab(kept.tab);
    if (kept.link && runIn(kept.link) !== runIn(link)) this.restore(kept);
    else this.continueWith(kept);
  }

  /** The user comes from another page of the app: to this session's run, or by Back to an earlier one. */
  comeBack() {
    const { explorer } = this;
    const entry = history.state;
    const query = queryOf(entry);
    const isSame = entry?.session === this.session && entry.scenario === explorer.visit.scenario;
    if (!runIn(query) || isSame || runIn(query) === runIn(explorer.data.link)) return;
    this.isBack = true;
    this.restore({ link: query, step: stepIn(query), shown: shownIn(query), revision: explorer.revision });
  }

  /** Have Python open a link; `resume` then goes to its step and submits the edits that waited. */
  restore({ link, step, revision, shown = {}, waiting = [], orientation = null, arrangement = null }) {
    const { explorer } = this;
    explorer.submit({ do: "restore", link: `${runIn(link)}&${new URLSearchParams({ step, ...shown })}` });
    this.awaited = { seq: explorer.visit.outbox.last, link, step, shown, revision, waiting, orientation, arrangement };
  }

  /** Python has opened the link, or refused it: then the edits belong to no run, and are dropped. */
  resume({ notice }) {
    const { seq, ...kept } = this.awaited;
    this.awaited = null;
    const isRefused = notice?.level === "error" && notice.seq === seq;
    if (!isRefused) this.continueWith(kept);
  }

  continueWith({ step, shown, revision, waiting, orientation, arrangement }) {
    const { explorer } = this;
    if (shown) explorer.showAlso(shown);
    if (orientation && orientation !== explorer.visit.orientation) explorer.toggleOrientation();
    if (arrangement && !isAsItIs(arrangement, explorer.scene.lanes)) explorer.arrange(arrangement);
    const { outbox } = explorer.visit;
    explorer.goTo(Math.min(step, explorer.scene.last));
    for (const { edit, step, time, ...entry } of waiting) {
      const isOfThisDrawing = entry.revision >= revision;
      outbox.add(edit, step, time, explorer.revision - (isOfThisDrawing ? 0 : 1));
    }
    if (!waiting.length) return;
    explorer.send(outbox.waiting.slice());
    explorer.showPending();
  }

  /** Save the present state; until this session shows what was kept, that stays. */
  save() {
    const { data, visit } = this.explorer;
    if (!data || data.session !== this.session) return;
    const own = this.awaited?.seq;
    const made = visit.outbox.waiting.filter(({ seq, edit }) => seq !== own && !NOT_KEPT.has(edit.do));
    const { link, step, shown, revision, waiting } = this.awaited ?? {
      link: data.link,
      step: visit.step,
      shown: visit.shown,
      revision: this.explorer.revision,
      waiting: [],
    };
    const { tab, orientation, arrangement } = visit;
    const whole = [...waiting, ...made];
    const kept = { session: data.session, link, step, revision, waiting: whole, tab, shown, orientation, arrangement, search: location.search };
    try {
      sessionStorage.setItem(STORAGE_KEY, JSON.stringify(kept));
    } catch {
      // storage is forbidden or full: the address bar has to do
    }
  }

  /** Write the address when the step rests. Another scenario is written at once, as a new entry. */
  showAddress() {
    const { data, visit, root } = this.explorer;
    if (this.awaited || data.session !== this.session || location.pathname !== this.path) return;
    const { link, session, most_link: most } = data;
    const { step, shown, scenario } = visit;
    const address = addressOf(link, step, shown, { most, isPresenting: "presenting" in root.dataset });
    const whole = link && `${runIn(link)}&${new URLSearchParams({ step, ...shown })}`;
    const wanted = { address: address.length <= most ? address : addressOf(""), link: whole, session, scenario };
    const isAnother = this.scenario != null && this.scenario !== visit.scenario && !this.isBack;
    Object.assign(this, { scenario: visit.scenario, isBack: false });
    if (isAnother) {
      this.settleAddress(); // the entry that is left keeps its last step
      writeHistory("pushState", wanted);
    }
    this.wanted = wanted;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.settle(), ADDRESS_MS);
  }

  settleAddress() {
    clearTimeout(this.timer);
    const { wanted } = this;
    this.wanted = null;
    if (!wanted || location.pathname !== this.path) return;
    const { session, link } = history.state ?? {};
    if (wanted.address !== location.href || session !== wanted.session || link !== wanted.link) writeHistory("replaceState", wanted);
  }

  settle() {
    this.settleAddress();
    this.save();
  }

  /** Back or Forward: the address names the run to show, or for a long link the entry's state. */
  goBack(state) {
    const { explorer } = this;
    clearTimeout(this.timer);
    this.wanted = null;
    if (!explorer.data || location.pathname !== this.path) return;
    const query = queryOf(state);
    const kept = { link: query, step: stepIn(query), shown: shownIn(query), revision: explorer.revision, waiting: [] };
    this.isBack = true;
    if (!runIn(query) || runIn(query) === runIn(explorer.data.link)) this.continueWith(kept);
    else this.restore(kept);
  }
}

/** The query of an entry of the browser's history: in the address, or for a long link in the entry's state. */
function queryOf(state) {
  return runIn(location.search) ? location.search : state?.link ?? "";
}

function readKept() {
  try {
    return JSON.parse(sessionStorage.getItem(STORAGE_KEY));
  } catch {
    return null;
  }
}

/**
 * Whether the user came by another address than the kept one. A reload does not count, nor does coming from another
 * page of the app: both want the kept run.
 */
function cameByAnotherAddress(kept) {
  const [entry] = performance.getEntriesByType("navigation");
  const isFromElsewhere = entry && new URL(entry.name).pathname !== location.pathname;
  return entry?.type !== "reload" && !isFromElsewhere && location.search !== kept.search;
}
