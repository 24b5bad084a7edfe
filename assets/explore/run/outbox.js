/* Edits on their way to Python. Streamlit keeps only the last value of a fast series, so every value is the
 * whole list of edits that have not been acknowledged: none can be lost, and none is applied twice. */

export class Outbox {
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

/**
 * Values asked for and not yet answered. A quick series of nudges adds up, for each starts from the last value
 * asked for and not from a scene that is about to change.
 */
export class Asked {
  /** @param submit takes an edit and returns its number */
  constructor(submit) {
    this.submit = submit;
    this.values = new Map();
  }

  of(key) {
    return this.values.get(key)?.value;
  }

  ask(key, value, edit) {
    this.values.set(key, { value, seq: this.submit(edit) });
  }

  /** Forget what has been answered, whether it was done or refused. */
  acknowledge(ack) {
    for (const [key, { seq }] of this.values) if (seq <= ack) this.values.delete(key);
  }
}
