/* The Break it tab: a switch for each rule that a run may break on purpose, and the harm that this does here. */

import { el, refill, setText, unbroken } from "../page/dom.js";
import { RunLink } from "./run_link.js";
import { metersOf } from "./meter.js";

const SMALLEST_HELP = "A message that comes earlier or later changes as much as the time between. One more message counts as a quarter of the run's time, one more snapshot as half of it.";

export class BreakView {
  constructor(node, explorer) {
    this.node = node;
    this.explorer = explorer;
    explorer.root.querySelector(".cc-broken button").addEventListener("click", () => {
      explorer.openTab("break");
      explorer.revealPanel();
    });
    this.harm = el("section", { class: "cc-harm", "aria-label": "What the broken rule does in this run" });
    this.switches = el("div", { class: "cc-switches" });
    this.lead = el("p");
    this.others = el("p", { class: "cc-quiet" });
    this.everyRun = new RunLink("every-run");
    node.append(this.harm, this.everyRun.node, el("h3", {}, "Break a rule"), this.lead, this.switches, this.others);
  }

  show(scene) {
    const { switches, rules, of_others: others } = scene.broken;
    const on = JSON.stringify(rules.map(({ name }) => name));
    const isNew = this.on != null && this.on !== on && rules.length > 0;
    Object.assign(this, { scene, on });
    setText(this.lead, switches.length ? "Each rule is there for a reason. Break one on purpose, and see what goes wrong." : `There is no rule of ${scene.algorithm} here that can be broken.`);
    refill(this.harm, JSON.stringify(scene.broken), () => (rules.length ? this.harmOf(scene.broken) : []));
    this.harm.hidden = !rules.length;
    refill(this.switches, JSON.stringify(switches), () => this.rowsOf(switches));
    setText(this.others, others.length ? `More rules can be broken in runs that follow those of ${others.join(" or ")}: choose them in the tab Change.` : "");
    this.showPending();
    if (isNew) this.harm.scrollIntoView({ block: "nearest" });
  }

  /** A switch says what the run does now, also after Python has refused a change. */
  history(data) {
    this.everyRun.follow(data);
    for (const { name, is_on: isOn } of this.scene?.broken.switches ?? []) {
      this.switches.querySelector(`[data-rule="${name}"]`).checked = isOn;
    }
  }

  pending() {
    if (this.scene) this.showPending();
  }

  showPending() {
    const isAsked = this.explorer.visit.outbox.waiting.some(({ edit }) => edit.do === "lay_bare");
    if (!this.smallest) return;
    this.smallest.disabled = isAsked;
    setText(this.smallest, isAsked ? "Looking for it …" : "Show the smallest counterexample");
  }

  rowsOf(switches) {
    const [main, more] = [false, true].map((isMore) => switches.filter((own) => own.is_more === isMore).map((own) => this.rowOf(own)));
    return more.length ? [...main, el("h4", {}, "More rules"), ...more] : main;
  }

  rowOf({ name, switch: text, breaks, said_in: source, is_on: isOn }) {
    const onchange = ({ target }) => this.explorer.submit({ do: "break", rule: name, on: target.checked });
    const about = `cc-switch-${name}`;
    return el("div", { class: "cc-switch" },
      el("label", { class: "cc-check" },
        el("input", { type: "checkbox", role: "switch", "data-rule": name, "aria-describedby": about, checked: isOn, onchange }),
        el("span", {}, text),
      ),
      el("p", { id: about }, `Breaks: ${breaks} `, el("span", { class: "cc-quiet" }, `(${source})`)),
    );
  }

  // ------------------------------------------------------------------------- the harm

  harmOf({ rules, harm, refused, recorded }) {
    this.smallest = null;
    return [
      ...rules.map(({ switch: text }) => el("h3", {}, `✗ Broken here: ${text}`)),
      ...rules.map(({ breaks, said_in: source }) => el("p", {}, `The rule says: ${breaks} `, el("span", { class: "cc-quiet" }, `(${source})`))),
      ...(harm.length ? this.found(harm, refused, recorded) : this.nothing(rules)),
    ];
  }

  found(harm, refused, recorded) {
    return [
      el("h4", {}, "What it does in this run"),
      el("ul", { class: "cc-verdicts" }, ...harm.map((own) => this.failing(own))),
      ...recorded.flatMap(({ snapshot, goods }) => [el("h4", {}, `What ${snapshot} has recorded`), ...metersOf(goods)]),
      ...refused.flatMap((own) => this.forbidden(own)),
    ];
  }

  /** A check that fails; a click goes to the step at which that is known, and selects the message that shows it. */
  failing({ snapshot, check, text, step, message }) {
    const several = this.scene.snapshots.length > 1 ? ` (${snapshot})` : "";
    const onclick = () => this.explorer.point({ step, message });
    return el("li", { "data-holds": "false" },
      el("span", { class: "cc-tick", "aria-hidden": "true" }, "✗"),
      el("button", { type: "button", class: "cc-came", title: `Go to step ${step}`, onclick }, el("strong", {}, `${check}${several}: `), ...unbroken(text)),
    );
  }

  forbidden({ snapshot, told }) {
    const open = () => {
      this.explorer.note({ proof: snapshot, swaps: null });
      this.explorer.openTab("proof");
    };
    return [
      el("h4", {}, "Dijkstra's argument fails"),
      el("p", {}, ...unbroken(`The argument (tab Proof) swaps steps until the run passes through the recorded state. It fails at ${told}: that is sent after the cut and received before it, and no swap brings a receive before its send. So the run could not have passed through this state.`)),
      "still" in this.explorer.root.dataset ? null : el("div", { class: "cc-row" }, el("button", { type: "button", onclick: open }, "Open Proof")),
    ].filter(Boolean);
  }

  /** No check fails: the way to a run in which one does. */
  nothing(rules) {
    this.smallest = el("button", { type: "button", title: SMALLEST_HELP, onclick: () => this.explorer.submit({ do: "lay_bare" }) });
    const elsewhere = rules.filter((rule) => rule.elsewhere).map(({ elsewhere: { title, link } }) => {
      const onclick = () => this.explorer.submit({ do: "restore", link });
      return el("button", { type: "button", onclick }, `See it in “${title}”`);
    });
    return [
      el("p", {}, el("strong", {}, "Every check still holds in this run."), " The broken rule does no harm here. Another run may need the rule."),
      el("div", { class: "cc-row" }, this.smallest, ...elsewhere),
    ];
  }
}

/** Say above the diagram what a run breaks, so that it is not taken for the right algorithm. */
export function showBanner(root, { rules }) {
  const node = root.querySelector(".cc-broken");
  node.hidden = !rules.length;
  root.toggleAttribute("data-broken", rules.length > 0);
  setText(node.querySelector("span"), `A rule is broken here on purpose: ${rules.map((rule) => rule.switch).join("; ")}.`);
}
