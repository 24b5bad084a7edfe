"""What the diagram shows of a recovery: the line gone back to, what is abandoned, put back and fenced off."""

from __future__ import annotations

from typing import Any

import pytest

from diagrams.browser.payload import payload
from diagrams.drawing.diagram import Drawing
from diagrams.figure.spacetime import figure
from diagrams.panels.legend import signs
from diagrams.panels.record.meters import meters_of
from diagrams.scene.arrangement import Arrangement
from diagrams.scene.composition import Scene, compose
from diagrams.scene.view import View
from diagrams.shapes.primitives import Text
from diagrams.still.sequence import Note, Passage, sequence
from sim.core.model import COMMITTED, OUTPUT, RECOVERY, RESTORE
from sim.document import library
from sim.document.files import parse_toml
from sim.run.execution import run
from tests.cases import each
from tests.diagrams.tools import exported, scene, texts_of
from tests.sim.run.test_rollbacks import BACK_TO_THE_FIRST, OVERTAKEN

BEGINS, LAST = 12, 16  # the steps of the recovery and of the end of the run
WAYS = pytest.mark.parametrize("way", ["down", "right"])


@pytest.fixture(scope="module")
def own() -> Scene:
    return scene("recovery")


def drawn(own: Scene, step: int, way: str = "down") -> set[str]:
    """The signs of all that is seen after a step."""
    picture = Drawing(own, way).at(step)
    return {part.sign for part in (*picture.inside, *picture.around)}


def arrow(own: Scene, name: str, *, again: bool = False) -> Any:
    return next(one for one in (own.again if again else own.arrows) if one.name == name)


def test_what_came_after_the_line_is_gone_from_the_step_of_the_recovery_on(own: Scene) -> None:
    assert {dot.label: dot.gone for dot in own.dots} == {
        "a": None, "P2.1": BEGINS, "b": BEGINS, "P1.2": BEGINS, "c": BEGINS, "P2.3": None,
    }  # fmt: skip
    assert {one.name: one.gone for one in own.arrows if one.kind == "app"} == {"30": BEGINS, "20": BEGINS, "50": BEGINS}
    assert all(one.gone is None for one in own.arrows if one.kind != "app")


def test_the_line_goes_through_the_recordings_of_the_snapshot(own: Scene) -> None:
    (line,) = own.back_to
    assert (line.step, line.snapshot) == (BEGINS, "S1")
    assert line.positions == tuple(one.position for one in sorted(own.recordings["S1"], key=lambda one: one.lane))


@WAYS
def test_what_is_seen_before_the_recovery_and_from_it_on(own: Scene, way: str) -> None:
    of_recoveries = {
        "line gone back to", "abandoned event", "abandoned message", "recovery", "restored process", "message put back",
        "fenced off",
    }  # fmt: skip
    assert not drawn(own, BEGINS - 1, way) & of_recoveries
    at_once = {"line gone back to", "abandoned event", "abandoned message", "recovery"}
    assert drawn(own, BEGINS, way) & of_recoveries == at_once
    assert drawn(own, 13, way) & of_recoveries == at_once | {"restored process"}
    assert drawn(own, LAST, way) & of_recoveries == of_recoveries
    assert "valid snapshot" in drawn(own, LAST, way)


def test_what_is_put_back_is_an_arrow_from_the_line_of_its_sender_at_the_restore(own: Scene) -> None:
    (again,) = own.again
    assert again.is_again and (again.id, again.source, again.target) == (0, 0, 1)
    assert (again.sent, again.received, again.gone) == (14, 15, None)
    restored = next(one for one in own.moments if one.kind == RESTORE and one.lane == 1)
    assert again.start == restored.position < again.end
    assert not again.kept and arrow(own, "30").kept == {"S1": 5}  # S1 has recorded it as it went first


def test_what_is_fenced_off_comes_to_its_receiver_and_is_not_received(own: Scene) -> None:
    fifty = arrow(own, "50")
    assert fifty.is_fenced and fifty.received == LAST and fifty.lost is None
    told = next(one for one in payload(own)["messages"] if one["name"] == "50")
    assert told["received"] is None and told["fenced"] and told["lost"] == LAST


def test_a_process_that_is_down_is_up_when_it_is_restored(own: Scene) -> None:
    (down,) = own.intervals
    assert (down.lane, down.step, down.until) == (1, 11, 14)


def test_the_signs_on_the_lines_and_their_names(own: Scene) -> None:
    told = [(one.kind, own.lanes[one.lane], one.name) for one in own.moments]
    assert told == [
        (COMMITTED, "storage", "S1 valid"), (RECOVERY, "storage", "back to S1"), (RESTORE, "P1", ""),
        (RESTORE, "P2", ""),
    ]  # fmt: skip
    hidden = own.arranged(Arrangement(hidden=("storage",)))
    assert not {"S1 valid", "back to S1"} & set(labels(figure(hidden, "down")))
    assert {"\u00a0S1 valid", "\u00a0back to S1"} <= set(labels(figure(own, "down")))


def labels(drawn: dict[str, Any]) -> list[str]:
    return [text for trace in drawn["data"] if "text" in trace["mode"] for text in trace["text"]]


@WAYS
@each("name", ["recovery", "crash_during_recovery", "crash_during_commit", "recovery_of_one"])
def test_no_text_lies_on_another(name: str, way: str) -> None:
    run_of = scene(name)
    for step in (run_of.last // 2, run_of.last):
        texts = [(text, box) for text, box in texts_of(Drawing(run_of, way).at(step)) if text.letters.strip()]
        for number, (text, box) in enumerate(texts):
            for other, beside in texts[number + 1 :]:
                assert not box.wider(-1.5).meets(beside.wider(-1.5)), (text.letters, other.letters)


def test_the_names_of_what_is_gone_are_faded(own: Scene) -> None:
    picture = Drawing(own, "down").at(LAST)
    colours = {part.letters.strip(): part.colour for part in picture.around if isinstance(part, Text)}
    assert colours["b"] == colours["c"] == colours["50"] == colours["20"] == "@ink/0.65"
    assert colours["a"] == "@ink"


def test_a_snapshot_that_is_thrown_away_leaves_no_line_and_no_rings() -> None:
    own = compose(run(parse_toml(BACK_TO_THE_FIRST, "test")))
    assert {cut.name: cut.known is not None for cut in own.cuts} == {"S1": True, "S2": False, "S3": True}
    rings = {dot.label: set(dot.recorded) for dot in own.dots}
    assert rings["P1.2"] == set() and rings["a"] == {"S1", "S3"} and rings["c"] == {"S3"}
    gone = {name: {one.gone for one in recordings} for name, recordings in own.recordings.items()}
    assert gone == {"S1": {None}, "S2": {own.back_to[0].step}, "S3": {None}}


def test_the_copies_of_a_life_that_is_over_are_in_no_cut() -> None:
    (snapshot,) = payload(scene("domino_recovery"))["snapshots"]
    assert snapshot["truth"]["inside"] == {"P1": None, "P2": None}
    assert {name: len(inside) for name, inside in snapshot["truth"]["over"].items()} == {"P1": 4, "P2": 3}


def test_the_page_knows_which_events_are_gone_and_why(own: Scene) -> None:
    gone = payload(own)["events"]["gone"]
    assert sorted(gone) == [1, 2, 3, 4] and {step for step, _ in gone.values()} == {BEGINS}
    assert gone[2][1].startswith("b is abandoned. P2 goes back (step 14) to its part of S1 (recorded in step 2)")


def test_the_page_tells_what_becomes_of_a_message(own: Scene) -> None:
    told = {message["name"]: message for message in payload(own)["messages"] if message["kind"] == "app"}
    (again,) = told["30"]["again"]
    assert (again["put_back"], again["received"]) == (14, 15)
    assert [step for step, _ in told["30"]["recovery"]] == [14] and [s for s, _ in told["50"]["recovery"]] == [12, 16]


@each(("name", "total"), [
    ("recovery", 1000), ("recovery_without_channels", 970), ("recovery_without_fence", 1050), ("recovery_of_one", 1020),
    ("recovery_tutorial", 990), ("crash_during_recovery", 1000),
])  # fmt: skip
def test_the_meter_ends_at_the_total_of_oracle_13(name: str, total: int) -> None:
    (meter,) = meters_of(run(library.load(name)))
    assert meter["processes"][-1][1] + meter["channels"][-1][1] == total


@each(("name", "first"), [("recovery", 14), ("crash_during_recovery", 20), ("overtaken", 10)])
def test_the_meter_adds_up_from_the_last_restore_on_whatever_is_still_to_be_fenced_off(name: str, first: int) -> None:
    execution = run(parse_toml(OVERTAKEN, name) if name == "overtaken" else library.load(name))
    last = max(event.step for event in execution.events if event.kind == RESTORE)
    (meter,) = meters_of(execution)
    sums = {
        inside[0]: inside[1] + between[1]
        for inside, between in zip(meter["processes"], meter["channels"], strict=True)
        if inside[0] >= last
    }
    assert last == first and set(sums.values()) == {1000}


def test_what_is_put_back_begins_beside_the_sign_of_a_process_that_is_restored_at_that_time(own: Scene) -> None:
    restored = next(one for one in own.moments if one.kind == RESTORE and one.lane == 0)
    low, high = own.extent
    assert own.again[0].start - restored.position >= 0.03 * (high - low)


def test_each_sign_is_in_the_legend(own: Scene) -> None:
    wanted = {"valid", "recovery", "restored", "back-to", "abandoned", "put-back", "fenced"}
    assert wanted <= {sign["key"] for sign in signs(own)} and "output" not in {sign["key"] for sign in signs(own)}
    assert not wanted & {sign["key"] for sign in signs(scene("lecture"))}
    assert "dropped" not in {sign["key"] for sign in signs(own)}, "what is fenced off is not lost on its way"


def test_somebody_who_predicts_is_not_told_where_the_line_is(own: Scene) -> None:
    for trace in payload(own)["questions"]["down"]["data"]:
        sign = trace.get("meta", {}).get("sign", "")
        assert not sign.startswith(("abandoned", "line gone", "message put back", "fenced", "restored", "recovery"))


def test_what_a_sink_gives_in_one_step_has_one_sign() -> None:
    outputs = [one for one in scene("exactly_once").moments if one.kind == OUTPUT]
    assert [one.name for one in outputs] == ["a #1", "3 outputs"]
    assert "output" in drawn(scene("exactly_once"), scene("exactly_once").last)
    assert "output" in {sign["key"] for sign in signs(scene("exactly_once"))}


def test_a_sequence_diagram_of_a_recovery(own: Scene) -> None:
    told = [item.text for item in sequence(own, View.of(own)) if isinstance(item, Note | Passage)]
    assert told[-5:] == [
        "The system is rolled back to S1. Epoch 1 begins (step 12)",
        "goes back to its part of S1: state 770 (step 13)",
        "goes back to its part of S1: state 200, 30 is put back into C12 (step 14)",
        "30 (put back at step 14)",
        "50 (fenced off)",
    ]


def test_tables_are_of_the_whole_run_with_indices_that_go_on() -> None:
    lines = exported("recovery", "csv").decode().splitlines()
    own = [line.split(",") for line in lines[1:]]
    column = lines[0].split(",").index("index")
    kind, process = lines[0].split(",").index("kind"), lines[0].split(",").index("process")
    received = [row[column] for row in own if (row[process], row[kind]) == ("P2", "receive")]
    assert received == ["1", "3"]
    log = exported("recovery", "shiviz").decode()
    assert "P2.3: receive" in log and "P2.1" not in log, "a log with vector clocks has what is left"


def test_a_caption_tells_of_the_recovery(own: Scene) -> None:
    told = exported("recovery", "caption").decode()
    assert told.strip().endswith("Step 12: The system is rolled back to S1. Epoch 1 begins. Faded parts are abandoned.")
    assert OUTPUT not in {one.kind for one in own.moments}
