"""The answers to the sliders of the page Ensembles while a user drags: `/sliders?processes=5&...&theme=dark`.

With Numba, an answer is the charts of a thousand runs, or at least of 100 while other visitors drag too. In Python, it
is those of 100 down to 20 runs. It is made without the page's script: a browser asks for the next answer when it has
drawn the last. All browsers share one thread, so that the rest of the server keeps its processors. At most one question
of each browser waits: a newer one takes its place. Answers are kept, since all visitors begin with the same one.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, lru_cache
from typing import Any, NamedTuple

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from diagrams.charts import figures as charts
from diagrams.charts.measures import MEASURES, Measure, Row
from diagrams.charts.parts import amount, number
from diagrams.shapes import theme
from pipeline.compiled.runs import is_installed, is_usable
from pipeline.ensembles.at_once import rows_at_once
from pipeline.ensembles.both_ways import compiled_of
from pipeline.ensembles.cells import cells_of
from pipeline.ensembles.grid import Grid
from pipeline.spark.background import in_background
from sim.core.errors import InputError
from views.ensembles import words
from views.server.addresses import below_base
from views.server.plain_words import sentence
from views.server.visitors import browser

WORKLOAD = "bank"
RUNS = 1_000
RUNS_IN_PYTHON = 100  # of short runs, and fewer of long ones:
EVENTS_IN_PYTHON = 20_000
LEAST_RUNS = 20
MOST_WAITING = 40  # browsers
MOST_KEPT = 50  # answers
SHOWN = (MEASURES["latency"], MEASURES["recorded_messages"])


class Slider(NamedTuple):
    """A whole number that is dragged: its name in addresses, its label, its least, most and first value, its unit."""

    name: str
    label: str
    least: int
    most: int
    first: int
    unit: str = ""


SLIDERS = (
    Slider("processes", words.SLIDER_PROCESSES, 2, 12, 5),
    Slider("transfers", words.SLIDER_TRANSFERS, 1, 40, 10),
    Slider("delay", words.SLIDER_DELAY, 1, 30, 5, words.TIME_UNITS),
    Slider("marker_delay", words.SLIDER_MARKER_DELAY, 1, 30, 5, words.TIME_UNITS),
    Slider("at", words.SLIDER_AT, 0, 100, 20),
)


class SliderState(NamedTuple):
    """The positions of the sliders, and the chosen topology."""

    processes: int
    transfers: int
    delay: int
    marker_delay: int
    at: int
    topology: str

    @property
    def events(self) -> int:
        """About how many events a run has."""
        return 2 * self.processes * self.transfers


def read(given: Mapping[str, Any]) -> SliderState:
    """The positions of the sliders, from texts or numbers by name. Raises InputError."""
    values = {}
    for slider in SLIDERS:
        text = str(given.get(slider.name, slider.first))
        if text not in map(str, range(slider.least, slider.most + 1)):
            raise InputError(words.whole_number(slider.name, slider.least, slider.most))
        values[slider.name] = int(text)
    topology = given.get("topology", next(iter(words.GRAPHS)))
    if topology not in words.GRAPHS:
        raise InputError(words.one_of("topology", ", ".join(words.GRAPHS)))
    return SliderState(**values, topology=topology)


def grid_of(state: SliderState, runs: int) -> Grid:
    """The ensemble of which these are the runs: delays lie between 0 and twice their mean."""
    given = {
        "workload": WORKLOAD, "topology": state.topology, "processes": str(state.processes),
        "delay": f"uniform:0:{2 * state.delay}", "marker_delay": f"uniform:0:{2 * state.marker_delay}",
        "at": str(state.at), "runs": str(runs),
    }  # fmt: skip
    return Grid.read(given, {"transfers": str(state.transfers), "pace": "4"})


@lru_cache(maxsize=200)
def document_of(state: SliderState) -> str:
    """The scenario of the runs as TOML, without a seed."""
    return cells_of(grid_of(state, 1))[0].document


# ------------------------------------------------------------------ an answer


class Made(NamedTuple):
    """The results of some runs, without the colours of a page."""

    runs: int
    told: str
    figures: list[Any]
    extremes: dict[str, int]


class Answer(NamedTuple):
    """The content of an answer. `is_first` tells the browser to ask again soon, when Numba will be ready."""

    told: str
    how: str
    figures: list[Any]
    extremes: dict[str, int]
    is_first: bool


_kept: OrderedDict[SliderState, Made] = OrderedDict()  # the one that was used last is the last; one thread answers


def answer(state: SliderState, palette: Mapping[str, str], begin: float, waiting: int = 0) -> Answer:
    """The charts of as many runs as time allows, with seeds from 0 on.

    `begin`: the time of the question, by time.perf_counter; `waiting`: the number of other browsers that wait.
    """
    is_early = is_coming()  # at the beginning: Numba may get ready meanwhile
    by_numba, made = is_ready(), _kept.pop(state, None)
    is_kept = made is not None and made.runs >= runs_for(state, by_numba, waiting)
    if made is None or not is_kept:
        made = _make(state, by_numba, waiting)
    _kept[state] = made
    if len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
    figures = [theme.resolve(figure, dict(palette)) for figure in made.figures]
    spent = None if is_kept else time.perf_counter() - begin
    return Answer(made.told, _how(made.runs, spent, waiting), figures, made.extremes, is_early and not by_numba)


def _make(state: SliderState, by_numba: bool, waiting: int) -> Made:
    most, in_python = (runs_for(state, is_quick, waiting) for is_quick in (by_numba, False))
    rows = rows_at_once(document_of(state), WORKLOAD, most if by_numba else 0, in_python)
    return Made(len(rows), in_a_sentence(rows), [charts.histogram(rows, measure) for measure in SHOWN], _extremes(rows))


def runs_for(state: SliderState, by_numba: bool, waiting: int = 0) -> int:
    """The number of runs of an answer, while `waiting` other browsers wait."""
    if by_numba:
        return max(RUNS // (1 + waiting), RUNS_IN_PYTHON)
    return max(min(RUNS_IN_PYTHON, EVENTS_IN_PYTHON // state.events) // (1 + waiting), LEAST_RUNS)


def in_a_sentence(rows: Sequence[Row]) -> str:
    """The results of all runs in a sentence."""
    failures = sum(row["failed"] for row in rows)
    head = words.checks_fail(failures, len(rows)) if failures else words.no_check_fails(len(rows))
    time_taken, recorded = (_range(rows, measure) for measure in SHOWN)
    return f"{head} {words.took_and_found(time_taken, recorded)}"


def _range(rows: Sequence[Row], measure: Measure) -> str:
    found = [row[measure.column] for row in rows]
    low, high = min(found), max(found)
    return amount(high, measure) if low == high else f"{number(low)} to {amount(high, measure)}"


def _how(runs: int, seconds: float | None, waiting: int) -> str:
    """The line on the number of runs, the time of the answer (None: it was kept), and the way to more runs."""
    line = words.runs_made(runs, seconds)
    if is_ready():
        return f"{line} {words.fewer(RUNS)}" if waiting and runs < RUNS else line
    return f"{line} {words.compiling(RUNS) if is_coming() else words.with_numba(RUNS)}"


def _extremes(rows: Sequence[Row]) -> dict[str, int]:
    """The seeds of runs that are worth a look, by the texts of their buttons."""
    by_time = sorted(rows, key=lambda row: (row["latency"], row["seed"]))
    most = max(rows, key=lambda row: (row["recorded_messages"], -row["seed"]))
    return {
        words.A_TYPICAL: by_time[len(by_time) // 2]["seed"], words.THE_SLOWEST: by_time[-1]["seed"],
        words.MOST_RECORDED: most["seed"],
    }  # fmt: skip


# ------------------------------------------------------------------ Numba


@cache
def get_ready() -> Future[bool]:
    """Compile the kernel, or load what was compiled before, once and in the background; whether it works."""
    return in_background(_rehearse)


def _rehearse() -> bool:
    first = read({})
    quick = compiled_of(document_of(first), WORKLOAD)
    return quick is not None and bool(quick.found([0]).answered.all())


def is_ready() -> bool:
    """Whether the kernel is compiled, and works."""
    ready = get_ready()
    return is_usable() and ready.done() and ready.exception() is None and ready.result()


def is_coming() -> bool:
    """Whether the kernel is being compiled."""
    return is_installed() and not get_ready().done()


# ------------------------------------------------------------------ the route

URL = below_base("/sliders")
_LANE = ThreadPoolExecutor(1, thread_name_prefix="sliders")
_waiting: dict[str, Future[Answer]] = {}  # the question of each browser that waits or is answered, the newest one


async def _serve(request: Request) -> Response:
    begin = time.perf_counter()
    try:
        state, palette = _question(request.query_params)
    except InputError as problem:
        return PlainTextResponse(sentence(str(problem)), 400)
    if request.method == "HEAD":
        return Response(headers={"Cache-Control": "no-store"}, media_type="application/json")
    asker = browser(request)
    if asker in _waiting:
        _waiting.pop(asker).cancel()  # does nothing if it is being answered
    if len(_waiting) >= MOST_WAITING:
        return PlainTextResponse(words.MANY_DRAG, 503)
    made = _waiting[asker] = _LANE.submit(lambda: answer(state, palette, begin, _others(asker)))
    try:
        await asyncio.wait([asyncio.wrap_future(made)])
    finally:
        if _waiting.get(asker) is made:
            del _waiting[asker]
    if made.cancelled():
        return PlainTextResponse(words.ASKED_ANEW, 429)
    return JSONResponse(made.result()._asdict(), headers={"Cache-Control": "no-store"})


def _others(asker: str) -> int:
    """The number of other browsers that wait for an answer."""
    return sum(other != asker and not question.done() for other, question in list(_waiting.items()))


def _question(given: QueryParams) -> tuple[SliderState, dict[str, str]]:
    """The positions of the sliders, and the colours of the page. Raises InputError."""
    for name in given:
        if len(given.getlist(name)) > 1:
            raise InputError(words.once(name))
    colours = given.get("theme", next(iter(theme.PALETTES)))
    if colours not in theme.PALETTES:
        raise InputError(words.one_of("theme", ", ".join(theme.PALETTES)))
    return read(given), theme.PALETTES[colours]


ROUTES = [Route(URL, _serve)]
