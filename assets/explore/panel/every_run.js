/* The link to the page Every run, which explores the run on show. */

import { el } from "../page/dom.js";
import { runIn } from "../share/address.js";

export class EveryRunLink {
  constructor() {
    this.node = el("a", { class: "cc-every-run", title: "All orders in which this can happen: opens the page Every run" }, "Try every run of this");
  }

  /** It carries the run as links do; a window of a log has none, and neither has a saved page. */
  follow({ link, most_link: most }) {
    const query = runIn(link ?? "");
    this.node.hidden = !query || query.length > most;
    this.node.href = `every-run?${query}`;
  }
}
