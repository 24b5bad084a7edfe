"""summarize: writes the quantiles of each cell of an ensemble, and its extremes."""

from __future__ import annotations

import argparse
from pathlib import Path

from pipeline.commands import Commands
from pipeline.spark.restarting import ask
from pipeline.store.folder import Store

_ABOUT = """Quantiles of every measure for each cell of the grid (DIR/summaries), and the failing, longest, fullest and
strangest snapshots (DIR/extremes)."""


def add(commands: Commands) -> None:
    """Adds the command."""
    command = commands.add_parser("summarize", help="quantiles and extremes of an ensemble", description=_ABOUT)
    command.add_argument("dir", metavar="DIR", type=Path, help="a data folder that ensemble has written")
    command.set_defaults(act=_summarize)


def _summarize(arguments: argparse.Namespace) -> int:
    from pipeline.ensembles.summaries import summarize

    store = Store.open(arguments.dir)
    ask(lambda spark: summarize(spark, store))
    for row in store.rows("summaries").to_table().to_pylist():
        middle = [
            f"{name} {row[f'{name}_50']:g}"
            for name in ("latency", "recorded_messages")
            if row[f"{name}_50"] is not None
        ]
        head = f"cell {row['cell']:4}: {row['runs']} runs, {row['failures']} failures"
        print(f"{head}; medians: {', '.join(middle) or 'none'}")
    print(f"in {store.folder('summaries')} and {store.folder('extremes')}")
    return 0
