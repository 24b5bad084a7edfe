"""Hidden, folded and moved processes: what a diagram still draws of them, and what it leaves as it was."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagrams.browser.payload import payload
from diagrams.export import exporter, formats
from diagrams.figure.spacetime import figure
from diagrams.scene.arranged import Arranged
from diagrams.scene.arrangement import Arrangement
from diagrams.scene.composition import Scene, compose
from diagrams.scene.view import View
from sim.core.model import INTERNAL
from sim.document.scenario import ORIENTATIONS
from sim.run.execution import run
from tests.cases import each
from tests.diagrams.tools import scene
from tests.sim.strategies import scenarios

VIEW = {"places", "order", "hidden", "folded"}


@st.composite
def arranged(draw: Any) -> Scene:
    """The scene of a random run, with random processes hidden and folded, in a random order."""
    whole = compose(run(draw(scenarios())))
    some = st.lists(st.sampled_from([*whole.lanes, "Nobody"]), unique=True)
    order = draw(st.permutations(whole.lanes))
    return whole.arranged(
        Arrangement(tuple(order[: draw(st.integers(0, len(order)))]), *map(tuple, (draw(some), draw(some))))
    )


@given(arranged())
def test_nothing_of_a_hidden_process_is_drawn_and_everything_of_the_others_is(whole: Scene) -> None:
    drawn = Arranged(whole)
    assert set(drawn.lanes) == set(whole.lanes) - set(whole.arrangement.hidden) or len(drawn.lanes) == len(whole.lanes)
    assert any(name in drawn.lanes for name in whole.processes)
    folded = {whole.lanes[lane] for lane in whole.layout.folded}
    wanted = [
        (whole.lanes[dot.lane], dot.position, dot.label)
        for dot in whole.dots
        if whole.lanes[dot.lane] in drawn.lanes and not (dot.kind == INTERNAL and whole.lanes[dot.lane] in folded)
    ]
    assert [(drawn.lanes[dot.lane], dot.position, dot.label) for dot in drawn.dots] == wanted
    assert not any(dot.named for dot in drawn.dots if drawn.lanes[dot.lane] in folded)
    for snapshot, recordings in drawn.recordings.items():
        own = [(drawn.lanes[one.lane], one.step) for one in recordings]
        assert own == [
            (whole.lanes[one.lane], one.step)
            for one in whole.recordings[snapshot]
            if whole.lanes[one.lane] in drawn.lanes
        ]


@given(arranged())
def test_an_arrow_keeps_its_ends_and_a_hidden_end_leaves_a_stub(whole: Scene) -> None:
    drawn = {arrow.id: arrow for arrow in Arranged(whole).arrows}
    names = Arranged(whole).lanes
    for arrow in whole.arrows:
        source, target = whole.lanes[arrow.source], whole.lanes[arrow.target]
        now = drawn.pop(arrow.id, None)
        if source not in names and (target not in names or arrow.end is None):
            assert now is None
            continue
        assert now is not None
        assert now.stub == ("target" if target not in names else "source" if source not in names else "")
        assert source not in names or names[now.source] == source
        assert target not in names or names[now.target] == target
        assert (now.start, now.end, now.sender) == (arrow.start, arrow.end, arrow.sender)
    assert not drawn


@given(arranged())
def test_lanes_follow_the_order_and_a_cut_has_a_point_on_each(whole: Scene) -> None:
    drawn, layout = Arranged(whole), whole.layout
    rank = {name: place for place, name in enumerate(whole.arrangement.order)}
    processes = [name for name in drawn.lanes if name in whole.processes]
    asked = [name for name in processes if name in rank]
    assert processes[: len(asked)] == sorted(asked, key=rank.__getitem__)
    assert processes[len(asked) :] == [name for name in whole.processes if name in processes and name not in rank]
    assert list(drawn.lanes[: len(processes)]) == processes, "services lie beyond"
    assert list(layout.places) == sorted(layout.places)
    for cut, before in zip(drawn.cuts, whole.cuts, strict=True):
        assert list(cut.positions) == [before.positions[whole.lanes.index(name)] for name in processes]
    seams = [layout.seam(lane) for lane in layout.ordered]
    assert seams == sorted(seams), "a hidden process lies between its neighbours"


@pytest.mark.slow
@given(arranged())
def test_what_is_said_of_the_run_does_not_change(whole: Scene) -> None:
    with_view, without = payload(whole, ()), payload(whole.arranged(Arrangement()), ())
    assert with_view.pop("arrangement").keys() == without.pop("arrangement").keys() == VIEW
    assert with_view == without
    for orientation in ORIENTATIONS:
        assert (
            figure(whole, orientation)["layout"].keys()
            == figure(whole.arranged(Arrangement()), orientation)["layout"].keys()
        )


def test_the_order_of_the_run_is_no_arrangement() -> None:
    whole = scene("lecture")
    same = whole.arranged(Arrangement(order=whole.lanes, hidden=("Nobody",)))
    assert figure(same, "down") == figure(whole, "down")


def test_a_folded_lane_is_narrower_than_the_others() -> None:
    folded = scene("hundred").arranged(Arrangement(folded=("P1", "P2")))
    first, second, third, fourth = folded.layout.places[:4]
    assert second - first < third - second < fourth - third == 1


@pytest.mark.slow
@each("name", [name for name in formats() if name not in ("gif", "parquet")])
def test_every_format_takes_an_arranged_scene_and_only_diagrams_change(name: str) -> None:
    whole = scene("two_initiators")
    hidden = whole.arranged(Arrangement(hidden=("P2",), folded=("P3",)))
    plain, arranged = (exporter(name).export(own, View.of(own, steps=(0, 2))) for own in (whole, hidden))
    is_diagram = name in ("svg", "png", "pdf", "tikz", "caption", "deck", "pptx", "html")
    assert (plain != arranged) == is_diagram


@pytest.mark.parametrize(("orientation", "axis"), [("down", "xaxis"), ("right", "yaxis")])
def test_the_names_stand_at_the_lanes_on_show_in_their_order(orientation: str, axis: str) -> None:
    moved = scene("lecture").arranged(Arrangement(order=("P3", "P1", "P2"), hidden=("P1",)))
    layout = figure(moved, orientation)["layout"][axis]
    assert (layout["ticktext"], layout["tickvals"]) == (["P3", "P2"], [0.0, 1.0])
