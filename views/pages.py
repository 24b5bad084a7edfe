"""The pages of the app and their navigation."""

from typing import Any

import streamlit as st

from diagrams.browser.scripts import ASSETS, page_styles
from views.compare import page as compare
from views.ensembles import page as ensembles
from views.every_run import page as every_run
from views.explore import page as explore
from views.history import page as history
from views.history import words as history_words
from views.live import page as live
from views.server import addresses, garbage
from views.sizing import page as sizing
from views.traces import page as traces

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
page.run()
