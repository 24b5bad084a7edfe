"""What has happened to a live cluster, in a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from sim.core.model import COMMITTED, CRASH, DECISION, DOWN, JOIN, LEAVE, RECORD, RECOVERY, UP
from sim.services.words import ROLLED_BACK, decision_words, listing

MOST_NAMED = 3  # channels
_SHORT = re.compile(r"\b(snap-\d+)-\w+")  # the name of a snapshot, and letters that only tell clusters apart
_CHANNELS = {DOWN: "severed: what is sent on", UP: "mended: what has waited on"}
_WORDS = {
    JOIN: "{process} joins", LEAVE: "{process} leaves",
    COMMITTED: "{snapshot} is complete",
}  # fmt: skip

Mark = tuple[float, list[Any]]  # a time in seconds, and a row of an event log


def short_name(snapshot: str) -> str:
    """snap-0003 for snap-0003-abcde, in any text."""
    return _SHORT.sub(r"\1", snapshot)


def said(marks: Iterable[Mark], end: float, begin: float = 0.0) -> str:
    """The last thing that happened to snapshots, nodes or channels before `end`; empty: nothing has.

    The diagram shows what happened from `begin` on.
    """
    story = _Story()
    for at, row in sorted(marks, key=lambda own: own[0]):
        if at > end:
            break
        story.take(at, row)
    seen = ". The dashed line is its cut" if story.is_of_a_cut and story.at >= begin else ""
    return short_name(f"At {story.at:.1f} s: {story.words}{seen}.") if story.words else ""


class _Story:
    """The words for what happened last, and what they are joined with if more of the kind happens."""

    def __init__(self) -> None:
        self.at, self.words = 0.0, ""
        self.is_of_a_cut = False  # the last thing is that a snapshot is complete
        self._channels: list[str] = []  # severed or mended one after the other
        self._kind = ""  # of these
        self._ended: list[str] = []  # processes that have ended and are not back
        self._recorded: dict[str, list[str]] = {}  # by snapshot: who has recorded its state
        self._failed: set[str] = set()  # snapshots; a process that has not heard of it may still record its state

    def take(self, at: float, row: list[Any]) -> None:
        """Something has happened."""
        process, _, kind, channel, _, _, _, body, snapshot = row
        if kind in _CHANNELS:
            self._channels = [*(self._channels if self._kind == kind else []), channel]
            self._tell(at, _of_channels(kind, self._channels), kind)
        elif kind == CRASH:
            self._ended.append(process)
            self._tell(at, _have(self._ended, "ended"))
        elif kind == RECOVERY:
            why = f"{_have(self._ended, 'ended')}, so e" if self._ended else "E"
            self._ended = []
            self._tell(at, f"{why}verybody goes back to {snapshot or 'the beginning'}")
        elif kind == RECORD and snapshot not in self._failed:
            own = self._recorded.setdefault(snapshot, [])
            own.append(process)
            what = "its state" if len(own) == 1 else "their states"
            self._tell(at, f"{_have(own, 'recorded')} {what} for {snapshot}")
        elif kind == DECISION and body["outcome"] != "complete":
            self._failed.add(snapshot)
            if body["reason"] == ROLLED_BACK and "goes back to" in self.words:
                self.words += f". {snapshot} has failed by that"
            else:
                self._tell(at, decision_words(snapshot, body))
        elif kind in _WORDS:
            self._tell(at, _WORDS[kind].format(process=process, snapshot=snapshot), kind)

    def _tell(self, at: float, words: str, kind: str = "") -> None:
        self.at, self.words, self._kind = at, words, kind
        self.is_of_a_cut = kind == COMMITTED


def _have(names: Sequence[str], done: str) -> str:
    """P2 has ended; P1, P2 and P4 have ended."""
    return f"{listing(names)} {'has' if len(names) == 1 else 'have'} {done}"


def _of_channels(kind: str, names: Sequence[str]) -> str:
    """P1->P2 is severed: what is sent on it waits; 12 channels are severed: what is sent on them waits."""
    is_one = len(names) == 1
    told = listing(names) if len(names) <= MOST_NAMED else f"{len(names)} channels"
    then = "waits" if kind == DOWN else "goes on"
    return f"{told} {'is' if is_one else 'are'} {_CHANNELS[kind]} {'it' if is_one else 'them'} {then}"
