"""Scene -> the still picture that an export asks for, and its caption: which drawing of the run, as shapes.

A drawing is a class in DRAWINGS, by its name in the option `drawing` (diagrams/export_options.py). It finds out what
there is to show once; its picture and its caption tell the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple, Protocol

from diagrams.caption import at_step, of_lattice, of_proof, of_run
from diagrams.drawing import Drawing, Picture, still, still_frame
from diagrams.export_options import CUT, DRAWING, LATTICE, PROOF, PROOF_SNAPSHOT, SPACE_TIME, SWAPS
from diagrams.frontiers import frontier_in
from diagrams.lattice import lattice_of
from diagrams.lattice_figure import figure
from diagrams.legend import with_legend
from diagrams.nodes import nodes_of_lattice, nodes_of_run
from diagrams.proof import proof_of
from diagrams.proof_picture import proof_picture, read_swaps, row_after
from diagrams.room import Room
from diagrams.scene import Scene
from diagrams.sheet import Sheet
from diagrams.signs import RUN
from diagrams.view import View
from diagrams.window import on_show, with_processes

LATTICE_HEIGHT = 0.9  # of the width, on paper


class Drawn(NamedTuple):
    """A picture, its caption, and what it says to those who cannot see it: what happens at its step as well."""

    picture: Picture
    caption: str
    told: str


class Subject(Protocol):
    """What a drawing shows of a run; `happens` says what happens at its step, where the drawing shows that."""

    happens: str

    def picture(self, sheet: Sheet) -> Picture:
        """It on a sheet."""

    def caption(self) -> str:
        """It in words."""


def drawn(scene: Scene, view: View) -> Drawn:
    """The drawing that the view asks for, after the view's step. Raises InputError where a picture cannot hold it."""
    sheet, drawing = Sheet.of(view), DRAWING.of(view)
    subject = _subject(scene, view)
    picture = subject.picture(sheet)
    if sheet.legend:
        picture = with_legend(picture, scene, RUN if drawing == SPACE_TIME else drawing, sheet)
    caption = subject.caption()
    return Drawn(picture.on(sheet), caption, f"{subject.happens} {caption}".strip())


def caption(scene: Scene, view: View) -> str:
    """The caption of this drawing. Raises InputError as the picture does."""
    return _subject(scene, view).caption()


def _subject(scene: Scene, view: View) -> Subject:
    return DRAWINGS[DRAWING.of(view)](with_processes(scene, view), view)


class _Run:
    """The space-time diagram."""

    def __init__(self, scene: Scene, view: View) -> None:
        self.shown, self.view = on_show(scene, view), view
        self.happens = at_step(self.shown, view.step)

    def picture(self, sheet: Sheet) -> Picture:
        drawing = Drawing(self.shown, self.view.orientation, sheet)
        return replace(drawing.at(self.view.step), nodes=nodes_of_run(drawing, self.view.step))

    def caption(self) -> str:
        cut = CUT.of(self.view)
        return of_run(self.shown, self.view.step, frontier_in(self.shown.execution, cut) if cut else None)


class _Lattice:
    """The lattice of consistent cuts."""

    happens = ""

    def __init__(self, scene: Scene, view: View) -> None:
        self.lattice, self.step = lattice_of(scene, view), view.step
        cut = CUT.of(view)
        self.held = self.lattice.events.cut(frontier_in(scene.execution, cut)) if cut else None

    def picture(self, sheet: Sheet) -> Picture:
        room = Room(sheet.width, sheet.height or LATTICE_HEIGHT * sheet.width, sheet.letters)
        plot = figure(self.lattice, room, self.held)
        picture = still(plot, self.step, room.width, room.height)
        return replace(picture, nodes=nodes_of_lattice(self.lattice, still_frame(plot, room.width, room.height)))

    def caption(self) -> str:
        return of_lattice(self.lattice, self.held is not None)


class _Proof:
    """Dijkstra's page."""

    happens = ""

    def __init__(self, scene: Scene, view: View) -> None:
        self.scene, self.orientation = scene, view.orientation
        self.proof = proof_of(scene.execution, PROOF_SNAPSHOT.of(view) or None)
        self.swaps = read_swaps(self.proof, SWAPS.of(view))

    def picture(self, sheet: Sheet) -> Picture:
        return proof_picture(self.scene, self.proof, self.swaps, self.orientation, sheet)

    def caption(self) -> str:
        return of_proof(self.scene, self.proof, row_after(self.proof, self.swaps))


DRAWINGS: Mapping[str, Callable[[Scene, View], Subject]] = {SPACE_TIME: _Run, LATTICE: _Lattice, PROOF: _Proof}
