"""Files that the browser caches: Plotly.js and the explorer's script and style sheet, from this server.

So the app needs no other network, and answers to edits stay small. A hash or version in each address makes the
browser fetch a changed file.
"""

import gzip
from collections.abc import Callable
from functools import cache
from hashlib import sha256

from plotly.offline import get_plotlyjs, get_plotlyjs_version
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diagrams.browser import scripts as browser
from views.server.addresses import below_base

_HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Encoding": "gzip",
}


def _address(name: str, suffix: str, text: str) -> str:
    return below_base(f"/vendor/{name}-{sha256(text.encode()).hexdigest()[:16]}{suffix}")


PLOTLY_URL = below_base(f"/vendor/plotly-{get_plotlyjs_version()}.min.js")
SCRIPT_URL = _address("explorer", ".js", browser.script())
COMPARE_URL = _address("comparison", ".js", browser.comparison_script())
LIVE_URL = _address("live", ".js", browser.live_script())
STYLES_URL = _address("explorer", ".css", browser.styles())


def _file(url: str, read: Callable[[], str], media_type: str) -> Route:
    """The route of a file that is compressed once per process."""

    @cache
    def content() -> bytes:
        return gzip.compress(read().encode("utf-8"), compresslevel=6, mtime=0)

    def serve(request: Request) -> Response:
        return Response(content(), media_type=media_type, headers=_HEADERS)

    return Route(url, serve)


ROUTES = [
    _file(PLOTLY_URL, get_plotlyjs, "text/javascript"),
    _file(SCRIPT_URL, browser.script, "text/javascript"),
    _file(COMPARE_URL, browser.comparison_script, "text/javascript"),
    _file(LIVE_URL, browser.live_script, "text/javascript"),
    _file(STYLES_URL, browser.styles, "text/css"),
]
