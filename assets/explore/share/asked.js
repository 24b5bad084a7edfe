/* What the export dialog asks about one option of a format (diagrams/scene/export_options.py): its controls and their values. */

import { el, field, fillMenu } from "../page/dom.js";

const OWN = "own"; // of the lengths in a menu

/** One option: `nodes` to show, and `query`, what the server is told. It begins with what the page shows, or its default. */
export class Asked {
  constructor(option, explorer) {
    const { fields, query } = (KINDS[option.kind] ?? menu)(option, explorer);
    this.option = option;
    this.query = query;
    this.fields = fields.map(({ label, control, isOpen }) => ({ node: labelled(label, control), control, isOpen }));
    for (const { node } of this.fields) node.dataset.kind = option.kind;
  }

  get nodes() {
    return this.fields.map(({ node }) => node);
  }

  /** Show its fields or not; some are open for certain values of others only. */
  show(isAsked) {
    for (const { node, isOpen } of this.fields) node.hidden = !isAsked || isOpen?.() === false;
  }

  /** Whether it is remembered from run to run: how a file is set, and which signs it has, but not what is on show. */
  get isKept() {
    const { is_seen: isSeen, kind, begins } = this.option;
    return (!isSeen || kind === "flag") && kind !== "shown" && begins !== "orientation";
  }

  /** What its controls hold, and the same again from what was remembered. */
  get held() {
    return this.fields.map(({ control }) => (control.type === "checkbox" ? control.checked : control.value));
  }

  set held(values) {
    this.fields.forEach(({ control }, place) => {
      const before = control.value;
      if (control.type === "checkbox") control.checked = values[place] === true;
      else control.value = String(values[place] ?? before);
      if (control.selectedIndex === -1) control.value = before; // there is no such choice any more
    });
  }
}

function labelled(label, control) {
  if (control.type === "hidden") return control;
  return control.type === "checkbox" ? el("label", { class: "cc-check" }, control, label) : field(label, control);
}

/** By the kind of an option: its fields, each a control with a label, and what they say as a part of the query. */
const KINDS = {
  step: (option, explorer) => one(option, aStep(explorer, beginOf(option, explorer))),
  number: (option, explorer) => one(option, number(beginOf(option, explorer), option.least, option.most)),
  text: (option, explorer) => one(option, el("input", { type: "text", value: beginOf(option, explorer) })),
  shown: (option, { visit }) => one(option, el("input", { type: "hidden", value: visit.shown[option.begins] ?? "" })),
  cut: (option, { cut }) => one(option, cutMenu(cut)),
  steps: (option, explorer) => {
    const { scene } = explorer;
    const [from, to] = [aStep(explorer, scene.first), aStep(explorer, lastOf(option, scene))];
    return { fields: range(option.label, from, "to step", to), query: () => ({ from: from.value, to: to.value }) };
  },
  crop: (option, explorer) => {
    const { scene } = explorer;
    const begin = explorer.isLong() ? [scene.first, lastOf(option, scene)] : ["", ""];
    const [from, to] = begin.map((value) => aStep(explorer, value, { required: false, placeholder: "all" }));
    const isPart = () => from.value || to.value;
    const part = () => `${from.value || scene.first}..${to.value || scene.until}`;
    return { fields: range(option.label, from, "diagram to step", to), query: () => (isPart() ? { [option.name]: part() } : {}) };
  },
  flag: ({ name, label }) => {
    const box = el("input", { type: "checkbox" });
    return { fields: [{ label, control: box }], query: () => (box.checked ? { [name]: "yes" } : {}) };
  },
  length: ({ name, label, choices = [], default: unsaid, otherwise = "", example }) => {
    const chosen = el("select");
    const lengths = choices.map(([value, said]) => [value, said ? `${said}, ${spaced(value)}` : spaced(value)]);
    fillMenu(chosen, [...(otherwise && !unsaid ? [["", otherwise]] : []), ...lengths, [OWN, "another …"]]);
    chosen.value = unsaid ?? (otherwise ? "" : example);
    const own = el("input", { type: "text", placeholder: `such as ${spaced(example)}` });
    const isOwn = () => chosen.value === OWN;
    const length = () => (isOwn() ? own.value.replaceAll(" ", "") : chosen.value);
    const fields = [{ label, control: chosen }, { label: `${label}: another`, control: own, isOpen: isOwn }];
    return { fields, query: () => ({ [name]: length() }) };
  },
};

function menu(option, explorer) {
  const chosen = el("select");
  fillMenu(chosen, option.choices);
  chosen.value = beginOf(option, explorer);
  return one(option, chosen);
}

function one({ name, label }, control) {
  return { fields: [{ label, control }], query: () => ({ [name]: control.value }) };
}

function range(label, from, toLabel, to) {
  return [{ label, control: from }, { label: toLabel, control: to }];
}

/** What the page shows, or the option's default. */
function beginOf({ begins, choices = [], default: unsaid }, { visit, scheme }) {
  const drawing = choices.some(([value]) => value === visit.tab) ? visit.tab : null;
  const shown = { ...visit.shown, step: visit.step, orientation: visit.orientation, scheme, drawing };
  return shown[begins] ?? unsaid ?? "";
}

function number(value, min, max, attributes = {}) {
  return el("input", { type: "number", min, max, step: "1", required: true, value, ...attributes });
}

function aStep({ scene }, value, attributes) {
  return number(value, 0, scene.last, attributes);
}

/** The last step of a range that begins with the first one on show. */
function lastOf({ most }, scene) {
  return Math.min(scene.until, scene.first + (most ?? Infinity) - 1);
}

/** None, or the cut that one holds, which is chosen while it is on show. */
function cutMenu({ isShown, frontier, cuts }) {
  const chosen = el("select");
  const name = cuts.named(frontier);
  fillMenu(chosen, [["", "none"], [name, "the one you hold"]]);
  chosen.value = isShown ? name : "";
  return chosen;
}

/** A length as people write it: 84mm becomes 84 mm. */
export function spaced(length) {
  return length.replace(/(?<=\d)(?=[a-z])/, " ");
}
