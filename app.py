"""Consistent Cut: `streamlit run app.py`."""

import streamlit as st
from starlette.middleware import Middleware

from views.ensembles import slider_runs
from views.farewell import farewell
from views.live import routes as live_routes
from views.server import addresses, vendor
from views.server.gate import Gate, check_settings
from views.server.held_uploads import HeldUploads
from views.widgets import exports

check_settings()
app = st.App(
    "views/pages.py",
    routes=[*vendor.ROUTES, *exports.ROUTES, *slider_runs.ROUTES, *live_routes.ROUTES, *addresses.ROUTES],
    middleware=[Middleware(Gate), Middleware(HeldUploads)],
    lifespan=farewell,
)
