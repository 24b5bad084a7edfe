/* Handles over the diagram, to be dragged along the time axis, nudged by keys, or pressed. A grip is a plain object that
 * says what a handle is for and where it lies; its node is the SVG element. */

import { STEP_KEYS } from "../page/keys.js";
import { setShape, shape } from "../page/svg.js";
import { delayFor } from "../run/fifo.js";
import { isShown, stepAt } from "../run/timeline.js";
import { nudgeSize, plainNumber, roundedTime, twelveDigits } from "../run/times.js";
import { Preview } from "./preview.js";

const MOST_HANDLES = 150; // if more handles than this are in view, only those that concern the present step are shown
const NEAR_STEPS = 10; // an item concerns the present step if it happens at most this many steps away
const TARGET = 14; // the radius (in pixels) that reacts to the pointer
const RING = 11; // the radius of the visible ring
const DRAG_FROM = 4; // a press becomes a drag when the pointer has moved this far (in pixels)

export class Handles {
  /** @param manipulation the Manipulation that owns this */
  constructor(manipulation) {
    this.manipulation = manipulation;
    this.diagram = manipulation.diagram;
    this.nodes = new Map(); // by key
    this.grips = [];
    this.drag = null;
    this.preview = new Preview(this.diagram);
    this.glow = shape("g", { class: "cc-glow", "aria-hidden": "true", "pointer-events": "none" });
    this.group = shape("g");
    const label = "Handles in the diagram: drag them, or focus one and use the arrow keys";
    this.node = shape("svg", { class: "cc-handles", role: "group", "aria-label": label }, this.glow, this.preview.node, this.group);
    manipulation.layer.append(this.node);
    this.listen();
  }

  listen() {
    this.node.addEventListener("pointerdown", (event) => this.press(event));
    this.node.addEventListener("pointermove", (event) => this.hover(event));
    this.node.addEventListener("pointerleave", () => this.leave());
    this.node.addEventListener("wheel", (event) => this.passOn(new WheelEvent("wheel", event), event), { passive: false });
    this.node.addEventListener("keydown", (event) => this.key(event));
  }

  /** A new scene. A drag goes on meanwhile: its handle stays the same node. */
  show() {
    const { scene, events } = this.manipulation;
    this.arrows = new Map(this.diagram.arrows.map((arrow) => [arrow.id, arrow]));
    this.fixed = [
      ...scene.messages.filter(({ copy }) => !copy).map((message) => messageGrip(scene, message)),
      ...scene.items.map((item) => itemGrip(scene, item, events)),
    ];
    this.refresh();
  }

  stepTo() {
    const { scene } = this.manipulation;
    const waits = ({ message }) => message && (message.kind !== "app" || message.arrival == null);
    if (scene.choices || this.isCrowded || this.fixed.some(waits)) this.refresh();
  }

  /** How lanes and times map to pixels, as a text to compare. */
  mapping() {
    const { left, top, right, bottom } = this.diagram.plotBox();
    const { place, position } = this.diagram.fromPixel([left, top]);
    const end = this.diagram.fromPixel([right, bottom]);
    return [left, top, right, bottom, place, position, end.place, end.position, this.diagram.isDown].join(" ");
  }

  /** Make, move and remove handles for the present step and zoom. */
  refresh() {
    const choices = this.manipulation.manual.grips().filter(({ id, lane }) => id != null || !this.diagram.hidden.has(lane));
    const grips = [...this.fixed.filter((grip) => this.isThere(grip)), ...choices];
    grips.forEach((grip) => this.locate(grip));
    const box = this.diagram.plotBox();
    const inView = grips.filter((grip) => grip.kind === "choice" || isWithin(grip, box));
    this.isCrowded = inView.length > MOST_HANDLES;
    const kept = this.isCrowded ? inView.filter((grip) => this.concernsNow(grip)) : inView;
    if (this.drag && !kept.some(({ key }) => key === this.drag.key)) {
      const dragged = grips.find(({ key }) => key === this.drag.key);
      if (dragged) kept.push(dragged);
      else this.endDrag();
    }
    this.reconcile(kept.sort((a, b) => a.order - b.order));
    this.drawGlow();
    if (this.drag?.moved) this.drawDrag();
    else this.showPendingValue();
  }

  /** An arrow has a handle once it is drawn; a message that can be chosen has that of the choice instead. */
  isThere({ key, lane, message }) {
    if (this.diagram.hidden.has(lane)) return false;
    if (!message) return true;
    if (this.manipulation.manual.delivers(message.id)) return false;
    const isDrawn = message.sent <= this.manipulation.step || (message.kind === "app" && message.arrival != null);
    return isDrawn || key === this.focused()?.key;
  }

  /** The positions of all handles, in pixels. */
  points() {
    return this.grips.map(({ x, y }) => [x, y]);
  }

  /** The grip that has the focus. */
  focused() {
    const node = document.activeElement;
    return node?.parentNode === this.group ? node.grip : null;
  }

  concernsNow({ key, message, item, kind }) {
    const { step, explorer } = this.manipulation;
    if (kind === "choice") return true;
    if (key === this.focused()?.key) return true;
    if (item) return Math.abs(item.step - step) <= NEAR_STEPS;
    return isShown([message.sent, message.received], step) || message.id === explorer.selectedMessage();
  }

  /** Compute where a grip lies, in pixels: at its position, or at the end of the arrow of a held message. */
  locate(grip) {
    if (grip.kind === "choice") return this.locateChoice(grip);
    const end = this.endOf(grip.id);
    grip.atPosition = grip.position ?? end[1];
    [grip.x, grip.y] = grip.position == null ? this.diagram.toPixel(...end) : this.diagram.spot(grip.lane, grip.position);
  }

  /** The end of a message's drawn arrow; out of sight if none is drawn. */
  endOf(id) {
    return this.arrows.get(id)?.to ?? [-9, 0];
  }

  /** The choice of a delivery lies at the end of its arrow; any other on its process's line, just after now. */
  locateChoice(grip) {
    if (grip.id != null) {
      [grip.x, grip.y] = this.diagram.toPixel(...this.endOf(grip.id));
      return;
    }
    const { right, bottom } = this.diagram.plotBox();
    const [x, y] = this.diagram.spot(grip.lane, this.diagram.position);
    const along = (now, end) => Math.min(now + 34 * (grip.rank + 1), end - 34 * (grip.of - 1 - grip.rank));
    [grip.x, grip.y] = this.diagram.isDown ? [x, along(y, bottom - 4)] : [along(x, right - 4), y];
  }

  /** Give each grip a node, by its key. The node that is dragged or has the focus stays in the document. */
  reconcile(grips) {
    this.grips = grips;
    const wanted = new Set(grips.map(({ key }) => key));
    for (const [key, node] of this.nodes) {
      if (wanted.has(key)) continue;
      node.remove();
      this.nodes.delete(key);
    }
    for (const grip of grips) {
      if (!this.nodes.has(grip.key)) this.nodes.set(grip.key, handleNode());
      this.dress(this.nodes.get(grip.key), grip);
    }
    this.arrange(grips.map(({ key }) => this.nodes.get(key)));
  }

  arrange(nodes) {
    const children = this.group.children;
    if (nodes.length === children.length && nodes.every((node, index) => children[index] === node)) return;
    const kept = this.drag?.node ?? document.activeElement;
    const index = nodes.indexOf(kept);
    if (index < 0 || kept.parentNode !== this.group) return this.group.replaceChildren(...nodes);
    for (const node of [...children]) if (node !== kept) node.remove();
    kept.before(...nodes.slice(0, index));
    kept.after(...nodes.slice(index + 1));
  }

  dress(node, grip) {
    node.grip = grip;
    if (!(this.drag?.moved && this.drag.node === node)) put(node, grip.x, grip.y);
    const isSlider = grip.kind !== "choice" && this.manipulation.scene.has_time;
    const attributes = {
      class: `cc-handle cc-${grip.kind}${isSlider ? " cc-slides" : ""}`,
      role: isSlider ? "slider" : "button",
      "aria-label": grip.label,
      "aria-orientation": isSlider ? (this.diagram.isDown ? "vertical" : "horizontal") : null,
      "aria-valuemin": isSlider ? plainNumber(grip.least) : null,
      "aria-valuemax": isSlider ? plainNumber(Math.max(this.manipulation.scene.end, grip.value ?? 0)) : null,
      "aria-valuenow": isSlider ? plainNumber(grip.value ?? this.manipulation.scene.end) : null,
      "aria-valuetext": isSlider ? grip.told : null,
      "data-message": grip.id,
      "data-item": grip.item ? itemName(grip.item) : null,
      "data-choice": grip.choice,
    };
    const signature = JSON.stringify([attributes, grip.number]);
    if (node.signature === signature) return;
    node.signature = signature;
    setShape(node, attributes);
    node.title.textContent = grip.kind === "choice" || NAMED_AS_THEY_ARE.includes(grip.item?.kind) ? grip.label : "";
    node.number.textContent = grip.number ?? "";
  }

  /** Where the user chooses: light up the arrows of the messages that can be delivered. */
  drawGlow() {
    const lines = this.manipulation.manual.grips().map(({ id }) => this.arrows.get(id)).filter(Boolean);
    const pixels = (end) => this.diagram.toPixel(...end);
    this.glow.replaceChildren(...lines.map(({ from, to }) => this.preview.line(pixels(from), pixels(to), "cc-glowing")));
  }

  // ------------------------------------------------------------------------- the pointer

  /** The handle at the pointer; of overlapping ones the nearest. */
  nearest(event) {
    const [x, y] = this.diagram.within(event);
    let least = TARGET + 2;
    let found = event.target.closest?.(".cc-handle") ?? null;
    for (const grip of this.grips) {
      const distance = Math.hypot(grip.x - x, grip.y - y);
      if (distance < least - 0.5) [found, least] = [this.nodes.get(grip.key), distance];
    }
    return found;
  }

  hover(event) {
    if (this.drag || event.buttons) return;
    this.light(this.nearest(event));
    this.passOn(new MouseEvent("mousemove", event), event); // for the tooltip of what lies below
  }

  leave() {
    this.light(null);
    this.under()?.dispatchEvent(new MouseEvent("mouseout", { bubbles: true }));
  }

  light(node) {
    if (node === this.lit) return;
    this.lit?.classList.remove("cc-near");
    this.lit = node;
    node?.classList.add("cc-near");
  }

  under() {
    return this.diagram.node.querySelector(".nsewdrag");
  }

  /** Pass an event on to the diagram: wheel and tooltips work under a handle, too. */
  passOn(copy, event) {
    if (event.type === "wheel") event.preventDefault();
    this.under()?.dispatchEvent(copy);
  }

  press(event) {
    if (event.button !== 0 || !event.isPrimary || this.drag) return;
    const node = this.nearest(event);
    if (!node) return;
    event.preventDefault();
    event.stopPropagation();
    const hadFocus = document.activeElement === node;
    node.focus({ preventScroll: true });
    const { position } = this.diagram.fromPixel(this.diagram.within(event));
    const { grip } = node;
    const value = this.valueOf(grip) ?? grip.atPosition;
    const end = new AbortController();
    this.drag = { node, key: grip.key, from: event, position, value, hadFocus, moved: false, end };
    const listen = (type, act) => window.addEventListener(type, act, { capture: true, signal: end.signal });
    listen("pointermove", (moved) => this.move(moved));
    listen("pointerup", (released) => this.release(released));
    listen("pointercancel", () => this.endDrag());
    window.addEventListener("blur", () => this.endDrag(), { signal: end.signal });
    listen("keydown", (pressed) => this.escape(pressed));
  }

  escape(event) {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.endDrag();
  }

  move(event) {
    const { drag } = this;
    if (!drag.moved && Math.hypot(event.clientX - drag.from.clientX, event.clientY - drag.from.clientY) < DRAG_FROM) return;
    if (!drag.node.classList.contains("cc-slides")) return;
    if (!drag.moved) this.manipulation.closePopups();
    this.manipulation.explorer.root.classList.add("cc-dragging");
    drag.moved = true;
    drag.at = event;
    this.drawDrag();
  }

  /** Draw the preview for the pointer's position and the present zoom. */
  drawDrag() {
    const { drag, diagram } = this;
    const { grip } = drag.node;
    const { left, top, right, bottom } = diagram.plotBox();
    const [x, y] = diagram.within(drag.at);
    const { position } = diagram.fromPixel([Math.max(left, Math.min(x, right)), Math.max(top, Math.min(y, bottom))]);
    drag.time = Math.max(grip.least, roundedTime(this.manipulation.scene, drag.value + position - drag.position, this.span()));
    this.drawAt(grip, drag.time);
    put(drag.node, ...diagram.spot(grip.lane, drag.time));
  }

  drawAt(grip, time) {
    if (grip.loss) this.preview.mark(grip.lane, time, `lost at ${plainNumber(time)}`);
    else if (grip.kind === "message") this.preview.message(this.manipulation.scene, grip.message, time);
    else this.preview.item(this.manipulation.scene, grip.item, time);
  }

  /** How much time the diagram shows. */
  span() {
    const { left, top, right, bottom } = this.diagram.plotBox();
    return Math.abs(this.diagram.fromPixel([right, bottom]).position - this.diagram.fromPixel([left, top]).position);
  }

  release(event) {
    const { drag } = this;
    const { grip } = drag.node;
    const along = this.diagram.isDown ? event.clientY - drag.from.clientY : event.clientX - drag.from.clientX;
    this.endDrag();
    if (!drag.moved) this.manipulation.pressed(grip, event, drag.node);
    else if (Math.abs(along) >= 3 && drag.time !== undefined) this.moveTo(grip, drag.time);
  }

  /** End the drag. A handle that was dragged by mouse loses the focus again, so that the keys step the run. */
  endDrag() {
    const { drag } = this;
    if (!drag) return;
    this.drag = null;
    drag.end.abort();
    this.manipulation.explorer.root.classList.remove("cc-dragging");
    this.preview.clear();
    if (!drag.hadFocus && document.activeElement === drag.node) drag.node.blur();
    put(drag.node, drag.node.grip.x, drag.node.grip.y);
  }

  // ------------------------------------------------------------------------- changing a time

  /** The value that the user asked for last, else the present one. */
  valueOf(grip) {
    return this.manipulation.pendingValues.of(grip.key) ?? grip.value;
  }

  /** Submit an edit: a message arrives, or an item happens, at `time`. */
  moveTo(grip, time) {
    const wanted = twelveDigits(Math.max(grip.least, time));
    if (wanted === this.valueOf(grip)) return;
    this.manipulation.pendingValues.ask(grip.key, wanted, editOf(this.manipulation.scene, grip, wanted));
    this.showPendingValue(grip);
  }

  /** Later counts from the present value; earlier from where the message's own delay would put it. */
  nudge(grip, amount) {
    const asked = this.manipulation.pendingValues.of(grip.key);
    const own = amount < 0 && grip.message && !grip.loss ? grip.message.due : grip.value;
    const from = asked ?? own ?? Math.max(grip.least, stepAt(this.manipulation.scene, this.manipulation.step).time);
    this.moveTo(grip, from + amount);
  }

  /** Show the value that was asked for last as if Python had answered already. */
  showPendingValue(grip = null) {
    const keys = [...this.manipulation.pendingValues.values.keys()];
    const shown = grip ?? this.grips.find(({ key }) => key === keys.at(-1));
    const time = shown && this.manipulation.pendingValues.of(shown.key);
    if (time == null) return this.manipulation.mark();
    this.drawAt(shown, time);
    put(this.nodes.get(shown.key), ...this.diagram.spot(shown.lane, time));
  }

  /** Keys on a handle never step the run. */
  key(event) {
    const node = event.target.closest?.(".cc-handle");
    if (!node || event.ctrlKey || event.metaKey || event.altKey) return;
    const { grip } = node;
    const act = this.keyAct(event, grip, node);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  keyAct({ key, shiftKey, repeat }, grip, node) {
    const { scene } = this.manipulation;
    if (key === "Enter" || key === " ") return () => !repeat && this.manipulation.entered(grip, node);
    if (grip.kind === "choice") return STEP_KEYS.has(key) ? () => {} : null;
    if (key === "Delete" || key === "Backspace") return grip.item ? () => this.manipulation.remove(grip.item) : null;
    if (key.toLowerCase() === "h") return grip.message ? () => this.manipulation.holdOrRelease(grip.message) : null;
    if (!scene.has_time) return STEP_KEYS.has(key) ? () => {} : null;
    const signs = { ArrowLeft: -1, ArrowRight: 1, PageUp: -1, PageDown: 1 };
    const down = this.diagram.isDown ? 1 : -1; // up and down follow the time axis if it runs down, else the custom of sliders
    const sign = { ...signs, ArrowDown: down, ArrowUp: -down }[key];
    if (sign) return () => this.nudge(grip, sign * nudgeSize(scene, shiftKey || key.startsWith("Page")));
    if (key === "Home") return () => this.moveTo(grip, grip.least);
    if (key === "End") return () => this.moveTo(grip, scene.end);
    return null;
  }
}

function handleNode() {
  const node = shape("g", { tabindex: 0 },
    shape("circle", { class: "cc-target", r: TARGET }),
    shape("circle", { class: "cc-grip", r: RING }),
    shape("text", { class: "cc-number", "text-anchor": "middle", dy: "0.36em" }),
    shape("title"),
  );
  node.number = node.querySelector("text");
  node.title = node.querySelector("title");
  return node;
}

function put(node, x, y) {
  node?.setAttribute("transform", `translate(${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10})`);
}

function isWithin({ x, y }, { left, top, right, bottom }) {
  return x >= left - 2 && x <= right + 2 && y >= top - 2 && y <= bottom + 2;
}

/** The handle at a message's head: its arrival. `value` is when it arrives (null: never). */
function messageGrip(scene, message) {
  const { id, reference, name, where, arrival, sent_time: sentTime } = message;
  const loss = message.lost_on_its_way && message.faults.find(({ kind }) => kind === "lose");
  if (loss) return lossGrip(scene, message, loss);
  const sent = `sent at ${plainNumber(sentTime)}`;
  const told = arrival == null ? `${neverInWords(message)}, ${sent}` : `arrives at ${plainNumber(arrival)}, ${sent}`;
  const waits = arrival != null && message.behind ? `, waits behind ${message.behind}` : "";
  return {
    kind: "message",
    key: JSON.stringify(reference),
    id,
    message,
    lane: message.target,
    position: message.arrival_position,
    value: arrival,
    least: message.earliest,
    label: scene.has_time ? `Arrival of ${name} ${where}` : `${name} ${where}`,
    told: told + waits,
    order: message.arrival_position ?? message.sent_position,
  };
}

/** The handle where a message is lost on its way, which the scenario plans. */
function lossGrip(scene, message, { item }) {
  const { id, reference, name, where, lost_time: lostTime, sent_time: sentTime } = message;
  return {
    kind: "message",
    key: JSON.stringify(reference),
    id,
    message,
    loss: item,
    lane: message.source,
    position: null,
    value: lostTime,
    least: sentTime,
    label: scene.has_time ? `Loss of ${name} ${where}` : `${name} ${where}`,
    told: `lost at ${plainNumber(lostTime)}, sent at ${plainNumber(sentTime)}`,
    order: message.sent_position,
  };
}

/** Why a message never arrives. */
function neverInWords({ behind, lost }) {
  if (lost != null) return "lost";
  return behind ? `waits behind ${behind}, which never arrives` : "held, never arrives";
}

const NAMED_AS_THEY_ARE = ["snapshot", "fault"];

/** The handle at a script line's event, at an initiation or at a fault. */
function itemGrip(scene, item, events) {
  const label = itemLabel(item, events);
  return {
    kind: "item",
    key: JSON.stringify(item.item),
    item,
    lane: item.lane,
    position: item.position,
    value: item.time,
    least: item.since,
    label: scene.has_time && !NAMED_AS_THEY_ARE.includes(item.kind) ? `Time of ${label}` : label,
    told: `at ${plainNumber(item.time)}`,
    order: item.position,
  };
}

/** `script:3`, `snapshots:0`. */
export function itemName({ item }) {
  return Object.entries(item)[0].join(":");
}

/** `send H at P2`, `event C at P1`, `Start of snapshot S1 at P1`, `P2 crashes`. */
export function itemLabel(item, events) {
  if (item.kind === "snapshot") return `Start of snapshot ${item.snapshot} at ${item.process}`;
  if (item.kind === "fault") return item.fault;
  const at = events.firstFrom(item.step);
  const name = item.label ?? (at < events.count ? events.label(at) : "");
  return `${item.kind === "send" ? "send" : "event"} ${name} at ${item.process}`;
}

/** The edit by which a message arrives or is lost, or an item happens, at `time`. */
function editOf(scene, grip, time) {
  if (grip.loss) return { do: "change", item: grip.loss, at: twelveDigits(time) };
  if (grip.kind === "message") return { do: "delay", message: grip.message.reference, delay: delayFor(grip.message, time) };
  return { do: "change", item: grip.item.item, at: twelveDigits(Math.max(0, time - grip.item.since)) };
}
