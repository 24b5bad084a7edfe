"""Where texts are put: clear of what they would hide, as far as there is room."""

import math
from itertools import combinations

import pytest

from diagrams.drawing.diagram import Drawing
from diagrams.drawing.sheet import Sheet
from diagrams.figure.canvas import Canvas
from diagrams.figure.labels import Box, Labels, Spot, along
from diagrams.figure.spacetime import figure
from diagrams.scene.composition import compose
from diagrams.shapes import lettering
from diagrams.shapes.primitives import Text
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import ORIENTATIONS
from sim.edit.edits import apply_edit
from sim.run.execution import run
from tests.bundled import small
from tests.cases import each_once
from tests.diagrams.tools import scene as scene_of


def texts_of(scene, orientation, mode="text"):
    traces = [trace for trace in figure(scene, orientation)["data"] if trace.get("mode") == mode]
    return [text for trace in traces for text in trace["text"]]


def test_a_line_crosses_a_box_only_if_it_passes_through():
    box = Box(10, 10, 20, 20)
    assert box.is_crossed((0, 15), (30, 15))
    assert box.is_crossed((0, 0), (30, 30))
    assert not box.is_crossed((0, 15), (9, 15)), "it ends before"
    assert not box.is_crossed((0, 25), (30, 25)), "it passes below"
    assert not box.is_crossed((0, 15), (15, 40)), "it passes the corner"


def test_texts_keep_off_lines_and_each_other():
    labels = Labels(lambda point: point)
    labels.avoid_line([(0, 100), (400, 100)], 5)
    spots = [Spot((100, 100), "middle right"), Spot((100, 98), "top right"), Spot((100, 102), "bottom right")]
    assert labels.place("one", 14, spots, []) == spots[1]
    assert labels.place("two", 14, spots, []) == spots[2]
    away = Spot((300, 100), "middle right")
    assert labels.place("three", 14, [*spots, away], []) == away, "of bad places the one that hides least"
    assert labels.place("four", 14, spots, []) is None, "no text hides another one"


def test_a_text_is_near_to_nothing_but_its_own():
    labels = Labels(lambda point: point)
    labels.avoid_dot((100, 100), 6, 20)
    labels.avoid_dot((100, 76), 6, 20)
    spots = [Spot((100, 100), "top right"), Spot((100, 100), "bottom right")]
    assert labels.place("one", 14, spots, [(100, 100)]) == spots[1]
    labels = Labels(lambda point: point)
    for height in (100, 126):
        labels.avoid_line([(0, height), (400, height)], 5)
    assert labels.place("one", 14, spots[::-1], [(0, 100), (400, 100)]) == spots[0]


def test_spots_lie_on_the_arrow():
    spots = along((0, 0), (10, 20), (0.5, 0.1), ["top right", "bottom left"])
    assert spots[0] == Spot((5, 10), "top right") and spots[3] == Spot((1, 2), "bottom left")


@pytest.mark.parametrize("orientation", ["down", "right"])
def test_texts_do_not_depend_on_how_often_they_are_placed(orientation):
    scene = compose(run(library.load("overlapping")))
    assert figure(scene, orientation) == figure(scene, orientation)
    assert Canvas(scene, orientation).traces == []


def test_a_body_that_repeats_the_senders_letter_is_not_written_again():
    texts = texts_of(compose(run(library.load("token_lost"))), "down")
    assert texts.count("B") == 0 and sum(text.strip() == "B" for text in texts) == 1


def test_what_is_held_is_told_from_what_waits_behind_it():
    held = apply_edit(run(library.load("lecture")), {"do": "hold", "message": {"label": "H"}}, 0.0)
    texts = texts_of(compose(held), "down", "markers+text")
    assert sorted(texts) == ["<b>held</b>", "<b>waits behind it</b>"]


def box_of(text):
    width = lettering.width_of(text.letters, text.size)
    left = text.at[0] - {"start": 0.0, "middle": width / 2, "end": width}[text.anchor]
    return Box(left, text.at[1] - 0.75 * text.size, left + width, text.at[1])


def distance(box, at):
    return math.hypot(max(box.left - at[0], 0, at[0] - box.right), max(box.top - at[1], 0, at[1] - box.bottom))


def places_of(drawing, things):
    """Where dots or diamonds lie in a drawing."""
    lanes = [(thing.lane, thing.position) for thing in things]
    return [drawing.frame.pixel(*(place if drawing.down else place[::-1])) for place in lanes]


TIGHT = {("unaligned", "down"), ("back_pressure", "down"), ("standstill", "down")}  # drawn to the right there is room


@pytest.mark.slow
@each_once("all scenarios, drawn in the other direction", small, orientation=ORIENTATIONS)
def test_no_label_sits_at_another_event_or_on_another_label(name, orientation):
    scene = scene_of(name)
    drawing = Drawing(scene, orientation, Sheet(700, 500))
    named = [dot for dot in scene.dots if dot.named]
    signs = places_of(drawing, scene.dots) + places_of(drawing, [r for row in scene.recordings.values() for r in row])
    for step in (scene.last // 2, scene.last):
        picture = drawing.at(step)
        texts = [part for part in (*picture.inside, *picture.around) if isinstance(part, Text)]
        boxes = [box_of(text) for text in texts]
        assert [(a, b) for a, b in combinations(range(len(texts)), 2) if boxes[a].meets(boxes[b])] == []
        assert [
            text.letters for text, box in zip(texts, boxes, strict=True) for at in signs if distance(box, at) < 5
        ] == []
        for dot, own in zip(named, places_of(drawing, named), strict=True):
            ((text, box),) = [(t, b) for t, b in zip(texts, boxes, strict=True) if is_name(t, b, dot, own)]
            nearest = min(signs, key=lambda at: distance(box, at))
            assert nearest == own or (name, orientation) in TIGHT, (step, text.letters)


def is_name(text, box, dot, own):
    """Whether a text is the name of an event: other events may have the same, but not within reach."""
    return text.letters == dot.label and distance(box, own) < 40


LONG = [
    "Sending SLDeliver(DataMessage(1,Message1)) to node1",
    "RBDeliver of message DataMessage(1,Message1) from node0",
]


@pytest.mark.parametrize("orientation", ["down", "right"])
def test_long_names_of_events_are_cut_to_their_room_and_whole_in_the_hover_text(orientation):
    lines = "".join(
        f'[[script]]\nprocess = "P{1 + at % 3}"\nat = {at}\nlabel = "{LONG[at % 2]} ({at})"\n' for at in range(1, 37)
    )
    scene = compose(run(parse_toml(f"processes = 3\n{lines}", "log")))
    picture = Drawing(scene, orientation, Sheet(690, 450)).at(scene.last)
    texts = [part for part in (*picture.inside, *picture.around) if isinstance(part, Text)]
    names = [text for text in texts if text.letters.endswith("…")]
    assert len(names) > 12
    assert [(a, b) for a, b in combinations(map(box_of, names), 2) if a.meets(b)] == []
    assert all(box_of(text).left >= 0 and box_of(text).right <= 690 for text in names)
    hover = {text for trace in figure(scene, orientation)["data"] for text in trace.get("text", []) if text}
    assert all(any(text.startswith(f"{LONG[at % 2]} ({at}):") for text in hover) for at in range(1, 37))
