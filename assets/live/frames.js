/* The frames of a cluster, asked for one after the other: the next one when the last one is drawn. */

const GAP_MS = 500; // between two frames
const PATIENCE_MS = 3000; // before the next try when the server does not answer

export class Frames {
  /**
   * @param wanted gives the address of the frame that is wanted now, or null for none
   * @param take takes a frame
   * @param lost is called with a sentence when there is no answer, and with null when there is one again
   */
  constructor(wanted, take, lost, closed) {
    Object.assign(this, { wanted, take, lost, closed });
    document.addEventListener("visibilitychange", () => this.soon(), { signal: closed });
    closed.addEventListener("abort", () => clearTimeout(this.timer));
  }

  /** Ask now, as the user has chosen another place. */
  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask(), 0);
  }

  later(gap) {
    clearTimeout(this.timer);
    if (!this.closed.aborted) this.timer = setTimeout(() => this.ask(), gap);
  }

  async ask() {
    const address = document.hidden ? null : this.wanted();
    if (address === null) return;
    if (this.isAsking) return this.later(GAP_MS / 5);
    this.isAsking = true;
    let gap = GAP_MS;
    try {
      const mark = this.shown === address ? this.mark : null;
      const answer = await fetch(address, { cache: "no-store", headers: mark ? { "If-None-Match": mark } : {}, signal: this.closed });
      if (answer.status === 200) {
        const frame = await answer.json();
        if (address === this.wanted()) {
          Object.assign(this, { shown: address, mark: answer.headers.get("ETag") });
          this.take(frame);
        } else gap = 0;
      } else if ([404, 503].includes(answer.status)) throw new Error(await answer.text());
      else if (answer.status !== 304) throw new Error("The server cannot draw this moment. The page asks again.");
      this.lost(null);
    } catch (problem) {
      if (this.closed.aborted) return;
      this.lost(problem instanceof TypeError ? "The server does not answer. The page asks again." : problem.message);
      gap = PATIENCE_MS;
    } finally {
      this.isAsking = false;
    }
    this.later(gap);
  }
}
