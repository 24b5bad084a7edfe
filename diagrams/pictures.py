"""Scene -> the still picture that an export asks for: which drawing of the run, as shapes.

A drawing is a function in DRAWINGS, by its name in the option `drawing` (diagrams/export_options.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from diagrams.caption import described
from diagrams.drawing import MARGIN, Drawing, Picture, still, still_frame
from diagrams.export_options import CUT, DRAWING, LATTICE, PROOF, SPACE_TIME
from diagrams.frontiers import frontier_in
from diagrams.lattice import lattice_of
from diagrams.lattice_figure import figure
from diagrams.legend import with_legend
from diagrams.nodes import nodes_of_lattice, nodes_of_run
from diagrams.proof_picture import proof_picture
from diagrams.room import Room
from diagrams.scene import Scene
from diagrams.sheet import Sheet
from diagrams.signs import RUN
from diagrams.view import View
from diagrams.window import on_show, with_processes

LATTICE_HEIGHT = 0.9  # of the width, on paper


class Drawn(NamedTuple):
    """A picture, and what it shows, for those who cannot see it (diagrams/caption.py)."""

    picture: Picture
    told: str


def drawn(scene: Scene, view: View) -> Drawn:
    """The drawing that the view asks for, after the view's step. Raises InputError where a picture cannot hold it."""
    sheet = Sheet.of(view)
    drawing = DRAWING.of(view)
    picture = DRAWINGS[drawing](with_processes(scene, view), view, sheet)
    if sheet.legend:
        picture = with_legend(picture, scene, RUN if drawing == SPACE_TIME else drawing, sheet)
    return Drawn(picture.on(sheet), described(scene, view))


def _space_time(scene: Scene, view: View, sheet: Sheet) -> Picture:
    shown = on_show(scene, view)
    drawing = Drawing(shown, view.orientation, sheet)
    return replace(drawing.at(view.step), nodes=nodes_of_run(drawing, view.step))


def _lattice(scene: Scene, view: View, sheet: Sheet) -> Picture:
    lattice = lattice_of(scene, view)
    held = lattice.events.cut(frontier_in(scene.execution, CUT.of(view))) if CUT.of(view) else None
    room = Room(sheet.width, sheet.height or LATTICE_HEIGHT * sheet.width, sheet.letters)
    plot = figure(lattice, room.size(room.width - 2 * MARGIN, room.height - 2 * MARGIN), held)
    picture = still(plot, view.step, room.width, room.height)
    return replace(picture, nodes=nodes_of_lattice(lattice, still_frame(plot, room.width, room.height)))


DRAWINGS: Mapping[str, Callable[[Scene, View, Sheet], Picture]] = {
    SPACE_TIME: _space_time, LATTICE: _lattice, PROOF: proof_picture,
}  # fmt: skip
