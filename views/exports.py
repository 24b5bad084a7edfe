"""A session's run as a file: `/export/{session}/{format}?step=&orientation=&theme=&from=&to=`.

A format takes its own options (diagrams/export_options.py); options of other formats are checked and ignored.

Whoever knows a session's id may read its run; ids are random, and only that session's browser learns its id.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from diagrams.export import exporter, formats, options_of, read_options
from diagrams.export_options import SHARED, STEP, STEPS, Option
from diagrams.scene import Scene
from diagrams.view import View
from sim.core.errors import InputError
from views.addresses import below_base
from views.explore_session import SESSIONS, ExploreSession
from views.page_words import sentence

AT_ONCE = 2  # exports at a time; others wait
_WRITERS = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="export")


async def _serve(request: Request) -> Response:
    session, name = SESSIONS.get(request.path_params["session"]), request.path_params["format"]
    if session is None:
        return _refusal("this page is no longer known to the server; reload it and export again", 404)
    if name not in formats():
        return _refusal(f"there is no format {name[:20]!r}; there are {', '.join(formats())}", 404)
    try:
        work = asyncio.get_running_loop().run_in_executor(_WRITERS, _written, session, name, request.query_params)
        content, filename = await work
    except InputError as problem:
        return _refusal(str(problem), 400)
    headers = {"Content-Disposition": f'attachment; filename="{filename}"', "Cache-Control": "no-store"}
    return Response(content, media_type=exporter(name).MEDIA_TYPE, headers=headers)


def _written(session: ExploreSession, name: str, asked: Mapping[str, str]) -> tuple[bytes, str]:
    """The file and its name; diagrams arrange the processes as the page does. Raises InputError for a bad query."""
    scene = session.scene.arranged(session.look.arrangement)
    view = view_of(scene, name, asked)
    return exporter(name).export(scene, view), filename(scene, name, view)


def view_of(scene: Scene, name: str, asked: Mapping[str, str]) -> View:
    """The view in a query, with the defaults of `View.of`. Raises InputError."""
    own = {option.name for option in options_of(name)}
    given = {key: asked[key] for key in {*own, *(option.name for option in SHARED)} if asked.get(key)}
    ends = asked.get("from", ""), asked.get("to", "")
    if any(ends):
        if not all(ends):
            raise InputError("give both ends of the range of steps, or neither")
        given[STEPS.name] = "-".join(ends)
    values = read_options(name, given)
    for step in (values.get(STEP.name, 0), *values.get(STEPS.name, ())):
        if not 0 <= step <= scene.last:
            raise InputError(f"step {step}: this run has steps 0 to {scene.last}")
    return View.of(scene, **{key: value for key, value in values.items() if key in own})


def filename(scene: Scene, name: str, view: View) -> str:
    """A name such as lecture-step-12.svg: letters that every system allows, and never a path."""
    stem = _plain(scene.execution.scenario.name) or "run"
    stem += "".join(f"-{option.name}-{_told(option, scene, view)}" for option in options_of(name) if option.in_name)
    return stem + exporter(name).SUFFIX


def _told(option: Option, scene: Scene, view: View) -> str:
    """The value of an option in the name of a file."""
    if option.name == STEPS.name:
        first, last = view.steps or (scene.first, scene.until)
        return f"{first}-{last}"
    is_shared = option.name in [other.name for other in SHARED]
    return _plain(str(getattr(view, option.name) if is_shared else option.of(view)))


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:60]


def _refusal(text: str, status: int) -> Response:
    return PlainTextResponse(sentence(text), status)


URL = below_base("/export")
ROUTES = [Route(f"{URL}/{{session}}/{{format}}", _serve)]
