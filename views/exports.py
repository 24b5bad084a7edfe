"""What a session shows, as a file: `/export/{session}/{format}?step=&orientation=&theme=&from=&to=`.

Whoever knows a session's id may read its run; ids are random and are told to that session's browser alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from diagrams.export import View, exporter, formats
from diagrams.scene import Scene
from diagrams.theme import PALETTES
from sim.scenario import ORIENTATIONS, ScenarioError
from views.session import SESSIONS, ExploreSession, sentence

AT_ONCE = 2  # exports that are written at the same time; others wait
_WRITERS = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="export")

OF_STEPS = ("deck", "gif")  # what goes through steps: its name says which
OF_A_STEP = ("svg", "png", "pdf", "tikz", "mermaid", "plantuml")  # what shows one step: its name says which


async def _serve(request: Request) -> Response:
    session, name = SESSIONS.get(request.path_params["session"]), request.path_params["format"]
    if session is None:
        return _refusal("this page is no longer known to the server; reload it and export again", 404)
    if name not in formats():
        return _refusal(f"there is no format {name[:20]!r}; there are {', '.join(formats())}", 404)
    try:
        work = asyncio.get_running_loop().run_in_executor(_WRITERS, _written, session, name, request.query_params)
        content, filename = await work
    except ScenarioError as problem:
        return _refusal(str(problem).replace("--", ""), 400)  # some are worded for the command line
    headers = {"Content-Disposition": f'attachment; filename="{filename}"', "Cache-Control": "no-store"}
    return Response(content, media_type=exporter(name).MEDIA_TYPE, headers=headers)


def _written(session: ExploreSession, name: str, asked: Mapping[str, str]) -> tuple[bytes, str]:
    """The file and its name. Raises ScenarioError with what is wrong with what was asked for."""
    scene = session.scene
    view = view_of(scene, asked, name not in OF_STEPS)
    return exporter(name).export(scene, view), filename(scene, name, view)


def view_of(scene: Scene, asked: Mapping[str, str], of_a_step: bool = True) -> View:
    """The view that a query asks for; what it leaves out is as `View.of` has it. Raises ScenarioError."""
    step = _step(scene, asked, "step")
    first, last = _step(scene, asked, "from"), _step(scene, asked, "to")
    if (first is None) != (last is None):
        raise ScenarioError("give both ends of the range of steps, or neither")
    if first is not None and last is not None and first > last:
        raise ScenarioError(f"the steps {first} to {last} run backwards; give the earlier one first")
    steps = None if first is None or last is None else (first, last)
    orientation = _one_of(asked, "orientation", ORIENTATIONS)
    theme = _one_of(asked, "theme", tuple(PALETTES)) or "light"
    return View.of(scene, step if of_a_step else None, orientation, theme, steps)


def _step(scene: Scene, asked: Mapping[str, str], key: str) -> int | None:
    """The step under a key of the query (None: not given)."""
    text = asked.get(key, "")
    if not text:
        return None
    if not re.fullmatch(r"[0-9]{1,9}", text) or not 0 <= int(text) <= scene.last:
        raise ScenarioError(f"step {text[:20]}: this run has steps 0 to {scene.last}")
    return int(text)


def _one_of(asked: Mapping[str, str], key: str, known: tuple[str, ...]) -> str | None:
    value = asked.get(key) or None
    if value is not None and value not in known:
        raise ScenarioError(f"{key} {value[:20]!r} is not known; say {' or '.join(known)}")
    return value


def filename(scene: Scene, name: str, view: View) -> str:
    """Such as lecture-step-12.svg: letters that every system takes, and never a path."""
    stem = re.sub(r"[^A-Za-z0-9_-]+", "-", scene.execution.scenario.name).strip("-")[:60] or "run"
    if name in OF_STEPS:
        first, last = view.steps or (scene.first, scene.until)
        stem += f"-steps-{first}-{last}"
    elif name in OF_A_STEP:
        stem += f"-step-{view.step}"
    return stem + exporter(name).SUFFIX


def _refusal(text: str, status: int) -> Response:
    return PlainTextResponse(sentence(text), status)


ROUTES = [Route("/export/{session}/{format}", _serve)]
