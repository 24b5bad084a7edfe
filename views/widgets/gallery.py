"""The dialogs that open a scenario: the gallery of bundled ones, and the user's own files."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from itertools import groupby

import streamlit as st

from diagrams.export.svg import thumbnail
from diagrams.scene.composition import compose
from diagrams.shapes.theme import PALETTES
from sim.document import library
from sim.document.scenario import Scenario
from sim.edit.link import Shared
from sim.run.execution import run
from views.server.budget import answering, run_of
from views.server.errors import complaining
from views.server.plain_words import as_text, sentence
from views.server.tabs import for_this_tab
from views.server.uploads import DELAYS, MOST_MEGABYTES, by_name, shared_from, snaps_in, suffix_of
from views.server.words import EXPECTED
from views.widgets import words
from views.widgets.expected_snaps import expected_snaps

TEASER = 120  # letters on a card

Open = Callable[[Shared], None]


@st.dialog(words.SCENARIOS, width="large")
def gallery(open_run: Open) -> None:
    """Every bundled scenario as a card with a small picture, by group."""
    scenarios = [library.load(name) for name in library.names()]
    groups = list(dict.fromkeys(scenario.group for scenario in scenarios))
    scenarios.sort(key=lambda scenario: groups.index(scenario.group))
    for group, members in groupby(scenarios, key=lambda scenario: scenario.group):
        st.subheader(as_text(group))
        with st.container(key=f"cut-cards-{groups.index(group)}"):  # a grid: assets/page.css
            for scenario in members:
                _card(scenario, open_run)


def _card(scenario: Scenario, open_run: Open) -> None:
    with st.container(border=True, height="stretch", gap="small"):
        st.html(_picture(scenario.name, st.context.theme.type or "light"))
        st.markdown(f"**{as_text(scenario.title or scenario.name)}**")
        st.caption(as_text(teaser(scenario.story)))
        if st.button(words.OPEN, key=f"open-{scenario.name}", width="stretch"):
            with complaining():
                open_run(Shared(scenario=scenario.name))
                st.rerun()


@st.cache_data
def _picture(name: str, theme: str) -> str:
    """The scenario's diagram as an <img>, which can neither run scripts nor load anything."""
    svg = thumbnail(compose(run(library.load(name))), PALETTES[theme])
    encoded = b64encode(svg.encode("utf-8")).decode("ascii")
    return f'<img class="cut-picture" alt="" src="data:image/svg+xml;base64,{encoded}">'


def teaser(story: str) -> str:
    """The first two sentences of a story, or as many whole words of them as fit on a card."""
    text = " ".join(story.split())
    first = text.find(". ")
    second = text.find(". ", first + 1) if first >= 0 else -1
    text = text if second < 0 else text[: second + 1]
    if len(text) <= TEASER:
        return text
    return text[:TEASER].rpartition(" ")[0].rstrip(",;:.") + " …"


@st.dialog(words.OPEN_A_FILE)
def open_file(open_run: Open) -> None:
    """Open a scenario from the user's files; bad ones get one sentence. Expected .snap files are compared first."""
    uploads = st.file_uploader(sentence(EXPECTED), accept_multiple_files=True, max_upload_size=MOST_MEGABYTES)
    if not uploads:
        return
    files = {name: upload.getvalue() for name, upload in by_name(uploads).items()}
    with complaining(), for_this_tab() as is_open, answering(is_open):
        shared, expected = shared_from(files), snaps_in(files)
        if expected:
            has_delays = any(suffix_of(name) == DELAYS for name in files)
            expected_snaps(run_of(shared.base()), expected, has_delays=has_delays)
            if not st.button(words.OPEN_THIS_RUN, type="primary"):
                return
        open_run(shared)
        st.rerun()
