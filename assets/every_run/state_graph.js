/* The graph of states (diagrams/charts/state_graph.py): one state is chosen, by a click, the arrow keys or its number. */

const NEAR = 20; // pixels from a state within which a click chooses it

/** Streamlit calls this with the component's data at every run of the page. */
export default function show({ parentElement, data, setTriggerValue }) {
  const root = parentElement.querySelector(".cut-states");
  root.graph ??= new StateGraph(root);
  root.graph.take(data, (number) => setTriggerValue("open", number));
}

class StateGraph {
  constructor(root) {
    this.root = root;
    this.picture = root.querySelector(".cut-graph");
    this.number = root.querySelector("input");
    this.about = root.querySelector(".cut-state");
    this.picture.addEventListener("click", (event) => {
      const state = event.detail ? this.nearest(event) : event.target.closest("[data-state]");
      if (state) this.choose(Number(state.dataset.state), { isFocused: true });
    });
    this.picture.addEventListener("keydown", (event) => this.key(event));
    this.number.addEventListener("input", () => this.number.value !== "" && this.choose(Number(this.number.value)));
    root.querySelector("button").addEventListener("click", () => this.open(this.chosen));
  }

  take({ svg, states, how }, open) {
    this.open = open;
    if (this.svg === svg) return;
    Object.assign(this, { svg, states });
    this.picture.innerHTML = svg;
    this.root.querySelector(".cut-how").textContent = how;
    this.number.max = states.length - 1;
    this.choose(0);
    this.root.dataset.ready = "true";
  }

  choose(wanted, { isFocused = false } = {}) {
    const chosen = Math.min(Math.max(Math.trunc(wanted) || 0, 0), this.states.length - 1);
    const { about, way } = this.states[chosen];
    this.chosen = chosen;
    if (Number(this.number.value) !== chosen || this.number.value === "") this.number.value = chosen;
    this.about.innerHTML = about;
    for (const state of this.picture.querySelectorAll("[data-state]")) {
      const isChosen = Number(state.dataset.state) === chosen;
      state.setAttribute("aria-pressed", String(isChosen));
      state.setAttribute("tabindex", isChosen ? "0" : "-1");
      if (isChosen && isFocused) state.focus();
    }
    for (const step of this.picture.querySelectorAll("[data-edge]")) {
      step.classList.toggle("cut-on-way", way.includes(Number(step.dataset.edge)));
    }
  }

  /** The state whose middle is nearest to a click, if one is near: small states lie closer than a finger is wide. */
  nearest({ clientX, clientY }) {
    let found, least = NEAR;
    for (const state of this.picture.querySelectorAll("[data-state]")) {
      const { x, y, width, height } = state.querySelector("path").getBoundingClientRect();
      const far = Math.hypot(x + width / 2 - clientX, y + height / 2 - clientY);
      if (far < least) [found, least] = [state, far];
    }
    return found;
  }

  /** Left and right go back and on by a step, up and down to the neighbours in the column. */
  key(event) {
    const next = { ArrowLeft: "before", ArrowRight: "after", ArrowUp: "above", ArrowDown: "below" }[event.key];
    if (!next && event.key !== "Enter") return;
    event.preventDefault();
    if (next && this.states[this.chosen][next] != null) this.choose(this.states[this.chosen][next], { isFocused: true });
  }
}
