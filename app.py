"""Consistent Cut: `streamlit run app.py`."""

import streamlit as st
from starlette.middleware import Middleware

from views import addresses, exports, live_routes, slider_runs, vendor
from views.farewell import farewell
from views.gate import Gate, check_settings
from views.held_uploads import HeldUploads

check_settings()
app = st.App(
    "views/pages.py",
    routes=[*vendor.ROUTES, *exports.ROUTES, *slider_runs.ROUTES, *live_routes.ROUTES, *addresses.ROUTES],
    middleware=[Middleware(Gate), Middleware(HeldUploads)],
    lifespan=farewell,
)
