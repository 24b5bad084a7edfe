/* Where a tab of the browser keeps the values of the sliders. */

const KEY = "consistent-cut-sliders";

export class Memory {
  /** The kept values by name; none where there are none, or none that can be read. */
  read() {
    try {
      return JSON.parse(sessionStorage.getItem(KEY)) ?? {};
    } catch {
      return {};
    }
  }

  /** Keep the values; a browser may refuse to. */
  write(values) {
    try {
      sessionStorage.setItem(KEY, JSON.stringify(values));
    } catch {
      return;
    }
  }
}
