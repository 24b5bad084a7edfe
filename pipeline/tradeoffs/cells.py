"""The table of trade-offs in words: for each algorithm and column the claim, the measured values, and the remark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from pipeline.tradeoffs.agreement import Judged, delay_in_words, markers, said
from pipeline.tradeoffs.cases import ONE_NODE, SNAPSHOT, Asked, Where
from pipeline.tradeoffs.claims import CLAIMS, COLUMNS, COMING_BACK, LATENCY, MEMORY, METHODS, NETWORK, TOPOLOGY
from pipeline.tradeoffs.table import Figure, Measured, Table
from sim.core.algorithm import ALGORITHMS
from sim.exchange.text_tables import TextTable
from sim.explain.words import counted, listing

NOT_MEASURED = "Not measured yet: measure the table again."


class Cell(NamedTuple):
    """A cell: the claim ("": none), the measured values in short sentences, the verdict, and a typical run.

    Verdict and run are None if there is none.
    """

    column: str
    claim: str
    measured: tuple[str, ...]
    judged: Judged | None
    typical: Where | None


class Line(NamedTuple):
    """A row of the table: an algorithm, its title, its name in the table of claims ("": none), and its cells."""

    algorithm: str
    title: str
    method: str
    cells: tuple[Cell, ...]


def lines_of(table: Table) -> list[Line]:
    """The rows of the table: first the algorithms with claims, then all others by their names."""
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
    """The typical run for a column: the one whose value is the median.

    For the topology it is a run whose snapshot is no consistent cut; if there is none, a run on no full mesh.
    """
    if column == TOPOLOGY:
        outcomes = own.of_kind(SNAPSHOT)
        wrong = [each for each in outcomes if each.consistent < each.runs]
        others = [each for each in outcomes if each.setting.topology != "complete"]
        return next((Where(each.kind, each.setting, each.seed) for each in [*wrong, *others, *outcomes]), None)
    names = {
        LATENCY: ("delayed_most", "blocked_time"), MEMORY: ("copied_pages", "recorded_messages"),
        NETWORK: ("control_bytes",), COMING_BACK: ("rolled_back", "recorded_messages"),
    }[column]  # fmt: skip
    return next((own.usual[name].typical for name in names if name in own.usual), None)


# ------------------------------------------------------------------ what was measured, in sentences


def with_spread(figure: Figure) -> str:
    """A figure in words: the median, and the least and greatest value if they differ: `14 (4 to 380)`."""
    least, most = said(figure.least), said(figure.most)
    return said(figure.median) if least == most else f"{said(figure.median)} ({least} to {most})"


def _latency(own: Measured) -> Iterator[str]:
    usual = list(_late(own, own.usual))
    yield from usual
    for delay, figures in own.figures.items():
        late = list(_late(own, figures))
        if late and late != usual:
            yield from (f"With {markers(delay)}:", *late)


def _late(own: Measured, figures: Mapping[str, Figure]) -> Iterator[str]:
    if "blocked_time" in figures:
        blocked = figures["blocked_time"]
        yield f"Blocked for {with_spread(blocked)} in total." if blocked.most else "Nothing was blocked."
    if "delayed_most" in figures:
        most = figures["delayed_most"]
        yield f"Messages were late by at most {with_spread(most)}." if most.most else "No message was late."
    if "end_to_end" in figures and ALGORITHMS[own.algorithm].records_once:
        yield f"Complete after {with_spread(figures['end_to_end'])}."


def _memory(own: Measured) -> Iterator[str]:
    figures = own.usual
    if "copied_pages" in figures:
        by_pace = sorted(own.of_kind(ONE_NODE), key=lambda each: each.setting.pace)
        copied = [f"{said(each.median('copied_pages') or 0)} with a write every {said(each.setting.pace)}"
                  for each in by_pace]  # fmt: skip
        yield f"Pages copied: {listing(copied)}."
    elif "recorded_messages" in figures:
        messages, size = figures["recorded_messages"], figures["recorded_bytes"]
        yield (
            f"{with_spread(messages)} messages in the channels, {with_spread(size)} bytes."
            if messages.most
            else "No message in the channels."
        )
    if "state_bytes" in figures:
        yield f"States: {with_spread(figures['state_bytes'])} bytes."


def _network(own: Measured) -> Iterator[str]:
    figures = own.usual
    sent = [
        f"{with_spread(figures[name])} {words}"
        for name, words in (("markers", "markers"), ("control_messages", "control messages"))
        if name in figures and figures[name].most
    ]
    size = f", {with_spread(figures['control_bytes'])} bytes" if "control_bytes" in figures else ""
    yield f"{listing(sent)}{size}." if sent else "Nothing was sent."
    if "stamp_bytes" in figures and figures["stamp_bytes"].most:
        yield f"Stamps on messages: {with_spread(figures['stamp_bytes'])} bytes."


def _topology(own: Measured) -> Iterator[str]:
    found: dict[str, list[int]] = {}
    for each in own.of_kind(SNAPSHOT):
        counts = found.setdefault(each.setting.topology, [0, 0])
        counts[0] += each.consistent
        counts[1] += each.runs
    always = [name for name, (consistent, runs) in found.items() if consistent == runs]
    other = [f"{name} ({consistent} of {runs})" for name, (consistent, runs) in found.items() if consistent < runs]
    if always:
        yield f"Always consistent on {listing(always)}."
    if other:
        yield f"Not always on {listing(other)}."
    if own.refused:
        yield f"Cannot run on {listing(list(own.refused))}."
    yield "FIFO channels are needed." if own.needs_fifo else "Channels need not be FIFO."


def _recovery(own: Measured) -> Iterator[str]:
    figures = own.usual
    if "recovery_time" in figures:
        yield f"Recovered after {with_spread(figures['recovery_time'])}."
        yield f"{with_spread(figures['rolled_back'])} events rolled back."
        put_back = figures["put_back"]
        yield f"{with_spread(put_back)} messages put back." if put_back.most else "No message put back."
    else:
        yield "No recovery was carried out: its rules do not allow for a crash yet."
        recorded = figures.get("recorded_messages")
        yield f"To put back: {with_spread(recorded)} messages." if recorded and recorded.most else (
            "To put back: no message.")  # fmt: skip


_IN_SENTENCES = {
    LATENCY: _latency, MEMORY: _memory, NETWORK: _network, TOPOLOGY: _topology, COMING_BACK: _recovery,
}  # fmt: skip

HOW_TO_READ = (
    "A number covers all topologies and sizes on which the algorithm runs: it is the median of the cases, with the "
    "least and the greatest in brackets. A blocked time is the sum over all processes and channels that stand still."
)


def asked_in_words(asked: Asked) -> str:
    """The inputs of the table, in sentences."""
    slow = " or ".join(delay_in_words(delay) for delay in asked.marker_delays)
    alone = [ALGORITHMS[name].title for name in sorted(ALGORITHMS) if ALGORITHMS[name].one_node]
    return (
        f"Banks of {_either(asked.processes)} processes on each of these topologies: {', '.join(asked.places)}. "
        f"A process sends every {_either(map(said, asked.paces))} time units, until the snapshot is complete. "
        f"Messages and control messages take {delay_in_words(asked.delay)} time units, markers {slow}. "
        f"Each combination has {counted(asked.runs, 'run')}, with seeds from {asked.seed}. "
        f"The costs of {listing(alone)} are those of one process that writes keys. "
        "To measure recovery, P2 crashes after three snapshots have begun."
    )


def _either(values: Iterable[object]) -> str:
    *first, last = map(str, values)
    return f"{', '.join(first)} or {last}" if first else last


def as_text_table(table: Table) -> TextTable:
    """The table for a file: a row for each algorithm and column."""
    rows = [
        [
            line.title,
            COLUMNS[cell.column],
            cell.claim,
            " ".join(cell.measured),
            cell.judged.verdict if cell.judged else "",
            listing(cell.judged.inputs) if cell.judged else "",
            cell.judged.sentences if cell.judged else "",
        ]
        for line in lines_of(table)
        for cell in line.cells
    ]
    header = ("Algorithm", "Aspect", "Claim", "Measured", "Verdict", "Depends on", "Remark")
    title = f"Trade-offs of snapshot algorithms. {asked_in_words(table.asked)} {HOW_TO_READ}"
    return TextTable(title, header, rows)
