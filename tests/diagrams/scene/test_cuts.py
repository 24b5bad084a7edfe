"""Cuts for the page and in pictures: their number, the goods at them, and the cut that the user has chosen."""

from __future__ import annotations

from itertools import product

import pytest

from diagrams.browser.payload import payload
from diagrams.figure.spacetime import figure
from diagrams.panels.record.meters import conserved
from diagrams.scene.arrangement import Arrangement
from diagrams.scene.composition import compose
from diagrams.scene.cut_space import cut_counts
from diagrams.scene.frontiers import frontier_in
from diagrams.shapes import theme
from sim.core.errors import InputError
from sim.document import library
from sim.document.files import parse_toml
from sim.run.cut_states import states_at_cuts
from sim.run.execution import run
from tests.cases import each
from tests.diagrams.tools import exported, scene

GOOD, BAD = theme.verdict_colour(True), theme.verdict_colour(False)


def arrows_under(traces: list[dict], colour: str) -> int:
    """How many arrows lie on a stroke of a colour."""
    return sum(len(trace["x"]) // 3 for trace in traces if trace.get("line", {}).get("color") == colour)


def test_the_lecture_example_has_96_cuts_and_31_of_them_are_consistent():
    assert cut_counts(scene("lecture").whole_run.cut_space) == {
        "frontiers": "96",
        "consistent": "31",
        "is_all": True,
    }
    assert payload(scene("lecture"), ())["cut_counts"]["consistent"] == "31"


def test_where_there_are_too_many_cuts_as_many_are_told_as_were_counted(monkeypatch):
    monkeypatch.setattr("diagrams.scene.cut_space.MOST_COMPARED", 20)
    told = cut_counts(compose(run(library.load("lecture"))).whole_run.cut_space)
    assert told["frontiers"] == "96" and 0 < int(told["consistent"]) < 31 and not told["is_all"]


def test_a_big_run_says_how_many_cuts_there_are_at_once():
    told = cut_counts(scene("hundred").whole_run.cut_space)
    assert told == {"frontiers": "about 10⁸³", "consistent": None, "is_all": False}


def test_what_is_conserved_is_found_in_processes_and_channels_at_every_cut():
    execution = run(library.load("two_banks"))
    (money,) = conserved(execution)
    assert (money["unit"], money["total"]) == ("money", 800)
    for cut in product(*(range(len(own) + 1) for own in execution.history.of.values())):
        inside = dict(zip(execution.history.processes, cut, strict=True))
        processes, channels = states_at_cuts(execution).amounts(cut)
        assert sum(own[count] for own, count in zip(money["processes"], cut, strict=True)) == processes["money"]
        between = [message for own in execution.history.in_channels(inside).values() for message in own]
        assert sum(money["messages"][message] for message in between) == channels["money"]
        if execution.history.is_consistent(inside):
            assert processes["money"] + channels["money"] == 800


def test_where_nothing_is_conserved_nothing_is_said():
    assert conserved(run(library.load("lecture"))) == []


def test_the_cuts_of_the_story_are_told_with_their_frontiers():
    told = [(cut["frontier"], cut["consistent"], cut["witness"]) for cut in payload(scene("lecture"), ())["cuts"]]
    assert told == [
        ((2, 1, 1), True, None),
        ((4, 2, 2), False, "the message H->D is received inside the cut, but sent outside it"),
    ]


# ------------------------------------------------------------------ in pictures


def test_what_a_recovery_has_not_let_be_sent_speaks_against_a_cut():
    """P1 has taken the sending of 50 back, and nothing fences it off: P2 receives it."""
    whole = scene("recovery_without_fence").cut_at((1, 2))
    history = whole.execution.history
    assert not whole.shown_cut.consistent and history.unsent >= whole.shown_cut.offending
    assert [history.is_consistent({"P1": 1, "P2": inside}) for inside in (1, 2)] == [True, False]
    assert arrows_under(figure(whole, "down")["data"], "@bad/0.6") == 1
    assert scene("recovery_without_fence").cut_at((1, 1)).shown_cut.consistent


@pytest.mark.parametrize("orientation", ["down", "right"])
def test_a_drawn_cut_shows_its_past_its_verdict_and_the_messages_that_cross_it(orientation):
    traces = figure(scene("lecture").cut_at((4, 2, 2)), orientation)["data"]
    assert [trace["fillcolor"].split("/")[0] for trace in traces if "fill" in trace] == [BAD]
    assert arrows_under(traces, "@bad/0.6") == 1
    assert arrows_under(traces, "@band") == 0
    consistent = figure(scene("lecture").cut_at((2, 3, 1)), orientation)["data"]
    assert [trace["fillcolor"].split("/")[0] for trace in consistent if "fill" in trace] == [GOOD]
    assert arrows_under(consistent, "@bad/0.6") == 0
    assert arrows_under(consistent, "@band") == 1


def test_a_snapshot_gives_way_to_a_cut_that_is_drawn_and_on_the_page_to_one_that_is_held():
    own = [trace for trace in figure(scene("lecture"), "down")["data"] if trace.get("meta", {}).get("unless_cut")]
    looks = [trace.get("fillcolor") or trace.get("line", {}).get("color") or trace["text"][0] for trace in own]
    assert looks == ["@s0/0.13", "@line/0.09", "<i>past</i>", "@band", "@s0", "<b>in C21</b>\u00a0"]
    drawn = figure(scene("lecture").cut_at((2, 3, 1)), "down")["data"]
    assert not any(trace.get("meta", {}).get("unless_cut") for trace in drawn)


def test_the_body_of_a_recorded_message_stays_when_the_name_of_its_channel_gives_way():
    traces = figure(scene("two_banks"), "right")["data"]
    alone = [trace for trace in traces if trace.get("meta", {}).get("when_cut")]
    assert [trace["text"] for trace in alone] == [["80\u00a0"]] and alone[0]["visible"] is False
    drawn = figure(scene("two_banks").cut_at((1, 1)), "right")["data"]
    texts = [str(text) for trace in drawn if "visible" not in trace for text in trace.get("text", [])]
    assert "80" in [text.strip("\u00a0") for text in texts] and not any("in C21" in text for text in texts)


def test_a_drawn_cut_lies_between_the_events_that_it_divides():
    lecture = scene("lecture")
    place = lecture.whole_run.position
    for cut in product(range(6), range(4), range(4)):
        shown = lecture.cut_at(cut).shown_cut
        for own, inside, point in zip(lecture.execution.history.of.values(), cut, shown.positions, strict=True):
            assert all(place(event) < point for event in own[:inside])
            assert all(place(event) > point for event in own[inside:])
            assert lecture.extent[0] < point < lecture.extent[1]


def test_a_drawn_cut_follows_the_lanes_on_show():
    shown = scene("lecture").arranged(Arrangement(order=("P3", "P1", "P2"), hidden=("P1",))).cut_at((4, 2, 3))
    whole = scene("lecture").cut_at((4, 2, 3)).shown_cut.positions
    lines = [trace for trace in figure(shown, "down")["data"] if trace.get("line", {}).get("color") in (GOOD, BAD)]
    assert [(lines[0]["x"][end], lines[0]["y"][end]) for end in (0, -1)] == [
        (-0.5, round(whole[2], 4)), (1.5, round(whole[1], 4)),
    ]  # fmt: skip


def test_a_run_without_events_has_one_cut():
    empty = run(parse_toml('processes = ["P1", "P2"]', "empty"))
    assert cut_counts(compose(empty).whole_run.cut_space) == {"frontiers": "1", "consistent": "1", "is_all": True}
    assert compose(empty).cut_at((0, 0)).shown_cut.positions == (0.0, 0.0)


@each(
    ("text", "frontier"),
    [("2.3.1", (2, 3, 1)), ("P1=2,P3=1", (2, 0, 1)), ("P3=3, P2=3,P1=5", (5, 3, 3)), ("0.0.0", (0, 0, 0))],
)
def test_a_cut_is_written_by_numbers_or_by_names(text, frontier):
    assert frontier_in(run(library.load("lecture")), text) == frontier


@each(
    ("text", "complaint"),
    [
        ("P9=1", "--cut 'P9=1': lecture has no process 'P9'; it has P1, P2, P3"),
        ("P1=6", "--cut P1=6: P1 has 5 events; give a number from 0 to 5"),
        ("P1=", "--cut P1=: P1 has 5 events; give a number from 0 to 5"),
        ("2.x.1", "--cut P2=x: P2 has 3 events; give a number from 0 to 3"),
        ("2.3", "--cut '2.3': 2 numbers, but lecture has 3 processes; give one for each, such as 2.3.1, or name "
                "them, such as P1=2,P2=3"),
    ],
)  # fmt: skip
def test_what_is_no_cut_of_the_run_is_refused_in_a_sentence(text, complaint):
    for form in ("svg", "html"):
        with pytest.raises(InputError) as problem:
            exported("lecture", form, cut=text)
        assert str(problem.value) == complaint


@pytest.mark.slow
@each("form", ["svg", "png", "pdf", "tikz"])
def test_every_picture_can_show_a_cut(form):
    cuts = [{}, {"cut": "2.3.1"}, {"cut": "P1=4,P2=2,P3=2"}]
    assert len({exported("lecture", form, **cut) for cut in cuts}) == len(cuts)


@each("past", [True, False])
def test_a_name_of_a_cut_lies_inside_the_plot_or_is_left_out(past):
    """With room on both sides both are there; at an edge only that on the other side."""
    whole = scene("lecture")
    (cut,) = whole.cuts
    at, low, high = cut.positions[-1], *whole.extent
    near = (high - low) * 0.02

    def told(extent):
        return {
            text.strip("<i>/")
            for trace in figure(whole.over(extent), "right")["data"]
            for text in trace.get("text", ())
            if text in ("<i>past</i>", "<i>future</i>")
        }

    assert told((low, high)) == {"past", "future"}
    assert told((at - near, high) if past else (low, at + near)) == {"future" if past else "past"}
