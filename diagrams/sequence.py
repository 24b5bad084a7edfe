"""Scene -> what happens, one thing after the other, for programs that draw sequence diagrams.

Such diagrams have no slanted arrows: a message is an arrow at its receipt, and where other things happen between
its send and its receipt, a note says where it was sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from diagrams.elements import Arrow
from diagrams.export import View
from diagrams.scene import Scene
from diagrams.window import on_show
from sim import words
from sim.model import INTERNAL, MARKER_SEND, RECORD, SEND, Event


@dataclass(frozen=True)
class Note:
    """A remark on what process `lane` does (None: on all of them)."""

    lane: int | None
    text: str


@dataclass(frozen=True)
class Passage:
    """A message from lane to lane, a marker or of the computation; a lost one never arrives."""

    source: int
    target: int
    text: str
    marker: bool
    lost: bool = False


Item = Note | Passage


def sequence(scene: Scene, view: View) -> Iterator[Item]:
    """What happens up to the view's step. Raises ScenarioError when the run is too long for a picture."""
    shown = on_show(scene, view)
    arrows = {arrow.id: arrow for arrow in shown.arrows}
    events = (event for event in shown.execution.events if shown.first <= event.step <= view.step)
    for number, group in groupby(events, key=lambda event: event.step):
        rows = list(group)
        moved = [arrows[row.message_id] for row in rows if row.message_id is not None]
        yield from (_arrival(scene, arrow) for arrow in moved if arrow.received == number)
        yield from (_loss(arrow) for arrow in moved if arrow.sent == number and arrow.received is None)
        remarks = list(_remarks(scene, rows, arrows))
        if remarks:
            yield Note(scene.lanes.index(rows[0].process), f"{', '.join(remarks)} (step {number})")
        yield from (Note(None, f"{own.id} is complete") for own in scene.snapshots if own.completed == number)


def _arrival(scene: Scene, arrow: Arrow) -> Passage:
    remarks = [] if _is_at_once(arrow) else [f"sent at step {arrow.sent}"]
    if arrow.kept:
        caption = scene.captions[f"{scene.lanes[arrow.source]}->{scene.lanes[arrow.target]}"]
        remarks.append(f"recorded in {caption} for {words.listing(list(arrow.kept))}")
    text = f"{arrow.name} ({', '.join(remarks)})" if remarks else arrow.name
    return Passage(arrow.source, arrow.target, text, arrow.snapshot is not None)


def _loss(arrow: Arrow) -> Passage:
    return Passage(arrow.source, arrow.target, f"{arrow.name} (never received)", arrow.snapshot is not None, lost=True)


def _is_at_once(arrow: Arrow) -> bool:
    """Whether nothing else happens between its send and its receipt."""
    return arrow.received == arrow.sent + 1


def _remarks(scene: Scene, rows: Sequence[Event], arrows: dict[int, Arrow]) -> Iterator[str]:
    """What one step's note says: whatever the arrows leave out."""
    for row in rows:
        arrow = arrows[row.message_id] if row.message_id is not None else None
        if row.kind == INTERNAL:
            yield f"{row.label} {row.body}" if row.body else f"{row.label}"
        elif row.kind == RECORD:
            snapshot = next(own for own in scene.snapshots if own.id == row.snapshot_id)
            state = words.state(snapshot.local[row.process].state, snapshot.events[row.process])
            yield f"records {state} for {row.snapshot_id}"
        elif arrow and row.kind == SEND and arrow.received is not None and not _is_at_once(arrow):
            yield f"sends {arrow.name} to {scene.lanes[arrow.target]} at event {row.label}"
    markers = [row for row in rows if row.kind == MARKER_SEND]
    for snapshot_id, own in groupby(markers, key=lambda row: row.snapshot_id):
        names = [scene.lanes[arrows[row.message_id or 0].target] for row in own]
        yield f"sends marker {snapshot_id} to {words.listing(names)}"
