"""Scene -> Dijkstra's page as a still picture: the diagram after some interchanges, and below it the row of actions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from diagrams.drawing.diagram import Drawing
from diagrams.drawing.frame import Picture
from diagrams.drawing.sheet import Sheet
from diagrams.figure.layout import Figure
from diagrams.figure.room import Room
from diagrams.panels.nodes import nodes_of_run
from diagrams.panels.proof.figure import figure
from diagrams.panels.proof.panel import STRAIGHT, Proof, Swaps
from diagrams.panels.proof.rearranged import Rearranged
from diagrams.scene.composition import Scene
from diagrams.shapes.lettering import fitted, width_of, wrapped
from diagrams.shapes.primitives import Area, Box, Disc, Primitive, Text
from sim.core.errors import InputError
from sim.explain.words import counted
from sim.theory.interchange import ColouredAction, inversions

MARGIN, MARGIN_ON_PAPER = 20.0, 4.0  # pixels left and right of the row
CHIP, LEAST_CHIP = 36.0, 17.0  # pixels: the width of an action in the row, at most and at least
LETTERS, WORDS = 14.0, 13.0  # pixels: the names of actions; the sentence below them
RADIUS = 8.0  # pixels of an action
MOST_LINES = 3  # of the sentence


def proof_picture(scene: Scene, proof: Proof, swaps: Swaps, orientation: str, sheet: Sheet) -> Picture:
    """The picture after some interchanges, time down the page or to the right."""
    whole = Rearranged(scene, proof, swaps)

    def make(_: Scene, orientation: str, room: Room) -> Figure:
        return figure(scene, proof, orientation, swaps, room)

    strip = _Strip(row_after(proof, swaps), proof, sheet)
    drawing = Drawing(whole, orientation, sheet, footroom=strip.height, make=make)
    picture = drawing.at(scene.last)
    below = strip.drawn(picture.height - strip.height)
    named = nodes_of_run(drawing, scene.last)
    return replace(picture, around=(*picture.around, *below), nodes=named)


def read_swaps(proof: Proof, text: str) -> Swaps:
    """The interchanges in `text`, as a link writes them. Raises InputError if they are not possible."""
    if text == STRAIGHT and not proof.is_forbidden:
        return STRAIGHT
    if text.isascii() and text.isdigit() and len(text) < 10 and int(text) <= len(proof.swaps):
        return int(text)
    if re.fullmatch(r"at(-[0-9]{1,7})+", text) and proof.are_possible(places := _places_in(text)):
        return places
    most, or_straight = len(proof.swaps), "" if proof.is_forbidden else f" or {STRAIGHT}"
    raise InputError(
        f"--swaps {text[:20]!r} is not possible for {proof.snapshot.id}; give a number from 0 to {most}{or_straight}, "
        "or at- and the places of pairs that may be interchanged, such as at-5-4"
    )


def _places_in(text: str) -> tuple[int, ...]:
    """The places in a text such as at-5-4."""
    return tuple(int(place) for place in text.split("-")[1:])


def row_after(proof: Proof, swaps: Swaps) -> list[ColouredAction]:
    """The actions on show in their order after some interchanges."""
    at = proof.places(swaps).actions
    return [proof.actions[number] for number in sorted(range(len(at)), key=lambda number: at[number])]


def row_in_words(row: Sequence[ColouredAction], proof: Proof) -> str:
    """A row in words."""
    left = inversions(row)
    if left:
        return f"The actions of {proof.snapshot.id}, white and red: {counted(left, 'inversion')} left."
    return f"All white actions of {proof.snapshot.id} come first, then all red ones. Its state lies between them."


class _Strip:
    """The row: white actions as discs, red ones as squares, with their names; of a long row the part around the cut."""

    def __init__(self, row: Sequence[ColouredAction], proof: Proof, sheet: Sheet) -> None:
        self.width, own = sheet.width, sheet.letters
        self.margin = MARGIN_ON_PAPER if own else MARGIN
        self.letters, self.words = own or LETTERS, own or WORDS
        room = self.width - 2 * self.margin
        names = [proof.told(action).label for action in row]
        longest = max((width_of(name, own) + 4 for name in names), default=0) if own else LEAST_CHIP
        self.part = _part([*zip(names, (action.is_red for action in row), strict=True)], int(room / longest))
        self.chip = min(max(CHIP, longest), room / max(len(self.part), 1))
        rest = "" if len(self.part) == proof.total else f" This row has {len(self.part):,} of {proof.total:,} actions."
        self.lines = wrapped(row_in_words(row, proof) + rest, self.words, room, MOST_LINES)

    @property
    def height(self) -> float:
        """The pixels of the row below the diagram."""
        return 2 * RADIUS + self.letters + 1.35 * self.words * len(self.lines) + 16

    def drawn(self, top: float) -> Iterator[Primitive]:
        """The row and its sentence, `top` pixels from the top of the picture."""
        left = (self.width - self.chip * len(self.part)) / 2
        y, radius = top + 12, min(RADIUS, self.chip / 2 - 1)
        for number, (name, is_red) in enumerate(self.part):
            x = left + self.chip * (number + 0.5)
            if is_red:
                yield Area((Box(x, y, x, y).wider(radius).corners,), "@red", sign="red action")
            else:
                yield Disc((x, y), radius, "@white", "@white-edge", 1.8, "white action")
            letters, size = fitted(name, self.letters, self.chip - 2)
            yield Text((x, y + radius + size + 2), letters, "middle", size, "@ink", sign="label")
        below = y + radius + self.letters + 6
        for number, line in enumerate(self.lines, start=1):
            yield Text((self.width / 2, below + 1.35 * self.words * number), line, "middle", self.words, "@ink")


def _part(row: Sequence[tuple[str, bool]], most: int) -> Sequence[tuple[str, bool]]:
    """The part on show of a long row of names, each with whether it is red: the first red one is near the beginning."""
    red = next((number for number, (_, is_red) in enumerate(row) if is_red), len(row))
    start = max(0, min(red - most // 3, len(row) - most))
    return row[start : start + most]
