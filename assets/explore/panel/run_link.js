/* The links to other pages of the app, which open there with the run on show. */

import { el } from "../page/dom.js";
import { runIn } from "../share/address.js";

/** What is written on each link, what its title says, and the name of its page in the menu. */
const PAGES = {
  "every-run": ["Try every run of this", "All orders in which this can happen", "Every run"],
  compare: ["Compare algorithms", "The same under several algorithms, and what each costs", "Compare"],
};

export class RunLink {
  /** @param page its address: a key of PAGES */
  constructor(page) {
    this.page = page;
    this.node = el("a", { class: "cc-run-link", title: `${PAGES[page][1]}: opens the page ${PAGES[page][2]}` });
  }

  /** It carries the run as links do, if that is not too long; a window of a log has none, and neither has a saved page. */
  follow({ link, most_link: most }) {
    const query = runIn(link ?? "");
    const [words, , name] = PAGES[this.page];
    this.node.hidden = !query;
    const isShort = query?.length <= most;
    this.node.textContent = isShort ? words : `This run is too long for a link: open the page ${name} from the menu.`;
    if (isShort) this.node.href = `${this.page}?${query}`;
    else this.node.removeAttribute("href");
  }
}
