/* The coordinator in the tab Change: with or without one, and its settings. Each control submits one edit. */

import { el, field, ownName, refill, setText } from "../page/dom.js";

export class CoordinatorSettings {
  constructor(submit) {
    this.submit = submit;
    const onchange = () => submit({ do: "coordinator", ...(this.isOn.checked ? { on: true, timeout: this.timeout } : { on: false }) });
    this.refused = el("p", { id: ownName("cc-no-coordinator"), class: "cc-quiet" });
    this.isOn = el("input", { type: "checkbox", "aria-describedby": this.refused.id, onchange });
    this.settings = el("div", { class: "cc-settings" });
    this.node = el("section", { class: "cc-coordinator", "aria-label": "Coordinator" },
      el("h3", {}, "Coordinator"),
      el("label", { class: "cc-check" }, this.isOn, "A coordinator starts the snapshots, and decides how each ends"),
      this.refused,
      this.settings,
    );
  }

  /** The switch and the fields say what holds in this run, also after Python has refused a change. */
  show({ coordinator: { is_on: isOn, refused, of_others: ofOthers, timeout, settings } }) {
    this.timeout = timeout;
    this.isOn.checked = isOn;
    this.isOn.disabled = Boolean(refused);
    setText(this.refused, refused && `${refused}; ${ofOthers}.`);
    this.refused.hidden = !refused;
    this.settings.hidden = !settings.length;
    refill(this.settings, JSON.stringify(settings.map(({ name }) => name)), () => settings.map((own) => this.setting(own)));
    for (const { name, value } of settings) this.settings.querySelector(`[data-name="${name}"]`).value = value ?? "";
  }

  /** A menu, or a field: what is usual holds where it is empty. */
  setting({ name, kind, words, usual, options }) {
    const isMenu = kind === "text";
    const onchange = () => {
      if (!control.reportValidity()) return;
      const value = isMenu ? control.value : control.valueAsNumber;
      this.submit({ do: "coordinator", name, ...(control.value === "" ? {} : { value }) });
    };
    const control = isMenu
      ? el("select", { "data-name": name, onchange }, ...options.map(([value, text]) => el("option", { value }, text)))
      : el("input", { type: "number", step: "any", placeholder: usual ?? "any", "data-name": name, onchange });
    return field(words, control);
  }
}
