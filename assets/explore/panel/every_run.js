/* The link to the page Every run, which explores the run on show. */

import { el } from "../page/dom.js";
import { runIn } from "../share/address.js";

const TOO_LONG = "To try every run of this, open the page Every run: its menu has it.";

export class EveryRunLink {
  constructor() {
    this.node = el("a", { class: "cc-every-run", title: "All orders in which this can happen: opens the page Every run" });
  }

  /** It carries the run as links do, if that is not too long; a window of a log has none, and neither has a saved page. */
  follow({ link, most_link: most }) {
    const query = runIn(link ?? "");
    this.node.hidden = !query;
    const isShort = query?.length <= most;
    this.node.textContent = isShort ? "Try every run of this" : TOO_LONG;
    if (isShort) this.node.href = `every-run?${query}`;
    else this.node.removeAttribute("href");
  }
}
