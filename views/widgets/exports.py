"""A session's run as a file: `/export/{session}/{format}?step=&orientation=&theme=&from=&to=`.

A format takes its own options (scene/export_options.py). The fields of a view (SHARED) are checked for every format,
even for one that does not take them. All other fields of a query are ignored.

A session's id gives access to its run; ids are random, and only that session's browser learns its id.

There are two lanes, so that short formats never wait for long ones. Each lane makes one file at a time, and each
session has one file in the making. A request that waits too long is refused; a closed connection cancels its work.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from diagrams.export import check_draws_rows, check_meant, exporter, formats, is_long, options_of, read_options
from diagrams.scene.composition import Scene
from diagrams.scene.export_options import SHARED, STEP, STEPS, Option
from diagrams.scene.row import Row, row_of
from diagrams.scene.view import View
from sim.core.deadline import OutOfTime
from sim.core.errors import InputError
from views.server.addresses import below_base
from views.server.budget import answering
from views.server.plain_words import sentence
from views.widgets import words
from views.widgets.outbox import SESSIONS, Session

WAIT_S = 30.0  # for its turn
WRITING_S = {False: 30.0, True: 180.0}  # for a file, by whether its format is long
POLL_S = 0.1  # between two looks whether the connection is open
_LANES = {long: ThreadPoolExecutor(1, thread_name_prefix="export") for long in (False, True)}
_UNDER_WAY: set[str] = set()  # the ids of the sessions for which a file is made

File = tuple[bytes, str]  # its content and its name

TOO_MANY = 429, words.STILL_EXPORTING
TOO_BUSY = 503, words.MANY_EXPORTS


class Refused(Exception):
    """An export that gets no turn, with the status of the answer and a sentence."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class Gone(Exception):
    """The connection of a request is closed, so no browser waits for the file."""


async def _serve(request: Request) -> Response:
    session, name = SESSIONS.get(request.path_params["session"]), request.path_params["format"]
    if session is None:
        return _refusal(words.UNKNOWN_PAGE, 404)
    if name not in formats():
        return _refusal(words.no_format(name[:20], ", ".join(formats())), 404)
    try:
        content, filename = await _made(request, session, name)
    except InputError as problem:
        return _refusal(str(problem), 400)
    except Refused as problem:
        return _refusal(str(problem), problem.status)
    except Gone:
        return Response(status_code=499)  # no browser reads it
    headers = {"Content-Disposition": f'attachment; filename="{filename}"', "Cache-Control": "no-store"}
    return Response(content, media_type=exporter(name).MEDIA_TYPE, headers=headers)


async def _made(request: Request, session: Session, name: str) -> File:
    """The file, when it is its turn. Raises Refused, Gone, and InputError for a bad query."""
    end = time.monotonic() + WAIT_S
    while session.id in _UNDER_WAY:
        await _check_waiting(request, end, TOO_MANY)
        await asyncio.sleep(POLL_S)
    _UNDER_WAY.add(session.id)
    begun, is_gone = Event(), Event()
    work = _LANES[is_long(name)].submit(_written, session, name, request.query_params, begun, is_gone)
    made = asyncio.wrap_future(work)
    try:
        while not await _is_done(made):
            await _check_waiting(request, math.inf if begun.is_set() else end, TOO_BUSY)
        return made.result()
    except OutOfTime:
        raise Gone from None
    finally:
        is_gone.set()
        work.cancel()
        while not await _is_done(made):
            pass
        if not made.cancelled():
            made.exception()  # else asyncio reports an exception that was never retrieved
        _UNDER_WAY.discard(session.id)


async def _is_done(made: asyncio.Future[File]) -> bool:
    """Whether a file is made (or refused), after a moment at most."""
    await asyncio.wait([made], timeout=POLL_S)
    return made.done()


async def _check_waiting(request: Request, end: float, refusal: tuple[int, str]) -> None:
    """Raises Gone if the connection is closed, Refused if the time `end` has come."""
    if await request.is_disconnected():
        raise Gone
    if time.monotonic() >= end:
        raise Refused(*refusal)


def _written(session: Session, name: str, query: Mapping[str, str], begun: Event, is_gone: Event) -> File:
    """The file; diagrams arrange the processes as the page does.

    Raises InputError for a bad query, and OutOfTime once the connection is closed.
    """
    begun.set()
    with answering(lambda: not is_gone.is_set()):
        row = row_of(session.row) if session.row else None
        scene = row.scenes[0] if row else session.scene.arranged(session.look.arrangement)
    with answering(lambda: not is_gone.is_set(), WRITING_S[is_long(name)], patience=1):
        view = view_of(scene, name, query, row)
        return exporter(name).export(scene, view), filename(scene, name, view)


def view_of(scene: Scene, name: str, query: Mapping[str, str], row: Row | None = None) -> View:
    """The view in a query, of a scene or of a row, with the defaults of `View.of`. Raises InputError."""
    own = {option.name for option in options_of(name)}
    given = {key: query[key] for key in {*own, *(option.name for option in SHARED)} if query.get(key)}
    ends = query.get("from", ""), query.get("to", "")
    if any(ends):
        if not all(ends):
            raise InputError(words.BOTH_ENDS)
        given[STEPS.name] = "-".join(ends)
    values = read_options(name, given)
    last = row.last if row else scene.last
    for step in (values.get(STEP.name, 0), *values.get(STEPS.name, ())):
        if not 0 <= step <= last:
            raise InputError(words.no_step(step, last, is_row=row is not None))
    meant = {key: value for key, value in values.items() if key in own}
    if row is not None:
        check_draws_rows(name)
        check_meant(name, meant, is_row=True)
    return View.of(scene, row=row, **meant)


def filename(scene: Scene, name: str, view: View) -> str:
    """A name such as lecture-step-12.svg, or lecture-compared-step-12.svg: letters that every system allows."""
    stem = _plain(scene.execution.scenario.name) or "run"
    stem += "-compared" if view.row else ""
    named = [(option, _value(option, scene, view)) for option in options_of(name) if option.in_name]
    stem += "".join(f"-{option.name}-{value}" for option, value in named if value != str(option.default))
    return stem + exporter(name).SUFFIX


def _value(option: Option, scene: Scene, view: View) -> str:
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
