/* Edits on their way to Python. Streamlit drops all but the last of several quick values, so each value sent is the
 * whole list of edits that are not acknowledged. So none is lost; they are numbered, so none is applied twice. */

export class Outbox {
  constructor(ack) {
    this.last = ack;
    this.waiting = [];
  }

  /** Queue an edit made at a step of the scene `revision`. Returns the list to send to Python. */
  add(edit, step, time, revision) {
    this.last += 1;
    this.waiting.push({ seq: this.last, step, time, revision, edit });
    return this.waiting.slice();
  }

  /** The list once more. Streamlit tells Python only of a value that has changed, so the entries count how often. */
  again() {
    this.waiting = this.waiting.map((entry) => ({ ...entry, again: (entry.again ?? 0) + 1 }));
    return this.waiting.slice();
  }

  /** Forget what Python has applied. */
  acknowledge(ack) {
    this.waiting = this.waiting.filter((entry) => entry.seq > ack);
    this.last = Math.max(this.last, ack);
  }
}

/**
 * Values that edits asked for and Python has not answered. A nudge counts from the last value asked for, not from the
 * old scene, so quick nudges add up.
 */
export class PendingValues {
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

  /** Forget what Python has answered, whether applied or refused. */
  acknowledge(ack) {
    for (const [key, { seq }] of this.values) if (seq <= ack) this.values.delete(key);
  }
}
