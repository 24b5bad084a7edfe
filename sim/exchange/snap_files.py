"""The .snap files that a user expects of a COS 418 case, compared line by line with those of its run.

The comparison is that of the assignment's own tests: the id, the tokens of each process, and the messages in order per
destination. So the processes may be in any order, and messages to different processes too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import NamedTuple

from sim.exchange.cos418 import snap_texts
from sim.run.execution import Execution

MOST_ALIGNED = 4_000_000  # pairs of lines: aligning takes this time, and more where many lines are equal


class SnapLine(NamedTuple):
    """A line of an expected file (None: the run has one more), and the line of the run there (None: it has none).

    `number` counts the lines of the expected file from 1 (None: it has no such line).
    """

    number: int | None
    expected: str | None
    found: str | None

    @property
    def agrees(self) -> bool:
        """Whether the two are the same."""
        return self.expected == self.found


class Comparison(NamedTuple):
    """An expected file, line by line, with the snapshot that it names."""

    file: str
    snapshot: str
    lines: tuple[SnapLine, ...]

    @property
    def agrees(self) -> bool:
        """Whether there are lines, and all agree."""
        return bool(self.lines) and all(line.agrees for line in self.lines)

    @property
    def in_words(self) -> str:
        """`x.snap: all 4 lines agree`, or `x.snap: 1 of 4 lines differs`."""
        if not self.lines:
            return f"{self.file}: this file is empty"
        differ = sum(not line.agrees for line in self.lines)
        if not differ:
            return f"{self.file}: all {len(self.lines)} lines agree"
        return f"{self.file}: {differ} of {len(self.lines)} lines {'differs' if differ == 1 else 'differ'}"


def compare(execution: Execution, expected: Mapping[str, str]) -> list[Comparison]:
    """Each expected file, given as name -> text, with the snapshot whose id is its first line."""
    own = {text.splitlines()[0]: text for text in snap_texts(execution)}
    return [_compare(file, text, own) for file, text in expected.items()]


def _compare(file: str, text: str, own: Mapping[str, str]) -> Comparison:
    wanted = sorted(_lines(text), key=_place)
    snapshot = wanted[0][1] if wanted and _place(wanted[0]) == _ID else ""
    found = sorted(_lines(own.get(snapshot, "")), key=_place)
    return Comparison(file, snapshot, tuple(_aligned(wanted, [line for _, line in found])))


Numbered = tuple[int, str]
_ID = (0, "")


def _lines(text: str) -> Iterator[Numbered]:
    """The lines of a file with their numbers, each with single blanks, without empty ones."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield number, " ".join(line.split())


def _place(line: Numbered) -> tuple[int, str]:
    """The sorting key of a line: first the id, then the processes by name, then the messages by destination."""
    words = line[1].split()
    return _ID if len(words) == 1 else (1, words[0]) if len(words) == 2 else (2, words[1])


def _aligned(wanted: list[Numbered], found: list[str]) -> Iterator[SnapLine]:
    """The lines side by side: a missing or additional line moves no other out of place."""
    blocks = [(0, len(wanted), 0, len(found))]
    if len(wanted) * len(found) <= MOST_ALIGNED:
        matcher = SequenceMatcher(None, [line for _, line in wanted], found, autojunk=False)
        blocks = [(first, last, begin, end) for _, first, last, begin, end in matcher.get_opcodes()]
    for first, last, begin, end in blocks:
        for line, own in zip_longest(wanted[first:last], found[begin:end]):
            number, text = line or (None, None)
            yield SnapLine(number, text, own)
