"""The pages of the app and the way between them."""

import streamlit as st

from diagrams.browser import ASSETS
from views import explore

st.set_page_config(page_title="Consistent Cut", page_icon=ASSETS / "icon.svg", layout="wide")
st.navigation([st.Page(explore.page, title="Explore", default=True)], position="top").run()
