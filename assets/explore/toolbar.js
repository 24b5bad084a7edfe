/* A small toolbar at an arrow or an event: what can be done with it, right where it is. */

class Toolbar extends Popup {
  /** @param stage the Manipulation that owns this */
  constructor(stage) {
    super(stage.layer, { class: "cc-toolbar", role: "toolbar" });
    this.stage = stage;
    const button = (text, onclick) => el("button", { type: "button", onclick }, text);
    this.title = el("strong");
    this.earlier = button("Earlier", () => this.nudge(-1));
    this.later = button("Later", () => this.nudge(1));
    this.hold = button("Hold", () => stage.holdOrRelease(this.message));
    this.edit = button("Edit…", (event) => stage.openForm(this.item, this.point, this.giveBack, event.detail === 0));
    this.remove = button("Delete", () => stage.remove(this.item));
    this.shut = el("button", { type: "button", class: "cc-shut", "aria-label": "Close", onclick: () => this.close(true) }, "×");
    this.node.append(this.title, this.earlier, this.later, this.hold, this.edit, this.remove, this.shut);
    this.node.addEventListener("keydown", (event) => walk(event, this.buttons(), ["ArrowLeft", "ArrowRight"]));
  }

  buttons() {
    return [...this.node.querySelectorAll("button")].filter((button) => !button.hidden && !button.disabled);
  }

  /** @param subject {message, item}: a message, a script line, or a message with the line that sends it */
  openAt(point, subject, options) {
    this.key_ = options.key;
    this.fill(subject);
    this.open(point, { ...options, keepFree: this.heads(), alsoThere: this.stage.handles.points(), focus: this.buttons()[0] });
  }

  fill({ message = null, item = null }) {
    const { scene, events } = this.stage;
    Object.assign(this, { message, item });
    const name = message ? `${message.name} ${message.where}` : itemLabel(item, events);
    setText(this.title, name);
    this.node.setAttribute("aria-label", `Change ${name}`);
    this.earlier.hidden = this.later.hidden = !hasTimes(scene);
    this.hold.hidden = !message;
    const release = Boolean(message) && isHeld(message);
    setText(this.hold, release ? "Release" : "Hold");
    this.edit.hidden = !item;
    this.remove.hidden = !item || Boolean(message);
  }

  /** The same thing in a new scene; gone, if it is not there any more. */
  show() {
    if (!this.isOpen) return;
    const subject = this.stage.subjectOf(this.key_);
    if (!subject) return this.close(true);
    this.fill(subject);
    placeBeside(this.node, this.point, this.heads(), this.stage.handles.points());
  }

  nudge(sign) {
    const grip = this.stage.handles.fixed.find(({ key }) => key === this.key_);
    if (grip) this.stage.handles.nudge(grip, sign * nudgeOf(this.stage.scene, true));
  }

  /** The places that stay in sight: the head of the arrow, or the event. */
  heads() {
    const { diagram, scene } = this.stage;
    const { message, item } = this;
    if (message) return message.arrival_place == null ? [] : [diagram.toPixel(message.target, message.arrival_place)];
    return scene.items.includes(item) ? [diagram.toPixel(item.lane, item.place)] : [];
  }
}

/** Whether somebody holds this very message; one that only waits behind another is not held. */
function isHeld(message) {
  return message.held && !message.behind;
}

/** Move the focus among `nodes` with two arrow keys; Home and End too. */
function walk(event, nodes, [back, on]) {
  const place = nodes.indexOf(document.activeElement);
  const count = nodes.length;
  const to = {
    [on]: place < 0 ? 0 : (place + 1) % count,
    [back]: place < 0 ? count - 1 : (place - 1 + count) % count,
    Home: 0,
    End: count - 1,
  }[event.key];
  const typing = event.target.matches("input, select");
  if (to === undefined || !count || (typing && !["ArrowDown", "ArrowUp"].includes(event.key))) return;
  if (event.target.matches("select")) return;
  event.preventDefault();
  event.stopPropagation();
  nodes[to].focus();
}

/** The form that changes a script line or an initiation. Only what differs is sent. */
class ItemForm extends Popup {
  constructor(stage) {
    super(stage.layer, { class: "cc-item-form", role: "dialog" });
    this.stage = stage;
    this.title = el("strong");
    this.body = el("input", { type: "text", autocomplete: "off" });
    this.target = el("select");
    this.process = el("select");
    this.time = el("input", { type: "number", step: "any", required: true });
    this.fields = {
      body: field("Body", this.body),
      to: field("to", this.target),
      process: field("at", this.process),
      time: field("Time", this.time),
    };
    this.waits = el("p", { class: "cc-quiet" });
    const cancel = el("button", { type: "button", onclick: () => this.close(true) }, "Cancel");
    const save = el("button", { type: "submit", class: "cc-primary" }, "Save");
    const onsubmit = (event) => {
      event.preventDefault();
      this.save();
    };
    this.node.append(
      el(
        "form",
        { onsubmit },
        this.title,
        el("div", { class: "cc-row" }, ...Object.values(this.fields)),
        this.waits,
        el("div", { class: "cc-row" }, save, cancel),
      ),
    );
  }

  openAt(point, item, options) {
    const { scene, events } = this.stage;
    const { kind, process } = item;
    this.item = item;
    const name = itemLabel(item, events);
    setText(this.title, `Edit ${name}`);
    this.node.setAttribute("aria-label", `Edit ${name}`);
    const targets = scene.channels.filter(({ source }) => source === process).map(({ target }) => target);
    this.body.value = item.body == null ? "" : typeof item.body === "string" ? item.body : JSON.stringify(item.body);
    this.body.placeholder = scene.body_hint;
    offer(this.target, targets);
    this.target.value = item.to;
    offer(this.process, scene.processes);
    this.process.value = process;
    this.time.min = item.since;
    this.time.value = plainNumber(item.time);
    this.fields.body.hidden = this.fields.to.hidden = kind !== "send";
    this.fields.process.hidden = kind === "send";
    this.fields.time.hidden = !hasTimes(scene);
    setText(this.waits, item.after == null ? "" : `It waits for ${item.after}, which happens at ${plainNumber(item.since)}.`);
    this.was = this.values();
    const first = kind === "send" ? this.body : this.time;
    const keepFree = [this.stage.diagram.toPixel(item.lane, item.place)];
    this.open(point, { ...options, keepFree, alsoThere: this.stage.handles.points() });
    first.focus();
  }

  values() {
    const { kind } = this.item;
    const own = kind === "send" ? { body: this.body.value, to: this.target.value } : { process: this.process.value };
    return { ...own, time: this.time.value };
  }

  save() {
    const now = this.values();
    const changed = Object.entries(now).filter(([key, value]) => value !== this.was[key]);
    const { item } = this;
    this.close(true);
    if (!changed.length) return;
    const { time, ...rest } = Object.fromEntries(changed);
    const at = time === undefined ? {} : { at: clean(Math.max(0, Number(time) - item.since)) };
    this.stage.hub.submit({ do: "change", item: item.item, ...rest, ...at });
  }

  /** Another script line may have this one's number now: then the form is about nothing. */
  show() {
    if (!this.isOpen) return;
    const now = this.stage.scene.items.find((item) => itemName(item) === itemName(this.item));
    const same = now && ["kind", "process", "label", "to"].every((key) => now[key] === this.item[key]);
    if (same) this.item = now;
    else this.close(true);
  }
}
