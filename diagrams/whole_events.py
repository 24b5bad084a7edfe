"""The events that a cut of a scene counts: in a window of a foreign log, those of the log.

An event of a log with several partners is several events of the scene, its parts. A cut has all parts inside, or none.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

from diagrams.foreign_log import ForeignLog
from diagrams.log_predicates import LogPredicates
from sim.core.model import APPLICATION_KINDS
from sim.run.execution import Execution
from sim.run.predicates import Predicates
from sim.theory.causality import Clock, History
from sim.theory.lattice import Predicate


class WholeEvents:
    """The events of a run, each whole, and its cuts: how many of these events are inside, by process in their order."""

    def __init__(self, execution: Execution, log: ForeignLog | None) -> None:
        self.execution, self.log = execution, log

    @cached_property
    def history(self) -> History:
        """The whole events of the run."""
        if self.log is None:
            return self.execution.history
        place = {
            (name, part): bisect_right(self._last_parts[name], part - 1) + 1
            for name, own in self.log.numbers.items()
            for part in range(1, len(own) + 1)
        }
        rows = [event for event in self.execution.events if event.kind in APPLICATION_KINDS]
        return History(
            self.execution.scenario.processes,
            [event._replace(index=place[event.process, event.index or 0]) for event in rows],
        )

    @cached_property
    def _last_parts(self) -> dict[str, list[int]]:
        """The index in the scene of the last part of each event of the log, by process."""
        numbers = self.log.numbers if self.log else {}
        return {
            name: [part for part, number in enumerate(own, start=1) if own[part : part + 1] != [number]]
            for name, own in numbers.items()
        }

    def frontier(self, cut: Clock) -> Clock:
        """A cut in events of the scene."""
        if self.log is None:
            return cut
        ends = self._last_parts.values()
        return tuple(own[inside - 1] if inside else 0 for own, inside in zip(ends, cut, strict=True))

    def cut(self, frontier: Sequence[int]) -> Clock | None:
        """The cut with so many events of the scene inside; None where it divides an event."""
        if self.log is None:
            return tuple(frontier)
        ends = self._last_parts.values()
        found = tuple(bisect_right(own, inside) for own, inside in zip(ends, frontier, strict=True))
        return found if self.frontier(found) == tuple(frontier) else None

    def numbers(self, cut: Clock) -> Clock:
        """A cut as a link has it: in a window of a log, with the log's numbers."""
        return tuple(self.log.in_numbers(self.frontier(cut))) if self.log else cut

    @cached_property
    def predicates(self) -> Predicates:
        """What may be asked at a cut."""
        return LogPredicates(self.execution, self.log) if self.log else Predicates(self.execution)

    def at_cuts(self, holds: Predicate) -> Predicate:
        """A predicate on events of the scene, as one on cuts."""
        return lambda cut: holds(self.frontier(cut))
