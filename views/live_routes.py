"""The frames of the live cluster: `/live/frames/{id}?end=&width=&orientation=&services=`, asked for by every browser.

Whoever may open the page may watch. A browser that has a frame already sends its mark, and is told that it is new.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from views.addresses import below_base
from views.live_frame import Frames, read_place
from views.live_runs import LIVE, LiveRun

_FRAMES: WeakKeyDictionary[LiveRun, Frames] = WeakKeyDictionary()


def _serve(request: Request) -> Response:
    run = LIVE.find(request.path_params["run"])
    if run is None:
        return PlainTextResponse("This cluster is not there any more; reload the page.", 404)
    frame = _FRAMES.setdefault(run, Frames(run)).frame(read_place(request.query_params))
    if frame is None:
        return PlainTextResponse("Many look at this cluster; your turn comes in a few seconds.", 503)
    headers = {"ETag": f'"{frame.mark}"', "Cache-Control": "no-store", "Content-Encoding": "gzip"}
    if request.headers.get("if-none-match") == f'"{frame.mark}"':
        return Response(status_code=304, headers=headers)
    return Response(frame.content, media_type="application/json", headers=headers)


URL = below_base("/live/frames")
ROUTES = [Route(f"{URL}/{{run}}", _serve)]
