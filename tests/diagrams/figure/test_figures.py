"""Figures for a paper, measured on their shapes: letters, labels, arrowheads, and signs without colour."""

import math
from collections.abc import Iterator
from functools import cache
from itertools import combinations, pairwise, product

import pytest

from diagrams.drawing.frame import Picture
from diagrams.export import read_options
from diagrams.panels.legend import SIGNS as SIGNS_OF_LEGEND
from diagrams.scene.export_options import LATTICE, PROOF, SPACE_TIME
from diagrams.scene.view import View
from diagrams.shapes import theme
from diagrams.shapes.primitives import SIGN_WORDS, Area, Arrows, Box, Disc, Line, Path, Pixel, Primitive, Text
from diagrams.still.pictures import drawn
from sim.core.errors import InputError
from sim.document.scenario import ORIENTATIONS
from tests.cases import each, each_pair
from tests.diagrams.colours import Colour, colour_of, lightness, over
from tests.diagrams.tools import exported, parts_of, scene, texts_of

NAMES = ["lecture", "star", "overlapping", "widgets", "hundred"]
DRAWINGS = [SPACE_TIME, LATTICE, PROOF]
WIDTHS = {"84mm": 238.11, "170mm": 481.89}  # in points
SMALLEST = 7.0  # points of a label
CROP = {"hundred": (1, 60)}
TINTS = {frozenset(("past", "future")): 5, frozenset(("past",)): 3}  # of lightness; cuts are between them, too
TEXTURE = 500  # signs of a picture
CUTS_OF_A_LATTICE = ("consistent cut", "cut at which it holds", "recorded state", "outer state", "state at the step")
OUTCOMES = tuple(f"{outcome} snapshot" for outcome in theme.OUTCOME_SYMBOLS)
SIGNS = ("event", "recorded event", "recording", "white action", "red action", "turn", *OUTCOMES)


@cache
def figure(name: str, width: str = "84mm", orientation: str = "down", drawing: str = SPACE_TIME, **options) -> Picture:
    crop = {"crop": CROP[name]} if name in CROP and drawing == SPACE_TIME else {}
    view = View.of(scene(name), width=width, orientation=orientation, drawing=drawing, **crop, **options)
    return drawn(scene(name), view).picture


on_every_figure = each_pair(
    "figures of every kind, width and direction", name=[*NAMES, "joins"], width=WIDTHS, orientation=ORIENTATIONS,
    drawing=DRAWINGS,
)  # fmt: skip


@pytest.mark.slow
@on_every_figure
def test_every_label_can_be_read(name, width, orientation, drawing):
    """None is too small, over another one, or cut off; the figure has the width that was asked for."""
    picture = figure(name, width, orientation, drawing, legend=True)
    assert picture.unit == "pt" and picture.width == pytest.approx(WIDTHS[width], abs=0.01)
    texts = texts_of(picture)
    assert [text.letters for text, _ in texts if text.size < SMALLEST] == []
    assert [(a.letters, b.letters) for (a, box), (b, other) in combinations(texts, 2) if box.meets(other)] == []
    beyond = [
        text.letters
        for text, box in texts
        if box.left < 0 or box.top < 0 or box.right > picture.width or box.bottom > picture.height
    ]
    assert beyond == []


@pytest.mark.slow
@each_pair(
    "figures of every width and direction", name=[*NAMES, "two_initiators", "phones"], width=WIDTHS,
    orientation=ORIENTATIONS,
)  # fmt: skip
def test_no_body_lies_on_a_message_that_it_does_not_belong_to(name, width, orientation):
    """A text on two arrows would be read as that of either. The names of events have to be somewhere."""
    picture = figure(name, width, orientation)
    events = {dot.label for dot in scene(name).dots} | {cut.name for cut in scene(name).cuts} | {"past", "future"}
    bodies = [(text, box) for text, box in texts_of(picture) if text.sign == "label" and text.letters not in events]
    messages = [part for part in picture.inside if isinstance(part, Arrows) and part.sign.endswith("message")]
    ways = [way for part in messages for way in part.ways]
    dots = [part.centre for part in picture.inside if isinstance(part, Disc) and part.sign == "event"]
    for text, box in bodies:
        assert sum(box.is_crossed(*way) for way in ways) <= 1, text.letters
        assert not any(box.grown(1).is_crossed(dot, (dot[0] + 0.1, dot[1])) for dot in dots), text.letters


@pytest.mark.slow
@on_every_figure
def test_shafts_end_where_heads_begin_and_tips_lie_off_every_sign(name, width, orientation, drawing):
    picture = figure(name, width, orientation, drawing, legend=True)
    arrows = [(part, way) for part in picture.inside if isinstance(part, Arrows) for way in part.ways]
    assert arrows or drawing == LATTICE
    signs = list(signs_of(picture))
    for part, way in arrows:
        tip, left, right = part.corners(way)
        base = ((left[0] + right[0]) / 2, (left[1] + right[1]) / 2)
        shaft = part.shaft(way)
        assert shaft is None or math.dist(shaft[1], base) < 0.01, part.sign
        assert math.dist(tip, base) <= part.head + 0.01
        below = [sign for sign, is_in in signs if is_in(tip)]
        if len(signs) > TEXTURE:  # lines so near to each other that a tip lies on signs of other lines
            below = [sign for sign in below if distance_from_line(centre(sign), way) < 0.05]
        assert below == [], (part.sign, tip)


def signs_of(picture: Picture) -> Iterator[tuple]:
    """The dots, rings, squares and diamonds of a picture: what they are, and whether a point lies in them."""
    for part in picture.inside:
        if isinstance(part, Disc) and part.sign in SIGNS:
            yield part, lambda at, disc=part: math.dist(at, disc.centre) < disc.radius
        elif isinstance(part, Area) and part.sign in SIGNS:
            for polygon in part.polygons:
                yield part, lambda at, own=polygon: is_inside(at, own)


def centre(sign: Disc | Area) -> Pixel:
    if isinstance(sign, Disc):
        return sign.centre
    xs, ys = zip(*sign.polygons[0], strict=True)
    return sum(xs) / len(xs), sum(ys) / len(ys)


def distance_from_line(point: Pixel, way: tuple[Pixel, Pixel]) -> float:
    (x, y), (end_x, end_y) = way
    across = (end_x - x) * (point[1] - y) - (end_y - y) * (point[0] - x)
    return abs(across) / math.dist(*way)


def is_inside(point: Pixel, polygon: Path) -> bool:
    """Whether a point lies in a convex polygon, or in one of a star's corners."""
    x, y = point
    crossings = [
        (a[1] > y) != (b[1] > y) and x < a[0] + (y - a[1]) / (b[1] - a[1]) * (b[0] - a[0])
        for a, b in zip(polygon, (*polygon[1:], polygon[0]), strict=True)
    ]
    return sum(crossings) % 2 == 1


def test_a_head_gives_way_to_a_ring_as_soon_as_that_is_drawn():
    """P2 records in step 13: until then the tip of what F received is at its dot, then at its ring."""
    own, found = scene("lecture"), {}
    for step in (8, own.last):
        picture = drawn(own, View.of(own, step=step)).picture
        arrows = [part for part in picture.inside if isinstance(part, Arrows) and part.sign == "message"]
        (_, tip), *_ = sorted(way for part in arrows for way in part.ways)
        dots = [part for part in picture.inside if isinstance(part, Disc) and part.sign == "event"]
        found[step] = min(math.dist(dot.centre, tip) - dot.radius for dot in dots)
    at_the_dot, at_the_ring = found.values()
    assert at_the_dot < 1 and 5 < at_the_ring < 10


@pytest.mark.slow
@each("name", [*NAMES, "lai_yang", "phones", "expired_and_retried", "joins"])
@each("drawing", DRAWINGS)
def test_without_colour_every_sign_is_told_from_every_other(name, drawing):
    """Two signs of the same form differ in lightness, by what is seen on white paper; those of two snapshots too."""
    picture = figure(name, drawing=drawing, legend=True, theme="grey")
    looks: dict[tuple, dict[tuple[str, str], set[float]]] = {}
    for part in parts_of(picture):
        if part.sign not in ("", "legend") and not isinstance(part, Text):
            meaning = (part.sign, snapshot_of(part))
            looks.setdefault(form_of(part), {}).setdefault(meaning, set()).add(lightness(seen(part)))
    near = [
        (one, other, round(abs(a - b), 1))
        for signs in looks.values()
        for (one, own), (other, others) in combinations(signs.items(), 2)
        for a, b in product(own, others)
        if abs(a - b) < TINTS.get(frozenset((one[0], other[0])), 10)
    ]
    assert near == []


def snapshot_of(part: Primitive) -> str:
    """The token of the snapshot to which a sign belongs; "" for none, as for a marker, whose dash tells it."""
    token = token_of(part).partition("/")[0]
    return token if token in map(theme.snapshot_colour, range(theme.SNAPSHOT_COLOURS)) else ""


def form_of(part: Primitive) -> tuple:
    """What tells a sign without any colour: its kind, its dash, its corners, whether it is broad, hollow, curved."""
    match part:
        case Line():
            return "line", bool(part.dash) and round(part.dash[0] / part.dash[1], 1), round(math.log2(part.width))
        case Arrows():
            dash = bool(part.dash) and round(part.dash[0] / part.dash[1], 1)
            return "arrow", dash, part.fill == "@paper", round(math.log2(part.width))
        case Area():
            corners, top = part.polygons[0], min(y for _, y in part.polygons[0])
            look = (len(corners), sum(y - top < 0.01 for _, y in corners))  # a square has two corners at its top
            return "area", look if part.width or not part.curved else "side of a cut", bool(part.fill)
        case Disc():
            return "disc", part.fill in ("", "@paper", "@white")
    raise AssertionError(part)


def token_of(part: Primitive) -> str:
    assert isinstance(part, Line | Arrows | Area | Disc)
    return part.colour if isinstance(part, Line | Arrows) else part.fill or part.outline


def seen(part: Primitive) -> Colour:
    """The colour of a primitive on white paper."""
    name, _, opacity = token_of(part)[1:].partition("/")
    return over(colour_of(theme.GREY[name]), float(opacity or 1), colour_of(theme.GREY["paper"]))


def test_bands_and_sides_of_a_cut_stay_apart_in_grey():
    """A band lies on the past, on the future, and on paper; two pasts lie on each other."""
    drawn_as = {part.sign: part for part in figure("lecture", theme="grey").inside}
    steps = [lightness(seen(drawn_as[sign])) for sign in ("band", "past", "future")]
    steps.append(lightness(colour_of(theme.GREY["paper"])))
    assert all(darker + 3 < lighter for darker, lighter in pairwise(steps))
    assert steps[1] - steps[0] > 12 and steps[2] - steps[1] > 6
    assert all(len({red, green, blue}) == 1 for red, green, blue in map(colour_of, theme.GREY.values()))


# ------------------------------------------------------------------ what is asked


def test_letters_keep_their_size_at_every_width():
    for width in ("60mm", "84mm", "170mm", "12cm", "5in", "400pt"):
        sizes = {text.size for text, _ in texts_of(figure("lecture", width, "right"))}
        assert sizes == {8.0}
    larger = drawn(scene("lecture"), View.of(scene("lecture"), width="84mm", **{"font-size": "9.5pt"})).picture
    assert {round(text.size, 6) for text, _ in texts_of(larger)} == {9.5}


def test_without_times_there_are_none_and_the_plot_is_wider():
    own = scene("lecture")
    plain, bare = (drawn(own, View.of(own, width="84mm", **asked)).picture for asked in ({}, {"no-axis": True}))
    assert {"400", "600"} <= {text.letters for text, _ in texts_of(plain)}
    assert {text.letters for text, _ in texts_of(plain)} - {text.letters for text, _ in texts_of(bare)} == {
        "400", "600", "800", "1000"
    }  # fmt: skip
    widths = [max(x for x, _ in next(p for p in pic.inside if p.sign == "past").polygons[0]) for pic in (plain, bare)]
    lefts = [min(x for x, _ in next(p for p in pic.inside if p.sign == "past").polygons[0]) for pic in (plain, bare)]
    assert widths[1] - lefts[1] > widths[0] - lefts[0] + 10


def test_a_legend_explains_what_is_seen_and_nothing_else():
    def legend(name: str, **asked) -> list[str]:
        own = scene(name)
        parts = parts_of(drawn(own, View.of(own, legend=True, **asked)).picture)
        return [part.letters for part in parts if isinstance(part, Text) and part.sign == "legend"]

    assert legend("lecture") == [
        "event", "message", "marker", "recording", "recorded event", "in channel state", "cut"
    ]  # fmt: skip
    assert legend("lecture", step=1) == ["event", "now"]
    assert legend("lecture", cut="3.3.1") == ["event", "message", "marker", "recording", "recorded event",
                                              "in channel state", "chosen cut"]  # fmt: skip
    assert legend("overlapping") == [
        "event", "message", "marker (S1, S2)", "recording (S1, S2)", "recorded event (S1, S2)", "in channel state",
        "cut (S1, S2)",
    ]  # fmt: skip
    assert legend("overlapping", drawing=LATTICE)[3:] == [
        "recorded state (S1, S2)", "begin or end of a snapshot (S1, S2)"
    ]  # fmt: skip
    assert legend("lai_yang")[:3] == ["event", "white message", "red message"]
    assert legend("lecture", drawing=LATTICE) == [
        "consistent cut", "states of the run", "state at this step", "recorded state", "begin or end of a snapshot"
    ]  # fmt: skip
    assert legend("lecture", drawing=PROOF) == [
        "white action", "red action", "white message", "red message", "recorded message", "turn to red",
        "states S0 and S1",
    ]  # fmt: skip


@pytest.mark.slow
@each("drawing", DRAWINGS)
@each("name", [*NAMES, "never_occurred"])
def test_a_legend_shows_the_looks_that_are_seen(name, drawing):
    """Of each snapshot its own dash and symbol, and the colour of a line as it is drawn."""
    picture = figure(name, drawing=drawing, legend=True, theme="grey")
    explained = {look_of(part) for part in parts_of(picture) if part.sign == "legend"}
    varied = {sign for own in SIGNS_OF_LEGEND if own.as_drawn for sign in own.explains}
    seen = {look_of(part) for part in parts_of(picture) if part.sign in varied}
    assert seen and seen - explained == set()


def look_of(part: Primitive) -> tuple:
    """The parts of a look that do not depend on its size."""
    match part:
        case Line():
            return "line", part.colour, part.dash and round(part.dash[0] / part.dash[1], 1), len(part.dash)
        case Arrows():
            return "arrow", part.dash and round(part.dash[0] / part.dash[1], 1), len(part.dash)
        case Area():
            return "area", part.fill, part.outline, len(part.polygons[0])
        case Disc():
            return "disc", part.fill, part.outline
    return ()


@pytest.mark.slow
@each("width", WIDTHS)
@each("name", NAMES)
def test_no_name_of_a_lattice_lies_on_a_cut(name, width):
    picture = figure(name, width, drawing=LATTICE)
    cuts = [part for part in parts_of(picture) if part.sign in CUTS_OF_A_LATTICE]
    assert cuts
    hidden = [(text.letters, part.sign) for text, box in texts_of(picture) for part in cuts if box.meets(around(part))]
    assert hidden == []
    names = {text.letters.rpartition(" ")[2] for text, _ in texts_of(picture) if text.style == "bold"}
    assert name == "hundred" or ({"begins", "ends"} <= names and {"S1", "S2"} & names), "all have their place"


def around(sign: Primitive) -> Box:
    """The rectangle around a disc or a polygon."""
    assert isinstance(sign, Disc | Area)
    if isinstance(sign, Disc):
        (x, y), reach = sign.centre, sign.radius
        return Box(x - reach, y - reach, x + reach, y + reach)
    xs, ys = zip(*sign.polygons[0], strict=True)
    return Box(min(xs), min(ys), max(xs), max(ys))


def test_a_crop_shows_the_part_between_two_steps_of_the_finished_diagram():
    own = scene("lecture")
    picture = drawn(own, View.of(own, width="84mm", crop=(9, 13))).picture
    names = {text.letters for text, _ in texts_of(picture)}
    assert "H" in names and not names & {"A", "B", "E", "K"}
    assert picture.clip is not None
    for bad in ((13, 9), (0, 19)):
        with pytest.raises(InputError, match=r"--crop \d+\.\.\d+: lecture has steps 0 to 18; give two of them"):
            drawn(own, View.of(own, crop=bad))


def test_the_processes_that_are_named_are_drawn_in_their_order():
    own = scene("overlapping")
    picture = drawn(own, View.of(own, width="84mm", processes="P4, P1")).picture
    assert [text.letters for text, _ in texts_of(picture) if text.sign == "process"] == ["P4", "P1"]
    with pytest.raises(InputError, match=r"--processes 'P9': no such process; did you mean"):
        drawn(own, View.of(own, processes="P9"))


@each(
    ("asked", "complaint"),
    [
        ({"width": "84"}, "--width '84' is not possible; give a length from 72pt to 2400pt with its unit"),
        ({"width": "1mm"}, "--width '1mm' is not possible"),
        ({"font-size": "80pt"}, "--font-size '80pt' is not possible; give a length from 5pt to 36pt"),
        ({"crop": "5"}, "--crop '5' is not a range of steps; give the first and the last one, such as 3..7"),
        ({"legend": "perhaps"}, "--legend 'perhaps' is neither yes nor no"),
    ],
)
def test_what_is_no_length_is_refused_in_a_sentence(asked, complaint):
    with pytest.raises(InputError, match=complaint):
        read_options("svg", asked)


def test_letters_too_large_for_the_width_are_refused():
    with pytest.raises(InputError, match=r"85pt wide is too narrow for letters of 20pt; make .* 240pt wide"):
        exported("lecture", "svg", width="30mm", **{"font-size": "20pt"})


@pytest.mark.slow
def test_every_sign_has_a_word_of_the_vocabulary():
    """The same as those that are explained, or that an author may change."""
    words = {sign for own in SIGNS_OF_LEGEND for sign in own.explains}
    for name, drawing in product([*NAMES, "lai_yang", "never_occurred", "phones"], DRAWINGS):
        pictures = [figure(name, drawing=drawing, legend=True, theme="grey")]
        if name != "hundred":
            pictures.append(figure(name, drawing=drawing, step=scene(name).last // 2))
        words |= {part.sign for picture in pictures for part in parts_of(picture)}
    assert words - SIGN_WORDS == {""}
