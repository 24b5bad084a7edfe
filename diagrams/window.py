"""What is in a picture: how much of a run it can hold, and the cut that is drawn in it."""

from __future__ import annotations

from diagrams.export_options import CUT
from diagrams.frontiers import frontier_in
from diagrams.scene import Scene
from diagrams.view import View
from sim.core.errors import InputError

MOST_STEPS = 5_000
MOST_MESSAGES = 20_000


def on_show(scene: Scene, view: View) -> Scene:
    """The part of `scene` in a picture: all of it, or the view's range of steps where the run is too long; with a cut.

    Raises InputError when a range is missing, or is too long as well, and for a cut that the run does not have.
    """
    shown = scene
    if _steps(scene) > MOST_STEPS and view.steps:
        shown = scene.window(*view.steps)
    if _steps(shown) > MOST_STEPS:
        raise InputError(
            f"a picture holds at most {MOST_STEPS} steps, and these are {_steps(shown)}: "
            f"give a range of steps, such as {shown.first}-{shown.first + 299} (--steps)"
        )
    if len(shown.flights) > MOST_MESSAGES:
        raise InputError(
            f"a picture holds at most {MOST_MESSAGES} messages, and in the steps {shown.first} to {shown.until} "
            f"there are {len(shown.flights)}: give a shorter range of steps, or export the event table"
        )
    cut = CUT.of(view)
    return shown.cut_at(frontier_in(scene.execution, cut)) if cut else shown


def _steps(scene: Scene) -> int:
    return scene.until - scene.first + 1
