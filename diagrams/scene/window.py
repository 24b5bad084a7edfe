"""The part of a run in a picture: as much as it can hold, with the cut and the processes that the view asks for."""

from __future__ import annotations

from diagrams.scene.arrangement import Arrangement
from diagrams.scene.composition import Scene
from diagrams.scene.export_options import CROP, CUT, PROCESSES, SHOWN
from diagrams.scene.frontiers import frontier_in
from diagrams.scene.view import View
from sim.core.errors import InputError, nearest

MOST_STEPS = 5_000
MOST_MESSAGES = 20_000


def on_show(scene: Scene, view: View) -> Scene:
    """The part of `scene` in a picture: all of it, or the steps to which the view crops it; with a cut.

    A deck of a very long run is cropped to the steps of the deck, at least two.
    Raises InputError if the run does not have these steps or this cut, and if it is too long.
    """
    crop = CROP.of(view)
    if not crop and view.steps and _steps(scene) > MOST_STEPS:
        first = min(view.steps[0], scene.until - 1)
        crop = first, max(view.steps[1], first + 1)
    if crop and not scene.first <= crop[0] < crop[1] <= scene.until:
        where = f"{scene.execution.scenario.name} has steps {scene.first} to {scene.until}"
        raise InputError(f"--{CROP.name} {crop[0]}..{crop[1]}: {where}; give two of them, the first one first")
    shown = scene.window(*crop) if crop else scene
    if _steps(shown) > MOST_STEPS:
        raise InputError(
            f"a picture holds at most {MOST_STEPS} steps, and these are {_steps(shown)}; "
            f"give a range of steps, such as {shown.first}..{shown.first + SHOWN - 1} (--{CROP.name})"
        )
    if len(shown.flights) > MOST_MESSAGES:
        raise InputError(
            f"a picture holds at most {MOST_MESSAGES} messages, and in the steps {shown.first} to {shown.until} "
            f"there are {len(shown.flights)}; give a shorter range of steps, or export the event table"
        )
    cut = CUT.of(view)
    return shown.cut_at(frontier_in(scene.execution, cut)) if cut else shown


def with_processes(scene: Scene, view: View) -> Scene:
    """The scene with only the processes that the view asks for, in that order. Raises InputError for an unknown one."""
    names = PROCESSES.of(view)
    if not names:
        return scene
    own = [name.strip() for name in names.split(",")]
    for name in own:
        if name not in scene.lanes:
            raise InputError(f"--{PROCESSES.name} {name!r}: no such process; {nearest(name, scene.lanes)}")
    return scene.arranged(Arrangement(tuple(own), tuple(name for name in scene.lanes if name not in own)))


def _steps(scene: Scene) -> int:
    return scene.until - scene.first + 1
