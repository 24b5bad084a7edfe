"""Consistent Cut: `streamlit run app.py`."""

import streamlit as st

from views.vendor import ROUTES

app = st.App("views/pages.py", routes=ROUTES)
