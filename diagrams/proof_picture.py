"""Scene -> Dijkstra's page as a still picture: the diagram after some interchanges, and below it the row of actions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from diagrams.drawing import WIDTH, Drawing, Picture
from diagrams.export_options import PROOF_SNAPSHOT, SWAPS
from diagrams.lettering import fitted
from diagrams.primitives import Area, Disc, Primitive, Text
from diagrams.proof import STRAIGHT, Proof, Swaps, proof_of
from diagrams.proof_figure import Rearranged, figure
from diagrams.scene import Scene
from diagrams.view import View
from sim.core.errors import InputError
from sim.explain.words import counted
from sim.theory.interchange import ColouredAction, inversions

FOOT = 62.0  # pixels below the diagram
MARGIN = 20.0
CHIP, LEAST_CHIP = 36.0, 17.0  # pixels: the width of an action in the row, at most and at least
MOST_CHIPS = int((WIDTH - 2 * MARGIN) / LEAST_CHIP)


def proof_picture(scene: Scene, view: View) -> tuple[Picture, str]:
    """The picture, and what it shows in words. Raises InputError where there is no argument, or so many swaps."""
    proof = proof_of(scene.execution, PROOF_SNAPSHOT.of(view) or None)
    swaps = read_swaps(proof, SWAPS.of(view))
    row = row_after(proof, swaps)
    whole = Rearranged(scene, proof, swaps)
    plot = figure(scene, proof, view.orientation, swaps)
    drawing = Drawing(whole, view.orientation, footroom=FOOT, plot=plot)
    picture = drawing.at(scene.last)
    strip = _strip(row, proof, picture.width, picture.height - FOOT)
    return replace(picture, around=(*picture.around, *strip)), told(row, proof)


def read_swaps(proof: Proof, text: str) -> Swaps:
    """The interchanges that somebody asks for, as a link writes them. Raises InputError where they are not possible."""
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
    """The places that "at-5-4" names."""
    return tuple(int(place) for place in text.split("-")[1:])


def row_after(proof: Proof, swaps: Swaps) -> list[ColouredAction]:
    """The actions on show in their order after some interchanges."""
    at = proof.places(swaps).actions
    return [proof.actions[number] for number in sorted(range(len(at)), key=lambda number: at[number])]


def told(row: Sequence[ColouredAction], proof: Proof) -> str:
    """A row in words."""
    left = inversions(row)
    if left:
        return f"The actions of {proof.snapshot.id}, white and red: {counted(left, 'inversion')} left."
    return f"All white actions of {proof.snapshot.id} come first, then all red ones: between them lies its state."


def _strip(row: Sequence[ColouredAction], proof: Proof, width: float, top: float) -> Iterator[Primitive]:
    """The row: white actions as discs, red ones as squares, each with its name; of a long row the part that matters."""
    start = _start(row)
    part = row[start : start + MOST_CHIPS]
    step = min(CHIP, (width - 2 * MARGIN) / max(len(part), 1))
    left = (width - step * len(part)) / 2
    y, radius = top + 12, min(8.0, step / 2 - 1)
    for number, action in enumerate(part):
        x = left + step * (number + 0.5)
        if action.is_red:
            corners = ((-radius, -radius), (radius, -radius), (radius, radius), (-radius, radius))
            yield Area((tuple((x + across, y + down) for across, down in corners),), "@red")
        else:
            yield Disc((x, y), radius, "@white", "@white-edge", 1.8)
        letters, size = fitted(action.label, 14, step - 2)
        yield Text((x, y + radius + size + 2), letters, "middle", size, "@ink")
    shown = "" if len(part) == proof.total else f" Of {proof.total:,} actions {len(part):,} are in this row."
    yield Text((width / 2, top + FOOT - 8), told(row, proof) + shown, "middle", 13, "@ink")


def _start(row: Sequence[ColouredAction]) -> int:
    """The first action of the part that is shown of a long row: the first red one is near its beginning."""
    if len(row) <= MOST_CHIPS:
        return 0
    red = next((number for number, action in enumerate(row) if action.is_red), len(row))
    return max(0, min(red - MOST_CHIPS // 3, len(row) - MOST_CHIPS))
