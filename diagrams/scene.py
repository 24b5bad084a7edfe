"""Execution -> Scene: what there is to see, and the steps at which each thing appears and changes.

A scene knows lanes and times, not pixels: a renderer decides which way time runs. Steps are counted
from 0 (the initial state). A span (from, until) is the steps from <= k < until (None: to the end).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from sim import words
from sim.causality import History
from sim.execution import Execution, Flight
from sim.expectations import frontier_of
from sim.model import APPLICATION_KINDS, CHANNEL_CLOSED, INTERNAL, RECORD, Event
from sim.narration import Told, narrate
from sim.scenario import ScenarioError
from sim.snapshots import Snapshot, snapshots_of

Span = tuple[int, int | None]


@dataclass(frozen=True)
class Dot:
    """An application event: `step` is when it happens, `recorded` the step at which each snapshot records it."""

    lane: int
    place: float
    label: str
    named: bool
    kind: str
    step: int
    text: str
    recorded: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Arrow:
    """A message. It is sent at step `sent` and received at step `received` (None: never, it is held).

    `kept` gives the step at which each snapshot records it in its channel.
    """

    id: int
    source: int
    target: int
    start: float
    end: float | None
    sent: int
    received: int | None
    snapshot: str | None
    name: str
    text: str
    kept: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Recording:
    """A process's recording of its state: a point of the cut."""

    lane: int
    place: float
    step: int
    text: str


@dataclass(frozen=True)
class Cut:
    """A cut: of a snapshot (points in time, known from `known` on) or of the story (events inside per lane)."""

    name: str
    rank: int
    places: tuple[float | None, ...]
    known: int | None
    consistent: bool
    snapshot: str | None = None
    text: str = ""
    witness: str | None = None
    witness_arrow: int | None = None
    crossing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scene:
    """Everything to be seen of one execution."""

    execution: Execution
    lanes: tuple[str, ...]
    steps: tuple[Told, ...]
    times: tuple[float, ...]
    places: tuple[float, ...]
    dots: tuple[Dot, ...]
    arrows: tuple[Arrow, ...]
    recordings: Mapping[str, tuple[Recording, ...]]
    snapshots: tuple[Snapshot, ...]
    cuts: tuple[Cut, ...]
    captions: Mapping[str, str]

    @property
    def last(self) -> int:
        """The last step."""
        return len(self.steps) - 1

    @property
    def extent(self) -> tuple[float, float]:
        """The first and last place on the time axis, with a little room."""
        low, high = min(self.places[1:], default=0.0), max(self.places[1:], default=1.0)
        room = (high - low) * 0.05 or 1.0
        return low - room, high + room

    def rank_of(self, snapshot: str | None) -> int:
        """The rank of a snapshot among those of the scene, which decides its colour and dash."""
        return next((i for i, own in enumerate(self.snapshots) if own.id == snapshot), 0)


def compose(execution: Execution) -> Scene:
    """The scene of a finished execution."""
    snapshots = tuple(snapshots_of(execution))
    places = _places(execution)
    lane_of = {name: lane for lane, name in enumerate(execution.scenario.processes)}
    captions = words.captions(execution.scenario.processes, execution.engine.channels)
    recordings = _recordings(execution, lane_of, places)
    recorders: dict[int, list[str]] = {}
    for snapshot in snapshots:
        for message in snapshot.recorded_messages:
            recorders.setdefault(message.id, []).append(snapshot.id)
    return Scene(
        execution=execution,
        lanes=execution.scenario.processes,
        steps=tuple(narrate(execution)),
        times=tuple(execution.times),
        places=places,
        dots=tuple(_dots(execution, lane_of, places, snapshots, recordings)),
        arrows=tuple(_arrow(flight, places, recorders, captions) for flight in execution.flights),
        recordings=recordings,
        snapshots=snapshots,
        cuts=tuple(_snapshot_cuts(execution, snapshots, recordings) + _named_cuts(execution, places, snapshots)),
        captions=captions,
    )


def _places(execution: Execution) -> tuple[float, ...]:
    """Where each step lies on the time axis: its time; steps of one time are spread a little, in their order."""
    times = execution.times
    distinct = sorted(set(times[1:]))
    gap_after = {time: after - time for time, after in pairwise(distinct)}
    typical = (distinct[-1] - distinct[0]) / len(distinct) if len(distinct) > 1 else 1.0
    sharing: dict[float, list[int]] = {}
    for step in range(1, len(times)):
        sharing.setdefault(times[step], []).append(step)
    places = list(times)
    for time, steps in sharing.items():
        room = min(gap_after.get(time, typical), typical) * 0.7
        for rank, step in enumerate(steps):
            places[step] = time + room * rank / len(steps)
    return tuple(places)


def _recordings(
    execution: Execution, lane_of: Mapping[str, int], places: tuple[float, ...]
) -> dict[str, tuple[Recording, ...]]:
    found: dict[str, list[Recording]] = {}
    for event in execution.events:
        if event.kind == RECORD:
            text = f"{event.process} records its state for {event.snapshot_id} (step {event.step})"
            recording = Recording(lane_of[event.process], places[event.step], event.step, text)
            found.setdefault(event.snapshot_id or "", []).append(recording)
    return {snapshot: tuple(recordings) for snapshot, recordings in found.items()}


def _dots(
    execution: Execution,
    lane_of: Mapping[str, int],
    places: tuple[float, ...],
    snapshots: tuple[Snapshot, ...],
    recordings: Mapping[str, tuple[Recording, ...]],
) -> list[Dot]:
    recorded_at = {(name, r.lane): r.step for name, row in recordings.items() for r in row}
    dots = []
    for event in execution.events:
        if event.kind not in APPLICATION_KINDS:
            continue
        lane = lane_of[event.process]
        inside = {
            s.id: recorded_at[s.id, lane] for s in snapshots if (event.index or 0) <= s.frontier.get(event.process, 0)
        }
        named = event.label != f"{event.process}.{event.index}"
        dots.append(
            Dot(lane, places[event.step], event.label or "", named, event.kind, event.step, _hover(event), inside)
        )
    return dots


def _hover(event: Event) -> str:
    what = event.kind if event.kind != INTERNAL else "internal event"
    on = f" on {event.channel}" if event.channel else ""
    return f"{event.label}: {what}{on} at {event.process}, step {event.step}, time {event.time:g}"


def _arrow(
    flight: Flight, places: tuple[float, ...], recorders: Mapping[int, Sequence[str]], captions: Mapping[str, str]
) -> Arrow:
    send, receive = flight.send, flight.receive
    caption = captions[flight.channel.name]
    if flight.is_marker:
        name = f"marker {send.snapshot_id}"
        text = f"marker of {send.snapshot_id} on {caption}"
    else:
        name = words.body(flight.body, send.label or "")
        text = f"{name} on {caption}"
    end = f", received at step {receive.step}" if receive else ", never received"
    kept = {name: receive.step for name in recorders.get(flight.id, ()) if receive}
    return Arrow(
        id=flight.id,
        source=flight.channel.source,
        target=flight.channel.target,
        start=places[send.step],
        end=places[receive.step] if receive else None,
        sent=send.step,
        received=receive.step if receive else None,
        snapshot=send.snapshot_id,
        name=name,
        text=f"{text}: sent at step {send.step}{end}",
        kept=kept,
    )


def _snapshot_cuts(
    execution: Execution, snapshots: tuple[Snapshot, ...], recordings: Mapping[str, tuple[Recording, ...]]
) -> list[Cut]:
    history = History(execution.scenario.processes, execution.events)
    cuts = []
    for rank, snapshot in enumerate(snapshots):
        places: list[float | None] = [None] * len(execution.scenario.processes)
        for recording in recordings.get(snapshot.id, ()):
            places[recording.lane] = recording.place
        steps = [recording.step for recording in recordings.get(snapshot.id, ())]
        known = max(steps) if len(steps) == len(places) else None
        consistent = known is None or history.is_consistent(snapshot.frontier)
        witness = None if consistent else history.violation(snapshot.frontier)
        cuts.append(
            Cut(snapshot.id, rank, tuple(places), known, consistent, snapshot=snapshot.id, witness_arrow=witness)
        )
    return cuts


def _named_cuts(execution: Execution, places: tuple[float, ...], snapshots: tuple[Snapshot, ...]) -> list[Cut]:
    """The cuts that the story discusses, each a little after its last events; left out if an edit removed one."""
    history = History(execution.scenario.processes, execution.events)
    captions = words.captions(execution.scenario.processes, execution.engine.channels)
    cuts = []
    for number, named in enumerate(execution.scenario.cuts):
        try:
            frontier = frontier_of(execution, named)
        except ScenarioError:
            continue
        points = [_just_after(history, name, frontier.get(name, 0), places) for name in execution.scenario.processes]
        witness = history.violation(frontier)
        crossing = tuple(f"{captions[c]}: {len(m)} in transit" for c, m in history.in_channels(frontier).items())
        label = history.sends[witness].label if witness is not None else None
        cuts.append(
            Cut(
                name=named.name,
                rank=len(snapshots) + number,
                places=tuple(points),
                known=0,
                consistent=witness is None,
                text=named.text,
                witness=label,
                witness_arrow=witness,
                crossing=crossing,
            )
        )
    return cuts


def _just_after(history: History, process: str, inside: int, places: tuple[float, ...]) -> float:
    """Between the last event inside and the first outside."""
    events = history.of[process]
    low, high = min(places[1:], default=0.0), max(places[1:], default=1.0)
    before = places[events[inside - 1].step] if inside else low - (high - low) * 0.06
    after = places[events[inside].step] if inside < len(events) else high + (high - low) * 0.06
    return before + min((after - before) / 2, (high - low) * 0.03)


def closings(execution: Execution, snapshot: Snapshot) -> dict[str, int]:
    """The step at which each channel of a snapshot was closed."""
    return {
        event.channel or "": event.step
        for event in execution.events
        if event.kind == CHANNEL_CLOSED and event.snapshot_id == snapshot.id
    }
