/* A class's round of Predict: one link for all, another run for each student, and a count of the codes they read out. */

import { Dialog } from "../page/dialog.js";
import { copied, el, field, setText } from "../page/dom.js";
import { codeOf, isRoundName, NUMBERS, plainCode, roundName, Tally } from "../run/round_code.js";
import { addressOf } from "../share/address.js";

const MOST_TOLD = 6; // problems of a file of codes that are told one by one
const MOST_NAMED = 8; // processes that are a part each; more are one part together

/** The round of this tab, from its beginning until another begins. Never sent or stored. */
let round = null;

/** The code of a checked prediction, by its run: of the first try. Never sent or stored. */
const codes = new Map();

/** A number for another run, at random. */
export function anyNumber() {
  return crypto.getRandomValues(new Uint32Array(1))[0] % NUMBERS;
}

/** The parts of the answer: the processes, the channels that are recorded empty, and those that hold messages. */
function partsOf(processes) {
  const states = processes.length > MOST_NAMED ? ["Where processes record"] : processes.map((name) => `Where ${name} records`);
  return [...states, "Channels that are empty", "Channels that hold messages"];
}

/** The code for a checked prediction of a run of a round (undefined: it is of none), with the parts as in `partsOf`. */
export function codeFor(ofRound, { processes, channels }, truth) {
  if (!ofRound) return undefined;
  const key = `${ofRound.name} ${ofRound.number}`;
  const all = (rows) => (rows.length ? Number(rows.every(({ isRight }) => isRight)) : 2);
  const isEmpty = ({ name }) => !truth.channels[name]?.length;
  const kinds = [channels.filter(isEmpty), channels.filter((channel) => !isEmpty(channel))];
  const states = processes.length > MOST_NAMED ? [processes] : processes.map((one) => [one]);
  const parts = [...states, ...kinds].map(all);
  if (!codes.has(key)) codes.set(key, codeOf(ofRound.name, ofRound.number, parts));
  return codes.get(key);
}

/** The lecturer's dialog. */
export class ClassRound {
  constructor(explorer) {
    this.explorer = explorer;
    const select = () => this.link.select();
    this.about = el("p");
    this.link = el("input", { type: "text", readonly: true, "aria-label": "Link for the class", onfocus: select });
    this.copied = el("span", { class: "cc-said-so", role: "status" });
    this.name = el("input", { type: "text", size: "5", maxlength: "7", autocomplete: "off", spellcheck: "false", onchange: () => this.rename() });
    const onEnter = (event) => event.key === "Enter" && this.submit(event);
    this.code = el("textarea", { rows: "1", autocomplete: "off", autocapitalize: "characters", spellcheck: "false", onkeydown: onEnter });
    this.told = el("ul", { class: "cc-round-told", role: "status" });
    this.counts = el("table", { class: "cc-round-counts" });
    const form = el("form", { class: "cc-row", onsubmit: (event) => this.submit(event), novalidate: true },
      field("Code", this.code),
      el("button", { type: "submit", class: "cc-primary" }, "Count it"),
      button("Open a file of codes", () => this.openFile()),
    );
    this.dialog = new Dialog(explorer, "Class round",
      this.about,
      el("div", { class: "cc-link" }, this.link, button("Copy", () => this.copy())),
      el("div", { class: "cc-row" }, field("Round", this.name), button("New round", () => this.start()), this.copied),
      el("h3", {}, "Codes"),
      form,
      this.told,
      this.counts,
    );
    this.dialog.node.classList.add("cc-round");
  }

  open() {
    if (!round) this.start();
    else this.refresh();
    this.dialog.open();
    this.code.focus();
  }

  /** A new round of the run on show; a name that is given brings back an earlier one. */
  start(name = roundName(crypto.getRandomValues(new Uint8Array(8)))) {
    const { data, scene } = this.explorer;
    const names = partsOf(scene.processes);
    round = { name, names, title: scene.title, link: linkOf(data.link, name), tally: new Tally(name, names.length) };
    this.tell([]);
    this.refresh();
  }

  rename() {
    const name = plainCode(this.name.value);
    if (isRoundName(name)) return this.start(name);
    this.name.value = round.name;
    return this.tell(["The name of a round has four letters or digits, without 0, I, L, O and U."]);
  }

  refresh() {
    setText(this.about, round.link ? howTo(round.title) : TOO_LONG);
    this.link.value = round.link;
    this.name.value = round.name;
    setText(this.copied, "");
    this.counts.replaceChildren(...this.rows());
  }

  async copy() {
    setText(this.copied, (await copied(this.link)) ? "Copied ✓" : "Press Ctrl+C to copy it.");
  }

  submit(event) {
    event.preventDefault();
    this.take(this.code.value);
    this.code.select();
  }

  /** Count the codes of a text file, one on each line. */
  openFile() {
    const input = el("input", { type: "file", accept: ".txt,.csv,text/plain" });
    input.addEventListener("change", async () => this.take(await input.files[0].text()));
    input.click();
  }

  take(text) {
    const before = round.tally.taken.size;
    const problems = round.tally.take(text);
    const counted = round.tally.taken.size - before;
    this.tell([counted ? `${counted} counted ✓` : null, ...problems.slice(0, MOST_TOLD), more(problems.length - MOST_TOLD)]);
    if (counted && !problems.length) this.code.value = "";
    this.refresh();
  }

  tell(sentences) {
    this.told.replaceChildren(...sentences.filter(Boolean).map((text) => el("li", {}, text)));
  }

  /** The table: how many got which part right. */
  rows() {
    const { parts, whole } = round.tally.counts();
    const row = (name, { right, asked }) =>
      el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, asked ? `${right} of ${asked}` : "–"), el("td", {}, bar(right, asked)));
    const head = el("tr", {}, el("th", { scope: "col" }, "Part"), el("th", { scope: "col" }, "right"), el("th", { "aria-hidden": "true" }));
    return [head, ...parts.map((count, part) => row(round.names[part], count)), row("Everything", whole)];
  }
}

function button(text, onclick) {
  return el("button", { type: "button", onclick }, text);
}

/** The link for the class; empty if the run is too long for a link. */
function linkOf(link, name) {
  if (!link) return "";
  const address = new URL(addressOf(link, 0));
  address.searchParams.delete("step");
  address.searchParams.set("round", name);
  return address.href;
}

function howTo(title) {
  return (
    `Give this link to everyone. Each student who opens it gets another run like “${title}” and predicts it. ` +
    "After Check the student's page shows a code. Type the codes here as they are read out. They stay in this tab."
  );
}

const TOO_LONG = "This run is too long for a link: open one of the scenarios for a round.";

function more(count) {
  return count > 0 ? `${count} more were not counted.` : null;
}

/** A share as a bar. */
function bar(right, asked) {
  return el("span", { class: "cc-round-bar", "aria-hidden": "true", style: `--cc-share: ${asked ? (100 * right) / asked : 0}%` });
}
