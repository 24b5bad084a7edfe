/* The storage and the recovery in the tab Change. Each control submits one edit. */

import { el, field, ownName, refill, setText } from "../page/dom.js";
import { plainNumber } from "../run/times.js";

export class StorageSettings {
  constructor(submit) {
    this.submit = submit;
    this.refused = el("p", { id: ownName("cc-no-storage"), class: "cc-quiet" });
    this.isOn = el("input", { type: "checkbox", "aria-describedby": this.refused.id, onchange: () => submit({ do: "storage", on: this.isOn.checked }) });
    this.settings = el("div", { class: "cc-settings" });
    this.node = el("section", { class: "cc-storage", "aria-label": "Storage" },
      el("h3", {}, "Storage"),
      el("label", { class: "cc-check" }, this.isOn, el("span", {}, "Store the snapshots, so that the system can go back to them")),
      this.refused,
      this.settings,
    );
  }

  /** The switch and the fields say what holds in this run, also after Python has refused a change. */
  show({ storage: { is_on: isOn, refused, settings } }) {
    showSwitch(this.isOn, isOn, this.refused, refused);
    this.settings.hidden = !settings.length;
    refill(this.settings, JSON.stringify(settings.map(({ name }) => name)), () => settings.map((own) => this.setting(own)));
    for (const { name, kind, value } of settings) {
      const control = this.settings.querySelector(`[data-name="${name}"]`);
      if (kind === "flag") control.checked = value;
      else control.value = value ?? "";
    }
  }

  /** A box, or a field: what is usual holds where it is empty. */
  setting({ name, kind, words, usual }) {
    const isFlag = kind === "flag";
    const onchange = () => {
      if (!control.reportValidity()) return;
      const value = isFlag ? control.checked : control.valueAsNumber;
      this.submit({ do: "storage", name, ...(!isFlag && control.value === "" ? {} : { value }) });
    };
    const about = isFlag ? { type: "checkbox" } : { type: "number", step: "any", placeholder: usual ?? "any" };
    const control = el("input", { ...about, "data-name": name, onchange });
    return isFlag ? el("label", { class: "cc-check" }, control, el("span", {}, words)) : field(words, control);
  }
}

export class RecoverySettings {
  constructor(submit) {
    const say = (name, value) => submit({ do: "recovery", name, value });
    const box = (name, value) => el("input", { type: "checkbox", onchange: (event) => say(name, value(event.target.checked)) });
    this.onCrash = box("on", (isOn) => (isOn ? "crash" : ""));
    this.refused = el("p", { id: ownName("cc-no-recovery"), class: "cc-quiet" });
    this.onCrash.setAttribute("aria-describedby", this.refused.id);
    this.detect = el("input", { type: "number", min: 0, step: "any", required: true, onchange: () => this.detect.reportValidity() && say("detect", this.detect.valueAsNumber) });
    this.at = el("input", { type: "text", autocomplete: "off", placeholder: "none", pattern: "[0-9., ]*", title: "Times, such as 10, 25.5", onchange: () => this.at.reportValidity() && say("at", timesIn(this.at.value)) });
    this.goals = el("p", { class: "cc-quiet" });
    this.processes = el("div", { class: "cc-row", role: "group", "aria-label": "Processes that go back" });
    this.sayProcesses = (chosen, all) => say("processes", chosen.length === all.length ? [] : chosen);
    this.channels = box("channels", (isOn) => isOn);
    this.fence = box("fence", (isOn) => isOn);
    this.totals = el("p", { class: "cc-totals", role: "status" });
    this.how = el("div", {},
      el("p", { class: "cc-who" }, "Processes that go back:"), this.processes,
      el("label", { class: "cc-check" }, this.channels, el("span", {}, "Put the channels' contents back")),
      el("label", { class: "cc-check" }, this.fence, el("span", {}, "Fence off the old epoch: what was sent before the recovery changes nothing any more")),
    );
    this.node = el("section", { class: "cc-recovery", "aria-label": "Recovery" },
      el("h3", {}, "Recovery"),
      this.refused,
      el("label", { class: "cc-check" }, this.onCrash, el("span", {}, "After each crash, go back to the last valid snapshot")),
      el("div", { class: "cc-row" }, this.detectField = field("Time from a crash to its recovery", this.detect), field("Recoveries at the times", this.at)),
      this.goals,
      this.how,
      this.totals,
    );
  }

  /** The switches and fields say what holds in this run, also after Python has refused a change. */
  show({ recovery, totals, processes, has_time: hasTime }) {
    const { is_on: isOn, refused, on_crash: onCrash, detect, at, goals, processes: chosen, channels, fence } = recovery;
    showSwitch(this.onCrash, onCrash, this.refused, refused);
    this.detect.value = plainNumber(detect);
    this.detectField.hidden = !onCrash || !hasTime;
    this.at.value = at.map(plainNumber).join(", ");
    this.at.disabled = Boolean(refused);
    setText(this.goals, goalsInWords(at, goals));
    this.goals.hidden = !this.goals.textContent;
    this.how.hidden = !isOn;
    this.showProcesses(processes, chosen);
    this.channels.checked = channels;
    this.fence.checked = fence;
    setText(this.totals, totals.map(totalInWords).join("; "));
    const isKept = totals.every(({ total, end }) => total === end);
    this.totals.dataset.holds = String(isKept);
    this.totals.hidden = isKept && !(isOn && totals.length); // without a recovery only what is wrong is worth a word
  }

  showProcesses(all, chosen) {
    const onchange = () => this.sayProcesses(boxes().filter((own) => own.checked).map((own) => own.value), all);
    const boxes = () => [...this.processes.querySelectorAll("input")];
    refill(this.processes, JSON.stringify(all), () => all.map((name) => el("label", { class: "cc-check" }, el("input", { type: "checkbox", value: name, onchange }), name)));
    for (const own of boxes()) own.checked = !chosen.length || chosen.includes(own.value);
  }
}

/** A switch, and the reason why it cannot be used. */
function showSwitch(control, isOn, node, refused) {
  control.checked = isOn;
  control.disabled = Boolean(refused);
  setText(node, refused);
  node.hidden = !refused;
}

function timesIn(text) {
  return text.split(/[, ]+/).filter(Boolean).map(Number);
}

/** Which of the recoveries at a time go back to a snapshot that the user has chosen, in sentences. */
function goalsInWords(at, goals) {
  const told = at.map((time, number) => goals[number] && `The one at ${plainNumber(time)} goes back to ${goals[number]}.`).filter(Boolean);
  const others = told.length && told.length < at.length ? ["The others go back to the last valid snapshot."] : [];
  return [...told, ...others].join(" ");
}

/** How much there is at the end of the run: "970 money at the end of the run, of 1,000". */
function totalInWords({ unit, total, end }) {
  const number = (value) => value.toLocaleString("en");
  return `${number(end)} ${unit} at the end of the run, of ${number(total)} ${end === total ? "✓" : "✗"}`;
}
