"""Drawings: which primitives there are at a step, and how texts are made to fit."""

import math

import pytest

from diagrams.drawing.diagram import Drawing
from diagrams.drawing.trace_shapes import seen
from diagrams.figure.spacetime import figure
from diagrams.scene.arrangement import Arrangement
from diagrams.scene.positions import round_times
from diagrams.shapes import lettering, theme
from diagrams.shapes.primitives import Area, Arrows, Line, Text
from sim.document import library
from sim.document.scenario import ORIENTATIONS
from tests.cases import each, each_once
from tests.diagrams.tools import scene


def test_a_message_on_its_way_ends_where_it_is():
    trace = {
        "x": [0, 10, None],
        "y": [0, 20, None],
        "meta": {"stride": 3, "show": [[2, 5]], "grow": [[100.0, 200.0, 0.1]]},
    }
    assert seen(trace, 1, 90.0) == [None, None, None]
    assert seen(trace, 2, 100.0) == [(0, 0), (1, 2), None], "it is long enough for its head"
    assert seen(trace, 3, 150.0) == [(0, 0), (5, 10), None]
    assert seen(trace, 4, 999.0) == [(0, 0), (10, 20), None]
    assert seen(trace, 5, 200.0) == [None, None, None]
    assert seen({**trace, "visible": False}, 3, 150.0) == []


@pytest.mark.parametrize("orientation", ["down", "right"])
def test_the_line_of_now_lies_at_the_step_and_is_gone_at_the_end(orientation):
    drawing = Drawing(scene("lecture"), orientation)
    axis = 1 if orientation == "down" else 0

    def now(step):
        lines = [part for part in drawing.at(step).inside if isinstance(part, Line) and part.dash == (3.0, 4.0)]
        return [point[axis] for line in lines for stroke in line.strokes for point in stroke]

    positions = [now(step) for step in range(1, 19)]
    assert all(start == end for start, end in positions[:-1]) and positions[-1] == []
    assert positions[:-1] == sorted(positions[:-1])


def test_bold_arrows_end_at_the_line_of_now():
    """At step 9 three markers are on their way; H has just been sent."""
    picture = Drawing(scene("lecture"), "down").at(9)
    (now,) = [part for part in picture.inside if isinstance(part, Line) and part.dash == (3.0, 4.0)]
    bold = [part for part in picture.inside if isinstance(part, Arrows) and part.width == 3.2 and part.dash]
    ends = [tip[1] for arrows in bold for _, tip in arrows.ways]
    assert len(ends) == 3 and ends == pytest.approx([now.strokes[0][0][1]] * 3, abs=0.1)


def test_heads_are_never_longer_than_their_arrows():
    for step in range(19):
        for part in Drawing(scene("lecture"), "down").at(step).inside:
            if isinstance(part, Area):
                assert all(len(set(polygon)) >= 3 for polygon in part.polygons)


@pytest.mark.slow
@each("name", ["lecture", "overlapping", "hundred", "nasty", "widgets"])
@each("orientation", ["down", "right"])
def test_lane_names_and_texts_lie_within_the_picture(name, orientation):
    picture = Drawing(scene(name), orientation).at(scene(name).last)
    texts = [part for part in picture.around if isinstance(part, Text)]
    assert texts and all(0 < text.at[0] < picture.width and text.size <= text.at[1] < picture.height for text in texts)
    names = [text.letters for text in texts if text.letters.rstrip("…") and text.size > 8]
    assert any(scene(name).lanes[0].startswith(letters.rstrip("…")) for letters in names)


def test_many_lanes_make_a_larger_picture():
    assert Drawing(scene("hundred"), "right").at(0).height == 640
    wide = scene("hundred").window(0, 10)
    wide.lanes = tuple(f"P{number}" for number in range(1, 401))
    wide.layout = Arrangement().laid_out(wide.lanes, wide.lanes)
    assert Drawing(wide, "down").at(0).width == 2000
    assert Drawing(wide, "right").at(0).height == 2000


def test_texts_are_made_smaller_and_then_shorter_until_they_fit():
    assert lettering.fitted("P1", 18, 100) == ("P1", 18)
    letters, size = lettering.fitted("storefront", 18, 70)
    assert letters == "storefront" and 9 <= size < 18 and lettering.width_of(letters, size) <= 70.0001
    letters, size = lettering.fitted("a very long name of a process", 18, 70)
    assert letters.endswith("…") and size == 9 and lettering.width_of(letters, size) <= 70


def test_a_sentence_is_wrapped_to_its_room_and_loses_no_word():
    sentence = " ".join(f"word{number}" for number in range(40))
    lines = lettering.wrapped(sentence, 18, 400, 20)
    assert " ".join(lines) == sentence and all(lettering.width_of(line, 18) <= 400 for line in lines)
    short = lettering.wrapped(sentence, 18, 400, 3)
    assert len(short) == 3 and short[-1].endswith("…") and short[:2] == lines[:2]
    assert lettering.wrapped("", 18, 400, 3) == []
    assert lettering.wrapped("x" * 200, 18, 400, 3)[0].endswith("…")


def test_times_are_round_and_few():
    assert round_times(-20, 1113) == [0, 200, 400, 600, 800, 1000]
    assert round_times(-0.05, 1.05, whole=True) == [0, 1] and round_times(0, 12, whole=True) == [0, 2, 4, 6, 8, 10, 12]
    assert round_times(0.2, 1.2) == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0, 1.2])
    for high in (0.003, 1, 7, 99, 12345.6):
        assert 3 <= len(round_times(0, high)) <= 9


@pytest.mark.slow
@each_once("all scenarios, drawn in the other direction", library.names, orientation=ORIENTATIONS)
def test_a_message_just_sent_points_the_right_way(name, orientation):
    """Its head lies on its way, clear of the event that sends it: no stub on the wrong side of a process line."""
    drawing = Drawing(scene(name), orientation)
    for trace in drawing.traces:
        if not {"grow", "messages"} <= set(trace.get("meta", {})):
            continue
        for sent, received, least in trace["meta"]["grow"]:
            assert 0 < least <= 1 and sent <= received
        stride = trace["meta"]["stride"]
        for element, (step, _) in enumerate(trace["meta"]["show"]):
            first = element * stride
            here, there = seen(trace, step, scene(name).positions[step])[first : first + 2]
            if trace["meta"]["grow"][element][2] < 1:
                way = math.dist(drawing.frame.pixel(*here), drawing.frame.pixel(*there))
                assert way >= trace["marker"]["size"][1] + 6, "the head is as long as the way behind it"


def test_what_belongs_to_a_snapshot_says_so():
    """All that the browser dims while another snapshot is chosen; application messages belong to none."""
    own = [trace for trace in figure(scene("overlapping"), "right")["data"] if "snapshots" in trace.get("meta", {})]
    found = {snapshot: [trace for trace in own if snapshot in trace["meta"]["snapshots"]] for snapshot in ("S1", "S2")}
    for rank, traces in enumerate(found.values()):
        colour, dash = theme.snapshot_colour(rank), theme.snapshot_dash(rank)
        markers = [trace["marker"] for trace in traces if trace.get("mode") == "markers"]
        assert {marker["symbol"] for marker in markers} == {theme.RING_SYMBOLS[rank], theme.RECORD_SYMBOLS[rank]}
        assert {marker["color"] for marker in markers} == {colour}
        lines = [trace["line"] for trace in traces if "line" in trace]
        assert {(line["color"], line.get("dash")) for line in lines} >= {(colour, dash), ("@band", None)}
        assert {line["dash"] for line in lines if "dash" in line} == {dash}
        assert [trace["fillcolor"].split("/")[0] for trace in traces if "fill" in trace] == [colour]
        texts = [text for trace in traces if trace.get("mode") == "text" for text in trace["text"]]
        name = f"S{rank + 1}"
        assert texts and all(name in text for text in texts)
