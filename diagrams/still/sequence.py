"""Scene -> messages and notes in order, for programs that draw sequence diagrams.

Such diagrams have no slanted arrows: a message is an arrow at its receipt. If other steps lie between send and
receipt, a note gives the step of the send.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from diagrams.scene.composition import Scene
from diagrams.scene.elements import Arrow
from diagrams.scene.view import View
from diagrams.scene.window import on_show
from sim.core.model import (
    BLOCKED,
    COLLECTED,
    COMMITTED,
    CONTROL_SEND,
    COPIED,
    CRASH,
    DECISION,
    DOWN,
    DROPPED,
    FENCED,
    FROZEN,
    FULL,
    INTERNAL,
    JOIN,
    LEAVE,
    LOST,
    MARKER_SEND,
    NOTED,
    OUTPUT,
    PAUSED,
    PUT_BACK,
    RECEIVE,
    RECEIVED,
    RECORD,
    RECOVERY,
    RESENT,
    RESTART,
    RESTORE,
    RESUMED,
    ROOM,
    SEND,
    SENT,
    SLOW,
    SNAPSHOT_ABORTED,
    STATE_CHANGED,
    THAWED,
    TIMER,
    UNBLOCKED,
    UP,
    Event,
)
from sim.core.notation import has_label
from sim.explain import words
from sim.explain.rollbacks import moment_words
from sim.run.rollbacks import events_inside


@dataclass(frozen=True)
class Note:
    """A remark on process `lane` (None: on all of them)."""

    lane: int | None
    text: str


@dataclass(frozen=True)
class Passage:
    """A message from lane to lane, of a kind ("app", "marker", "control"); a lost one never arrives."""

    source: int
    target: int
    text: str
    kind: str
    lost: bool = False


Item = Note | Passage


def sequence(scene: Scene, view: View) -> Iterator[Item]:
    """Yield the items up to the view's step, row by row. Raises InputError if the run is too long for a picture.

    The actions of a process before the receipt of a message come before that message.
    """
    shown = on_show(scene, view)
    arrows = {arrow.id: arrow for arrow in shown.arrows}
    again = {(arrow.id, arrow.received): arrow for arrow in shown.again}
    events = (event for event in shown.execution.events if shown.first <= event.step <= view.step)
    for number, group in groupby(events, key=lambda event: event.step):
        here = {**arrows, **{message: arrow for (message, step), arrow in again.items() if step == number}}
        yield from _step(scene, list(group), here)
        yield from (Note(None, f"{own.id} is complete") for own in scene.snapshots if own.completed == number)


def _step(scene: Scene, rows: Sequence[Event], arrows: dict[int, Arrow]) -> Iterator[Item]:
    """The rows of one step: receipts as messages, other rows as notes, and at the end the messages that get lost.

    The beginning of a recovery is a note on all processes. A message that is fenced off gets lost.
    """
    if any(row.kind == RECOVERY for row in rows):
        yield Note(None, f"{moment_words(scene.execution, rows[0])} (step {rows[0].step})")
        rows = [row for row in rows if row.kind != RECOVERY]
    for is_arrival, group in groupby(rows, key=lambda row: row.kind in RECEIVED):
        own = list(group)
        if is_arrival:
            yield from (_arrival(scene, arrows[row.message_id or 0]) for row in own)
            continue
        remarks = list(_remarks(scene, own, arrows))
        coming = next((row for row in rows if row.kind == RECEIVE and row.row > own[-1].row), None)
        if coming is not None and any(row.kind == RECORD for row in own):
            remarks.append(f"before it takes in {_named(arrows[coming.message_id or 0])}")
        if remarks:
            yield Note(scene.lanes.index(rows[0].process), f"{', '.join(remarks)} (step {rows[0].step})")
    moved = [arrows[row.message_id or 0] for row in rows if row.kind in SENT]
    yield from (_loss(scene, arrow) for arrow in moved if arrow.received is None)
    for row in rows:
        if row.kind == FENCED:
            fenced = arrows[scene.execution.table[row.row].message_id or 0]
            yield Passage(fenced.source, fenced.target, f"{_named(fenced)} (fenced off)", fenced.kind, lost=True)


def _named(arrow: Arrow) -> str:
    return f"{arrow.stamp} {arrow.name}" if arrow.stamp else arrow.name


def _arrival(scene: Scene, arrow: Arrow) -> Passage:
    remarks = [] if _is_at_once(arrow) else [f"{'put back' if arrow.is_again else 'sent'} at step {arrow.sent}"]
    if arrow.kept:
        remarks.append(f"recorded in {scene.captions[arrow.channel]} for {words.listing(list(arrow.kept))}")
    text = f"{_named(arrow)} ({', '.join(remarks)})" if remarks else _named(arrow)
    return Passage(arrow.source, arrow.target, text, arrow.kind)


def _loss(scene: Scene, arrow: Arrow) -> Passage:
    why = "lost" if arrow.id in scene.execution.losses else "never received"
    return Passage(arrow.source, arrow.target, f"{_named(arrow)} ({why})", arrow.kind, lost=True)


def _is_at_once(arrow: Arrow) -> bool:
    """Whether no other step lies between send and receipt; a message that was put back always has its note."""
    return arrow.received == arrow.sent + 1 and not arrow.is_again


def _remarks(scene: Scene, rows: Sequence[Event], arrows: dict[int, Arrow]) -> Iterator[str]:
    """The remarks of a note: all that the arrows do not show."""
    own = scene.whole_run.words
    for row in rows:
        arrow = arrows[row.message_id or 0] if row.kind in SENT else None
        if row.kind == INTERNAL:
            body = own.workload.body_words(scene.execution.body_of(row))
            yield f"{row.label} {body}" if body else f"{row.label}"
        elif row.kind == RECORD:
            labels = [event.label or "" for event in events_inside(scene.execution, row)]
            yield f"records {own.state(scene.execution.body_of(row), labels)} for {row.snapshot_id}"
        elif arrow and row.kind == SEND and arrow.received is not None and not _is_at_once(arrow):
            event = f" at event {row.label}" if has_label(row) else ""
            yield f"sends {_named(arrow)} to {scene.lanes[arrow.target]}{event}"
        elif row.kind == LOST:
            is_on_its_way = row.process == (row.channel or "").partition("->")[0]
            what = "a message on {} is lost" if is_on_its_way else "is down: a message on {} is lost"
            yield what.format(scene.captions.get(row.channel or "", row.channel))
        elif row.kind == PUT_BACK:
            message, channel = arrows[row.message_id or 0], scene.captions.get(row.channel or "", row.channel)
            yield f"{_named(message)} is put back into {channel}"
        elif row.kind in (RESTORE, OUTPUT):
            yield moment_words(scene.execution, row).removeprefix(f"{row.process} ")
        elif row.kind == NOTED:
            yield own.algorithm.note_words(scene.execution.body_of(row))
        elif row.kind in _REMARKS:
            yield _REMARKS[row.kind].format(row=row, channel=scene.captions.get(row.channel or "", row.channel))
    for kind, what in ((MARKER_SEND, own.algorithm.marker), (CONTROL_SEND, own.algorithm.control_message)):
        sent = [row for row in rows if row.kind == kind]
        for snapshot_id, group in groupby(sent, key=lambda row: row.snapshot_id):
            names = [scene.lanes[arrows[row.message_id or 0].target] for row in group]
            yield " ".join(filter(None, ("sends", what, snapshot_id, "to", words.listing(names))))


_REMARKS = {
    TIMER: "timer {row.label} goes off", BLOCKED: "takes nothing more from {channel}",
    UNBLOCKED: "takes from {channel} again", PAUSED: "pauses", RESUMED: "goes on",
    CRASH: "crashes", RESTART: "starts again", FROZEN: "is frozen", THAWED: "is thawed", JOIN: "joins", LEAVE: "leaves",
    DOWN: "{channel} is severed", UP: "{channel} is mended",
    COPIED: "a message on {channel} is copied", SLOW: "changes its pace",
    RESENT: "a message on {channel} is lost, and sent again", DROPPED: "a copy on {channel} is dropped",
    FULL: "has filled {channel} and stands still",
    ROOM: "makes room on {channel}",
    COMMITTED: "has written the manifest of {row.snapshot_id}",
    COLLECTED: "has every part of {row.snapshot_id}", DECISION: "decides how {row.snapshot_id} ended",
    SNAPSHOT_ABORTED: "gives up {row.snapshot_id}", STATE_CHANGED: "changes what it recorded for {row.snapshot_id}",
}  # fmt: skip
