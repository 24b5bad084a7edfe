"""Logs with vector clocks that grow: the rows of some of their lines (pipeline/logs/growing.py)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import regex

from pipeline.logs.format import Options
from pipeline.logs.growing import Grown, Text, first_line, line_number
from pipeline.logs.parsed_log import GROUPS, parse_log, process_name
from pipeline.logs.patterns import compile_pattern, matches, seconds_for
from pipeline.logs.statements import WORDS
from sim.core.errors import InputError
from sim.core.model import INTERNAL, SEND, label_of

FOLLOWED_GROUPS = (*GROUPS, "kind", "peer", "msg")


def rows(lines: Iterable[Text], path: Path, options: Options) -> Iterator[Grown]:
    """The events of some lines of a file that grows (pipeline/logs/growing.py). Raises InputError.

    A message needs a name of its own on its channel (the group `msg`), and both ends have to name each other (`kind`
    and `peer`): clocks alone show a message only at its receipt. The files together are one execution, and no event may
    be missing.
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


def complete(lines: Sequence[Text], path: Path, options: Options) -> int:
    """The number of lines that are complete events: those up to the end of the last match."""
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
        raise InputError(
            f"{where}: a {kind} whose group peer is {peer!r}; in a log that is followed it names the other host"
        )
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
