"""Logs with vector clocks, as ShiViz reads them (https://bestchai.bitbucket.io/shiviz): text that a pattern parses.

The pattern must have the groups `host`, `clock` (a JSON object with an entry per host) and `event` (its text, which
becomes the label). Three more groups add what clocks cannot show (pipeline.logs.pairing):
    kind    send, sent, receive, received, ...; any other word stands for an internal event
    peer    the other host
    msg     the message's name, which becomes its body
`time` or `timestamp` is a number. Other groups are ignored.

A log may contain its own pattern in its first line, as GoVector writes it, and a delimiter in the second.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import regex

from pipeline.logs.clocks import Clocks
from pipeline.logs.event_rows import EventRows, partner_rows, to_table
from pipeline.logs.format import ANYTHING, NEVER, Option, Options, Piece, Reading, check_executions
from pipeline.logs.growing_clocks import complete, rows
from pipeline.logs.grown_table import name_of
from pipeline.logs.lines import Line, lines, text_of, too_long
from pipeline.logs.pairing import Pairing, pair
from pipeline.logs.parsed_log import GROUPS, ParsedLog, parse_log
from pipeline.logs.patterns import LineSearches, TooSlow, compile_pattern, matches, seconds_for
from pipeline.logs.statements import Statement, statements_of
from sim.core.errors import InputError

TITLE = "a log with vector clocks, as ShiViz reads it"
SUFFIXES = (".log", ".txt", ANYTHING)
FILES = "*.log"  # of a folder that is followed
__all__ = ["FILES", "OPTIONS", "SUFFIXES", "TITLE", "complete", "name_of", "pieces", "read", "rows"]
OPTIONS = (
    Option(
        "pattern",
        "Lines",
        "the pattern of an event, with groups host, clock, event, and perhaps kind (send or receive), peer, msg, time "
        "(default: the pattern in the log's first line, else the known one that matches most of its first lines)",
        takes="REGEX",
        choices={
            "recognised by the app": "",
            "text, then host and clock (ShiViz's own)": r"(?P<event>.*)\n(?P<host>\S*) (?P<clock>{.*})",
            "host and clock, then text (GoVector)": r"(?P<host>\S*) (?P<clock>{.*})\n(?P<event>.*)",
            "all on one line": r"(?P<host>\S*) (?P<clock>{.*}) (?P<event>.*)",
            "all on one line, by Akka": r".*\[akka://\S*/(?P<host>\w+)\] (?P<clock>{.*?}) (?P<event>.*)",
        },
        other="an expression of my own",
    ),
    Option(
        "delimiter",
        "Line between executions",
        "the pattern of a line between two executions, whose group trace names the next (default: one execution)",
        takes="REGEX",
        placeholder="^=== (?P<trace>.*) ===$",
    ),
)

KNOWN = tuple(filter(None, OPTIONS[0].choices.values()))  # ShiViz's own default is the first
MOST_LINES = 400  # at the top of a log, for recognising its pattern
MOST_LETTERS = 40_000  # of those lines
MOST_SECONDS = 1.0  # for matching a known pattern in them: on odd lines it takes quadratic time
MOST_SECONDS_IN_ALL = 50.0  # for the patterns of several files
MOST_DELIMITER = 10_000  # letters of a line that may be a delimiter


# ------------------------------------------------------------------ where executions are


class _Syntax(NamedTuple):
    """The syntax of a file: pattern, delimiter, and the number of lines at its top that contain these."""

    pattern: str
    delimiter: str | None
    header_lines: int


def pieces(files: Sequence[Path], options: Options, stop: threading.Event = NEVER) -> list[Piece]:
    """A piece for each execution: the text between delimiters, unless it is blank. Raises InputError."""
    if "pattern" in options:
        compile_pattern(options["pattern"], "--pattern", GROUPS)
    if "delimiter" in options:
        compile_pattern(options["delimiter"], "--delimiter")
    found: list[Piece] = []
    seconds = min(MOST_SECONDS, MOST_SECONDS_IN_ALL / max(1, len(files)))
    searches = LineSearches()
    for path in files:
        own = _pieces(path, _syntax_of(path, options, seconds), searches, stop)
        if not own:
            raise InputError(f"{path}: is empty; bring a log with events")
        found += own
    total = sum(piece.end - piece.begin for piece in found)
    return [piece._replace(total=total) for piece in found]


def _syntax_of(path: Path, options: Options, seconds: float) -> _Syntax:
    """The syntax from the options or the file's first lines. A pattern in a file matches complete lines, as in ShiViz.

    Recognising a pattern takes up to `seconds` for each known one.
    """
    if "pattern" not in options:
        top = [(line.text or b"").decode("utf-8", "replace").strip() for line in islice(lines(path), 2)]
        first, second = [*top, "", ""][:2]
        if all(re.search(rf"\(\?P?<{group}>", first) for group in GROUPS):
            compile_pattern(first, f"{path}:1", GROUPS)
            if second:
                compile_pattern(second, f"{path}:2")
            return _Syntax(f"^{first}$", options.get("delimiter") or (f"^{second}$" if second else None), 2)
    return _Syntax(options.get("pattern") or _recognised(path, seconds), options.get("delimiter"), 0)


def _recognised(path: Path, seconds: float) -> str:
    """The known pattern that matches most of the first lines; of several the first."""
    top = b"\n".join(line.text or b"" for line in islice(lines(path), MOST_LINES)).decode("utf-8", "replace").strip()

    def understood(pattern: str) -> int:
        with suppress(TooSlow):
            found = matches(compile_pattern(pattern, "", GROUPS), top[:MOST_LETTERS], seconds)
            return sum(map(_is_event, found))
        return 0

    return max(KNOWN, key=understood)


def _is_event(match: regex.Match[str]) -> bool:
    """Whether the clock belongs to the host: it is a JSON object with an entry for that host."""
    try:
        return match["host"] in json.loads(match["clock"])
    except (ValueError, TypeError, RecursionError):
        return False


@dataclass
class _OpenExecution:
    """An execution whose end is not yet found."""

    name: str
    begin: int
    first_line: int
    is_blank: bool = True
    problem: str | None = None

    def closed(self, path: Path, pattern: str, number: int, end: int) -> Piece:
        """The piece of this execution, which ends at byte `end`; it is number `number` of its file, from 1."""
        name = self.name or (path.stem if number == 1 else f"{path.stem} {number}")
        paths = (str(path.resolve()),)
        return Piece(name, str(path), paths, self.begin, end, self.first_line, pattern, self.problem)


def _pieces(path: Path, syntax: _Syntax, searches: LineSearches, stop: threading.Event) -> list[Piece]:
    delimiter = None if syntax.delimiter is None else compile_pattern(syntax.delimiter, "--delimiter")
    found: list[Piece] = []
    current = _OpenExecution("", 0, 1)
    line = Line(0, 0, 0, b"")
    for line in lines(path, stop):
        name = "" if line.number <= syntax.header_lines else _delimited_name(delimiter, line, path, searches)
        if name is not None:
            if not current.is_blank:
                found.append(current.closed(path, syntax.pattern, len(found) + 1, line.begin))
                check_executions(len(found), str(path))
            current = _OpenExecution(name, line.end, line.number + 1)
        elif line.text is None:
            current.problem = current.problem or too_long(str(path), line)
            current.is_blank = False
        elif current.is_blank:
            current.is_blank = line.text.isspace()
    return found if current.is_blank else [*found, current.closed(path, syntax.pattern, len(found) + 1, line.end)]


def _delimited_name(delimiter: regex.Pattern[str] | None, line: Line, path: Path, searches: LineSearches) -> str | None:
    """The name that a delimiter line gives the next execution ("" if it gives none); None for any other line."""
    if delimiter is None or line.text is None or len(line.text) > MOST_DELIMITER:
        return None
    try:
        found = searches.first(delimiter, line.text.decode("utf-8", "replace").rstrip("\r\n"))
    except TooSlow:
        raise InputError(f"{path}:{line.number}: --delimiter takes too long here; write a simpler expression") from None
    return found and (found.groupdict().get("trace") or "").strip()


# ------------------------------------------------------------------ one execution


def read(piece: Piece) -> Reading:
    """Reads one execution: the events that the pattern matches, and the messages derived from clocks and text.

    Raises InputError, naming file and line.
    """
    text = text_of(piece)
    pattern, seconds = (
        compile_pattern(piece.how, "--pattern", GROUPS),
        seconds_for(piece.end - piece.begin, piece.total),
    )
    log = parse_log(text, pattern, piece.source, piece.first_line, seconds)
    processes = log.processes()
    clocks = Clocks(piece.source, log.host, log.clock, log.line)
    if clocks.order is not None:
        log.reorder(clocks.order)
    pairing = pair(clocks, _statements(log, clocks))
    rows = _rows(log, clocks, pairing, processes)
    table, notes = to_table(rows)
    if clocks.late:
        first = f"{piece.source}:{clocks.late[0]}"
        notes.append(
            f"{len(clocks.late)} lines stood after a later event of their host, the first {first}: put in order"
        )
    if clocks.gaps:
        first = clocks.where(min(clocks.follows_gap))
        notes.append(f"{clocks.gaps} events that the clocks count are not in the log, the first before {first}")
    unknown = [f"{processes[source]}->{processes[target]}" for source, target in sorted(pairing.unknown)]
    return Reading(
        table, processes, **rows.counts(), pairing=pairing.how, exact=pairing.exact, unknown_channels=unknown,
        gaps=clocks.gaps, notes=[*log.notes, *pairing.notes, *notes],
    )  # fmt: skip


def _statements(log: ParsedLog, clocks: Clocks) -> dict[int, Statement] | None:
    """The sends and receives that the text names; None if the pattern has no group `kind`."""
    if "kind" not in log.others:
        for group in ("peer", "msg"):
            if group in log.others:
                log.notes.append(f"the group {group} has no effect without a group kind, which says send or receive")
        return None
    nothing: list[str | None] = [None] * len(log.host)
    return statements_of(clocks, log.others["kind"], log.others.get("peer", nothing), log.others.get("msg", nothing))


def _rows(log: ParsedLog, clocks: Clocks, pairing: Pairing, processes: list[str]) -> EventRows:
    """A row for each message that an event sends or receives; one row for an event without messages."""
    name_of = {(m.source, m.target): f"{processes[m.source]}->{processes[m.target]}" for m in pairing.messages}
    ends = [(message.send, message.receive) for message in pairing.messages]
    event, kind, message, partner = partner_rows(len(log.host), ends)
    bodies, times = log.bodies(), log.times()
    return EventRows(
        event=event,
        process=[processes[clocks.host[number]] for number in event],
        index=[clocks.index[number] for number in event],
        kind=kind,
        channel=[None if number is None else name_of[pairing.messages[number][2:]] for number in message],
        partner=partner,
        label=[log.event[number] for number in event],
        body=[bodies[number] for number in event],
        where=lambda row: clocks.where(event[row]),
        time=None if times is None else [times[number] for number in event],
    )
