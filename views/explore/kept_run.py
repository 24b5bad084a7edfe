"""The run that a session keeps for its next edit. The app keeps long runs only for the sessions that used one last."""

from __future__ import annotations

from threading import Lock

from diagrams.scene.composition import Scene
from sim.run.execution import Execution

ALWAYS_KEPT = 5_000  # steps of a run; longer ones share MOST_KEPT
MOST_KEPT = 200_000  # steps of all longer runs together

_long: list[KeptRun] = []  # the one that was used last is the last
_keeping = Lock()  # sessions run in threads


class KeptRun:
    """A run and its scene; None if they are not kept, and so have to be made again."""

    def __init__(self) -> None:
        self.execution: Execution | None = None
        self.scene: Scene | None = None

    @property
    def steps(self) -> int:
        """The steps of the run; 0 without one."""
        return 0 if self.execution is None else self.execution.steps

    def keep(self, execution: Execution, scene: Scene | None = None) -> None:
        """Keep a run, and its scene if it is made already; other sessions may forget theirs."""
        self.execution, self.scene = execution, scene
        with _keeping:
            if self in _long:
                _long.remove(self)
            if execution.steps > ALWAYS_KEPT:
                _long.append(self)
            while sum(own.steps for own in _long[:-1]) > MOST_KEPT - self.steps:
                _long.pop(0).forget()

    def forget(self) -> None:
        """Keep the run no longer."""
        self.execution = self.scene = None
