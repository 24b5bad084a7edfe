"""What is drawn can be seen on what it is drawn upon: measured on the pictures of every bundled scenario."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import combinations, pairwise

import pytest

from diagrams.drawing.diagram import Drawing
from diagrams.figure.stops import ABSENT, CRASHED
from diagrams.scene.view import View
from diagrams.shapes import theme
from diagrams.shapes.primitives import Area, Arrows, Disc, Line, Pixel, Primitive, Text
from diagrams.still.pictures import drawn
from sim.document.scenario import ORIENTATIONS
from tests.bundled import small
from tests.cases import each, each_once
from tests.diagrams.colours import EYES, Colour, colour_of, contrast, difference, lightness, over
from tests.diagrams.tools import parts_of, scene

BAND = 8  # pixels: a broader line is a band, which other things are drawn upon
LEAST, LEAST_OF_TEXT = 3.0, 4.5
MOSTLY = 0.75  # of a shape: where it crosses something narrow, it may be lost
SAMPLES = 24

Ground = tuple[str, float, list[Primitive]]


def test_the_measures_are_those_of_the_books():
    white, black = colour_of("#ffffff"), colour_of("#000000")
    assert contrast(white, black) == pytest.approx(21)
    assert contrast(colour_of("#777777"), white) == pytest.approx(4.48, abs=0.01)
    assert lightness(colour_of("#777777")) == pytest.approx(50, abs=0.2)
    assert difference(white, black) == pytest.approx(100, abs=0.1)
    assert difference(colour_of("#ff0000"), colour_of("#00ff00")) == pytest.approx(86.6, abs=0.1)


def paint(token: str, palette: dict[str, str]) -> tuple[Colour, float]:
    name, _, opacity = token[1:].partition("/")
    return colour_of(palette[name]), float(opacity or 1)


def is_ground(part: Primitive) -> bool:
    """A tint or a band. (The area of an arrow's head is opaque.)"""
    return (isinstance(part, Area) and "/" in part.fill) or (isinstance(part, Line) and part.width > BAND)


def is_in(point: Pixel, part: Primitive) -> bool:
    """Whether a tint or band covers a point."""
    if isinstance(part, Line):
        return any(_distance(point, *ends) < part.width / 2 for stroke in part.strokes for ends in pairwise(stroke))
    assert isinstance(part, Area)
    return any(_is_inside(point, polygon) for polygon in part.polygons)


def _distance(point: Pixel, start: Pixel, end: Pixel) -> float:
    (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
    length = dx * dx + dy * dy
    share = min(1.0, max(0.0, ((point[0] - x) * dx + (point[1] - y) * dy) / length)) if length else 0.0
    return math.dist(point, (x + share * dx, y + share * dy))


def _is_inside(point: Pixel, polygon: tuple[Pixel, ...]) -> bool:
    x, y = point
    return bool(
        sum(
            (a[1] > y) != (b[1] > y) and x < a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0])
            for a, b in pairwise([*polygon, polygon[0]])
        )
        % 2
    )


def shapes(part: Primitive) -> Iterator[tuple[str, list[Pixel]]]:
    """Every shape of a primitive: its token, and points of it."""
    match part:
        case Line():
            for stroke in part.strokes:
                yield part.colour, _along(stroke)
        case Arrows():
            for way in part.ways:
                yield part.colour, _along(way)
        case Area():
            for polygon in part.polygons:
                yield _seen(part), list(polygon)
        case Disc():
            (x, y), reach = part.centre, part.radius
            rim = [(x + reach * math.cos(turn), y + reach * math.sin(turn)) for turn in range(SAMPLES)]
            yield _seen(part), rim
        case Text():
            reach = len(part.letters) * part.size * 0.5
            left = part.at[0] - {"start": 0.0, "middle": reach / 2, "end": reach}[part.anchor]
            yield (
                part.colour,
                [(left + reach * share / SAMPLES, part.at[1] - part.size / 3) for share in range(SAMPLES)],
            )


def _seen(shape: Area | Disc) -> str:
    """What is hollow has an outline; the outline of what is filled only sets it off."""
    return shape.outline if shape.fill in ("", "@paper", "@white") else shape.fill


def _along(stroke: tuple[Pixel, ...]) -> list[Pixel]:
    share = [at / SAMPLES for at in range(SAMPLES + 1)]
    return [(a[0] + (b[0] - a[0]) * s, a[1] + (b[1] - a[1]) * s) for a, b in pairwise(stroke) for s in share]


Lost = set[tuple[str, str, str, float]]


def lost(parts: list[Primitive], palettes: Iterable[str] = theme.PRINTED) -> Lost:
    """What cannot be seen well among the parts of a picture: palette, kind, token, contrast."""
    grounds: list[Primitive] = []
    found: Lost = set()
    for part in parts:
        if is_ground(part):
            grounds.append(part)
            continue
        if part.sign in (CRASHED, ABSENT):
            continue  # it breaks the line of a process, and is seen by that
        for token, points in shapes(part):
            below = [tuple(_token(ground) for ground in grounds if is_in(point, ground)) for point in points]
            found |= {found for palette in palettes for found in _unseen(part, token, below, palette)}
    return found


def _unseen(part: Primitive, token: str, below: list[tuple[str, ...]], palette: str) -> Lost:
    """What `lost` says of a shape that has these grounds below its points."""
    is_text = isinstance(part, Text)
    values = sorted(_contrast(token, grounds, palette) for grounds in below)
    worst = values[0] if is_text else values[int(len(values) * (1 - MOSTLY))]
    if worst >= (LEAST_OF_TEXT if is_text else LEAST):
        return set()
    return {(palette, type(part).__name__, token, round(worst, 2))}


def _token(ground: Primitive) -> str:
    assert isinstance(ground, Area | Line)
    return ground.fill if isinstance(ground, Area) else ground.colour


@cache
def _contrast(token: str, grounds: tuple[str, ...], palette: str) -> float:
    """Of a colour to those that it lies on, from the lowest one on."""
    colours = theme.PRINTED[palette]
    below = colour_of(colours["paper"])
    for ground in grounds:
        below = over(*paint(ground, colours), below)
    return contrast(over(*paint(token, colours), below), below)


def parts_at(drawing: Drawing, step: int) -> list[Primitive]:
    picture = drawing.at(step)
    return [*picture.inside, *picture.around]


@pytest.mark.slow
@each_once("all scenarios, drawn in the other direction", name=small, orientation=ORIENTATIONS)
def test_all_that_is_drawn_stands_out(name, orientation):
    run = scene(name)
    drawing = Drawing(run, orientation)
    found = {step: lost(parts_at(drawing, step)) for step in {run.last // 3, 2 * run.last // 3, run.last}}
    assert {step: own for step, own in found.items() if own} == {}


@each("cut", [(2, 1, 1), (4, 2, 2)])
def test_a_drawn_cut_and_the_messages_that_cross_it_leave_arrows_legible(cut):
    drawing = Drawing(scene("lecture").cut_at(cut), "down")
    assert lost(parts_at(drawing, scene("lecture").last)) == set()


@each("name", ["lecture", "never_occurred", "star"])
def test_all_of_the_page_of_a_snapshot_stands_out(name):
    run = scene(name)
    for swaps in ("0", "straight"):
        assert lost(parts_of(drawn(run, View.of(run, drawing="proof", swaps=swaps)).picture)) == set(), swaps


@pytest.mark.parametrize("palette", theme.PALETTES)
def test_the_band_itself_can_be_seen_and_so_can_every_message_on_it(palette):
    """It is a bright yellow on white, which its hue tells; on black it is as dark as the arrows on it ask."""
    colours = {name: colour_of(value) for name, value in theme.PRINTED[palette].items()}
    assert difference(colours["band"], colours["paper"]) > 20
    assert contrast(colours["ink"], colours["band"]) >= LEAST_OF_TEXT
    assert contrast(colours["stamped"], colours["band"]) >= LEAST


SNAPSHOTS = [theme.snapshot_colour(rank)[1:] for rank in range(theme.SNAPSHOT_COLOURS)]
OTHERS = [*(theme.process_colour(rank)[1:] for rank in range(theme.PROCESS_COLOURS)), "ink"]


@each("eye", EYES)
@each("palette", theme.PALETTES)
def test_no_snapshot_looks_like_a_process_or_another_snapshot(palette, eye):
    colours = {name: colour_of(value) for name, value in theme.PRINTED[palette].items()}
    pairs = [*((own, other) for own in SNAPSHOTS for other in OTHERS), *combinations(SNAPSHOTS, 2)]
    near = {pair: round(difference(colours[pair[0]], colours[pair[1]], eye), 1) for pair in pairs}
    least = 12 if eye == "all cones" else 7.5
    assert {pair: value for pair, value in near.items() if value < least} == {}


@pytest.mark.parametrize("palette", theme.PALETTES)
def test_snapshots_stay_apart_in_grey(palette):
    greys = [lightness(colour_of(theme.PRINTED[palette][name])) for name in SNAPSHOTS]
    assert abs(greys[0] - greys[1]) > 20, "two snapshots are what most runs have"
    assert min(abs(a - b) for a, b in combinations(greys, 2)) > 5


def test_snapshots_differ_by_their_dashes_and_symbols_too():
    for looks in (theme.SNAPSHOT_DASHES, theme.RING_SYMBOLS, theme.RECORD_SYMBOLS):
        assert len(set(looks)) == theme.SNAPSHOT_COLOURS
    assert theme.cut_look(0, True) != theme.cut_look(1, True)
    assert theme.cut_look(0, False)[1] not in theme.SNAPSHOT_DASHES
