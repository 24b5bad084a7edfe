/* Which processes fail, beside the recovery line: those that do not fail may keep their present states. */

import { el, ownName } from "../page/dom.js";

const WHAT = "A process that fails loses its present state and goes back to a checkpoint. The others go back only if they have to.";

export class FailureChoice {
  /**
   * @param snapshot the copies, with `failure`: the processes that fail, and those that are down anyway
   * @param submit takes an edit
   */
  constructor({ id, failure, processes }, submit) {
    this.snapshot = id;
    this.names = processes.map(({ name }) => name);
    this.failed = new Set(failure.failed);
    const isTotal = this.failed.size === this.names.length;
    const choose = (names) => submit({ do: "parameter", name: "failed", value: names.length < this.names.length ? names : [] });
    const button = (text, choice, isPressed, names) =>
      el("button", { type: "button", "data-choice": choice, "aria-pressed": String(isPressed), onclick: () => choose(names) }, text);
    const toggles = this.names.map((name) => {
      const own = button(name, name, !isTotal && this.failed.has(name), isTotal ? [name] : this.changed(name));
      if (failure.down.includes(name)) Object.assign(own, { disabled: true, title: `${name} is down at the end of the run.` });
      return own;
    });
    const heading = ownName("failure");
    this.node = el("div", { class: "cc-failure", role: "group", "aria-labelledby": heading },
      el("h4", { id: heading }, "Which processes fail?"),
      el("div", { class: "cc-selector" }, button("All (total failure)", "", isTotal, []), ...toggles),
      el("p", { class: "cc-quiet" }, WHAT),
    );
  }

  /** The processes that fail if `name` fails too, or no longer. If none is left, all fail. */
  changed(name) {
    return this.names.filter((own) => this.failed.has(own) !== (own === name));
  }

  /** The choice that has the focus (null: none). */
  get focused() {
    return this.node.querySelector(":focus")?.dataset.choice ?? null;
  }

  focus(choice) {
    this.node.querySelector(`[data-choice="${CSS.escape(choice)}"]`)?.focus();
  }
}
