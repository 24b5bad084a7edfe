"""A window of one execution of a log in the explorer: the same diagram, the same cut as on the Explore page."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from diagrams.scene.composition import Scene, compose
from diagrams.scene.foreign_log import ForeignLog, Waiting
from diagrams.scene.timed_run import MOST_TEXTS
from pipeline.cuts import one_execution
from pipeline.cuts.one_window import LogWindow, log_window
from pipeline.store.folder import Store
from pipeline.streaming.progress_file import news
from sim.core.model import RECEIVE, SEND
from sim.core.notation import captions
from sim.edit.link import MOST_SHOWN
from sim.exchange.reconstruct import MOST_LABEL, reconstruct
from views.explore.opening import open_scenario
from views.server.budget import answering, run_of
from views.server.tabs import for_this_tab
from views.traces import words
from views.traces.session import TraceSession
from views.widgets.explorer import explorer

SIZES = (50, 100, 200, 400)  # rows of a window
KEPT = ("tab", "cut", "predicate")  # of what a link may say (sim/edit/link.py, SHOWN)
STATE = "trace_session"
COMPONENT = "trace_explorer"
_ROWS = re.compile(r"(\d{1,9})-(\d{1,9})")

Row = Mapping[str, Any]


class Place(NamedTuple):
    """The place of a window: `size` rows of an execution, from the row `first` on.

    A followed log has another `version` after every batch of rows (-1: it is not followed).
    """

    path: str
    run_id: int
    first: int
    size: int
    version: int = -1

    @property
    def rows(self) -> str:
        """Its rows as an address says them, from 1."""
        return f"{self.first + 1}-{self.first + self.size}"


def trace_window(
    store: Store, trace: Row, controls: DeltaGenerator, address: Mapping[str, str], *, moves: bool = False
) -> None:
    """Show the window that the menus in `controls` choose; `trace` is the execution's row of the table traces.

    `address`: the fields of the page's address for this execution. `moves`: it grows, and its last rows are on show.
    Raises InputError.
    """
    run_id = trace["run_id"]
    version = news(store).batch
    rows = _row_count(str(store.path), run_id, version)
    first, count = _chosen_rows(store, run_id, rows, controls, address, moves=moves)
    place = Place(str(store.path), run_id, first, count, version)
    session: TraceSession | None = st.session_state.get(STATE)
    if session is None or not _is_on_show(session, place, moves=moves):
        with for_this_tab() as is_open, answering(is_open):
            name = str(trace["name"])
            title = words.title_of_rows(name, first + 1, first + count) if count < rows else name
            scene = _scene(
                place, title, tuple(trace["processes"]), bool(trace["exact"]), tuple(trace["unknown_channels"])
            )
            own = {**address, "rows": place.rows}
            st.session_state[STATE] = TraceSession(scene, place, own, _shown(scene, own))
    if controls.button(words.OPEN_IN_EXPLORE, key="open-window"):
        open_scenario(st.session_state[STATE].scene.execution.scenario)
    _explorer()


def _is_on_show(session: TraceSession, place: Place, *, moves: bool) -> bool:
    """Whether a session shows these rows; a window that does not move may be older than the log."""
    at = session.at
    return isinstance(at, Place) and (at if moves else at._replace(version=place.version)) == place


@st.fragment
def _explorer() -> None:
    """The explorer, as a fragment: a question of the browser is answered without the rest of the page."""
    session: TraceSession = st.session_state[STATE]
    explorer(session.data(), session.drawn, key=COMPONENT, on_outbox_change=_take_looks)


def _take_looks() -> None:
    with for_this_tab() as is_open:
        st.session_state[STATE].absorb(st.session_state[COMPONENT].outbox, is_open)


# ------------------------------------------------------------------ the rows


def _chosen_rows(
    store: Store, run_id: int, rows: int, controls: DeltaGenerator, address: Mapping[str, str], *, moves: bool
) -> tuple[int, int]:
    """The first row of the window and the number of its rows, from two menus; at first those of the page's address.

    `moves`: always the last rows.
    """
    if rows <= SIZES[0]:
        return 0, rows
    sizes = [*(size for size in SIZES if size < rows), *([rows] if rows <= SIZES[-1] else [])]
    key = f"{store.path.parent.name}-{store.name}-{run_id}"  # an example may be called as a folder of the user's
    state, first_key, size_key = st.session_state, f"first-{key}", f"size-{key}"
    range_asked = _ROWS.fullmatch(_query(address).get("rows", ""))
    if range_asked and size_key not in state:
        first, last = map(int, range_asked.groups())
        state[size_key] = min(sizes, key=lambda size: abs(size - (last - first + 1)))
        state[first_key] = max(0, first - 1)
    size = state.get(size_key, sizes[0])
    state[first_key] = first = rows - size if moves else min(state.get(first_key, 0), rows - size)
    with controls.popover(words.rows(first + 1, first + size, rows), key=f"rows-{key}"):
        st.select_slider(words.ROWS_SHOWN, sizes, key=size_key, persist_state="session")
        if size < rows and not moves:
            step = max(1, size // 4)
            st.slider(words.ROWS_BEFORE, 0, rows - size, step=step, key=first_key, persist_state="session")
    return first, size


def _query(address: Mapping[str, str]) -> dict[str, str]:
    """The query of the page's address, if it is of the same log and execution as `address`; else nothing."""
    params = st.query_params.to_dict()
    return params if all(params.get(key) == address.get(key) for key in ("data", "execution")) else {}


def _shown(scene: Scene, address: Mapping[str, str]) -> dict[str, str]:
    """The panel, cut and predicate on show at first, from the page's address; by default a cut through the middle."""
    query = _query(address)
    shown = {key: query[key] for key in KEPT if 0 < len(query.get(key, "")) <= MOST_SHOWN}
    shown["tab"] = "lattice" if shown.get("tab") == "lattice" else "cut"
    is_of_these = query.get("rows", address["rows"]) == address["rows"]
    return {"cut": _through_the_middle(scene)} | (shown if is_of_these else {})


def _through_the_middle(scene: Scene) -> str:
    """A cut with half of each process's events in the window inside, in the log's numbers; as a link says it."""
    log = scene.whole_run.log
    assert log is not None
    return ".".join(map(str, log.in_numbers([(len(own) + 1) // 2 for own in log.numbers.values()])))


# ------------------------------------------------------------------ read from the tables, and cached


@st.cache_data(max_entries=50, show_spinner=False)
def _row_count(path: str, run_id: int, version: int) -> int:
    return one_execution.row_count(Store(Path(path)), run_id)


@st.cache_resource(max_entries=20, show_spinner=words.LOADING_ROWS)
def _scene(place: Place, title: str, processes: tuple[str, ...], exact: bool, unknown: tuple[str, ...]) -> Scene:
    store = Store(Path(place.path))
    found = log_window(store, place.run_id, processes, place.first, place.size)
    return window_scene(found, f"{store.name}-{place.run_id}", title, exact, unknown)


def window_scene(found: LogWindow, name: str, title: str, exact: bool, unknown: Collection[str]) -> Scene:
    """A window of a log as a scene. `exact` and `unknown` channels are those of the table traces. Raises InputError."""
    scenario = reconstruct(found.rows, list(found.before), name)
    orientation = "down" if len(found.rows) <= MOST_TEXTS else "right"
    execution = run_of(replace(scenario, title=title, orientation=orientation))
    return compose(execution, log=_foreign_log(found, exact, unknown))


def _foreign_log(found: LogWindow, exact: bool, unknown: Collection[str]) -> ForeignLog:
    """The log around a window, in the terms of the scene: each row of the window is an event of its own there."""
    numbers: dict[str, list[int]] = {name: [] for name in found.before}
    place: dict[int, int] = {}  # of a row among those of its process, from 1
    for row in found.rows:
        numbers[row.process].append(row.index or 0)
        place[row.row] = len(numbers[row.process])
    called = captions(list(found.before), [*found.held, *unknown])
    waiting = {
        name: Waiting(
            called[name], held.size, [_short(text) for text in held.names],
            [place[row.row] for row in found.receipts.get(name, ())],
        )
        for name, held in found.held.items()
        if name not in unknown
    }  # fmt: skip
    received = {row.message_id for row in found.rows if row.kind == RECEIVE}
    sends = [row for row in found.rows if row.kind == SEND]
    later = {
        message for message, row in enumerate(sends) if row.peer_index is not None and row.message_id not in received
    }
    return ForeignLog(found.before, numbers, waiting, later, {name: called[name] for name in unknown}, exact)


def _short(text: str) -> str:
    return text if len(text) <= MOST_LABEL else f"{text[: MOST_LABEL - 1]}…"
