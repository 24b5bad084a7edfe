"""summarize: writes the quantiles of each cell of an ensemble, and its extreme snapshots."""

from __future__ import annotations

import argparse

from pipeline import jobs
from pipeline.commands import Commands

_ABOUT = """Write the quantiles of every measure for each cell of the grid (DIR/summaries), the snapshots that fail,
take longest, record most or lie furthest from their cell's median (DIR/extremes), and a random sample (DIR/sample).
A complete ensemble has these tables already."""


def add(commands: Commands) -> None:
    """Adds the command."""
    command = commands.add_parser("summarize", help="write quantiles and extremes of an ensemble", description=_ABOUT)
    command.add_argument("dir", metavar="DIR", help="a data folder that ensemble has written")
    command.set_defaults(act=_summarize)


def _summarize(arguments: argparse.Namespace) -> int:
    store = jobs.summarize(arguments.dir)
    for row in store.rows("summaries").to_table().to_pylist():
        middle = [
            f"{name} {row[f'{name}_50']:g}"
            for name in ("latency", "recorded_messages")
            if row[f"{name}_50"] is not None
        ]
        head = f"cell {row['cell']:4}: {row['runs']} runs, {row['failures']} failures"
        print(f"{head}; medians: {', '.join(middle) or 'none'}")
    tables = [store.address_of(table) for table in ("summaries", "extremes", "sample")]
    print(f"in {tables[0]}, {tables[1]} and {tables[2]}")
    return 0
