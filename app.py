"""Consistent Cut: `streamlit run app.py`."""

import streamlit as st

from views import exports, vendor

app = st.App("views/pages.py", routes=[*vendor.ROUTES, *exports.ROUTES])
