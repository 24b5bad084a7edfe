/* The menu of two processes' channels: sever them, or mend them. It opens in the network, and over the diagram. */

import { el, setText } from "../page/dom.js";
import { moveFocus } from "../page/keys.js";
import { severings } from "../run/faults.js";
import { plainNumber } from "../run/times.js";
import { Popup } from "./popup.js";

export class ChannelMenu extends Popup {
  constructor(manipulation) {
    super(manipulation, { class: "cc-line-menu cc-channel-menu", role: "group" });
    this.entries = el("div", { role: "menu" });
    this.node.append(this.title, this.entries);
    this.node.addEventListener("keydown", (event) => moveFocus(event, this.items(), ["ArrowUp", "ArrowDown"]));
  }

  items() {
    return [...this.entries.children];
  }

  /** @param moment when the channels between the two processes are severed or mended: {step, time} */
  openAt(point, [from, to], moment, options) {
    const at = moment.time == null ? "" : ` at ${plainNumber(moment.time)}`;
    const name = `Channels between ${from} and ${to}${at}`;
    this.entitle(name);
    this.entries.setAttribute("aria-label", name);
    this.entries.replaceChildren(...severings(this.manipulation.scene, from, to, moment).map((one) => this.entry(one, at)));
    this.open(point, { ...options, focus: this.items()[0] });
  }

  entry({ words, edit }, at) {
    const onclick = () => {
      this.close(true);
      this.manipulation.explorer.submit(edit);
    };
    const node = el("button", { type: "button", role: "menuitem", tabindex: "-1", onclick });
    setText(node, `${words}${at}`);
    return node;
  }

  show() {
    this.close(true);
  }
}
