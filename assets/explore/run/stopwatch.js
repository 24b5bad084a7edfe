/* The time that a lecture has taken. */

export class Stopwatch {
  /** @param now the present time in milliseconds */
  constructor(now = Date.now) {
    this.now = now;
    this.before = 0; // what ran before the last start, in milliseconds
    this.since = null;
  }

  get isRunning() {
    return this.since != null;
  }

  get seconds() {
    return Math.floor((this.before + (this.isRunning ? this.now() - this.since : 0)) / 1000);
  }

  start() {
    this.since ??= this.now();
  }

  pause() {
    if (this.isRunning) this.before += this.now() - this.since;
    this.since = null;
  }

  /** Begin again at zero; a running one runs on. */
  reset() {
    this.before = 0;
    if (this.isRunning) this.since = this.now();
  }
}

/** "4:05", "1:02:09". */
export function inMinutes(seconds) {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const two = (number) => String(number).padStart(2, "0");
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
