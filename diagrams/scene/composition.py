"""Execution -> Scene: everything to draw, with the steps at which it appears and changes.

A scene has lanes and times, not pixels; a renderer decides which way time runs. Steps are counted from 0 (the initial
state). A span (from, until) is the steps from <= k < until (None: to the end).

A long run is seen through a window, a range of its steps. Dots, arrows and sentences belong to the window. All other
elements are computed once for the whole run (scene/whole_run.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property

from diagrams.scene.arrangement import Arrangement
from diagrams.scene.cuts import shown_cut
from diagrams.scene.elements import (
    Arrow,
    Dot,
    Ghost,
    Interval,
    ShownCut,
)
from diagrams.scene.events import dots_of
from diagrams.scene.foreign_log import ForeignLog
from diagrams.scene.messages import FAILED_TRIES, arrow_of, arrows_as_they_are, failed_try
from diagrams.scene.whole_run import WholeRun
from sim.core.deadline import in_time
from sim.core.model import (
    BLOCKED,
    DOWN,
    FULL,
    MessageReference,
)
from sim.explain.narration import StepText, narrate
from sim.run.execution import Execution
from sim.run.fifo import held, waits_behind
from sim.run.flights import Flight

ON_ITS_WAY = "on its way"


class Scene:
    """Everything to see of the steps `first` to `until` of one execution."""

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
        """The same scene with a cut drawn in it, given by its name (sim/theory/cut_names.py)."""
        scene = copy(self)
        scene.shown_cut = shown_cut(self.whole_run, frontier)
        return scene

    def beside(self, lane: int, hidden: int) -> int:
        """The neighbour of a lane on the side of a hidden lane of the run; it may lie beyond all lanes."""
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
        """Whether the window holds the whole run."""
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
        """The word before the first number of the time axis, with a blank; "" if the axis has times."""
        return "" if self.execution.scenario.scheduler.has_time else "step "

    @cached_property
    def steps(self) -> dict[int, StepText]:
        """The text of each step of the window, by its number."""
        return dict(enumerate(narrate(self.execution, self.first, self.until), start=self.first))

    @cached_property
    def dots(self) -> tuple[Dot, ...]:
        """The application events of the window."""
        return tuple(dots_of(self.whole_run, self.recordings, self.first, self.until, expanded=self.expanded))

    @cached_property
    def arrows(self) -> tuple[Arrow, ...]:
        """The messages that are sent, received or under way in the window."""
        return tuple(arrow_of(self.whole_run, flight) for flight in in_time(self.flights))

    @cached_property
    def again(self) -> tuple[Arrow, ...]:
        """The messages of the window that recoveries put back into their channels."""
        seen = (own for own in self.execution.replays if own.put_back and own.put_back.step <= self.until)
        arrows = (arrow_of(self.whole_run, own) for own in seen)
        return tuple(own for own in arrows if max(own.sent, own.received or 0) >= self.first)

    @property
    def all_arrows(self) -> tuple[Arrow, ...]:
        """All messages, as they were sent and as recoveries put them back."""
        return (*self.arrows, *self.again)

    @cached_property
    def failed_tries(self) -> tuple[Arrow, ...]:
        """The losses and copies in the window that a FIFO layer hides from the processes."""
        rows = in_time(self.whole_run.rows(self.first, self.until))
        return tuple(failed_try(self.whole_run, row) for row in rows if row.kind in FAILED_TRIES)

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
    def intervals(self) -> tuple[Interval, ...]:
        """The intervals of the window in which channels are blocked or full and processes paused."""
        return tuple(
            own
            for own in self.whole_run.intervals
            if own.step <= self.until and (own.until is None or own.until >= self.first)
        )

    @cached_property
    def ghosts(self) -> list[Ghost]:
        """The arrows that edits have moved or removed, as they were; none if times are just numbers of steps."""
        if not self.original or not self.execution.scenario.scheduler.has_time:
            return []
        now = arrows_as_they_are(self.execution)
        moved = [ghost for reference, ghost in self.original.items() if now.get(reference) != ghost]
        if self.is_whole:
            return moved
        low, high = self.times[self.first], self.times[self.until]
        return [ghost for ghost in moved if ghost.start <= high and (ghost.end or ghost.start) >= low]

    def why_not_received(self, arrow: Arrow) -> str:
        """The reason why a message is never received: held, behind a held one, on a blocked channel, or never chosen.

        In a window of a log: whether it is received after the window; "" if that is not written.
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
        for own in self.whole_run.intervals:
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
    """The scene of a whole finished execution; `original` holds the arrows as they were before any edit.

    `log` is the foreign log of which the execution is a window.
    """
    return Scene(
        WholeRun(execution, log), 0, execution.steps, original or {}, expanded=False, arrangement=Arrangement()
    )
