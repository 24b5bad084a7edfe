"""Logs with vector clocks, as ShiViz reads them (https://bestchai.bitbucket.io/shiviz): text that a pattern parses.

The pattern must have the groups `host`, `clock` (a JSON object with an entry per host) and `event` (its text, which
becomes the label). The groups `kind` (send, sent, receive, received, ...; any other word is neither), `peer` (the other
host) and `msg` (the message's name, which becomes its body) add what clocks cannot tell (pipeline.logs.pairing). `time`
or `timestamp` is a number. Other groups are ignored.

A log may contain its own pattern, as GoVector writes it: in its first line, and its delimiter, if any, in the second.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import regex

from pipeline.logs.clocks import Clocks
from pipeline.logs.event_rows import EventRows, partner_rows, to_table
from pipeline.logs.format import ANYTHING, NEVER, Option, Options, Piece, Reading, check_executions
from pipeline.logs.growing import Grown, Text, first_line, line_number
from pipeline.logs.grown_table import name_of
from pipeline.logs.lines import Line, lines, text_of, too_long
from pipeline.logs.pairing import Pairing, pair
from pipeline.logs.parsed_log import GROUPS, ParsedLog, parse_log, process_name
from pipeline.logs.patterns import LineSearches, TooSlow, compile_pattern, matches, seconds_for
from pipeline.logs.statements import WORDS, Statement, statements_of
from sim.core.errors import InputError
from sim.core.model import INTERNAL, SEND, label_of

TITLE = "a log with vector clocks, as ShiViz reads it"
SUFFIXES = (".log", ".txt", ANYTHING)
FILES = "*.log"  # of a folder that is followed
FOLLOWED_GROUPS = (*GROUPS, "kind", "peer", "msg")
__all__ = ["FILES", "OPTIONS", "SUFFIXES", "TITLE", "name_of", "pieces", "read", "rows", "whole"]
OPTIONS = (
    Option(
        "pattern",
        "Lines",
        "what an event looks like, with groups host, clock, event, and perhaps kind (send or receive), peer, msg, time "
        "(default: the one in the log's first line, else the known one that understands most of its first lines)",
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
        "a line between two executions, whose group trace names the next (default: the log is of one execution)",
        takes="REGEX",
        placeholder="^=== (?P<trace>.*) ===$",
    ),
)

KNOWN = tuple(filter(None, OPTIONS[0].choices.values()))  # ShiViz's own default is the first
MOST_LINES = 400  # at the top of a log, by which its pattern is recognised
MOST_LETTERS = 40_000  # of those lines, and
MOST_SECONDS = 1.0  # for a known pattern in them: on odd lines it takes quadratic time
MOST_SECONDS_IN_ALL = 50.0  # of several files
MOST_DELIMITER = 10_000  # letters of a line that may be a delimiter


# ------------------------------------------------------------------ where executions are


class _Syntax(NamedTuple):
    """How to parse a file: pattern, delimiter, and the number of lines at its top that contain these."""

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
    whole = sum(piece.end - piece.begin for piece in found)
    return [piece._replace(whole=whole) for piece in found]


def _syntax_of(path: Path, options: Options, seconds: float) -> _Syntax:
    """The syntax from the options or the file's first lines. A pattern in a file matches whole lines, as in ShiViz.

    To recognise a pattern takes up to `seconds` for each known one.
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
    """The known pattern that understands most of the first lines; of several the first."""
    top = b"\n".join(line.text or b"" for line in islice(lines(path), MOST_LINES)).decode("utf-8", "replace").strip()

    def understood(pattern: str) -> int:
        with suppress(TooSlow):
            found = matches(compile_pattern(pattern, "", GROUPS), top[:MOST_LETTERS], seconds)
            return sum(map(_is_event, found))
        return 0

    return max(KNOWN, key=understood)


def _is_event(match: regex.Match[str]) -> bool:
    """Whether the clock is one of the host: a JSON object with an entry of its own."""
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
    """Reads one execution: the events that the pattern matches, and the messages that follow from clocks and text.

    Raises InputError, naming file and line.
    """
    text = text_of(piece)
    pattern, seconds = (
        compile_pattern(piece.how, "--pattern", GROUPS),
        seconds_for(piece.end - piece.begin, piece.whole),
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
                log.notes.append(
                    f"the group {group} pairs nothing: that takes a group kind, which says send or receive"
                )
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


# ------------------------------------------------------------------ a log that grows


def rows(lines: Iterable[Text], path: Path, options: Options) -> Iterator[Grown]:
    """The events of some lines of a file that grows (pipeline/logs/growing.py). Raises InputError.

    A message has to have a name of its own on its channel (the group `msg`), and both ends name each other (`kind` and
    `peer`): from clocks alone a message is known only when it is received. The files together are one execution, in
    which no event is missing.
    """
    own = list(lines)
    text = "\n".join(line.text.decode("utf-8", "replace") for line in own)
    pattern, first = _followed_pattern(path, options), line_number(path, own[0].begin) if own else 1
    if not pattern.search(text, timeout=seconds_for(len(text), len(text))):
        return
    log = parse_log(text, pattern, str(path), first, seconds_for(len(text), len(text)))
    times, bodies = log.times(), log.bodies()
    for event, (host, clock, line) in enumerate(zip(log.host, log.clock, log.line, strict=True)):
        where = f"{path}:{line}"
        process, kind = process_name(host), WORDS.get((log.others["kind"][event] or "").lower(), INTERNAL)
        channel = None if kind == INTERNAL else _channel(process, kind, log.others["peer"][event], where)
        message = None if channel is None else _message(channel, bodies[event], where)
        index = _own_entry(host, clock, where)
        yield Grown(
            own[line - first].begin, "", process, index, kind, channel, None, message,
            label_of(process, index, log.event[event] or None), bodies[event], None, None, None,
            None if times is None else times[event],
        )  # fmt: skip


def whole(lines: Sequence[Text], path: Path, options: Options) -> int:
    """How many lines are whole events: those up to the end of the last match."""
    pattern = _followed_pattern(path, options)
    most = str(pattern.pattern).count("\\n")
    if not most:
        return len(lines)
    text = "\n".join(line.text.decode("utf-8", "replace") for line in lines)
    ends = [0, *(text.count("\n", 0, found.end()) + 1 for found in matches(pattern, text, seconds_for(len(text), 1)))]
    return max(ends[-1], len(lines) - most)


def _followed_pattern(path: Path, options: Options) -> regex.Pattern[str]:
    """The pattern that is given, or the one in the file's first line. Raises InputError."""
    if "delimiter" in options:
        raise InputError("--delimiter: files that are followed are one execution; leave it out")
    if "pattern" in options:
        return compile_pattern(options["pattern"], "--pattern", FOLLOWED_GROUPS)
    return compile_pattern(f"^{first_line(path).decode('utf-8', 'replace').strip()}$", f"{path}:1", FOLLOWED_GROUPS)


def _channel(process: str, kind: str, peer: str | None, where: str) -> str:
    if not peer or process_name(peer) == process:
        raise InputError(f"{where}: a {kind} whose group peer is {peer!r}; who follows a log has to know it")
    ends = (process, process_name(peer)) if kind == SEND else (process_name(peer), process)
    return "->".join(ends)


def _message(channel: str, body: str | None, where: str) -> int:
    """The id of a message, the same at both of its ends."""
    if body is None:
        raise InputError(f"{where}: a message whose group msg is empty; in a log that is followed each has a name")
    digest = hashlib.blake2b(f"{channel} {body}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def _own_entry(host: str, clock: str, where: str) -> int:
    """The number of an event among those of its host, as its clock counts them."""
    try:
        own = json.loads(clock)[host]
    except (ValueError, TypeError, KeyError, RecursionError):
        own = None
    if type(own) is not int or own < 1:
        raise InputError(f"{where}: the clock of {host!r} has no entry for itself; each event counts, from 1")
    return own
