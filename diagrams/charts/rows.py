"""The rows that a chart is drawn from, as CSV: whole numbers and floats as they are, nothing rounded.

A line whose `row` is "cell" is a combination of the grid: the number of its runs, their median, and the range from low
to high of eight of ten of them. A line whose `row` is "run" is a single run, drawn as a dot, with its value. The column
of a dimension holds its value; a second one holds its place on an axis, if that differs. No cell is a formula.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

from diagrams.charts.measures import Dimension, Measure, Row, Rows
from sim.exchange.csv_cells import harmless

Line = Mapping[str, Any]  # cells by column


def measured(cells: Rows, runs: Rows, dimensions: Sequence[Dimension], measure: Measure) -> bytes:
    """The combinations and the single runs in which something was measured."""
    middle = f"{measure.column}_50"
    lines = [_of_cell(row, dimensions, measure) for row in cells if row[middle] is not None]
    lines += [_of_run(row, dimensions, measure) for row in runs if row[measure.column] is not None]
    return _as_csv(lines)


def compared(
    cells: Rows, predicted: Sequence[float | None], dimensions: Sequence[Dimension], measure: Measure
) -> bytes:
    """The combinations with their predictions; those without a prediction or a measurement are left out."""
    pairs = zip(cells, predicted, strict=True)
    middle = f"{measure.column}_50"
    return _as_csv(
        {**_of_cell(row, dimensions, measure), "predicted": guess}
        for row, guess in pairs
        if guess is not None and row[middle] is not None
    )


def slowest(rows: Rows) -> bytes:
    """The number of snapshots that each process finished last, and the longest of them."""
    names = {
        "process": "process", "snapshots": "snapshots", "cell": "cell", "run": "run_id", "snapshot": "snapshot_id",
        "longest": "latency",
    }  # fmt: skip
    return _as_csv({name: row[column] for name, column in names.items()} for row in rows)


def depths(counts: Sequence[tuple[int, bool]]) -> bytes:
    """The number of states at each number of steps, and whether such a step completes a snapshot."""
    return _as_csv(
        {"steps": depth, "states": states, "completes": completes} for depth, (states, completes) in enumerate(counts)
    )


def sized(curves: Iterable[tuple[str, Mapping[float, float]]]) -> bytes:
    """The lines of the chart of sizes, in bytes, by the marker delay in seconds."""
    return _as_csv(
        {"line": name, "marker_delay": delay, "bytes": value} for name, own in curves for delay, value in own.items()
    )


def _of_cell(row: Row, dimensions: Sequence[Dimension], measure: Measure) -> Line:
    quantiles = {name: row[f"{measure.column}_{share}"] for name, share in (("median", 50), ("low", 10), ("high", 90))}
    return {"row": "cell", "cell": row["cell"], **_places(row, dimensions), "measure": measure.column,
            "runs": row["runs"], **quantiles}  # fmt: skip


def _of_run(row: Row, dimensions: Sequence[Dimension], measure: Measure) -> Line:
    return {"row": "run", "cell": row["cell"], **_places(row, dimensions), "measure": measure.column,
            "run": row["run_id"], "snapshot": row["snapshot_id"], "value": row[measure.column],
            "failed": bool(row["failed"])}  # fmt: skip


def _places(row: Row, dimensions: Iterable[Dimension]) -> Line:
    columns = [column for each in dimensions for column in (each.column, each.position) if column]
    return {column: row.get(column) for column in columns}


def _as_csv(lines: Iterable[Line]) -> bytes:
    """A line of column names, those of all lines in order of appearance, then the lines. UTF-8."""
    lines = list(lines)
    columns = list(dict.fromkeys(column for line in lines for column in line))
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(harmless, columns))
    for line in lines:
        writer.writerow([_cell(line.get(column)) for column in columns])
    return text.getvalue().encode("utf-8")


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return harmless(value) if isinstance(value, str) else value
