"""The signs of what a coordinator decides, on its lane: where, when, of which shape, and with which words."""

from __future__ import annotations

import json
import math
from itertools import combinations
from typing import Any

import pytest

from diagrams.browser.payload import payload
from diagrams.drawing.diagram import Drawing
from diagrams.drawing.sheet import SCREEN_WIDTH, Sheet
from diagrams.figure.spacetime import figure
from diagrams.panels.legend import signs
from diagrams.panels.predict.question import QuestionScene, question
from diagrams.scene.arrangement import Arrangement
from diagrams.scene.composition import Scene, compose
from diagrams.shapes import theme
from diagrams.shapes.marks import marks
from diagrams.shapes.primitives import SIGN_WORDS, Area, Text
from sim.document.files import parse_toml
from sim.document.scenario import ORIENTATIONS
from sim.run.execution import run
from sim.services.words import OUTCOMES
from tests.cases import each
from tests.diagrams.export.test_html import data_in
from tests.diagrams.tools import exported, scene, texts_of

EXPIRED, FAILED, COMPLETE = (f"{outcome} snapshot" for outcome in ("expired", "failed", "complete"))

LEAST_APART = 0.02  # of a plot: how far the signs of one step lie from each other

# Three snapshots under way when a process leaves: three decisions in one step.
THREE_AT_ONCE = """
processes = ["P1", "P2", "P3"]
delay = { value = 6 }
coordinator = { most_concurrent = 3 }
snapshots = [
    { id = "S1", process = "P1", at = 1 },
    { id = "S2", process = "P1", at = 1.5 },
    { id = "S3", process = "P1", at = 2 },
]
faults = [{ kind = "leave", process = "P3", at = 5 }]
"""


def three_at_once() -> Scene:
    return compose(run(parse_toml(THREE_AT_ONCE, "three")))


def of_signs(drawn: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The traces of decisions by their sign."""
    traces = ((trace.get("meta", {}).get("sign"), trace) for trace in drawn["data"])
    return {sign: trace for sign, trace in traces if sign in (EXPIRED, FAILED, COMPLETE)}


def words(drawn: dict[str, Any]) -> list[str]:
    return [text for trace in drawn["data"] if trace.get("mode") == "text" for text in trace["text"]]


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_each_decision_has_a_sign_on_the_lane_at_its_place_from_its_step_on(orientation: str) -> None:
    own = scene("expired_and_retried")
    drawn = of_signs(figure(own, orientation))
    assert set(drawn) == {EXPIRED, COMPLETE}
    along, across = ("y", "x") if orientation == "down" else ("x", "y")
    for sign, step, snapshot in ((EXPIRED, 8, "S1"), (COMPLETE, 21, "S2")):
        trace = drawn[sign]
        assert trace[across] == [own.lanes.index("coordinator")]
        assert trace[along] == [pytest.approx(own.positions[step], abs=1e-3)]
        assert trace["meta"]["show"] == [[step, None]], "stepping back before the decision hides it"
        assert trace["meta"]["snapshots"] == [snapshot]
        assert trace["marker"]["color"] == theme.snapshot_colour(own.rank_of(snapshot))


def test_its_hover_text_has_the_reason() -> None:
    (told,) = of_signs(figure(scene("expired_and_retried"), "down"))[EXPIRED]["text"]
    assert told == "The coordinator decides: S1 has expired: no word from P1 and P2 within 10 (step 8)"
    (told,) = of_signs(figure(scene("joins"), "down"))[FAILED]["text"]
    assert told == "The coordinator decides: S1 has failed: membership changed (P3 joined) (step 8)"


def test_the_shape_alone_tells_each_outcome_from_the_others() -> None:
    assert set(theme.OUTCOME_SYMBOLS) == set(OUTCOMES)
    assert {f"{outcome} snapshot" for outcome in OUTCOMES} <= SIGN_WORDS
    drawn = {}
    for outcome, symbol in theme.OUTCOME_SYMBOLS.items():
        (shape,) = marks({"symbol": symbol, "size": 2.0, "color": "@ink"}, [(0.0, 0.0)], 1.0)
        assert isinstance(shape, Area)
        drawn[outcome] = shape.polygons
    assert all(drawn[one] != drawn[other] for one, other in combinations(drawn, 2))
    assert not set(theme.OUTCOME_SYMBOLS.values()) & set(theme.RECORD_SYMBOLS)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_a_word_is_beside_each_and_comes_and_goes_with_it(orientation: str) -> None:
    drawing = Drawing(scene("expired_and_retried"), orientation)

    def told(step: int) -> set[str]:
        return {part.letters for part in drawing.at(step).around if isinstance(part, Text)}

    assert not {"S1 expired", "S2 complete"} & told(7)
    assert "S1 expired" in told(8) and "S2 complete" not in told(20)
    assert {"S1 expired", "S2 complete"} <= told(21)


@each("sheet", [Sheet(), Sheet(320.0, None, 0.5)])
@each("orientation", ORIENTATIONS)
def test_several_at_once_lie_apart_and_no_text_lies_on_another(orientation: str, sheet: Sheet) -> None:
    own = three_at_once()
    assert [(one.snapshot, one.outcome) for one in own.decisions[:3]] == [
        ("S1", "failed"),
        ("S2", "failed"),
        ("S3", "failed"),
    ]
    assert len({one.step for one in own.decisions[:3]}) == 1
    drawing = Drawing(own, orientation, sheet)
    picture, plot = drawing.at(own.last), drawing.frame.plot
    middles = [polygon_middle(part) for part in picture.inside if isinstance(part, Area) and part.sign == FAILED]
    least = LEAST_APART * (plot.height if orientation == "down" else plot.width)
    assert len(middles) == 3 and all(math.dist(*two) > least for two in combinations(middles, 2)), middles
    texts = texts_of(picture)
    over = [{a.letters, b.letters} for (a, box), (b, other) in combinations(texts, 2) if box.meets(other)]
    assert over == []
    told = {text.letters for text, _ in texts}
    assert all({name, f"{name} failed"} & told for name in ("S1", "S2", "S3")) or sheet.width < SCREEN_WIDTH


def polygon_middle(part: Area) -> tuple[float, float]:
    xs, ys = zip(*part.polygons[0], strict=True)
    return sum(xs) / len(xs), sum(ys) / len(ys)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_nothing_is_drawn_on_a_hidden_lane_and_no_word_on_a_folded_one(orientation: str) -> None:
    own = scene("expired_and_retried")
    hidden = figure(own.arranged(Arrangement(hidden=("coordinator",))), orientation)
    assert of_signs(hidden) == {}
    assert not {"S1 expired", "S2 complete", "S1", "S2"} & {word.strip() for word in words(hidden)}
    folded = figure(own.arranged(Arrangement(folded=("coordinator",))), orientation)
    assert set(of_signs(folded)) == {EXPIRED, COMPLETE}
    assert not {"S1 expired", "S2 complete"} & {word.strip() for word in words(folded)}
    other = figure(own.arranged(Arrangement(hidden=("P1",))), orientation)
    assert of_signs(other)[EXPIRED]["x" if orientation == "down" else "y"] == [1]


def test_the_legend_explains_those_that_the_run_has() -> None:
    def keys(name: str) -> set[str]:
        return {sign["key"] for sign in signs(scene(name))} & {"complete", "expired", "failed"}

    assert keys("expired_and_retried") == {"complete", "expired"}
    assert keys("joins") == {"complete", "failed"}
    assert keys("lecture") == set()
    assert b"expired snapshot (S1)" in exported("expired_and_retried", "svg", legend=True)


def test_who_predicts_is_not_told() -> None:
    own = scene("expired_and_retried")
    assert QuestionScene(own).decisions == (), "no text makes room for it"
    for orientation in ORIENTATIONS:
        assert of_signs(question(own, orientation)) == {}
        (page,) = payload(own, (orientation,), proofs=("S2",))["proofs"].values()
        assert "expired snapshot" not in str(page)


def test_a_window_has_those_of_its_steps() -> None:
    own = scene("expired_and_retried").window(10, 24)
    assert [one.name for one in own.decisions] == ["S2 complete"]


@pytest.mark.slow
@each("form", ["svg", "png", "pdf", "tikz", "pptx", "html", "gif"])
def test_every_picture_has_them(form: str) -> None:
    own = scene("expired_and_retried")
    picture = exported("expired_and_retried", form, **({"steps": (9, 9)} if form == "gif" else {"step": own.last}))
    assert picture
    if form in ("svg", "tikz"):
        assert b"S1 expired" in picture and b"S2 complete" in picture
    if form == "tikz":
        assert b"look/expired snapshot" in picture and b"(S1-expired)" in picture
    if form == "html":
        assert '"hourglass"' in json.dumps(data_in(picture.decode()))


@each("name", ["expired_and_retried", "joins", "held_too_many", "two_outcomes"])
def test_the_record_ends_a_snapshot_in_the_step_of_its_sign(name: str) -> None:
    own = scene(name)
    ended = {row["id"]: (row["completed"] or row["aborted"], row["ending"]) for row in payload(own, ())["snapshots"]}
    for one in own.decisions:
        assert ended[one.snapshot] == (one.step, None if one.outcome == "complete" else one.outcome)


def test_a_caption_says_how_a_snapshot_ended() -> None:
    assert b"Snapshot S1 has expired." in exported("expired_and_retried", "caption")
    assert b"Snapshot S1 has failed." in exported("joins", "caption")
