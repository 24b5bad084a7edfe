/* The address of the Traces page: which log and rows are on show, and with which cut. */

import { writeHistory } from "./address.js";

const REST_MS = 400; // a cut is written when it has not moved for this long, in milliseconds

/** Keeps the page's address up to date, so that a reload or a copied address shows the same. Back leads to other pages. */
export class LogAddress {
  constructor(explorer) {
    this.explorer = explorer;
    this.path = location.pathname; // of this page: on another page of the app the address is left alone
    explorer.closed.addEventListener("abort", () => clearTimeout(this.timer));
  }

  /** Python has answered, perhaps with another window. */
  history() {
    this.write();
  }

  noted() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(), REST_MS);
  }

  write() {
    const { data, visit } = this.explorer;
    if (!data || location.pathname !== this.path) return;
    const embedding = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith("embed"));
    const query = new URLSearchParams([...embedding, ...Object.entries({ ...data.address, ...visit.shown })]);
    const address = `${location.origin}${location.pathname}?${query}`;
    if (address !== location.href) writeHistory("replaceState", { ...history.state, address });
  }
}
