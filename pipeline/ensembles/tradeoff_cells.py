"""The table of trade-offs as it is read: for each algorithm and column the claim, what was measured, and the remark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.ensembles.claims import (
    CLAIMS,
    COLUMNS,
    LATENCY,
    MEMORY,
    METHODS,
    NETWORK,
    RECOVERY,
    TOPOLOGY,
    Judged,
    delay_in_words,
    said,
    times,
)
from pipeline.ensembles.tradeoff_grids import BEHIND_A_SOURCE, CRASH_AT, Asked, Where
from pipeline.ensembles.tradeoffs import Measured, Table
from sim.core.algorithm import ALGORITHMS
from sim.exchange.text_tables import TextTable
from sim.explain.words import counted, listing

NOT_MEASURED = "Not measured as yet: run the grid again."


class Cell(NamedTuple):
    """A cell: the claim of the documents (""; there is none), what was measured, in short sentences, what is judged,
    and a typical run (None: nothing was measured)."""

    column: str
    claim: str
    measured: tuple[str, ...]
    judged: Judged | None
    typical: Where | None


class Line(NamedTuple):
    """A row of the table: an algorithm, its title, how the documents call it (""; they do not), and its cells."""

    algorithm: str
    title: str
    method: str
    cells: tuple[Cell, ...]


def lines_of(table: Table) -> list[Line]:
    """The rows of the table: those of the documents first, then all other algorithms by their names."""
    names = [*METHODS, *(name for name in sorted(ALGORITHMS) if name not in METHODS)]
    return [Line(name, ALGORITHMS[name].title, METHODS.get(name, ""), tuple(_cells(table, name))) for name in names]


def _cells(table: Table, algorithm: str) -> Iterator[Cell]:
    own = table.rows.get(algorithm)
    for column in COLUMNS:
        claim = CLAIMS.get((algorithm, column))
        text = claim.text if claim else ""
        if own is None:
            yield Cell(column, text, (NOT_MEASURED,), None, None)
        else:
            judged = claim.judge(table, own) if claim else None
            yield Cell(column, text, tuple(_IN_SENTENCES[column](own)), judged, typical_of(own, column))


def typical_of(own: Measured, column: str) -> Where | None:
    """The run that is typical for a column: the one whose value is the median."""
    if column == TOPOLOGY:  # the first topology that is no full mesh
        found = [tried.typical for name, tried in own.tried.items() if tried.typical and name != "complete"]
        return found[0] if found else None
    names = {
        LATENCY: ("delayed", "blocked_time"), MEMORY: ("copied_pages", "recorded_messages"),
        NETWORK: ("control_bytes",), RECOVERY: ("rolled_back", "recorded_messages"),
    }[column]  # fmt: skip
    return next((own.figures[name].typical for name in names if name in own.figures), None)


# ------------------------------------------------------------------ what was measured, in sentences


def _latency(own: Measured) -> Iterator[str]:
    figures = own.figures
    if "blocked_time" in figures:
        blocked = figures["blocked_time"].median
        yield f"Blocked for {times(blocked)} in all." if blocked else "Nothing was blocked."
    if "delayed" in figures and figures["delayed_most"].most:
        late, most = said(figures["delayed"].median), said(figures["delayed_most"].most)
        yield f"Messages came {late} later on average, at most {most}."
    elif "delayed" in figures:
        yield "No message came later."
    if "end_to_end" in figures:
        yield f"Complete after {times(figures['end_to_end'].median)}."


def _memory(own: Measured) -> Iterator[str]:
    figures = own.figures
    if "copied_pages" in figures:
        by_pace = sorted(own.groups, key=lambda group: group.pace)
        told = [
            f"{said(group.medians['copied_pages'])} with a write every {said(group.pace)}"
            for group in by_pace
            if "copied_pages" in group.medians
        ]
        yield f"Pages copied: {listing(told)}."
    elif "recorded_messages" in figures:
        messages = counted(int(figures["recorded_messages"].median), "message")
        size = said(figures["recorded_bytes"].median)
        yield (
            f"{messages} in the channels, {size} bytes."
            if figures["recorded_messages"].median
            else ("No message in the channels.")
        )
    if "state_bytes" in figures:
        yield f"States: {said(figures['state_bytes'].median)} bytes."


def _network(own: Measured) -> Iterator[str]:
    figures = own.figures
    sent = [
        counted(int(figures[name].median), words)
        for name, words in (("markers", "marker"), ("control_messages", "control message"))
        if name in figures and figures[name].median
    ]
    size = figures["control_bytes"].median if "control_bytes" in figures else 0
    yield f"{listing(sent)}, {said(size)} bytes." if sent else "Nothing was sent."
    if "stamp_bytes" in figures and figures["stamp_bytes"].median:
        yield f"Stamps on messages: {said(figures['stamp_bytes'].median)} bytes."


def _topology(own: Measured) -> Iterator[str]:
    right = [name for name, tried in own.tried.items() if tried.runs and tried.consistent == tried.runs]
    other = [name for name, tried in own.tried.items() if tried.runs and name not in right]
    refused = [name for name, tried in own.tried.items() if tried.refused]
    if right:
        yield f"Consistent on {listing(right)}."
    if other:
        told = [f"{name} ({own.tried[name].consistent} of {own.tried[name].runs})" for name in other]
        yield f"Not always on {listing(told)}."
    if refused:
        yield f"Cannot run on {listing(refused)}."
    yield "FIFO channels are needed." if own.needs_fifo else "Channels need not be FIFO."


def _recovery(own: Measured) -> Iterator[str]:
    figures = own.figures
    if "recovery_time" in figures:
        yield f"Back after {times(figures['recovery_time'].median)}."
        yield f"{counted(int(figures['rolled_back'].median), 'event')} rolled back."
        put_back = int(figures["put_back"].median)
        yield f"{counted(put_back, 'message')} put back." if put_back else "No message put back."
    else:
        yield "No recovery was carried out: its rules do not allow for a crash as yet."
        recorded = int(own.median("recorded_messages") or 0)
        yield f"To put back: {counted(recorded, 'message')}." if recorded else "To put back: no message."


_IN_SENTENCES = {
    LATENCY: _latency, MEMORY: _memory, NETWORK: _network, TOPOLOGY: _topology, RECOVERY: _recovery,
}  # fmt: skip


def asked_in_words(asked: Asked) -> str:
    """The grid of the table, in sentences."""
    markers = " or ".join(delay_in_words(delay) for delay in asked.marker_delays)
    alone = [ALGORITHMS[name].title for name in sorted(ALGORITHMS) if ALGORITHMS[name].one_node]
    return (
        f"Banks of {_either(asked.processes)} processes on each of these topologies: {', '.join(asked.topologies)}, "
        f"and a {BEHIND_A_SOURCE}. Messages take {delay_in_words(asked.delay)} time units, markers {markers}. "
        f"Each combination has {counted(asked.runs, 'run')}, with seeds from {asked.seed}. "
        f"{listing(alone)} is measured on one process that writes keys. "
        f"For recovery, P2 of a dag of {asked.processes[0]} crashes at {said(CRASH_AT)}."
    )


def _either(counts: Sequence[int]) -> str:
    return " or ".join(map(str, counts))


def as_text_table(table: Table) -> TextTable:
    """The table for a file: a row for each algorithm and column."""
    rows = [
        [
            line.title,
            COLUMNS[cell.column],
            cell.claim,
            " ".join(cell.measured),
            cell.judged.verdict if cell.judged else "",
            cell.judged.remark if cell.judged else "",
        ]
        for line in lines_of(table)
        for cell in line.cells
    ]
    header = ("Algorithm", "Aspect", "Claim", "Measured", "Verdict", "Remark")
    return TextTable(f"Trade-offs of snapshot algorithms. {asked_in_words(table.asked)}", header, rows)
