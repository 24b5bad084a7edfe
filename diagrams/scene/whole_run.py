"""The elements of a scene that do not depend on its window, each computed once for the whole run."""

from __future__ import annotations

from functools import cached_property

from diagrams.scene.cuts import lines_back_to, snapshot_cuts, story_cuts
from diagrams.scene.elements import Interval
from diagrams.scene.foreign_log import ForeignLog
from diagrams.scene.moments import decisions, intervals, moments, recordings
from diagrams.scene.timed_run import TimedRun
from sim.run.execution import Execution


class WholeRun(TimedRun):
    """A run with its elements: `recordings` by the id of their snapshot; `cuts` are those of the snapshots."""

    def __init__(self, execution: Execution, log: ForeignLog | None = None) -> None:
        super().__init__(execution, log)
        self.recordings = recordings(self)
        self.decisions = tuple(decisions(self))
        self.moments = tuple(moments(self))
        self.back_to = tuple(lines_back_to(self))
        self.cuts = tuple(snapshot_cuts(self, self.recordings))
        self.story_cuts = story_cuts(self)

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        """The intervals in which channels are blocked or full and processes paused."""
        return tuple(intervals(self))
