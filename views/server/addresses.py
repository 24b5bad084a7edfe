"""Addresses on this server: below its base path (`server.baseUrlPath`, none at first), and those of the pages.

Streamlit's client looks for its server below the address that was opened, finds none below a page, and tries again one
level up. So a page that is opened directly gets the address of the server: no request fails, and it appears sooner.
"""

from functools import cache
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from streamlit.url_util import make_url_path

COMPARE, EVERY_RUN, ENSEMBLES, SIZING = "compare", "every-run", "ensembles", "sizing"
TRACES, HISTORY, LIVE = "traces", "history", "live"
PAGE, PAGE_BEFORE = "page", "page_before"  # in the session: at this run of the script, and at the one before

_HEAD = "<head>"
_SERVER = '<script>window.__streamlit = { BACKEND_BASE_URL: new URL(".", location.href).href };</script>'


@cache
def document() -> str:
    """Streamlit's own document, which also says that the server is one level above a page's address."""
    text = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    assert text.count(_HEAD) == 1
    return text.replace(_HEAD, _HEAD + _SERVER)


def note_page(path: str) -> None:
    """Note in the session which page is drawn, and which one was drawn before."""
    st.session_state[PAGE_BEFORE] = st.session_state.get(PAGE)
    st.session_state[PAGE] = path


def _serve(request: Request) -> Response:
    return HTMLResponse(document(), headers={"Cache-Control": "no-cache"})


def below_base(path: str) -> str:
    """A path such as /vendor/x.js below the server's base path, as in /class/vendor/x.js."""
    return str(make_url_path(st.get_option("server.baseUrlPath"), path))


ROUTES = [Route(below_base(name), _serve) for name in (COMPARE, EVERY_RUN, ENSEMBLES, SIZING, LIVE, TRACES, HISTORY)]
