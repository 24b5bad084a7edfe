"""Plotly.js from this very server, so that the app works without any other network."""

import gzip
from functools import cache

from plotly.offline import get_plotlyjs, get_plotlyjs_version
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PLOTLY_URL = f"/vendor/plotly-{get_plotlyjs_version()}.min.js"

_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Encoding": "gzip",
}


@cache
def _plotly_js() -> bytes:
    return gzip.compress(get_plotlyjs().encode("utf-8"), compresslevel=6, mtime=0)


def _serve_plotly(request: Request) -> Response:
    """The library, compressed once per process; its version is in the address, so browsers keep it."""
    return Response(_plotly_js(), media_type="text/javascript", headers=_HEADERS)


ROUTES = [Route(PLOTLY_URL, _serve_plotly)]
