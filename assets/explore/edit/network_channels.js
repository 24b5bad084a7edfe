/* What can be clicked in the network's picture. A click on a channel, or Enter, opens its menu; one of them can be
 * reached by Tab, and the arrow keys go on from there. While the user splits the network, a click on a process chooses it. */

import { el, refill } from "../page/dom.js";
import { moveFocus } from "../page/keys.js";
import { momentOf } from "../run/faults.js";
import { setShape, shape } from "../page/svg.js";

const TARGET = 28; // the radius (in pixels) of a process that can be chosen

export class NetworkChannels {
  constructor(manipulation) {
    this.manipulation = manipulation;
    this.plot = manipulation.explorer.root.querySelector(".cc-topology");
    this.lines = shape("g", { role: "group", "aria-label": "Channels: focus one, and press Enter to sever or mend it" });
    this.nodes = shape("g", { "aria-hidden": "true" }); // the boxes below the picture are the same by keyboard
    this.picture = shape("svg", {}, this.lines, this.nodes);
    this.view = manipulation.explorer.tabs.network;
    this.view.onChoice = (chosen) => this.choose(chosen);
    this.view.neighbours.onChannel = (channel, event) => this.openListed(channel, event);
    this.nodes.addEventListener("click", ({ target }) => this.view.split.toggle(target.dataset.process));
    this.layer = el("div", { class: "cc-network-channels" }, this.picture);
    this.plot.after(this.layer); // below the buttons of choices, which come after it
    this.lines.addEventListener("click", (event) => this.open(event.target.closest("[data-channel]"), event));
    this.lines.addEventListener("keydown", (event) => this.key(event));
    this.lines.addEventListener("focusin", (event) => this.enter(event.target));
    this.lines.addEventListener("pointermove", (event) => this.passOn(event));
    new ResizeObserver(() => this.place()).observe(this.plot);
  }

  show() {
    const { channels, topology } = this.manipulation.scene;
    this.picture.toggleAttribute("hidden", !topology.figure);
    if (!topology.figure) return;
    const own = channels.map(({ name, caption, source, target }) => ({ name, caption, source, target }));
    refill(this.lines, JSON.stringify(own), () => own.map((channel, rank) => this.line(channel, rank)));
    refill(this.nodes, JSON.stringify(topology.nodes), () => topology.nodes.map(({ name }) => shape("circle", { "data-process": name })));
    if (this.plot.clientWidth) requestAnimationFrame(() => this.place());
  }

  /** Mark the processes of one side; null: no side is being chosen. */
  choose(chosen) {
    for (const node of this.nodes.children) node.toggleAttribute("data-chosen", chosen?.includes(node.dataset.process) ?? false);
  }

  line({ name, caption, source, target }, rank) {
    const label = `Channel ${caption} from ${source} to ${target}: sever or mend it`;
    return shape("line", { role: "button", "aria-haspopup": "menu", "aria-label": label, tabindex: rank ? -1 : 0, "data-channel": name });
  }

  /** Put the lines over the channels as they are drawn. */
  place() {
    const layout = this.plot._fullLayout;
    const { scene } = this.manipulation;
    if (!layout?.xaxis || !this.plot.clientWidth || !scene?.topology.figure) return;
    const { xaxis, yaxis } = layout;
    const edges = new Map(scene.topology.edges.map((edge) => [edge.channel, edge]));
    for (const line of this.lines.children) {
      const { x0, y0, x1, y1 } = edges.get(line.dataset.channel);
      const [left, right] = [x0, x1].map((x) => xaxis._offset + xaxis.d2p(x));
      const [from, to] = [y0, y1].map((y) => yaxis._offset + yaxis.d2p(y));
      setShape(line, { x1: left, y1: from, x2: right, y2: to });
    }
    scene.topology.nodes.forEach(({ x, y }, number) => {
      const [cx, cy] = [xaxis._offset + xaxis.d2p(x), yaxis._offset + yaxis.d2p(y)];
      setShape(this.nodes.children[number], { cx, cy, r: TARGET });
    });
  }

  open(line, { clientX, clientY, detail }) {
    if (!line) return;
    const { left, top } = this.layer.getBoundingClientRect();
    const [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map((name) => Number(line.getAttribute(name)));
    const isByKey = detail === 0;
    const point = isByKey ? [(x1 + x2) / 2, (y1 + y2) / 2] : [clientX - left, clientY - top];
    const channel = this.manipulation.scene.channels.find(({ name }) => name === line.dataset.channel);
    this.openMenu(channel, point, isByKey, line);
  }

  /** The menu of a channel in the list that stands for the picture of a large network. */
  openListed(channel, { currentTarget: button, detail }) {
    const [own, around] = [button, this.layer].map((node) => node.getBoundingClientRect());
    this.openMenu(channel, [own.right - around.left, own.bottom - around.top], detail === 0, button);
    this.manipulation.channelMenu.node.scrollIntoView({ block: "nearest" }); // the list is longer than what is seen of it
  }

  openMenu({ source, target }, point, byKeyboard, opener) {
    const { manipulation } = this;
    const giveBack = () => (opener.isConnected ? opener : null);
    manipulation.openChannelMenu([source, target], momentOf(manipulation.scene, manipulation.step), point, { layer: this.layer, byKeyboard, giveBack });
  }

  key(event) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      if (!event.repeat) this.open(event.target.closest("[data-channel]"), { detail: 0 });
      return;
    }
    const isAcross = ["ArrowLeft", "ArrowRight"].includes(event.key);
    moveFocus(event, [...this.lines.children], isAcross ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"]);
  }

  /** Tab comes back to the channel that had the focus last. */
  enter(line) {
    for (const own of this.lines.children) own.setAttribute("tabindex", own === line ? 0 : -1);
  }

  /** Tips of messages on their way work under the lines, too. */
  passOn(event) {
    this.plot.querySelector(".nsewdrag")?.dispatchEvent(new MouseEvent("mousemove", event));
  }
}
