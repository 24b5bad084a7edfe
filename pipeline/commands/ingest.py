"""ingest: reads foreign logs into the event table of a data folder."""

from __future__ import annotations

import argparse
import threading
import time
from contextlib import suppress
from pathlib import Path

from pipeline import formats, jobs
from pipeline.commands import Commands
from pipeline.ingest import Row
from pipeline.spark.background import in_background
from pipeline.spark.progress import bar
from pipeline.streaming.following import follow, opened
from pipeline.streaming.progress_file import News, NumberedVerdict, news
from sim.core.errors import InputError
from sim.document.command_line import Parser

MOST_LISTED = 20  # executions that are printed one by one
LOOK_S = 0.1  # between two checks whether following has ended
GOODBYE_S = 30.0  # the time that following has to end in good order

_ABOUT = """Read logs of other programs into the event table of a data folder, DIR/events, with a row for each execution
in DIR/traces. Clocks, indices and partners are checked; an error names the file and line of a contradiction. With
--follow the command reads on while the logs grow, and keeps the audit of their snapshots current in DIR/audits and
DIR/channels. Ctrl-C ends it; the same command goes on from there."""

_FOLLOW = """read on while the logs grow. A LOG may be a folder: then all of its files are read. It need not exist yet.
A run may be spread over several files"""


def add(commands: Commands) -> None:
    """Adds the command."""
    known = "; ".join(f"{name}: {formats.find(name).TITLE}" for name in formats.names())
    command = commands.add_parser("ingest", help="read logs of other programs", description=_ABOUT)
    command.add_argument("logs", nargs="+", type=Path, metavar="LOG")
    command.add_argument("--format", required=True, choices=formats.names(), help=known)
    _add_flags(command)
    command.add_argument(
        "--quarantine", action="store_true", help="set executions with contradictions aside, and read the others"
    )
    command.add_argument("--follow", action="store_true", help=_FOLLOW)
    command.add_argument(
        "--out",
        required=True,
        metavar="DIR",
        help="the data folder to write: a path, or an address such as s3://bucket/bank",
    )
    command.set_defaults(act=_ingest)


def _add_flags(command: Parser) -> None:
    """Adds a flag for each option of any format."""
    options = [(form, option) for form in formats.names() for option in formats.options_of(form)]
    for name in dict.fromkeys(option.name for _, option in options):
        same = [(form, option) for form, option in options if option.name == name]
        words = "; ".join(f"{form}: {option.help or option.label}" for form, option in same)
        flag = f"--{name}"
        command.add_argument(flag, dest=flag, metavar=same[0][1].takes, help=words.replace("%", "%%"))


def _ingest(arguments: argparse.Namespace) -> int:
    options = {flag[2:]: text for flag, text in vars(arguments).items() if flag.startswith("--") and text is not None}
    if arguments.follow:
        return _follow(arguments, options)
    with bar("ingest", "executions") as progress:
        rows = jobs.ingest(
            arguments.out, arguments.logs, arguments.format, options, quarantine=arguments.quarantine,
            progress=progress,
        )  # fmt: skip
    for row in rows[:MOST_LISTED]:
        _print_execution(row)
    if len(rows) > MOST_LISTED:
        print(f"... and {len(rows) - MOST_LISTED} more; see {arguments.out}/traces")
    aside = sum(row["problem"] is not None for row in rows)
    events = sum(row["events"] or 0 for row in rows)
    print(
        f"{events} events of {len(rows) - aside} executions in {arguments.out}"
        + (f", {aside} set aside" if aside else "")
    )
    return 0


def _follow(arguments: argparse.Namespace, options: dict[str, str]) -> int:
    """Follows the logs until a signal ends it. Returns the exit status.

    A signal is an exception in the main thread. So that thread only waits: in a call of Spark's client the exception
    would leave a lock behind, and the process would never end.
    """
    if arguments.quarantine:
        raise InputError(
            "--quarantine: cannot be combined with --follow, which sets nothing aside; leave one of them out"
        )
    store = opened(arguments.out, arguments.logs, arguments.format, options)
    stop, printer = threading.Event(), _Printer(news(store))
    done = in_background(lambda: follow(store, stop, printer.hear))
    try:
        while not done.done():
            time.sleep(LOOK_S)
    except KeyboardInterrupt:
        stop.set()
        with suppress(InputError, TimeoutError):
            done.result(timeout=GOODBYE_S)
        raise
    done.result()
    return 0


class _Printer:
    """A printer of news: the number of rows read so far, and each verdict."""

    def __init__(self, known: News) -> None:
        self._known = known
        if known.rows:
            print(f"continues after {known.rows:,} rows", flush=True)

    def hear(self, found: News) -> None:
        """Prints what is new in `found`."""
        if found.batch == self._known.batch:
            return
        if found.rows > self._known.rows:
            print(f"{found.rows:,} rows, {found.events:,} events, {found.messages:,} messages", flush=True)
        new = [own for own in found.latest if own.number > self._known.verdicts]
        if (missed := found.verdicts - self._known.verdicts - len(new)) > 0:
            print(f"{missed:,} verdicts that are not listed; see the table audits")
        for own in new:
            print(_in_words(own), flush=True)
        for why in set(found.waiting) - set(self._known.waiting) if found.rows == self._known.rows else ():
            print(why, flush=True)
        self._known = found


def _in_words(own: NumberedVerdict) -> str:
    """A verdict in a line."""
    _, cut, consistent, witness, messages = own.verdict
    why = f"message {witness} is received inside the cut but sent outside"
    words = "consistent" if consistent else f"INCONSISTENT: {why}"
    return f"snapshot {cut} of run {own.verdict.run}: {words}; {messages} messages in channels"


def _print_execution(row: Row) -> None:
    """Prints an execution in a line, and its notes."""
    if row["problem"] is not None:
        print(f"{row['run_id']:4} {row['name']}: set aside: {row['problem']}")
        return
    received = f", {row['unreceived']} of them never received" if row["unreceived"] else ""
    print(
        f"{row['run_id']:4} {row['name']}: {row['events']} events of {len(row['processes'])} processes, "
        f"{row['messages']} messages{received}; matched by: {row['pairing']}"
    )
    notes = list(row["notes"])
    if not row["exact"]:
        notes.append(
            "messages that left no trace are not in the table: a channel may hold more messages than a cut shows"
        )
    if row["unknown_channels"]:
        notes.append(f"channel state unknown: {', '.join(row['unknown_channels'][:12])}")
    for note in notes:
        print(f"     {note}")
