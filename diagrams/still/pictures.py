"""Scene -> the still picture that an export asks for, and its caption: which drawing of the run, as shapes.

A drawing is a class in DRAWINGS, by its name in the option `drawing` (scene/export_options.py). It finds its contents
once, for both its picture and its caption.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple, Protocol

from diagrams.drawing.diagram import MARGIN, Drawing, still, still_frame
from diagrams.drawing.frame import Picture
from diagrams.drawing.sheet import Sheet
from diagrams.figure.room import Room
from diagrams.figure.sign import RUN
from diagrams.panels.lattice.figure import figure
from diagrams.panels.lattice.panel import lattice_of
from diagrams.panels.nodes import nodes_of_lattice, nodes_of_run
from diagrams.panels.proof.panel import proof_of
from diagrams.panels.proof.picture import proof_picture, read_swaps, row_after
from diagrams.panels.proof.rearranged import scene_of
from diagrams.scene.composition import Scene
from diagrams.scene.export_options import CUT, DRAWING, FIGURES, LATTICE, PROOF, PROOF_SNAPSHOT, SPACE_TIME, SWAPS
from diagrams.scene.frontiers import frontier_in
from diagrams.scene.row import Row
from diagrams.scene.view import View
from diagrams.scene.window import on_show, with_processes
from diagrams.still.caption import at_step, of_lattice, of_proof, of_row, of_run
from diagrams.still.figures_table import figures_in_words
from diagrams.still.legend import with_legend
from diagrams.still.row_picture import RowPicture

LATTICE_HEIGHT = 0.9  # of the width, on paper


class Drawn(NamedTuple):
    """A picture, its caption, and its description for readers who cannot see it, with the sentence of its step."""

    picture: Picture
    caption: str
    description: str


class Subject(Protocol):
    """The contents of a drawing; `happens` is the sentence of its step, if the drawing shows the step."""

    happens: str

    def picture(self, sheet: Sheet) -> Picture:
        """The picture on a sheet."""

    def caption(self) -> str:
        """The caption."""


def drawn(scene: Scene, view: View) -> Drawn:
    """The drawing that the view asks for, after the view's step. Raises InputError if a picture cannot hold it."""
    sheet, drawing = Sheet.of(view), DRAWING.of(view)
    subject = _subject(scene, view)
    picture = subject.picture(sheet)
    if sheet.legend:
        scenes = view.row.scenes if view.row else [scene]
        picture = with_legend(picture, scenes, RUN if drawing == SPACE_TIME else drawing, sheet)
    caption = subject.caption()
    figures = figures_in_words(view.row) if view.row and FIGURES.of(view) else ""
    return Drawn(picture.on(sheet), caption, " ".join(filter(None, [subject.happens, caption, figures])))


def caption(scene: Scene, view: View) -> str:
    """The caption of this drawing. Raises InputError as the picture does."""
    return _subject(scene, view).caption()


def _subject(scene: Scene, view: View) -> Subject:
    if view.row is not None:
        return _SeveralRuns(view.row, view)
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


class _SeveralRuns:
    """The space-time diagrams of a row."""

    def __init__(self, row: Row, view: View) -> None:
        self.row, self.view = row, view
        self.scenes = [with_processes(scene, view) for scene in row.scenes]
        self.steps = row.steps_at(view.step)
        titles = [title for title, own in row.runs if not isinstance(own, str)]
        own = zip(titles, self.scenes, self.steps, strict=True)
        happening = [(title, at_step(scene, step)) for title, scene, step in own]
        self.happens = " ".join(f"{title}: {what}" for title, what in happening if what)

    def picture(self, sheet: Sheet) -> Picture:
        figures = bool(FIGURES.of(self.view))
        return RowPicture(self.row, self.scenes, self.steps, self.view.orientation, sheet, figures).drawn()

    def caption(self) -> str:
        shown = iter(self.scenes)
        runs = [(title, own if isinstance(own, str) else next(shown)) for title, own in self.row.runs]
        below = "A table below them has the costs of their snapshots." if FIGURES.of(self.view) else ""
        return of_row(runs, self.steps, below)


class _Lattice:
    """The lattice of consistent cuts."""

    happens = ""

    def __init__(self, scene: Scene, view: View) -> None:
        self.lattice, self.step = lattice_of(scene, view), view.step
        cut = CUT.of(view)
        self.held = self.lattice.events.cut(frontier_in(scene.execution, cut)) if cut else None

    def picture(self, sheet: Sheet) -> Picture:
        room = Room(sheet.width, sheet.height or LATTICE_HEIGHT * sheet.width, sheet.letters)
        plot = figure(self.lattice, room.size(room.width - 2 * MARGIN, room.height - 2 * MARGIN), self.held)
        picture = still(plot, self.step, room.width, room.height)
        return replace(picture, nodes=nodes_of_lattice(self.lattice, still_frame(plot, room.width, room.height)))

    def caption(self) -> str:
        return of_lattice(self.lattice, self.held is not None)


class _Proof:
    """Dijkstra's page."""

    happens = ""

    def __init__(self, scene: Scene, view: View) -> None:
        self.proof = proof_of(scene.execution, PROOF_SNAPSHOT.of(view) or None)
        self.scene, self.orientation = scene_of(self.proof, scene), view.orientation
        self.swaps = read_swaps(self.proof, SWAPS.of(view))

    def picture(self, sheet: Sheet) -> Picture:
        return proof_picture(self.scene, self.proof, self.swaps, self.orientation, sheet)

    def caption(self) -> str:
        return of_proof(self.scene, self.proof, row_after(self.proof, self.swaps))


DRAWINGS: Mapping[str, Callable[[Scene, View], Subject]] = {SPACE_TIME: _Run, LATTICE: _Lattice, PROOF: _Proof}
