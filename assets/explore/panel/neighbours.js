/* The Network tab of very many processes, of which no picture can be read: the channels of one process. */

import { messageSign, resolveColour } from "../page/colours.js";
import { el, field, fillMenu, refill, setText, unbroken } from "../page/dom.js";
import { momentOf, severedAt } from "../run/faults.js";
import { inFlight, stepAt } from "../run/timeline.js";

const MOST_NAMED = 8; // messages on one channel

export class Neighbours {
  constructor() {
    this.menu = el("select", { onchange: () => this.stepTo(this.step) });
    this.heading = el("h4");
    this.list = el("ul", { class: "cc-neighbours" });
    this.node = el("div", {}, field("Channels of", this.menu), this.heading, this.list);
  }

  show(scene, palette, step) {
    this.scene = scene;
    this.palette = palette;
    fillMenu(this.menu, [["", "the process of this step"], ...scene.processes.map((name) => [name, name])]);
    this.stepTo(step);
  }

  stepTo(step) {
    this.step = step;
    const { processes, channels, messages } = this.scene;
    const name = this.menu.value || (stepAt(this.scene, step).process ?? processes[0]);
    const flying = inFlight(messages, step);
    const own = channels
      .filter(({ source, target }) => source === name || target === name)
      .map((channel) => ({ channel, carried: flying.filter((message) => message.channel === channel.name) }))
      .sort((a, b) => b.carried.length - a.carried.length);
    const out = own.filter(({ channel }) => channel.source === name).length;
    setText(this.heading, `${name}: ${counted(out, "channel")} out, ${counted(own.length - out, "channel")} in`);
    const severed = severedAt(this.scene, momentOf(this.scene, step));
    const signature = JSON.stringify([name, own.map(({ carried }) => carried.map(({ id }) => id)), [...severed], this.palette.ink]);
    refill(this.list, signature, () => own.map((entry) => this.row(name, { ...entry, isSevered: severed.has(entry.channel.name) })));
  }

  row(name, { channel, carried, isSevered }) {
    const { caption, source, target } = channel;
    const label = `Channel ${caption} from ${source} to ${target}: sever or mend it`;
    const way = source === name ? `to ${target}` : `from ${source}`;
    const told = carried.slice(0, MOST_NAMED).flatMap((message) => [
      " ", messageSign(message.kind, resolveColour(message.colour, this.palette)), " ", ...unbroken(message.name),
    ]);
    const more = carried.length > MOST_NAMED ? ` and ${carried.length - MOST_NAMED} more` : "";
    return el("li", { "data-busy": carried.length > 0 },
      el("button", { type: "button", "aria-haspopup": "menu", "aria-label": label, onclick: (event) => this.onChannel(channel, event) }, caption),
      isSevered ? " severed" : "", " ", el("span", { class: "cc-quiet" }, way),
      el("span", {}, ...(carried.length ? told : [" empty"]), more),
    );
  }
}

function counted(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
