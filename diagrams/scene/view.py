"""The view that an export draws: a step, a range of steps, the direction of time, the colours, the format's options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from diagrams.scene.composition import Scene
from diagrams.scene.row import Row
from diagrams.shapes import theme
from sim.core.errors import InputError

Value = str | int | bool | tuple[int, int]  # of an option


@dataclass(frozen=True)
class View:
    """The view of a scene in an export: the step, time "down" or "right", in the colours of a palette.

    `steps` is the range, both ends included, of a deck or an animation (None: all steps of the scene), and of a picture
    of a run that is too long for one. `options` are the format's own, which it reads by Option.of. `row` holds the runs
    that are drawn as one figure (None: the scene alone); `step` is then one of the row.
    """

    step: int
    orientation: str
    theme: str = "light"
    steps: tuple[int, int] | None = None
    options: Mapping[str, Value] = field(default_factory=dict)
    row: Row | None = None

    @classmethod
    def of(
        cls,
        scene: Scene,
        /,
        step: int | None = None,
        orientation: str | None = None,
        theme: str = "light",
        steps: tuple[int, int] | None = None,
        row: Row | None = None,
        **options: Value,
    ) -> View:
        """A view of `scene`, or of the row that begins with it; by default its last step, turned as the scenario is.

        Raises InputError for a step or a range that the scene does not have.
        """
        first, last, where = scene.first, scene.until, scene.execution.scenario.name
        if row is not None:
            first, last, where = 0, row.last, f"{where} under these algorithms"
        if steps is not None:
            if not first <= steps[0] <= steps[1] <= last:
                given = f"--steps {steps[0]}-{steps[1]}"
                raise InputError(f"{given}: {where} has steps {first} to {last}; give a range of them, such as 3-7")
            first, last, where = *steps, "the range"
        if step is not None and not first <= step <= last:
            raise InputError(f"--step {step}: {where} has steps {first} to {last}; give one of them")
        direction = orientation or scene.execution.scenario.orientation
        return cls(last if step is None else step, direction, theme, steps, options, row)

    @property
    def palette(self) -> dict[str, str]:
        """The colours of the theme, by their tokens' names."""
        return theme.PRINTED[self.theme]
