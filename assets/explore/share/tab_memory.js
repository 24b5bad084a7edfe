/* Nothing is lost: the address bar holds the run on show, and the tab keeps the edits that are under way. */

import { addressOf, bareAddress, remember, runIn, stepIn } from "./address.js";

/** How long the address waits for the steps to come to rest, in milliseconds. */
const ADDRESS_MS = 400;

const KEPT = "consistent-cut";

/** What asks for a dialog or another window is not asked for again. */
const PASSING = new Set(["scenarios", "open", "look"]);

/** Whether the tab's first session has begun: only then does it matter how one came to the page. */
let hasArrived = false;

/**
 * The address bar follows the run and the step; another scenario is another entry of the history. The tab keeps
 * the present link, of any length, and the edits that Python has not acknowledged. A new server session in the same
 * tab (after a reload, a lost connection, a new server) is given both: first the link, then the edits, each once.
 */
export class TabMemory {
  constructor(explorer) {
    this.explorer = explorer;
    this.session = null; // the server's session that is known to show what was kept
    this.awaited = null; // the link given to Python and not opened yet: {seq, link, step, revision, waiting}
    this.path = location.pathname; // of this page; on another one of the app the address is not ours
    this.onBack = (event) => this.goBack(event.state);
    this.onHide = () => this.settle();
    this.onClick = ({ target }) => explorer.root.contains(target) || this.settle(); // it may lead to another page
    window.addEventListener("popstate", this.onBack);
    window.addEventListener("pagehide", this.onHide);
    document.addEventListener("click", this.onClick, true);
  }

  history() {
    queueMicrotask(() => this.meet()); // once everything knows of the new scene
  }

  pending() {
    this.keep();
  }

  stepTo() {
    this.keep();
    this.showAddress();
  }

  /** Python has said something: perhaps in a session that knows nothing of what this tab had. */
  meet() {
    const { data } = this.explorer;
    if (data.session !== this.session) this.begin(data);
    else if (this.awaited && data.ack >= this.awaited.seq) this.resume(data);
    this.keep();
    this.showAddress();
  }

  begin({ session, link, chosen }) {
    this.session = session;
    this.awaited = null;
    const kept = readKept();
    const isFirst = !hasArrived;
    hasArrived = true;
    if (kept?.session === session) return this.comeBack();
    if (!kept || chosen || (isFirst && isOnPurpose(kept))) return;
    if (kept.tab) this.explorer.openTab(kept.tab);
    if (kept.link && runIn(kept.link) !== runIn(link)) this.restore(kept);
    else this.takeUp(kept);
  }

  /** From another page of the app, to the run of this session, or by Back to one that was left before. */
  comeBack() {
    const { explorer } = this;
    const entry = history.state;
    const link = runIn(location.search) || entry?.link;
    const isSame = entry?.session === this.session && entry.scenario === explorer.visit.scenario;
    if (!link || isSame || runIn(link) === runIn(explorer.data.link)) return;
    this.isBack = true;
    this.restore({ link, step: stepIn(location.search), revision: explorer.revision });
  }

  /** Have Python open a link; then go to its step and make the edits that waited. */
  restore({ link, step, revision, waiting = [], orientation = null }) {
    const { explorer } = this;
    explorer.submit({ do: "restore", link: `${runIn(link)}&step=${step}` });
    this.awaited = { seq: explorer.visit.outbox.last, link, step, revision, waiting, orientation };
  }

  /** Python has opened the link, or has said why not: then the edits are another run's, and are given up. */
  resume({ notice }) {
    const { seq, ...kept } = this.awaited;
    this.awaited = null;
    const isRefused = notice?.level === "error" && notice.seq === seq;
    if (!isRefused) this.takeUp(kept);
  }

  takeUp({ step, revision, waiting, orientation }) {
    const { explorer } = this;
    if (orientation && orientation !== explorer.visit.orientation) explorer.toggleOrientation();
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

  /** Keep what there is now; before that is decided, what was kept stays. */
  keep() {
    const { data, visit } = this.explorer;
    if (!data || data.session !== this.session) return;
    const own = this.awaited?.seq;
    const made = visit.outbox.waiting.filter(({ seq, edit }) => seq !== own && !PASSING.has(edit.do));
    const { link, step, revision, waiting } = this.awaited ?? {
      link: data.link,
      step: visit.step,
      revision: this.explorer.revision,
      waiting: [],
    };
    const { tab, orientation } = visit;
    const whole = [...waiting, ...made];
    const kept = { session: data.session, link, step, revision, waiting: whole, tab, orientation, search: location.search };
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(kept));
    } catch {
      // the tab may keep nothing, or no more: then the address has to do
    }
  }

  /** Write the address once the steps have come to rest; a change of scenario at once, as a new entry. */
  showAddress() {
    const { data, visit, root } = this.explorer;
    if (this.awaited || data.session !== this.session || location.pathname !== this.path) return;
    const address = data.link ? addressOf(data.link, visit.step, "presenting" in root.dataset) : bareAddress();
    const { link, session } = data;
    const wanted = { address: address.length <= data.most_link ? address : bareAddress(), link, session, scenario: visit.scenario };
    const isAnother = this.scenario != null && this.scenario !== visit.scenario && !this.isBack;
    Object.assign(this, { scenario: visit.scenario, isBack: false });
    if (isAnother) {
      this.settleAddress(); // the entry that one leaves says where one was
      remember("pushState", wanted);
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
    if (wanted.address !== location.href || history.state?.session !== wanted.session) remember("replaceState", wanted);
  }

  settle() {
    this.settleAddress();
    this.keep();
  }

  /** Back or Forward: the address, or for a long link its entry, says what to show. */
  goBack(state) {
    const { explorer } = this;
    clearTimeout(this.timer);
    this.wanted = null;
    if (!explorer.data || location.pathname !== this.path) return;
    const step = stepIn(location.search);
    const link = runIn(location.search) || state?.link;
    this.isBack = true;
    if (!link || runIn(link) === runIn(explorer.data.link)) explorer.goTo(Math.min(step, explorer.scene.last));
    else this.restore({ link, step, revision: explorer.revision });
  }

  close() {
    this.settle();
    window.removeEventListener("popstate", this.onBack);
    window.removeEventListener("pagehide", this.onHide);
    document.removeEventListener("click", this.onClick, true);
  }
}

function readKept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT));
  } catch {
    return null;
  }
}

/**
 * Whether somebody came here by another address than the one that was kept; a reload comes for what was there, and
 * so does who comes from another page of the app.
 */
function isOnPurpose(kept) {
  const [entry] = performance.getEntriesByType("navigation");
  const isFromElsewhere = entry && new URL(entry.name).pathname !== location.pathname;
  return entry?.type !== "reload" && !isFromElsewhere && location.search !== kept.search;
}
