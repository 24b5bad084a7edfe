"""Where texts are put: clear of what they would hide, as far as there is room."""

import pytest

from diagrams.canvas import Canvas
from diagrams.labels import Box, Labels, Spot, along
from diagrams.scene import compose
from diagrams.spacetime import figure
from sim.document import library
from sim.edit.edits import apply_edit
from sim.run.execution import run


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
    assert labels.place("one", 14, spots) == spots[1]
    assert labels.place("two", 14, spots) == spots[2]
    assert labels.place("three", 14, spots) == spots[1], "of bad places the one that hides least"


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
