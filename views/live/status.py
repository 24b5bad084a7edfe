"""How a live cluster is at a moment, and what has happened to it last: each in a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sim.core.model import (
    COMMITTED,
    CRASH,
    DECISION,
    DOWN,
    FROZEN,
    JOIN,
    LEAVE,
    RECORD,
    RECOVERY,
    RESTORE,
    SNAPSHOT_ABORTED,
    SNAPSHOT_COMPLETE,
    THAWED,
    UP,
)
from sim.services.words import COMPLETE, ROLLED_BACK, decision_words, listing

MOST_NAMED = 3  # channels
_SHORT = re.compile(r"\b(snap-\d+)-\w+")  # the name of a snapshot, and letters that only tell clusters apart
_CHANNELS = {DOWN: "severed: what is sent on", UP: "mended: what has waited on"}
_WORDS = {
    JOIN: "{process} joins", LEAVE: "{process} leaves",
    FROZEN: "{process} stands still", THAWED: "{process} goes on",
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


def state_said(marks: Iterable[Mark], end: float, processes: Sequence[str], still: Mapping[str, float]) -> str:
    """How the system is at `end`: who is down or stands still, what is under way; that all run, if that is all.

    `still` says of processes that stand still now since when they do: their logs say so only when they go on.
    """
    state = _State(processes)
    for at, row in sorted(marks, key=lambda own: own[0]):
        if at > end:
            break
        state.take(at, row)
    state.frozen |= {name: since for name, since in still.items() if since <= end and name not in state.down}
    return short_name(" ".join(state.sentences(end)))


class _State:
    """Who is there and what is under way, by what has happened so far."""

    def __init__(self, processes: Sequence[str]) -> None:
        self.present = dict.fromkeys(processes)  # in their order
        self.down: set[str] = set()
        self.frozen: dict[str, float] = {}  # since when
        self.severed: dict[str, None] = {}  # channels, in the order in which they were severed
        self.goal: str | None = None  # of a recovery under way
        self.waiting: set[str] = set()  # for the recovery: they are not restored yet
        self.rounds: dict[str, tuple[set[str], set[str]]] = {}  # under way: who has recorded, and whose part is done
        self.over: set[str] = set()  # snapshots

    def take(self, at: float, row: list[Any]) -> None:
        """Something has happened."""
        process, _, kind, channel, _, _, _, body, snapshot = row
        if kind in (THAWED, CRASH, RESTORE, LEAVE):
            self.frozen.pop(process, None)
        if kind == FROZEN:
            self.frozen[process] = at
        elif kind == CRASH:
            self.down.add(process)
        elif kind == RESTORE:
            self.down.discard(process)
            self.waiting.discard(process)
        elif kind == LEAVE:
            self.present.pop(process, None)
            self.down.discard(process)
        elif kind == JOIN:
            self.present[process] = None
        elif kind == DOWN:
            self.severed[channel] = None
        elif kind == UP:
            self.severed.pop(channel, None)
        elif kind == RECOVERY:
            self.over |= {*self.rounds}
            self.goal, self.waiting, self.rounds = snapshot, {*self.present}, {}
        elif snapshot is not None:
            self._take_of_snapshot(kind, process, body, snapshot)

    def _take_of_snapshot(self, kind: str, process: str, body: Any, snapshot: str) -> None:
        if kind in (COMMITTED, SNAPSHOT_ABORTED) or (kind == DECISION and body["outcome"] != COMPLETE):
            self.over.add(snapshot)
            self.rounds.pop(snapshot, None)
        elif kind in (RECORD, SNAPSHOT_COMPLETE) and snapshot not in self.over:
            recorded, done = self.rounds.setdefault(snapshot, (set(), set()))
            recorded.add(process)
            if kind == SNAPSHOT_COMPLETE:
                done.add(process)

    def sentences(self, now: float) -> Iterable[str]:
        """How it is, the most urgent first."""
        goal = self.goal or "the beginning"
        back = f": all go back to {goal}" if self.waiting else ""
        if self.down:
            yield f"{self._are(self.down)} down{back}."
        elif self.waiting:
            yield f"All go back to {goal}; {self._are(self.waiting)} not there yet."
        for name, since in self.frozen.items():
            yield f"{name} has stood still for {now - since:.0f} s."
        for snapshot, (recorded, done) in [*self.rounds.items()][-1:]:
            yield self._of_round(snapshot, recorded, done)
        if self.severed:
            names = [*self.severed]
            told = listing(names) if len(names) <= MOST_NAMED else f"{len(names)} channels"
            yield f"{told} {'is' if len(names) == 1 else 'are'} severed."
        if not (self.down or self.waiting or self.frozen or self.rounds or self.severed):
            yield f"All {len(self.present)} processes run."

    def _of_round(self, snapshot: str, recorded: set[str], done: set[str]) -> str:
        """A snapshot that is under way, and who is missing."""
        if missing := {*self.present} - recorded:
            return f"{snapshot} is under way: {self._have(missing)} not recorded yet."
        if missing := {*self.present} - done:
            return f"{snapshot} is under way: all have recorded, and {self._named(missing)} still {_wait(missing)}."
        return f"{snapshot} is under way: every part is there, and it is being stored."

    def _named(self, names: set[str]) -> str:
        return listing([name for name in self.present if name in names])

    def _are(self, names: set[str]) -> str:
        return f"{self._named(names)} {'is' if len(names) == 1 else 'are'}"

    def _have(self, names: set[str]) -> str:
        return f"{self._named(names)} {'has' if len(names) == 1 else 'have'}"


def _wait(names: set[str]) -> str:
    return f"{'waits' if len(names) == 1 else 'wait'} for messages"


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
