"""Consistent Cut: `streamlit run app.py`."""

import streamlit as st
from starlette.middleware import Middleware

from views import addresses, exports, vendor
from views.gate import Gate, frames_named, hosts_named

app = st.App(
    "views/pages.py",
    routes=[*vendor.ROUTES, *exports.ROUTES, *addresses.ROUTES],
    middleware=[Middleware(Gate, hosts=hosts_named(), frames=frames_named())],
)
