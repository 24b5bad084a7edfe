"""Scene -> the still picture that an export asks for: which drawing of the run, as shapes in pixels, told in words.

A drawing is a function in DRAWINGS, by its name in the option `drawing` (diagrams/export_options.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from diagrams.drawing import Drawing, Picture, still
from diagrams.export_options import CUT, DRAWING, LATTICE, PREDICATE, PROOF, SPACE_TIME
from diagrams.frontiers import frontier_in
from diagrams.lattice import Lattice
from diagrams.lattice_figure import figure
from diagrams.lattice_words import snapshots, summary
from diagrams.legend import with_legend
from diagrams.proof_picture import proof_picture
from diagrams.room import Room
from diagrams.scene import Scene
from diagrams.sheet import Sheet
from diagrams.signs import RUN
from diagrams.view import View
from diagrams.window import on_show, with_processes
from sim.core.errors import InputError

LATTICE_HEIGHT = 0.9  # of the width, on paper


class Drawn(NamedTuple):
    """A picture, and what it shows, for those who cannot see it."""

    picture: Picture
    told: str


def drawn(scene: Scene, view: View) -> Drawn:
    """The drawing that the view asks for, after the view's step. Raises InputError where a picture cannot hold it."""
    sheet = Sheet.of(view)
    drawing = DRAWING.of(view)
    picture, told = DRAWINGS[drawing](with_processes(scene, view), view, sheet)
    if sheet.legend:
        picture = with_legend(picture, scene, RUN if drawing == SPACE_TIME else drawing, sheet)
    return Drawn(picture.on(sheet), told)


def _space_time(scene: Scene, view: View, sheet: Sheet) -> Drawn:
    shown = on_show(scene, view)
    told = f"Step {view.step} of {scene.last}. {scene.window(view.step, view.step).steps[view.step].sentence}"
    return Drawn(Drawing(shown, view.orientation, sheet).at(view.step), told)


def _lattice(scene: Scene, view: View, sheet: Sheet) -> Drawn:
    lattice = Lattice(scene, view.step, PREDICATE.of(view))
    if lattice.asked and lattice.asked.problem:
        raise InputError(f"--{PREDICATE.name}: {lattice.asked.problem}")
    held = lattice.events.cut(frontier_in(scene.execution, CUT.of(view))) if CUT.of(view) else None
    told = " ".join([*summary(lattice), *snapshots(lattice)])
    room = Room(sheet.width, sheet.height or LATTICE_HEIGHT * sheet.width, sheet.letters)
    return Drawn(still(figure(lattice, room, held), view.step, room.width, room.height), told)


def _proof(scene: Scene, view: View, sheet: Sheet) -> Drawn:
    return Drawn(*proof_picture(scene, view, sheet))


DRAWINGS: Mapping[str, Callable[[Scene, View, Sheet], Drawn]] = {
    SPACE_TIME: _space_time, LATTICE: _lattice, PROOF: _proof,
}  # fmt: skip
