"""A window of one execution of a log as a diagram, with a cut that the user chooses and the app examines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from diagrams.chart_parts import LEAST_HEIGHT
from diagrams.scene import Scene, compose
from diagrams.still import still
from diagrams.theme import PALETTES
from pipeline.cuts import one_execution
from pipeline.cuts.one_cut import CutReport, report_in_memory, report_on_cut
from pipeline.spark.restarting import ask
from pipeline.store.folder import Store
from sim.core.model import APPLICATION_KINDS, RECEIVE, SEND, Event
from sim.core.notation import captions
from sim.document.scenario import NamedCut
from sim.exchange.reconstruct import reconstruct
from sim.run.execution import run
from sim.theory.causality import Frontier, History
from views.opening import open_scenario
from views.page_words import as_cells

SIZES = (50, 100, 200, 400)  # rows of a window
MOST_IN_MEMORY = 20_000  # rows of an execution; of a bigger one Spark reads what a cut needs, in a second or so
MOST_TOLD = 6  # messages of a channel, and last events of a cut, that are listed by name
MOST_LETTERS = 40  # of the text of an event

Row = Mapping[str, Any]


class Window:
    """A window's rows as a scenario, and the numbers of its events in the log."""

    def __init__(self, events: list[Event], processes: list[str], name: str) -> None:
        self.rows = [event for event in events if event.kind in APPLICATION_KINDS]
        self.scenario = reconstruct(events, processes, name)
        self.history = run(self.scenario).history

    @property
    def numbers(self) -> dict[str, list[int]]:
        """For each process, the numbers that its events in this window have in the log."""
        found: dict[str, list[int]] = {name: [] for name in self.history.of}
        for row in self.rows:
            found[row.process].append(row.index or 0)
        return found

    @property
    def has_open_messages(self) -> bool:
        """Whether a message is sent and not received in this window."""
        received = {row.message_id for row in self.rows if row.kind == RECEIVE}
        return any(row.kind == SEND and row.message_id not in received for row in self.rows)

    def halves(self) -> dict[str, int]:
        """A cut through the middle of each process's events in the window, in the log's numbers."""
        return {name: own[(len(own) - 1) // 2] if own else 0 for name, own in self.numbers.items()}

    def scene(self, frontier: Frontier) -> Scene:
        """The diagram with the cut `frontier` (in the log's numbers)."""
        inside = Counter(row.process for row in self.rows if (row.index or 0) <= frontier.get(row.process, 0))
        ends = {name: self.history.of[name][count - 1].label or "" for name, count in inside.items()}
        return compose(run(replace(self.scenario, cuts=(NamedCut("the cut", ends),))))


def trace_window(store: Store, trace: Row, controls: DeltaGenerator) -> None:
    """Draw the diagram and the verdict, and their menus in `controls`; `trace` is the execution's row of traces.

    Raises InputError.
    """
    run_id = trace["run_id"]
    key = f"{store.path.parent.name}-{store.name}-{run_id}"  # an example may be called as a folder of the user's
    events, rows = _size(str(store.path), run_id)
    first, count = _place(key, rows, controls)
    window = _window(str(store.path), run_id, first, count)
    examiner = _Examiner(store, trace, rows)
    frontier = _frontier(key, window, events, examiner, controls)
    with st.spinner("Spark examines the cut …"):
        finding = examiner.report(frontier)
    st.html(_verdict(finding, list(frontier)) + _ends(window, frontier))
    _diagram(key, window, frontier, finding)
    if window.has_open_messages:
        st.caption("✕ held: a message that is not received in the rows of this diagram.")
    if controls.button("Open this window in Explore", key=f"open-{key}", width="stretch"):
        open_scenario(window.scenario)


class _Examiner(NamedTuple):
    """Answers questions on cuts of an execution with so many rows: in memory where they fit, else by Spark."""

    store: Store
    trace: Row
    rows: int

    def report(self, frontier: Frontier) -> CutReport:
        """The verdict on a cut."""
        if self.rows > MOST_IN_MEMORY:
            return _finding(str(self.store.path), self.trace["run_id"], tuple(frontier.items()))
        return report_in_memory(self._history(), frontier, self.trace)

    def consistent_below(self, frontier: Frontier) -> dict[str, int]:
        """The biggest consistent cut inside `frontier`."""
        if self.rows > MOST_IN_MEMORY:
            run_id = self.trace["run_id"]
            return ask(lambda spark: one_execution.consistent_below(spark, self.store, run_id, frontier))
        return self._history().consistent_below(frontier)

    def _history(self) -> History:
        return _history(str(self.store.path), self.trace["run_id"], self.rows)


# ------------------------------------------------------------------ read from the tables, and cached


@st.cache_data(max_entries=50, show_spinner=False)
def _size(path: str, run_id: int) -> tuple[dict[str, int], int]:
    """The number of events of each process, and of all rows."""
    store = Store(Path(path))
    return one_execution.event_counts(store, run_id), one_execution.row_count(store, run_id)


@st.cache_resource(max_entries=20, show_spinner="Looking for these rows …")
def _window(path: str, run_id: int, first: int, rows: int) -> Window:
    store = Store(Path(path))
    events = one_execution.window(store, run_id, first, rows)
    return Window(events, list(one_execution.event_counts(store, run_id)), f"{store.name}-{run_id}")


@st.cache_resource(max_entries=10, show_spinner=False)
def _history(path: str, run_id: int, rows: int) -> History:
    store = Store(Path(path))
    return History(list(one_execution.event_counts(store, run_id)), one_execution.window(store, run_id, 0, rows))


@st.cache_data(max_entries=200, show_spinner=False)
def _finding(path: str, run_id: int, frontier: tuple[tuple[str, int], ...]) -> CutReport:
    return ask(lambda spark: report_on_cut(spark, Store(Path(path)), run_id, dict(frontier)))


# ------------------------------------------------------------------ what is chosen


def _place(key: str, rows: int, controls: DeltaGenerator) -> tuple[int, int]:
    """The first row of the window and the number of its rows, from two menus."""
    if rows <= SIZES[0]:
        return 0, rows
    sizes = [size for size in SIZES if size < rows]
    size = controls.select_slider("Rows in the diagram", [*sizes, min(rows, SIZES[-1])], key=f"size-{key}")
    if size >= rows:
        return 0, rows
    first = controls.slider("From row", 0, rows - size, step=max(1, size // 4), key=f"first-{key}")
    return first, size


def _frontier(
    key: str, window: Window, events: Mapping[str, int], examiner: _Examiner, controls: DeltaGenerator
) -> dict[str, int]:
    """The cut: events inside, by process. An edit or a click takes effect at the next run of the page."""
    kept = f"cut-{key}"
    if kept not in st.session_state:
        st.session_state[kept] = (0, window.halves())
    version, frontier = st.session_state[kept]
    controls.markdown("**The cut.** Click an event: it is then the last one inside. Or write how many are inside:")
    edited = controls.data_editor(
        as_cells({
            "Process": list(events), "Inside": [frontier.get(name, 0) for name in events], "Of": list(events.values()),
        }),
        column_config={"Inside": st.column_config.NumberColumn(min_value=0, step=1, required=True)},
        disabled=["Process", "Of"], hide_index=True, key=f"edit-{key}-{version}",
    )  # fmt: skip
    inside = dict(zip(events, map(int, edited["Inside"]), strict=True))
    wanted = {name: min(max(0, count), events[name]) for name, count in inside.items()}
    if controls.button("Make it consistent", key=f"below-{key}", width="stretch"):
        _keep(key, examiner.consistent_below(wanted))
        st.rerun()
    controls.caption("This leaves out as few events as possible.")
    if controls.button("Cut through the middle", key=f"halves-{key}", width="stretch"):
        _keep(key, window.halves())
        st.rerun()
    return wanted


def _keep(key: str, frontier: Mapping[str, int]) -> None:
    """Choose another cut, with new keys for table and diagram, so that they start from it."""
    version, _ = st.session_state[f"cut-{key}"]
    st.session_state[f"cut-{key}"] = (version + 1, dict(frontier))


# ------------------------------------------------------------------ what is shown


def _diagram(key: str, window: Window, frontier: dict[str, int], finding: CutReport) -> None:
    """Draw the window; a click on an event ends the cut there."""
    palette = PALETTES[st.context.theme.type or "light"]
    scene = window.scene(frontier)
    figure = still(scene, palette, window.numbers, finding.consistent)
    figure["layout"]["height"] = LEAST_HEIGHT  # the page gives it all the room there is
    version, _ = st.session_state[f"cut-{key}"]
    own = f"diagram-{key}-{version}"
    with st.container(key="cut-diagram"):
        st.plotly_chart(
            figure, theme=None, on_select=partial(_pick, key, own, frontier), selection_mode="points", key=own,
            height="stretch",
            config={"displaylogo": False, "modeBarButtons": [["zoomIn2d", "zoomOut2d", "resetScale2d"]]},
            alt="Space-time diagram of the log with the cut",
        )  # fmt: skip


def _pick(key: str, own: str, frontier: Mapping[str, int]) -> None:
    """End the cut at the clicked event; `own` is the key of the diagram."""
    points = st.session_state[own]["selection"]["points"]
    if points and points[0].get("customdata"):
        process, number = points[0]["customdata"]
        _keep(key, {**frontier, process: int(number)})


def _verdict(finding: CutReport, processes: Sequence[str]) -> str:
    """The verdict and the channels, as HTML."""
    called = captions(processes, [*finding.in_channels, *finding.unknown])
    if finding.consistent:
        head = '<span class="cut-good">Consistent.</span> The system may have been in this state.'
    else:
        head = (
            f'<span class="cut-bad">Not consistent.</span> The message {_witness(finding)} was received '
            "inside the cut, but sent outside it: no system can be in this state."
        )
    held = [_channel(finding, name, called[name]) for name in finding.in_channels]
    body = f"No message is {'' if finding.exact else 'known to be '}in a channel."
    if held:
        body = f"In the channels{'' if finding.exact else ', at least'}: {'; '.join(held)}."
    if finding.unknown:
        body += f" The log does not say what is in {escape(', '.join(called[name] for name in finding.unknown[:12]))}."
    return f'<h3 class="cut-sentence">{head}</h3><p class="cut-told">{body}</p>'


def _unbroken(text: str) -> str:
    """A text as HTML, so that no line ends inside a channel's name such as P1->P2."""
    return re.sub(r"\S{1,13}-&gt;\S{1,13}(?!\S)", r'<span class="cut-unbroken">\g<0></span>', escape(text))


def _ends(window: Window, frontier: Frontier) -> str:
    """The last events inside the cut by their texts, of the processes whose last one is in the window, as HTML."""
    last = {row.process: row.label for row in window.rows if row.label and row.index == frontier.get(row.process, 0)}
    texts = {
        process: label if len(label) <= MOST_LETTERS else f"{label[: MOST_LETTERS - 1]}…"
        for process, label in last.items()
    }
    named = [f"<b>{escape(process)}</b>: {escape(text)}" for process, text in texts.items()]
    if not named:
        return ""
    more = f" and {len(named) - MOST_TOLD} more" if len(named) > MOST_TOLD else ""
    return f'<p class="cut-told">Last events inside: {"; ".join(named[:MOST_TOLD])}{more}.</p>'


def _witness(finding: CutReport) -> str:
    """The message that decides and its channel as HTML; `witness` is `pays on bank->shop`."""
    name, _, channel = (finding.witness or "").rpartition(" on ")
    return f"“{escape(name)}” on {_unbroken(channel)}"


def _channel(finding: CutReport, name: str, called: str) -> str:
    told = finding.in_channels[name][:MOST_TOLD]
    more = finding.counts[name] - len(told)
    return f"<b>{_unbroken(called)}</b> ⟨{escape(', '.join(told))}{f' and {more} more' if more else ''}⟩"
