"""tradeoffs: measures the costs of all algorithms on identical systems, and writes a table."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from pipeline import jobs
from pipeline.commands import Commands
from pipeline.spark.progress import bar
from pipeline.tradeoffs.agreement import DEPENDS, REFUTED
from pipeline.tradeoffs.cases import OPTIONS
from pipeline.tradeoffs.cells import as_text_table, asked_in_words, lines_of
from pipeline.tradeoffs.table import Table
from sim.core.errors import InputError
from sim.exchange.text_tables import as_csv, as_latex, as_markdown
from sim.explain.words import listing

_ABOUT = """Measure the costs of all snapshot algorithms on identical systems, and compare them with the claims of the
table "Technical Trade-offs & Strategic Compromises": latency, memory, network, topologies, recovery. Lists and ranges
are written as for ensemble."""

# By the suffix of a file: the form of the table.
FORMS: Mapping[str, Callable[[Table], str]] = {
    ".json": Table.to_json,
    ".md": lambda table: as_markdown(as_text_table(table)),
    ".tex": lambda table: as_latex(as_text_table(table)),
    ".csv": lambda table: as_csv(as_text_table(table)),
}


def add(commands: Commands) -> None:
    """Adds the command."""
    command = commands.add_parser(
        "tradeoffs", help="measure the costs of all algorithms, and check claims", description=_ABOUT
    )
    for option, words in OPTIONS.items():
        command.add_argument(f"--{option.replace('_', '-')}", metavar="VALUES", help=words)
    command.add_argument(
        "--on-spark", action="store_true", help="carry out the runs on Spark's workers, not in this process"
    )
    command.add_argument(
        "--scratch", metavar="DIR", help="with --on-spark: a folder or a storage address that all workers reach"
    )
    command.add_argument(
        "--out", required=True, type=Path, metavar="FILE",
        help="the file to write: .json for all values; .md, .tex or .csv for the table with its remarks",
    )  # fmt: skip
    command.set_defaults(act=_tradeoffs)


def _tradeoffs(arguments: argparse.Namespace) -> int:
    out: Path = arguments.out
    if out.suffix not in FORMS:
        raise InputError(f"--out {out}: has no known suffix; end the file's name in one of {', '.join(FORMS)}")
    if arguments.scratch is not None and not arguments.on_spark:
        raise InputError("--scratch: works only with --on-spark; add --on-spark, or leave --scratch out")
    given = {option: text for option in OPTIONS if (text := getattr(arguments, option)) is not None}
    with bar("tradeoffs", "runs") as progress:
        table = jobs.tradeoffs(on_spark=arguments.on_spark, scratch=arguments.scratch, progress=progress, **given)
    try:
        out.write_text(FORMS[out.suffix](table), encoding="utf-8", newline="")
    except OSError as problem:
        raise InputError(f"--out {out}: cannot be written ({problem.strerror}); name another file") from None
    print(asked_in_words(table.asked))
    for line in lines_of(table):
        for cell in line.cells:
            if cell.judged and cell.judged.verdict in (DEPENDS, REFUTED):
                on = f" on {listing(cell.judged.inputs)}" if cell.judged.inputs else ""
                print(f'{line.title}, {cell.column}: "{cell.claim}" {cell.judged.verdict}{on}. {cell.judged.sentences}')
    print(f"{table.runs:,} runs, in {out}")
    return 0
