/* Edits on their way to Python. Streamlit keeps only the last value of a fast series, so every value is the
 * whole list of edits that have not been acknowledged: none can be lost, and none is applied twice. */

class Outbox {
  constructor(ack) {
    this.last = ack;
    this.waiting = [];
  }

  /** Queue an edit made at a step of the scene `revision`; returns the list to hand to Python. */
  add(edit, step, time, revision) {
    this.last += 1;
    this.waiting.push({ seq: this.last, step, time, revision, edit });
    return this.waiting.slice();
  }

  /** Forget what Python has applied. */
  acknowledge(ack) {
    this.waiting = this.waiting.filter((entry) => entry.seq > ack);
    this.last = Math.max(this.last, ack);
  }
}
