"""The pages of the app and their navigation."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from diagrams.browser.scripts import ASSETS, page_styles
from views.compare import page as compare
from views.compare import words as compare_words
from views.ensembles import page as ensembles
from views.ensembles import words as ensembles_words
from views.every_run import page as every_run
from views.every_run import words as every_run_words
from views.explore import page as explore
from views.explore import words as explore_words
from views.history import page as history
from views.history import words as history_words
from views.live import page as live
from views.live import words as live_words
from views.server import addresses, garbage
from views.sizing import page as sizing
from views.sizing import words as sizing_words
from views.traces import page as traces
from views.traces import words as traces_words
from views.widgets.glossary import glossary

TERMS: Mapping[str, Sequence[str]] = {  # that a page explains, by its address
    "": explore_words.TERMS,
    addresses.COMPARE: compare_words.TERMS,
    addresses.EVERY_RUN: every_run_words.TERMS,
    addresses.ENSEMBLES: ensembles_words.TERMS,
    addresses.SIZING: sizing_words.TERMS,
    addresses.LIVE: live_words.TERMS,
    addresses.TRACES: traces_words.TERMS,
    addresses.HISTORY: history_words.TERMS,
}

garbage.settle()  # all pages are imported
st.set_page_config(page_title="Consistent Cut", page_icon=ASSETS / "icon.svg", layout="wide")
st.logo(ASSETS / "icon.svg", size="small")
st.html(f"<style>{page_styles()}</style>")
pages: dict[str, Any] = {
    "Explore": explore.as_page(),
    "Compare": compare.as_page(),
    "Every run": every_run.as_page(),
    "Ensembles": ensembles.as_page(),
    "Sizing": sizing.as_page(),
    "Live": live.as_page(),
    "Traces": traces.as_page(),
    "History": st.Page(lambda: history.page(pages), title=history_words.TITLE, url_path=addresses.HISTORY),
}
page = st.navigation(list(pages.values()), position="top")
addresses.note_page(page.url_path)
glossary(TERMS[page.url_path])
page.run()
