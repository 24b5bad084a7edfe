"""Parses the text of a log into events, with a pattern."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import regex

from pipeline.logs import patterns
from pipeline.logs.format import check_processes
from sim.core.errors import InputError, brief

GROUPS = ("host", "clock", "event")
TIMES = ("time", "timestamp")
FURTHER = ("kind", "peer", "msg", *TIMES)
_NO_NAME = re.compile(r"\s+|->")


def process_name(host: str) -> str:
    """The name of a host's process, with _ for white space and ->, which names must not hold."""
    return _NO_NAME.sub("_", host)


@dataclass
class ParsedLog:
    """The events of one execution, in the order of the log: a list for each group of the pattern.

    `line` is the line of an event's clock. `others` holds the groups of FURTHER that the pattern has.
    """

    source: str
    host: list[str] = field(default_factory=list)
    clock: list[str] = field(default_factory=list)
    event: list[str] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    others: dict[str, list[str | None]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def processes(self) -> list[str]:
        """The names of the hosts, in the order of their first events, with _ for white space and ->.

        Raises InputError for an empty name, two hosts that would get the same name, or too many hosts.
        """
        found: dict[str, str] = {}
        lines: dict[str, int] = {}  # of the first event of each host
        for host, line in zip(self.host, self.line, strict=True):
            lines.setdefault(host, line)
        check_processes(len(lines), self.source)
        for host, line in lines.items():
            name = process_name(host)
            where = f"{self.source}:{line}"
            if not name:
                raise InputError(f"{where}: the group host is empty here; every event has a host")
            if name in found:
                raise InputError(f"{where}: the hosts {found[name]!r} and {host!r} would both be called {name!r}")
            if name != host:
                self.notes.append(f"the host {host!r} is called {name!r} here: names hold no white space and no ->")
            found[name] = host
        return list(found)

    def reorder(self, order: Sequence[int]) -> None:
        """Reorders the events: event e becomes what was event order[e]. Hosts and clocks stay as they are."""
        self.event = [self.event[event] for event in order]
        self.line = [self.line[event] for event in order]
        self.others = {name: [texts[event] for event in order] for name, texts in self.others.items()}

    def times(self) -> list[float] | None:
        """The times of the events; None without a group for them. Raises InputError for a time that is no number."""
        name = next((name for name in TIMES if name in self.others), None)
        return None if name is None else [self._number(event, text) for event, text in enumerate(self.others[name])]

    def _number(self, event: int, text: str | None) -> float:
        try:
            number = float(text or "")
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise InputError(
                f"{self.source}:{self.line[event]}: the time {brief(text)} is no number; call the group of a date "
                "something else, such as date"
            )
        return number

    def bodies(self) -> list[str | None]:
        """The names of the events' messages as JSON: the group `msg`, if the pattern has one."""
        messages = self.others.get("msg", [None] * len(self.host))
        return [None if text is None else json.dumps(text, ensure_ascii=False) for text in messages]


def parse_log(text: str, pattern: regex.Pattern[str], source: str, first_line: int, seconds: float) -> ParsedLog:
    """The events that `pattern` matches in `text`, whose first line is line number `first_line` of `source`.

    Raises InputError, naming file and line, in three cases: there is no match; a match lacks host, clock or event; the
    pattern takes more than `seconds` of processor time.
    """
    names = (*GROUPS, *(name for name in FURTHER if name in pattern.groupindex))
    log = ParsedLog(source, others={name: [] for name in names[len(GROUPS) :]})
    others = list(log.others.values())
    line, counted, last = first_line, 0, 0
    skipped = _Skipped(source)
    try:
        for match in patterns.matches(pattern, text, seconds):
            start = match.start("clock")
            line += text.count("\n", counted, max(counted, start))
            counted = max(counted, start)
            skipped.add(text, last, match.start(), counted, line)
            last = match.end()
            host, clock, event, *more = match.group(*names)
            if host is None or clock is None or event is None:
                missing = next(name for name in GROUPS if match.group(name) is None)
                raise InputError(f"{source}:{line}: the pattern matches here without its group {missing!r}")
            log.host.append(host)
            log.clock.append(clock)
            log.event.append(event)
            log.line.append(line)
            for values, value in zip(others, more, strict=True):
                values.append(value)
    except patterns.TooSlow:
        where = line + text.count("\n", counted, max(counted, last))
        raise InputError(
            f"{source}:{where}: the pattern takes too long: it came up to here in {seconds:.1f} s; write a simpler "
            "expression"
        ) from None
    skipped.add(text, last, len(text), counted, line)
    if not log.host:
        raise InputError(
            f"{source}:{first_line}: no line of this execution looks like an event with its clock; say what such a "
            "line looks like (--pattern)"
        )
    log.notes = skipped.notes()
    return log


class _Skipped:
    """A counter of the lines that are neither blank nor in a match."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._count = 0
        self._first = ""

    def add(self, text: str, begin: int, end: int, at: int, line: int) -> None:
        """Counts the lines from `begin` up to `end`. Position `at`, which is outside, is in line number `line`."""
        between = text[begin:end]
        if not between or between.isspace():
            return
        found = [(number, words) for number, words in enumerate(between.split("\n")) if words and not words.isspace()]
        if self._count == 0:
            first = line - text.count("\n", begin, at) if begin < at else line + text.count("\n", at, begin)
            self._first = f"{self._source}:{first + found[0][0]}: {brief(found[0][1])}"
        self._count += len(found)

    def notes(self) -> list[str]:
        """One sentence; none if every line matched."""
        return [f"{self._count} lines that the pattern does not match, the first {self._first}"] if self._count else []
