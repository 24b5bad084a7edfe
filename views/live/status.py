"""The state of a live cluster at a moment, and its last event: a line each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

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
from views.live import words

MOST_NAMED = 3  # channels
_SHORT = re.compile(r"\b(snap-\d+)-\w+")  # the name of a snapshot, and letters that only tell clusters apart
_CHANNELS = {DOWN: words.channels_severed, UP: words.channels_mended}
_EVENTS = {
    JOIN: words.JOINS, LEAVE: words.LEAVES, FROZEN: words.STANDS_STILL, THAWED: words.GOES_ON,
    COMMITTED: words.COMPLETE,
}  # fmt: skip

Mark = tuple[float, list[Any]]  # a time in seconds, and a row of an event log


def short_name(snapshot: str) -> str:
    """snap-0003 for snap-0003-abcde, in any text."""
    return _SHORT.sub(r"\1", snapshot)


def last_event(marks: Iterable[Mark], end: float, begin: float = 0.0) -> str:
    """The last event of snapshots, nodes or channels before `end`, in a sentence; empty if there was none.

    The diagram begins at `begin`.
    """
    story = _Story()
    for at, row in sorted(marks, key=lambda own: own[0]):
        if at > end:
            break
        story.take(at, row)
    if not story.sentence:
        return ""
    seen = f" {words.ITS_CUT}" if story.is_of_a_cut and story.at >= begin else ""
    return short_name(words.at(story.at, story.sentence) + seen)


def state_at(marks: Iterable[Mark], end: float, processes: Sequence[str], still: Mapping[str, float]) -> str:
    """The state of the system at `end` in sentences: processes that are down or frozen, work under way.

    `still`: the processes that are frozen now, and the times since when, because logs show a freeze only at its end.
    """
    state = _State(processes)
    for at, row in sorted(marks, key=lambda own: own[0]):
        if at > end:
            break
        state.take(at, row)
    state.frozen |= {name: since for name, since in still.items() if since <= end and name not in state.down}
    return short_name(" ".join(state.sentences(end)))


class _State:
    """The processes that are there and the work under way, from the events so far."""

    def __init__(self, processes: Sequence[str]) -> None:
        self.present = dict.fromkeys(processes)  # in their order
        self.down: set[str] = set()
        self.frozen: dict[str, float] = {}  # since when
        self.severed: dict[str, None] = {}  # channels, in the order in which they were severed
        self.goal: str | None = None  # of a recovery under way
        self.waiting: set[str] = set()  # for the recovery: they are not restored yet
        self.rounds: dict[str, tuple[set[str], set[str]]] = {}  # under way: recorded, and done
        self.over: set[str] = set()  # snapshots

    def take(self, at: float, row: list[Any]) -> None:
        """Take the next event."""
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
        """The state, the most urgent part first."""
        goal = self.goal or words.BEGINNING
        if self.down:
            yield words.is_down(**self._named(self.down), goal=goal if self.waiting else "")
        elif self.waiting:
            yield words.going_back(goal, **self._named(self.waiting))
        for name, since in self.frozen.items():
            yield words.stands_still(name, now - since)
        for snapshot, (recorded, done) in [*self.rounds.items()][-1:]:
            yield words.under_way(snapshot, self._of_round(recorded, done))
        if self.severed:
            yield words.severed(**_channels([*self.severed]))
        if not (self.down or self.waiting or self.frozen or self.rounds or self.severed):
            yield words.all_run(len(self.present))

    def _of_round(self, recorded: set[str], done: set[str]) -> str:
        """The state of a snapshot that is under way, and the processes that are missing."""
        if missing := {*self.present} - recorded:
            return words.not_recorded(**self._named(missing))
        if missing := {*self.present} - done:
            return words.still_wait(**self._named(missing))
        return words.EVERY_PART_THERE

    def _named(self, names: set[str]) -> Named:
        return _listed([name for name in self.present if name in names])


class _Story:
    """The sentence on the last event, which grows if more events of its kind follow."""

    def __init__(self) -> None:
        self.at, self.sentence = 0.0, ""
        self.is_of_a_cut = False  # the last thing is that a snapshot is complete
        self._channels: list[str] = []  # severed or mended one after the other
        self._kind = ""  # of these
        self._ended: list[str] = []  # processes that have ended and are not back
        self._recorded: dict[str, list[str]] = {}  # by snapshot: the processes that have recorded
        self._failed: set[str] = set()  # snapshots; a process that does not know it yet may still record its state

    def take(self, at: float, row: list[Any]) -> None:
        """Take the next event."""
        process, _, kind, channel, _, _, _, body, snapshot = row
        if kind in _CHANNELS:
            self._channels = [*(self._channels if self._kind == kind else []), channel]
            self._tell(at, _CHANNELS[kind](**_channels(self._channels)), kind)
        elif kind == CRASH:
            self._ended.append(process)
            self._tell(at, words.ended(**_listed(self._ended)))
        elif kind == RECOVERY:
            why = words.ended(**_listed(self._ended)) if self._ended else ""
            self._ended = []
            self._tell(at, words.all_go_back(snapshot or words.BEGINNING, why), RECOVERY)
        elif kind == RECORD and snapshot not in self._failed:
            own = self._recorded.setdefault(snapshot, [])
            own.append(process)
            self._tell(at, words.recorded(**_listed(own), snapshot=snapshot))
        elif kind == DECISION and body["outcome"] != "complete":
            self._failed.add(snapshot)
            if body["reason"] == ROLLED_BACK and self._kind == RECOVERY:
                self.sentence += f". {words.so_failed(snapshot)}"
            else:
                self._tell(at, decision_words(snapshot, body))
        elif kind in _EVENTS:
            self._tell(at, _EVENTS[kind].format(process=process, snapshot=snapshot), kind)

    def _tell(self, at: float, sentence: str, kind: str = "") -> None:
        self.at, self.sentence, self._kind = at, sentence, kind
        self.is_of_a_cut = kind == COMMITTED


class Named(TypedDict):
    """Names in a sentence, and whether it is one name alone."""

    names: str
    is_one: bool


def _listed(names: Sequence[str]) -> Named:
    """P2; P1, P2 and P4."""
    return {"names": listing(names), "is_one": len(names) == 1}


def _channels(names: Sequence[str]) -> Named:
    """P1->P2; 12 channels."""
    few = len(names) <= MOST_NAMED
    return {"names": listing(names) if few else words.channels(len(names)), "is_one": len(names) == 1}
