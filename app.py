"""Consistent Cut: `streamlit run app.py`."""

import streamlit as st

from views import addresses, exports, vendor

app = st.App("views/pages.py", routes=[*vendor.ROUTES, *exports.ROUTES, *addresses.ROUTES])
