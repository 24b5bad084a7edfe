"""One scenario under several algorithms as one figure: the runs, and the steps that they show together.

The runs go on together by time. The steps of a row are the moments at which one of its runs makes a step. At each
moment a run shows its last step that is not later. The browser does the same (assets/compare/merged.js).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from diagrams.scene.composition import Scene
from sim.core.errors import InputError
from sim.edit.compared import MOST_AT_ONCE
from sim.edit.comparison_report import measured_of
from sim.explain.costs import Measured
from sim.explain.words import capital

MOST_STEPS = 5_000  # of all runs together
MOST_MESSAGES = 20_000

Moment = tuple[float, int]  # a time, and a rank among the steps that a run makes at that time


def moments_of(times: Sequence[float]) -> list[Moment]:
    """The moment of each step of a run, from the times of its steps; step 0 is before everything."""
    found: list[Moment] = [(-math.inf, 0)]
    for step in range(1, len(times)):
        is_next = step > 1 and times[step] == times[step - 1]
        found.append((times[step], found[-1][1] + 1 if is_next else 0))
    return found


def step_at(moments: Sequence[Moment], moment: Moment) -> int:
    """The last step of a run, by its moments, that is not later than `moment`."""
    return max(0, bisect_right(moments, moment) - 1)


@dataclass(frozen=True, eq=False)
class Row:
    """Runs of one scenario: the title of each algorithm, and its scene, or the sentence that refuses it.

    One of them at least has a scene.
    """

    runs: tuple[tuple[str, Scene | str], ...]

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """The scenes, in their order."""
        return tuple(scene for _, scene in self.runs if isinstance(scene, Scene))

    @cached_property
    def measured(self) -> list[Measured | None]:
        """The costs of the snapshots of each run (None: it is refused)."""
        return [measured_of(own.execution) if isinstance(own, Scene) else None for _, own in self.runs]

    @cached_property
    def _moments(self) -> list[list[Moment]]:
        """The moments of each scene."""
        return [moments_of(scene.times) for scene in self.scenes]

    @cached_property
    def moments(self) -> list[Moment]:
        """The moments of all scenes; the first is that of step 0."""
        return sorted({moment for own in self._moments for moment in own})

    @property
    def last(self) -> int:
        """The last step."""
        return len(self.moments) - 1

    def steps_at(self, step: int) -> tuple[int, ...]:
        """The step that each scene shows at a step of the row."""
        return tuple(step_at(own, self.moments[step]) for own in self._moments)


def row_of(runs: Sequence[tuple[str, Scene | str]]) -> Row:
    """The row of these runs.

    Raises InputError if there is none to draw, or if there are too many or too long ones for one figure.
    """
    row = Row(tuple((title, own if isinstance(own, Scene) else _sentence(own)) for title, own in runs))
    if not row.scenes:
        raise InputError("none of these algorithms can run this scenario; name another one")
    if len(runs) > MOST_AT_ONCE:
        raise InputError(f"{len(runs)} algorithms are too many for one figure; name at most {MOST_AT_ONCE}")
    for most, own, what in (
        (MOST_STEPS, sum(scene.last + 1 for scene in row.scenes), "steps"),
        (MOST_MESSAGES, sum(len(scene.execution.flights) for scene in row.scenes), "messages"),
    ):
        if own > most:
            raise InputError(
                f"a figure of several algorithms holds at most {most} {what}, and these runs have {own}; "
                "name fewer algorithms, or export a part of one run"
            )
    return row


def _sentence(text: str) -> str:
    """A text with a capital in front and a full stop."""
    return capital(text) if text.endswith(".") else f"{capital(text)}."
