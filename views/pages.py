"""The pages of the app and their navigation."""

from typing import Any

import streamlit as st

from diagrams.browser.scripts import ASSETS, page_styles
from views import addresses, collecting, compare, ensembles, every_run, explore, history, live, sizing, traces

collecting.settle()  # all pages are imported
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
    "History": st.Page(lambda: history.page(pages), title="History", url_path=addresses.HISTORY),
}
page = st.navigation(list(pages.values()), position="top")
addresses.note_page(page.url_path)
page.run()
