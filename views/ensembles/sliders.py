"""The sliders of the page Ensembles: a thousand runs of a bank, drawn again while a user drags.

Its component asks the server by itself (slider_runs.py); the page's script learns only which run to open.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from diagrams.browser import modules
from diagrams.browser.scripts import ASSETS
from sim.document.files import parse_toml
from views.ensembles import slider_runs, words
from views.ensembles.slider_runs import SLIDERS, URL, WORKLOAD, SliderState, document_of, read
from views.explore.opening import open_scenario, step_of
from views.server.budget import answering
from views.server.errors import complaining
from views.server.tabs import for_this_tab
from views.server.vendor import PLOTLY_URL

_HTML = f"""<div class="cut-try">
  <p class="cut-told">{words.DRAG}</p>
  <div class="cut-sliders"></div>
  <p class="cut-sentence"></p>
  <p class="cut-heard" role="status"></p>
  <div class="cut-bars"></div>
  <div class="cut-open"><span>{words.OPEN_THESE}</span></div>
  <p class="cut-how"></p>
</div>"""

_mount = st.components.v2.component(
    "consistent_cut_sliders", html=_HTML, js=modules.join(ASSETS / "sliders" / "sliders.js"), isolate_styles=False
)


def sliders() -> None:
    """Draw the sliders, and open the run that was clicked."""
    slider_runs.get_ready()
    data = {
        "url": URL, "plotly_url": PLOTLY_URL, "graphs": words.GRAPHS,
        "sliders": [slider._asdict() for slider in SLIDERS],
    }  # fmt: skip
    wanted = _mount(key="ensemble-sliders", data=data, on_open_change=lambda: None).open
    if isinstance(wanted, dict):
        _open(wanted)


@complaining()
def _open(wanted: dict[str, Any]) -> None:
    """Go to Explore with one run. Raises InputError."""
    state, seed = read(wanted), wanted.get("seed")
    if not isinstance(seed, int) or not 0 <= seed < slider_runs.RUNS:
        return
    with for_this_tab() as is_open, answering(is_open):
        scenario = replace(parse_toml(document_of(state), WORKLOAD), name=f"{WORKLOAD}-{seed}", seed=seed)
        titled = replace(scenario, title=words.title_of_seed(seed, slider_runs.RUNS), story=story(state, seed))
        open_scenario(titled, step_of(scenario, "S1"))


def story(state: SliderState, seed: int) -> str:
    """The text of the Story tab."""
    first = words.story_of_seed(seed, state.processes, state.transfers, words.GRAPHS[state.topology])
    return f"{first}\n\n{words.story_of_delays(state.delay, state.marker_delay, state.at)}"
