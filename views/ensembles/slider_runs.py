"""What the sliders of the page Ensembles ask for while somebody drags: `/sliders?processes=5&...&theme=dark`.

An answer is the charts of a thousand runs where Numba is installed, of at least 100 where others drag as well; in
Python of 100 down to 20. It is made without the page's script: a browser asks for the next one when it has drawn the
last. All browsers share one thread, so that however many drag, the rest of the server has its processors. Of each
browser one question waits at most: a newer one takes its place. Answers are kept: everybody begins with the same one.
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
GRAPHS = {"complete": "each with each", "ring": "a ring", "line": "a line", "star": "a star"}


class Slider(NamedTuple):
    """A whole number that is dragged: its name in addresses, its label, its least, most and first value, its unit."""

    name: str
    label: str
    least: int
    most: int
    first: int
    unit: str = ""


SLIDERS = (
    Slider("processes", "Processes", 2, 12, 5),
    Slider("transfers", "Transfers of each process", 1, 40, 10),
    Slider("delay", "Mean delay of a message", 1, 30, 5, "time units"),
    Slider("marker_delay", "Mean delay of a marker", 1, 30, 5, "time units"),
    Slider("at", "The snapshot starts at time", 0, 100, 20),
)


class Asked(NamedTuple):
    """Where the sliders stand."""

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


def read(given: Mapping[str, Any]) -> Asked:
    """Where the sliders stand, from texts or numbers by name. Raises InputError."""
    values = {}
    for slider in SLIDERS:
        text = str(given.get(slider.name, slider.first))
        if text not in map(str, range(slider.least, slider.most + 1)):
            raise InputError(f"{slider.name}: expected a whole number from {slider.least} to {slider.most}")
        values[slider.name] = int(text)
    topology = given.get("topology", next(iter(GRAPHS)))
    if topology not in GRAPHS:
        raise InputError(f"topology: expected one of {', '.join(GRAPHS)}")
    return Asked(**values, topology=topology)


def grid_of(asked: Asked, runs: int) -> Grid:
    """The ensemble of which these are the runs: delays lie between 0 and twice their mean."""
    given = {
        "workload": WORKLOAD, "topology": asked.topology, "processes": str(asked.processes),
        "delay": f"uniform:0:{2 * asked.delay}", "marker_delay": f"uniform:0:{2 * asked.marker_delay}",
        "at": str(asked.at), "runs": str(runs),
    }  # fmt: skip
    return Grid.read(given, {"transfers": str(asked.transfers), "pace": "4"})


@lru_cache(maxsize=200)
def document_of(asked: Asked) -> str:
    """The scenario of the runs as TOML, without a seed."""
    return cells_of(grid_of(asked, 1))[0].document


# ------------------------------------------------------------------ an answer


class Made(NamedTuple):
    """What is found of some runs, without the colours of a page."""

    runs: int
    told: str
    figures: list[Any]
    extremes: dict[str, int]


class Answer(NamedTuple):
    """What the browser draws. `is_first` tells it to ask again soon: Numba will be ready then."""

    told: str
    how: str
    figures: list[Any]
    extremes: dict[str, int]
    is_first: bool


_kept: OrderedDict[Asked, Made] = OrderedDict()  # the one that was used last is the last; one thread answers


def answer(asked: Asked, palette: Mapping[str, str], begin: float, waiting: int = 0) -> Answer:
    """The charts of as many runs as there is time for, with seeds from 0 on.

    `begin`: when it was asked, by time.perf_counter; `waiting`: how many others wait.
    """
    is_early = is_coming()  # at the beginning: Numba may get ready meanwhile
    by_numba, made = is_ready(), _kept.pop(asked, None)
    is_kept = made is not None and made.runs >= runs_for(asked, by_numba, waiting)
    if made is None or not is_kept:
        made = _make(asked, by_numba, waiting)
    _kept[asked] = made
    if len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)
    figures = [theme.resolve(figure, dict(palette)) for figure in made.figures]
    spent = None if is_kept else time.perf_counter() - begin
    return Answer(made.told, _how(made.runs, spent, waiting), figures, made.extremes, is_early and not by_numba)


def _make(asked: Asked, by_numba: bool, waiting: int) -> Made:
    most, in_python = (runs_for(asked, is_quick, waiting) for is_quick in (by_numba, False))
    rows = rows_at_once(document_of(asked), WORKLOAD, most if by_numba else 0, in_python)
    return Made(len(rows), in_a_sentence(rows), [charts.histogram(rows, measure) for measure in SHOWN], _extremes(rows))


def runs_for(asked: Asked, by_numba: bool, waiting: int = 0) -> int:
    """How many runs are done at once, while so many others wait."""
    if by_numba:
        return max(RUNS // (1 + waiting), RUNS_IN_PYTHON)
    return max(min(RUNS_IN_PYTHON, EVENTS_IN_PYTHON // asked.events) // (1 + waiting), LEAST_RUNS)


def in_a_sentence(rows: Sequence[Row]) -> str:
    """The results of all runs in a sentence."""
    failures = sum(row["failed"] for row in rows)
    head = f"{failures:,} of {len(rows):,} snapshots fail a check." if failures else ""
    time_taken, recorded = (_range(rows, measure) for measure in SHOWN)
    return (
        f"{head or f'No check fails in {len(rows):,} snapshots.'} They took {time_taken} and found {recorded} "
        f"{'message' if recorded == '1' else 'messages'} in the channels."
    )


def _range(rows: Sequence[Row], measure: Measure) -> str:
    found = [row[measure.column] for row in rows]
    low, high = min(found), max(found)
    return amount(high, measure) if low == high else f"{number(low)} to {amount(high, measure)}"


def _how(runs: int, seconds: float | None, waiting: int) -> str:
    """How many runs these are, how long it took to answer (None: they were kept), and what would make it more."""
    took = ", kept from before" if seconds is None else f" in {max(seconds, 0.001) * 1000:,.0f} ms"
    told = f"{runs:,} runs{took}. Click a bar to open one of its runs."
    if is_ready():
        return f"{told} Others drag as well, so these are fewer than {RUNS:,}." if waiting and runs < RUNS else told
    if is_coming():
        return f"{told} In a moment it will be {RUNS:,} runs: they are being compiled."
    return f"{told} With Numba it would be {RUNS:,} runs at once: on the server, run `make fast`."


def _extremes(rows: Sequence[Row]) -> dict[str, int]:
    """The seeds of runs that are worth a look, by the words of their buttons."""
    by_time = sorted(rows, key=lambda row: (row["latency"], row["seed"]))
    most = max(rows, key=lambda row: (row["recorded_messages"], -row["seed"]))
    return {
        "a typical one": by_time[len(by_time) // 2]["seed"], "the slowest": by_time[-1]["seed"],
        "the most recorded": most["seed"],
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
        asked, palette = _question(request.query_params)
    except InputError as problem:
        return PlainTextResponse(sentence(str(problem)), 400)
    if request.method == "HEAD":
        return Response(headers={"Cache-Control": "no-store"}, media_type="application/json")
    who = browser(request)
    if who in _waiting:
        _waiting.pop(who).cancel()  # does nothing if it is being answered
    if len(_waiting) >= MOST_WAITING:
        return PlainTextResponse("Many people drag at this moment; try again in a few seconds.", 503)
    made = _waiting[who] = _LANE.submit(lambda: answer(asked, palette, begin, _others(who)))
    try:
        await asyncio.wait([asyncio.wrap_future(made)])
    finally:
        if _waiting.get(who) is made:
            del _waiting[who]
    if made.cancelled():
        return PlainTextResponse("This browser has asked for something else since.", 429)
    return JSONResponse(made.result()._asdict(), headers={"Cache-Control": "no-store"})


def _others(who: str) -> int:
    """How many other browsers wait for an answer."""
    return sum(other != who and not question.done() for other, question in list(_waiting.items()))


def _question(given: QueryParams) -> tuple[Asked, dict[str, str]]:
    """Where the sliders stand, and the colours of the page. Raises InputError."""
    for name in given:
        if len(given.getlist(name)) > 1:
            raise InputError(f"{name}: expected once")
    colours = given.get("theme", next(iter(theme.PALETTES)))
    if colours not in theme.PALETTES:
        raise InputError(f"theme: expected one of {', '.join(theme.PALETTES)}")
    return read(given), theme.PALETTES[colours]


ROUTES = [Route(URL, _serve)]
