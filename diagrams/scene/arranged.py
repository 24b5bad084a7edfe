"""Scene -> the lanes on show in a diagram, in the order of its arrangement, numbered from 0."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import TypeVar

from diagrams.scene.composition import Scene
from diagrams.scene.elements import ACROSS, Arrow, Dot, Ghost, Interval, Recording
from sim.core.model import INTERNAL

Point = TypeVar("Point")  # of a cut: a position, or None


class Arranged(Scene):
    """A scene of the lanes on show.

    A hidden process leaves only the stubs of its messages. A folded lane keeps its messages, recordings and decisions,
    and loses its internal events and its labels.
    """

    def __init__(self, whole: Scene) -> None:
        super().__init__(whole.whole_run, whole.first, whole.until, whole.original, whole.expanded, whole.arrangement)
        self.whole = whole
        self.number = {lane: number for number, lane in enumerate(self.layout.shown)}
        self.lanes = tuple(whole.lanes[lane] for lane in self.layout.shown)
        self.processes = tuple(whole.lanes[lane] for lane in self.layout.shown if lane < len(whole.processes))
        self.recordings = {name: tuple(self._recordings(own)) for name, own in whole.recordings.items()}
        seen = (own for own in whole.decisions if own.lane in self.number)
        self.decisions = tuple(replace(own, lane=self.number[own.lane]) for own in seen)
        at = (own for own in whole.moments if own.lane in self.number)
        self.moments = tuple(replace(own, lane=self.number[own.lane]) for own in at)
        self.back_to = tuple(replace(own, positions=self._points(own.positions)) for own in whole.back_to)
        self.cuts = tuple(replace(cut, positions=self._points(cut.positions)) for cut in whole.cuts)
        if whole.shown_cut:
            self.shown_cut = replace(whole.shown_cut, positions=self._points(whole.shown_cut.positions))

    @cached_property
    def extent(self) -> tuple[float, float]:
        """The ends of the time axis, as if no process were hidden."""
        return self.whole.extent

    @property
    def counted(self) -> str:
        """The word for the unit of the time axis, as in the whole scene."""
        return self.whole.counted

    @cached_property
    def dots(self) -> tuple[Dot, ...]:
        """The application events on show."""
        return tuple(
            replace(dot, lane=self.number[dot.lane], named=dot.named and dot.lane not in self.layout.folded)
            for dot in self.whole.dots
            if dot.lane in self.number and not (dot.kind == INTERNAL and dot.lane in self.layout.folded)
        )

    @cached_property
    def arrows(self) -> tuple[Arrow, ...]:
        """The messages with at least one end on show."""
        return tuple(drawn for arrow in self.whole.arrows if (drawn := self._arrow(arrow)))

    @cached_property
    def again(self) -> tuple[Arrow, ...]:
        """The messages that recoveries put back, with at least one end on show."""
        return tuple(drawn for arrow in self.whole.again if (drawn := self._arrow(arrow)))

    @cached_property
    def ghosts(self) -> list[Ghost]:
        """The arrows before any edit, between two lanes on show."""
        return [
            replace(ghost, source=self.number[ghost.source], target=self.number[ghost.target])
            for ghost in self.whole.ghosts
            if ghost.source in self.number and ghost.target in self.number
        ]

    @cached_property
    def failed_tries(self) -> tuple[Arrow, ...]:
        """The failed tries with at least one end on show."""
        return tuple(drawn for arrow in self.whole.failed_tries if (drawn := self._arrow(arrow)))

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        """The intervals of the processes on show; a channel of a hidden process lies on the side of that process."""
        return tuple(
            replace(own, lane=self.number[own.lane], beside=None if own.beside is None else self._side(own))
            for own in self.whole.intervals
            if own.lane in self.number
        )

    def _side(self, interval: Interval) -> int:
        """The lane of the other end of a channel, or a neighbour on that side."""
        other = interval.beside or 0
        return self.number.get(other, self.beside(self.number[interval.lane], other))

    def why_not_received(self, arrow: Arrow) -> str:
        """The reason why a message is never received, as if no process were hidden."""
        return self.whole.why_not_received(arrow)

    def _arrow(self, arrow: Arrow) -> Arrow | None:
        source, target = self.number.get(arrow.source), self.number.get(arrow.target)
        if source is not None and target is not None:
            return replace(arrow, source=source, target=target)
        if source is not None and arrow.stub != ACROSS:
            return replace(arrow, source=source, target=self.beside(source, arrow.target), stub="target")
        if target is not None and arrow.end is not None:
            beside = self.beside(target, arrow.source)
            return replace(arrow, source=beside, target=target, stub=arrow.stub or "source")
        return None

    def _recordings(self, recordings: Iterable[Recording]) -> Iterable[Recording]:
        return (replace(own, lane=self.number[own.lane]) for own in recordings if own.lane in self.number)

    def _points(self, positions: tuple[Point, ...]) -> tuple[Point, ...]:
        """The points of a cut on the lanes on show."""
        return tuple(positions[lane] for lane in self.layout.shown[: len(self.processes)])
