"""The frames of the live cluster, at `/live/frames/{id}?end=&width=&orientation=&services=`, for every browser.

The record of a snapshot is at `/live/frames/{id}/{snapshot}`.

Every visitor of the page may watch. A browser sends the mark of its frame, and gets 304 if that is the newest one.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from sim.core.errors import InputError
from views.live import words
from views.live.cluster import LIVE, LiveRun
from views.live.frame import Frames, read_place
from views.live.record import record
from views.server.addresses import below_base
from views.server.plain_words import sentence

_FRAMES: WeakKeyDictionary[LiveRun, Frames] = WeakKeyDictionary()


def _serve(request: Request) -> Response:
    run = LIVE.find(request.path_params["run"])
    if run is None:
        return PlainTextResponse(words.GONE, 404)
    frame = _FRAMES.setdefault(run, Frames(run)).frame(read_place(request.query_params))
    if frame is None:
        return PlainTextResponse(words.MANY_WATCH, 503)
    headers = {"ETag": f'"{frame.mark}"', "Cache-Control": "no-store", "Content-Encoding": "gzip"}
    if request.headers.get("if-none-match") == f'"{frame.mark}"':
        return Response(status_code=304, headers=headers)
    return Response(frame.content, media_type="application/json", headers=headers)


def _serve_record(request: Request) -> Response:
    run = LIVE.find(request.path_params["run"])
    if run is None:
        return PlainTextResponse(words.GONE, 404)
    try:
        return JSONResponse(record(run, request.path_params["snapshot"]), headers={"Cache-Control": "no-store"})
    except InputError as problem:
        return PlainTextResponse(sentence(str(problem)), 404)


URL = below_base("/live/frames")
ROUTES = [Route(f"{URL}/{{run}}", _serve), Route(f"{URL}/{{run}}/{{snapshot}}", _serve_record)]
