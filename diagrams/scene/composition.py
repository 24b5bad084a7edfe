"""Execution -> Scene: everything to draw, with the steps at which it appears and changes.

A scene has lanes and times, not pixels; a renderer decides which way time runs. Steps are counted from 0 (the initial
state). A span (from, until) is the steps from <= k < until (None: to the end).

A long run is seen through a window, a range of its steps. Dots, arrows and sentences are those of the window; all else
is computed once for the whole run (`WholeRun`).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from typing import Any

from diagrams.scene.arrangement import Arrangement
from diagrams.scene.elements import (
    Arrow,
    BackTo,
    Cut,
    Decision,
    Dot,
    Ghost,
    Moment,
    Recording,
    ShownCut,
    StoryCut,
    Stretch,
)
from diagrams.scene.event_columns import columns
from diagrams.scene.foreign_log import ForeignLog
from diagrams.scene.positions import kept_apart, positions_of_rows, positions_of_steps
from diagrams.scene.shown_cut import BEYOND, between, shown_cut
from diagrams.scene.whole_cuts import WholeEvents
from sim.core.deadline import in_time
from sim.core.errors import InputError
from sim.core.model import (
    APP,
    APPLICATION_KINDS,
    BLOCKED,
    COMMITTED,
    CRASH,
    DECISION,
    DOWN,
    DROPPED,
    FENCED,
    FROZEN,
    FULL,
    INTERNAL,
    LEAVE,
    OUTPUT,
    RECORD,
    RECOVERY,
    RESENT,
    RESTORE,
    SLOW,
    Event,
    MessageReference,
)
from sim.core.notation import has_label, where_sent
from sim.core.recovery_line import Recovery
from sim.explain.domino import LINE, Stage, stages
from sim.explain.narration import StepText, narrate
from sim.explain.rollbacks import moment_words
from sim.explain.words import capital, counted, words_of
from sim.run.execution import Execution
from sim.run.fifo import held, tries, waits_behind
from sim.run.flights import Flight
from sim.run.recovery_lines import recoveries_of
from sim.run.references import references
from sim.run.rollbacks import is_inside, rollbacks_of, taken_back
from sim.run.snapshots import Snapshot, snapshots_of
from sim.run.stops import Stop, stops_of
from sim.services.words import decision_words
from sim.verify.expectations import frontier_of

MOMENTS = frozenset({COMMITTED, RECOVERY, RESTORE, OUTPUT})
MOST_TEXTS = 40  # events of a log's window, beside which their texts are written
LEAST_SHARE = 0.15  # of the way between two lanes: a message is seen to be lost at least so far from either
_FAILED = {RESENT: "lost, sent again", DROPPED: "copy dropped"}
LONG_RUN = 6  # internal events in a row that are drawn as one
ON_ITS_WAY = "on its way"


class WholeRun:
    """The parts of a scene that do not depend on the window, each computed once.

    There is a lane for each process, then one for each service. `captions` are those of channels by their names, also
    for pairs of processes that only control messages join. `recordings` are those of each snapshot, by its id. `cuts`
    are those of the snapshots. `log` is the foreign log of which the run is a window, if any; `whole_events` are what a
    cut counts.
    """

    def __init__(self, execution: Execution, log: ForeignLog | None = None) -> None:
        self.execution, self.log = execution, log
        self.whole_events = WholeEvents(execution, log)
        self.processes = execution.scenario.processes
        self.lanes = execution.engine.nodes
        self.words = words_of(execution)
        self.lane_of = {name: lane for lane, name in enumerate(self.lanes)}
        self.times = execution.times
        self.positions = kept_apart(execution.events, positions_of_steps(self.times))
        self.snapshots = snapshots_of(execution)
        ways = {flight.channel.name: flight.channel.name for flight in execution.flights}
        self.captions = {**ways, **self.words.caption}
        self.recordings = _recordings(self)
        self.decisions = tuple(_decisions(self))
        self.moments = tuple(_moments(self))
        self.back_to = tuple(_lines_back_to(self))
        self.cuts = tuple(_snapshot_cuts(self))
        self.story_cuts = _story_cuts(self)

    def position(self, row: Event) -> float:
        """The position of a row on the time axis: its step's, or a little earlier where more of the step follows."""
        return self._rows_apart.get(row.row, self.positions[row.step])

    @cached_property
    def _rows_apart(self) -> dict[int, float]:
        """The positions of rows that lie before their step's, by row number."""
        return positions_of_rows(self.execution.events, self.positions)

    @cached_property
    def is_crowded(self) -> bool:
        """Whether the texts of events in a window of a log would hide each other."""
        return len(self.execution.history.rows) > MOST_TEXTS

    def number_in_log(self, event: Event) -> str | None:
        """What is written beside an event in a window of a log with many events."""
        if self.log is None or not self.is_crowded:
            return None
        return str(self.log.numbers[event.process][(event.index or 1) - 1])

    @cached_property
    def lists_events(self) -> bool:
        """Whether states are told by the names of their events: all of them have to be seen then."""
        workload, processes = self.words.workload, self.processes
        return any(workload.state_words(workload.initial(process)) is None for process in processes)

    @cached_property
    def recorders(self) -> dict[int, dict[str, int]]:
        """The snapshots that record each message in its channel, each with the step, by message id."""
        found: dict[int, dict[str, int]] = {}
        for snapshot in self.snapshots:
            for message in snapshot.recorded_messages:
                found.setdefault(message.id, {})[snapshot.id] = message.step
        return found

    def gone_at(self, row: Event) -> int | None:
        """The step from which on a recovery has taken back what a row tells (None: none does)."""
        back = taken_back(self.execution).get(row.row)
        if back is None:
            return None
        return back.step if row.step < back.step else back.restores[row.process].step

    @cached_property
    def recording_rows(self) -> dict[tuple[str, str], Event]:
        """The row of each recording that counts, by snapshot and process; where nothing is taken back, none."""
        if not rollbacks_of(self.execution):
            return {}
        steps = {(own.id, name): local.step for own in self.snapshots for name, local in own.local.items()}
        rows = (row for row in self.execution.events if row.kind == RECORD)
        own = (((row.snapshot_id or "", row.process), row) for row in rows)
        return {key: row for key, row in own if steps.get(key) == row.step}

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The times in which channels are blocked or full and processes paused."""
        return tuple(_stretch(self, stop) for stop in stops_of(self.execution))

    @cached_property
    def columns(self) -> dict[str, Any]:
        """All rows of the event table in columns, for the browser's list and search."""
        return columns(self.execution, self.position, self.positions)

    @cached_property
    def steps_of_rows(self) -> list[int]:
        """The step of every row of the event table; steps ascend."""
        return [event.step for event in self.execution.events]

    def rows(self, first: int, last: int) -> list[Event]:
        """The rows of the steps `first` to `last`."""
        start, end = bisect_left(self.steps_of_rows, first), bisect_left(self.steps_of_rows, last + 1)
        return self.execution.events[start:end]


class Scene:
    """Everything to be seen of the steps `first` to `until` of one execution."""

    def __init__(
        self, whole_run: WholeRun, first: int, until: int, original: Mapping[MessageReference, Ghost], expanded: bool,
        arrangement: Arrangement,
    ) -> None:  # fmt: skip
        self.whole_run = whole_run
        self.first, self.until = first, until
        self.original = original
        self.expanded = expanded
        self.arrangement = arrangement
        self.execution = whole_run.execution
        self.lanes, self.processes = whole_run.lanes, whole_run.processes
        self.layout = arrangement.laid_out(self.lanes, self.processes)
        self.times, self.positions = whole_run.times, whole_run.positions
        self.snapshots, self.recordings = whole_run.snapshots, whole_run.recordings
        self.cuts, self.captions = whole_run.cuts, whole_run.captions
        self.decisions = tuple(own for own in whole_run.decisions if first <= own.step <= until)
        self.moments = tuple(own for own in whole_run.moments if first <= own.step <= until)
        self.back_to = tuple(own for own in whole_run.back_to if own.step <= until)
        self.shown_cut: ShownCut | None = None

    def window(self, first: int, until: int, *, expanded: bool = False) -> Scene:
        """The same run, seen from step `first` to step `until`."""
        return Scene(self.whole_run, max(0, first), min(until, self.last), self.original, expanded, self.arrangement)

    def arranged(self, arrangement: Arrangement) -> Scene:
        """The same steps; a diagram of them shows the processes as `arrangement` says (diagrams/scene/arranged.py)."""
        return Scene(self.whole_run, self.first, self.until, self.original, self.expanded, arrangement)

    def cut_at(self, frontier: Sequence[int]) -> Scene:
        """The same scene with a cut drawn in it: the events inside by process, and perhaps the faults (Name)."""
        scene = copy(self)
        scene.shown_cut = shown_cut(self.whole_run, frontier)
        return scene

    def beside(self, lane: int, hidden: int) -> int:
        """The neighbour of a lane, perhaps beyond all, on the side on which a hidden lane of the run would lie."""
        return lane + (1 if self.layout.seam(hidden) > lane else -1)

    def over(self, extent: tuple[float, float]) -> Scene:
        """The same scene on a time axis with these ends."""
        scene = copy(self)
        scene.extent = extent
        return scene

    @property
    def last(self) -> int:
        """The last step of the run."""
        return self.execution.steps

    @property
    def is_whole(self) -> bool:
        """Whether the window takes in the whole run."""
        return self.first == 0 and self.until == self.last

    @cached_property
    def extent(self) -> tuple[float, float]:
        """The first and last position on the time axis, with a little room."""
        shown = self.positions[max(self.first, 1) : self.until + 1]
        low, high = min(shown, default=0.0), max(shown, default=1.0)
        ghosts = [end for ghost in self.ghosts for end in (ghost.start, ghost.end) if end is not None]
        if self.is_whole and ghosts:
            low, high = min(low, *ghosts), max(high, *ghosts)
        room = (high - low) * 0.05 or max(1.0, high * 0.05)
        return low - room, high + room

    @property
    def counted(self) -> str:
        """What the time axis counts, with a blank, for its first number; "" where it has times."""
        return "" if self.execution.scenario.scheduler.has_time else "step "

    @cached_property
    def steps(self) -> dict[int, StepText]:
        """The text of each step of the window, by its number."""
        return dict(enumerate(narrate(self.execution, self.first, self.until), start=self.first))

    @cached_property
    def dots(self) -> tuple[Dot, ...]:
        """The application events of the window."""
        return tuple(_dots(self))

    @cached_property
    def arrows(self) -> tuple[Arrow, ...]:
        """The messages that are sent, received or on their way in the window."""
        return tuple(arrow_of(self.whole_run, flight) for flight in in_time(self.flights))

    @cached_property
    def again(self) -> tuple[Arrow, ...]:
        """The messages of the window that recoveries put back into their channels."""
        seen = (own for own in self.execution.replays if own.put_back and own.put_back.step <= self.until)
        arrows = (arrow_of(self.whole_run, own) for own in seen)
        return tuple(own for own in arrows if max(own.sent, own.received or 0) >= self.first)

    @property
    def all_arrows(self) -> tuple[Arrow, ...]:
        """All messages, as they went first and as they were put back."""
        return (*self.arrows, *self.again)

    @cached_property
    def failed_tries(self) -> tuple[Arrow, ...]:
        """The losses and copies in the window of which a FIFO layer lets nobody notice anything."""
        rows = in_time(self.whole_run.rows(self.first, self.until))
        return tuple(_failed_try(self.whole_run, row) for row in rows if row.kind in _FAILED)

    @cached_property
    def flights(self) -> list[Flight]:
        """The flights behind `arrows`, one for each."""
        return [
            flight
            for flight in self.execution.flights
            if flight.send.step <= self.until
            and (flight.receive.step if flight.receive else flight.send.step) >= self.first
        ]

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """The times in the window in which channels are blocked or full and processes paused."""
        return tuple(
            own
            for own in self.whole_run.stretches
            if own.step <= self.until and (own.until is None or own.until >= self.first)
        )

    @cached_property
    def ghosts(self) -> list[Ghost]:
        """The arrows that edits have moved or removed, as they were; none where times are just numbers of steps."""
        if not self.original or not self.execution.scenario.scheduler.has_time:
            return []
        now = arrows_as_they_are(self.execution)
        moved = [ghost for reference, ghost in self.original.items() if now.get(reference) != ghost]
        if self.is_whole:
            return moved
        low, high = self.times[self.first], self.times[self.until]
        return [ghost for ghost in moved if ghost.start <= high and (ghost.end or ghost.start) >= low]

    def why_not_received(self, arrow: Arrow) -> str:
        """Why a message is never received: it is held, waits behind one that is or on a blocked channel, or nobody
        chose to deliver it.

        In a window of a log: whether it is received after the window; "" where that is not written.
        """
        if self.whole_run.log is not None and arrow.id in self.whole_run.log.later:
            return "" if self.whole_run.is_crowded else "later"
        if self.whole_run.log is not None:
            return "never"
        if arrow.id in waits_behind(self.execution):
            return "waits behind it"
        if arrow.id in held(self.execution):
            return "held"
        if arrow.id in self.execution.losses:
            return "lost"
        if arrow.gone is not None:
            return ""
        for own in self.whole_run.stretches:
            if own.until is None and own.kind == DOWN and own.channel == arrow.channel:
                return "channel severed"
            if own.until is None and own.kind == BLOCKED and own.channel == arrow.channel:
                return "channel blocked"
            if own.until is None and own.kind == FULL and own.lane == arrow.target:
                return f"{self.lanes[arrow.target]} stands still"
        return ON_ITS_WAY

    def rank_of(self, snapshot: str | None) -> int:
        """The rank of a snapshot in the scene, which decides its colour and dash."""
        return next((i for i, own in enumerate(self.snapshots) if own.id == snapshot), 0)


def compose(
    execution: Execution, original: Mapping[MessageReference, Ghost] | None = None, log: ForeignLog | None = None
) -> Scene:
    """The scene of a whole finished execution; `original` says where the arrows were before any edit.

    `log` is the foreign log of which the execution is a window.
    """
    return Scene(
        WholeRun(execution, log), 0, execution.steps, original or {}, expanded=False, arrangement=Arrangement()
    )


def arrows_as_they_are(execution: Execution) -> dict[MessageReference, Ghost]:
    """Every arrow of a run by its reference, for comparison with the run after an edit."""
    return {
        reference: Ghost(
            flight.channel.source,
            flight.channel.target,
            flight.send.time,
            flight.receive.time if flight.receive else None,
        )
        for reference, flight in zip(references(execution), execution.flights, strict=True)
    }


def _recordings(whole_run: WholeRun) -> dict[str, tuple[Recording, ...]]:
    found: dict[str, list[Recording]] = {}
    for event in whole_run.execution.events:
        if event.kind == RECORD:
            text = f"{event.process} records its state for {event.snapshot_id} (step {event.step})"
            lane, gone = whole_run.lane_of[event.process], whole_run.gone_at(event)
            recording = Recording(lane, whole_run.position(event), event.step, text, gone)
            found.setdefault(event.snapshot_id or "", []).append(recording)
    return {snapshot: tuple(recordings) for snapshot, recordings in found.items()}


def _decisions(whole_run: WholeRun) -> Iterator[Decision]:
    for row in whole_run.execution.events:
        if row.kind == DECISION:
            body, snapshot = whole_run.execution.body_of(row), row.snapshot_id or ""
            who = whole_run.words.node(row.process)
            text = capital(f"{who} decides: {decision_words(snapshot, body)} (step {row.step})")
            lane, position = whole_run.lane_of[row.process], whole_run.position(row)
            yield Decision(lane, position, row.step, snapshot, body["outcome"], text)


def _moments(whole_run: WholeRun) -> Iterator[Moment]:
    """The signs of what a storage and recoveries do. All that a process gives away in one step has one sign."""
    rows = [row for row in whole_run.execution.events if row.kind in MOMENTS]
    outputs = Counter((row.process, row.step) for row in rows if row.kind == OUTPUT)
    told: set[tuple[str, int]] = set()
    for row in rows:
        is_told = row.kind == OUTPUT and (row.process, row.step) in told
        told.add((row.process, row.step))
        if not is_told:
            text = capital(moment_words(whole_run.execution, row))
            name = ""
            if row.kind == COMMITTED:
                name = f"{row.snapshot_id} valid"
            elif row.kind == RECOVERY:
                name = f"back to {row.snapshot_id or 'the start'}"
            elif row.kind == OUTPUT:
                count = outputs[row.process, row.step]
                name = whole_run.words.workload.body_words(whole_run.execution.body_of(row))
                if count > 1:
                    name, text = f"{count} outputs", f"{row.process} gives {count} outputs to the world outside"
            lane, position = whole_run.lane_of[row.process], whole_run.position(row)
            yield Moment(lane, position, row.step, row.kind, row.snapshot_id, name, f"{text} (step {row.step})")


def _lines_back_to(whole_run: WholeRun) -> Iterator[BackTo]:
    """The line of each recovery: through the recordings that it goes back to, or the beginnings of the lines."""
    for rollback in rollbacks_of(whole_run.execution):
        line: list[float | None] = []
        for process in whole_run.processes:
            recording = rollback.line.get(process)
            if recording is not None:
                line.append(whole_run.position(recording))
            else:
                line.append(_before_all(whole_run, process) if process in rollback.line else None)
        text = capital(moment_words(whole_run.execution, rollback.recovery))
        yield BackTo(rollback.step, rollback.snapshot, tuple(line), text)


def _before_all(whole_run: WholeRun, process: str) -> float:
    """The point of a line before all that happens there, also in a life that is over."""
    positions = whole_run.positions[1:]
    low, high = min(positions, default=0.0), max(positions, default=1.0)
    own = (row for row in whole_run.execution.events if row.process == process and row.kind in APPLICATION_KINDS)
    first = next(own, None)
    return low if first is None else whole_run.position(first) - (high - low or 1.0) * BEYOND


def _stretch(whole_run: WholeRun, stop: Stop) -> Stretch:
    """How long something stands still, in time units, or in steps where there is no time."""
    begin, end, has_time = stop.begin, stop.end, whole_run.execution.scenario.scheduler.has_time
    source, _, target = (stop.channel or "").partition("->")
    channel = whole_run.captions.get(stop.channel or "", "")
    if stop.kind == BLOCKED:
        other, what, how, has, told = source, channel, "is blocked", "has been blocked", "blocked"
    elif stop.kind == FULL:
        what = f"{channel} is full: {begin.process}"
        other, how, has, told = target, "stands still", "has stood still", "full"
    elif stop.kind == DOWN:
        other, what, how, has, told = target, channel, "is severed", "has been severed", "severed"
    elif stop.kind == SLOW:
        factor = f"{whole_run.execution.body_of(begin):g}"
        other, what, told = None, begin.process, f"{factor} times slower"
        how, has = f"takes {factor} times as long", f"has taken {factor} times as long"
    elif stop.kind == FROZEN:
        other, what, how, has, told = None, begin.process, "is frozen", "has been frozen", "frozen"
    elif stop.kind == CRASH:
        other, what, how, has, told = None, begin.process, "is down", "has been down", "down"
    elif stop.kind == LEAVE:
        other, what, how, has, told = None, begin.process, "is not there", "has not been there", "not there"
    else:
        other, what, how, has, told = None, begin.process, "stands still", "has stood still", "stands still"
    of = f" for {stop.snapshot}" if stop.snapshot else ""
    text = f"{what} {how}{of} from {'' if has_time else 'step '}{begin.time:g}"
    if end is None:
        text, told = f"{text} on", ""
    else:
        lasted = f"{end.time - begin.time:.4g}"
        unit = "time unit" if has_time else "step"
        text = f"{text} to {end.time:g}, {lasted} {unit}{'' if lasted == '1' else 's'}"
        told = f"{told} for {lasted}"
    return Stretch(
        whole_run.lane_of[begin.process], stop.kind, None if other is None else whole_run.lane_of[other],
        whole_run.position(begin), end and whole_run.position(end), begin.step, end and end.step, stop.snapshot,
        stop.channel, f"{what} {has}", begin.time, told, text,
    )  # fmt: skip


def _dots(scene: Scene) -> list[Dot]:
    whole_run = scene.whole_run
    recorded_at = {(name, r.lane): r.step for name, row in scene.recordings.items() for r in row}
    frontiers = [(snapshot.id, snapshot.frontier) for snapshot in scene.snapshots]
    dots = []
    for event in in_time(whole_run.rows(scene.first, scene.until)):
        if event.kind not in APPLICATION_KINDS:
            continue
        lane = whole_run.lane_of[event.process]
        inside = {
            name: recorded_at[name, lane]
            for name, frontier in frontiers
            if (name, lane) in recorded_at and _is_in_state(whole_run, event, name, frontier)
        }
        numbered, label = not has_label(event), whole_run.number_in_log(event) or event.label or ""
        named = not numbered or whole_run.lists_events
        position, text = whole_run.position(event), _hover(event, whole_run)
        gone = whole_run.gone_at(event)
        dots.append(
            Dot(lane, position, label, named, numbered, event.kind, event.step, text, inside, until=position, gone=gone)
        )
    return dots if scene.expanded else _collapsed(dots)


def _is_in_state(whole_run: WholeRun, event: Event, snapshot: str, frontier: Mapping[str, int]) -> bool:
    """Whether an event belongs to the state that its process recorded for a snapshot."""
    recording = whole_run.recording_rows.get((snapshot, event.process))
    if recording is None:
        return (event.index or 0) <= frontier.get(event.process, 0)
    return is_inside(whole_run.execution, event, recording)


def _collapsed(dots: Iterable[Dot]) -> list[Dot]:
    """The dots, where a long run of unnamed internal events, all inside the same cuts, becomes one dot."""
    by_lane = sorted(dots, key=lambda dot: dot.lane)
    found: list[Dot] = []
    for _, group in groupby(
        by_lane, key=lambda dot: (dot.lane, dot.kind == INTERNAL and dot.numbered, dot.recorded, dot.gone)
    ):
        run = list(group)
        if run[0].kind == INTERNAL and run[0].numbered and len(run) >= LONG_RUN:
            text = (
                f"{len(run)} internal events, {run[0].label} to {run[-1].label}, steps {run[0].step} to {run[-1].step}"
            )
            found.append(replace(run[0], named=False, text=text, count=len(run), until=run[-1].position))
        else:
            found += run
    return sorted(found, key=lambda dot: dot.step)


def _hover(event: Event, whole_run: WholeRun) -> str:
    what = event.kind
    if what == INTERNAL:
        body = whole_run.words.workload.body_words(whole_run.execution.body_of(event))
        what = f"internal event {body}".strip()
    on = f" on {whole_run.captions[event.channel]}" if event.channel else ""
    return f"{event.label}: {what}{on} at {event.process}, step {event.step}, time {event.time:g}"


def arrow_of(whole_run: WholeRun, flight: Flight, *, is_outcome_known: bool = True) -> Arrow:
    """The arrow of a message. A stamp tells that its sender had recorded, so it belongs to the outcome.

    What is fenced off comes to its receiver; what a recovery puts back begins where the recovery puts it.
    """
    send, receive = flight.put_back or flight.send, flight.receive
    is_fenced = receive is None and flight.lost is not None and flight.lost.kind == FENCED
    words = whole_run.words
    stamp = words.stamp(flight) if is_outcome_known else ""
    told = words.message(flight).removeprefix("the ") + (f", {stamp}" if stamp else "")
    kind_of_stamp = words.algorithm.stamp_of(flight.stamp) if flight.kind == APP and is_outcome_known else None
    way = f"from step {send.step}, not received"
    if receive is not None:
        way = f"step {send.step} to step {receive.step}"
    elif flight.lost is not None:
        way = f"step {send.step}, {'fenced off' if is_fenced else 'lost'} at step {flight.lost.step}"
    if flight.put_back is not None:
        way = f"put back at {way}"
    end = flight.lost if is_fenced else receive
    return Arrow(
        id=flight.id,
        kind=flight.kind,
        source=flight.channel.source,
        target=flight.channel.target,
        sender=flight.channel.source,
        channel=flight.channel.name,
        start=whole_run.position(send),
        end=whole_run.position(end) if end else None,
        sent=send.step,
        received=end.step if end else None,
        snapshot=flight.send.snapshot_id,
        name=words.label(flight),
        stamp=kind_of_stamp or "",
        head=next((own.head for own in words.algorithm.stamps if own.name == kind_of_stamp), ""),
        text=f"{told} {words.where(flight)}: {way}",
        kept=_kept(whole_run, flight) if is_outcome_known else {},
        lost=_lost_at(whole_run, flight, flight.lost) if flight.lost and end is None and is_outcome_known else None,
        gone=_gone(whole_run, flight),
        is_again=flight.put_back is not None,
        is_fenced=is_fenced,
    )


def _kept(whole_run: WholeRun, flight: Flight) -> Mapping[str, int]:
    """The snapshots that record a message on this way of it: before it is put back again, and after that."""
    kept = whole_run.recorders.get(flight.id, {})
    rows = [own.put_back.row for own in whole_run.execution.replays if own.id == flight.id and own.put_back]
    if not rows:
        return kept
    own = flight.put_back.row if flight.put_back else -1
    following = min((row for row in rows if row > own), default=len(whole_run.execution.events))
    steps = [whole_run.execution.events[row].step if row >= 0 else -1 for row in (own, following - 1)]
    return {name: step for name, step in kept.items() if steps[0] <= step <= steps[1]}


def _gone(whole_run: WholeRun, flight: Flight) -> int | None:
    """The step from which on a recovery has taken a message back: its receipt, or its sending if nobody receives it."""
    if flight.is_control or not rollbacks_of(whole_run.execution):
        return None
    ends = [whole_run.gone_at(flight.send) if flight.put_back is None else None]
    if flight.receive is not None:
        ends.append(whole_run.gone_at(flight.receive))
        if ends[1] is None:
            return None
    return min((end for end in ends if end is not None), default=None)


def _lost_at(whole_run: WholeRun, flight: Flight, row: Event) -> tuple[float, float] | None:
    """Where a message is lost on its way to a process, or a try to send it (None: as it is sent, or at its end)."""
    last, sent = tries(whole_run.execution)[flight.id], flight.send.time
    if row.process != flight.channel.source_name or row.time <= sent or not 0 < last.delay < math.inf:
        return None
    share = (row.time - sent) / last.delay
    return min(max(share, LEAST_SHARE), 1 - LEAST_SHARE), whole_run.position(row)


def _failed_try(whole_run: WholeRun, row: Event) -> Arrow:
    """A try to send a message that is lost, or the copy of it that is dropped, as the row `row` tells."""
    flight = whole_run.execution.flights[row.message_id or 0]
    why = _FAILED[row.kind]
    arrow = arrow_of(whole_run, flight)
    text = f"{arrow.name} {whole_run.words.where(flight)}: {why}, step {row.step}"
    lost = _lost_at(whole_run, flight, row)
    return replace(arrow, end=None, sent=row.step, received=None, kept={}, text=text, lost=lost, why=why)


def _snapshot_cuts(whole_run: WholeRun) -> list[Cut]:
    cuts = []
    recoveries = recoveries_of(whole_run.execution)
    for rank, snapshot in enumerate(in_time(whole_run.snapshots, every=1)):
        if snapshot.id in recoveries:
            cuts.append(_line_of_recovery(whole_run, rank, snapshot, recoveries[snapshot.id]))
            continue
        positions: list[float | None] = [None] * len(whole_run.processes)
        recordings = whole_run.recordings.get(snapshot.id, ())
        for recording in recordings:
            positions[recording.lane] = recording.position
        is_cut = len(snapshot.local) == len(positions)
        known = max(local.step for local in snapshot.local.values()) if is_cut else None
        is_told = known is None or snapshot.is_over
        witness = None if is_told else whole_run.execution.history.violation(snapshot.frontier)
        gone = min((own.gone for own in recordings if own.gone is not None), default=None)
        cuts.append(Cut(snapshot.id, rank, tuple(positions), known, witness is None, snapshot.id, gone))
    return cuts


def _line_of_recovery(whole_run: WholeRun, rank: int, snapshot: Snapshot, recovery: Recovery) -> Cut:
    """The recovery line of copies that nobody coordinated, from the last of them on.

    It goes through the copies that it has, and the end of the run where a process keeps its present state.
    """
    name = f"{LINE.lower()} of {snapshot.id}" if len(whole_run.snapshots) > 1 else LINE.lower()
    line = recovery.line
    positions = {process: between(whole_run, process, count) for process, count in line.items()}
    back = line.keys() - {*recovery.kept}
    for row in reversed(whole_run.execution.events):
        is_of_line = row.process in back and row.index == line[row.process]
        if row.kind == RECORD and row.snapshot_id == snapshot.id and is_of_line:
            positions[row.process] = whole_run.position(row)
    for process in recovery.kept:
        positions[process] = max(positions[process], whole_run.positions[-1])
    return Cut(name, rank, tuple(positions.values()), snapshot.completed, True, snapshot.id)


def _discussed(execution: Execution) -> Iterator[Stage]:
    """The cuts of the story, but not those of which an edit removed a last event; then the stages of a recovery."""
    for named in in_time(execution.scenario.cuts, every=1):
        try:
            yield Stage(named.name, named.text, frontier_of(execution, named))
        except InputError:
            continue
    yield from stages(execution)


def _story_cuts(whole_run: WholeRun) -> list[StoryCut]:
    """The cuts that are discussed, each with its verdict."""
    execution, history = whole_run.execution, whole_run.execution.history
    cuts = []
    for named in _discussed(execution):
        frontier = named.frontier
        witness = history.violation(frontier)
        decides = None if witness is None else whole_run.words.message(execution.flights[witness])
        crossing = tuple(
            f"{counted(len(m), 'message')} in {whole_run.captions[c]}" for c, m in history.in_channels(frontier).items()
        )
        inside = tuple(frontier.get(name, 0) for name in whole_run.processes)
        where = where_sent(is_unsent=witness in history.unsent)
        told = decides and f"the message {decides} is received inside the cut, but {where}"
        cuts.append(StoryCut(named.name, named.text, inside, witness is None, told, crossing))
    return cuts
