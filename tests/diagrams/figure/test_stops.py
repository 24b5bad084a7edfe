"""Blocked channels and paused processes: stripes, how long they last, their signs, and where nothing is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from diagrams.browser.payload import payload
from diagrams.browser.scripts import EXPLORE
from diagrams.drawing.diagram import Drawing
from diagrams.figure.canvas import Canvas
from diagrams.figure.spacetime import figure
from diagrams.figure.stops import BESIDE, CHANNEL, CRASHED, FILLED, ICED, LOOKS, PROCESS, SEVERED, bars
from diagrams.panels.legend import signs
from diagrams.panels.network.topology import topology
from diagrams.panels.predict.question import question
from diagrams.panels.record.meters import meters_of
from diagrams.scene.arrangement import Arrangement
from diagrams.scene.composition import Scene, compose
from diagrams.shapes import theme
from diagrams.shapes.primitives import Line, Text
from sim.core.delays import DelayRule
from sim.document import library
from sim.document.scenario import SchedulerChoice
from sim.edit.edits import apply_edit
from sim.run.execution import run
from sim.run.stops import freed_at, stops_of
from tests.cases import each
from tests.diagrams.tools import exported, scene
from tests.javascript import IN_BOTH
from tests.sim.conftest import Register, register
from tests.sim.rule_books import StopTheWorld, two
from tests.sim.tools import start, system

__all__ = ["register"]  # a fixture


def of_sign(figure: dict[str, Any], sign: str) -> list[dict[str, Any]]:
    return [trace for trace in figure["data"] if trace.get("meta", {}).get("sign") == sign]


def keys(scene: Scene) -> set[str]:
    return {sign["key"] for sign in signs(scene)} & {"blocked", "paused", "full"}


@pytest.mark.parametrize("orientation", ["down", "right"])
def test_a_blocked_channel_is_drawn_beside_its_receiver_from_its_barrier_to_the_last(orientation: str) -> None:
    own = scene("barriers")
    along, across = ("y", "x") if orientation == "down" else ("x", "y")
    growing, ended = of_sign(figure(own, orientation), CHANNEL)
    lanes = [own.whole_run.lane_of[name] for name in ("c1", "c2")]
    assert growing[across] == [lanes[0] - BESIDE] * 2 + [None] + [lanes[1] - BESIDE] * 2 + [None]
    assert [round(begin) for begin in growing[along][::3]] == [4, 4]
    assert all(7 <= end < 7.5 for end in growing[along][1::3])
    assert growing["meta"]["show"] == [[13, 23], [14, 25]] and ended["meta"]["show"] == [[23, None], [25, None]]
    assert ended["text"][0] == "s1-&gt;c1 is blocked for S1 from 4 to 7, 3 time units"
    assert ended["meta"]["snapshots"] == ["S1"]


@pytest.mark.parametrize("orientation", ["down", "right"])
def test_a_full_channel_is_drawn_beside_its_sender_on_the_side_of_its_receiver(orientation: str) -> None:
    own, across = scene("back_pressure"), "x" if orientation == "down" else "y"
    growing, ended = of_sign(figure(own, orientation), FILLED)
    assert set(growing[across]) == {0 + BESIDE, 1 + BESIDE, None}
    assert ended["text"][0] == "mapper-&gt;sink is full: mapper stands still from 2.5 to 7.5, 5 time units"
    assert (
        "snapshots" not in ended["meta"]
        and ended["line"]["dash"] != of_sign(figure(scene("barriers"), orientation), CHANNEL)[0]["line"]["dash"]
    )
    first = payload(own, ("right",))["stops"][0]
    assert (first["what"], first["since"]) == ("mapper->sink is full: mapper has stood still", 2.5)


def test_the_legend_tells_of_recorded_messages_only_where_there_are_some() -> None:
    told = {name: {sign["key"] for sign in signs(scene(name))} for name in ("barriers", "lecture", "stop_the_world")}
    assert {name for name, own in told.items() if "in-channel" in own} == {"lecture"}


def test_stripes_grow_until_the_channel_is_unblocked() -> None:
    drawing = Drawing(scene("barriers"), "right")

    def lengths(step: int) -> list[float]:
        lines = [part for part in drawing.at(step).inside if isinstance(part, Line) and part.sign == CHANNEL]
        return sorted(stroke[1][0] - stroke[0][0] for line in lines for stroke in line.strokes)

    assert lengths(12) == [] and len(lengths(15)) == 2
    assert sum(lengths(15)) < sum(lengths(19)) < sum(lengths(23)) < sum(lengths(30)) == sum(lengths(25))
    assert lengths(30)[0] == pytest.approx(drawing.point(0, 7)[0] - drawing.point(0, 4)[0], rel=0.05)


def test_how_long_is_told_once_it_is_over() -> None:
    drawing = Drawing(scene("barriers"), "right")
    told = [[part.letters for part in drawing.at(step).inside + drawing.at(step).around if isinstance(part, Text)]
            for step in (22, 30)]  # fmt: skip
    assert [letters.count("blocked for 3") for letters in told] == [0, 2]


def test_how_long_is_written_clear_of_the_process_lines() -> None:
    """Both stripes lie above the line of their receiver: the text is above them, not between them and the line."""
    told = [
        trace for trace in figure(scene("barriers"), "right")["data"] if "blocked for 3" in (trace.get("text") or [])
    ]
    assert [trace["textposition"] for trace in told] == [["top center", "top center"]]


@pytest.mark.slow
@each("form", ["svg", "tikz", "pdf", "png", "html", "pptx"])
def test_every_picture_has_it(form: str) -> None:
    picture = exported("barriers", form)
    assert picture
    if form in ("svg", "tikz"):
        assert b"blocked for 3" in picture
    if form == "tikz":
        assert b"look/blocked channel" in picture


def test_the_sign_is_in_the_legend_of_runs_that_have_it_only(register: Register) -> None:
    assert keys(scene("barriers")) == {"blocked"} and keys(scene("back_pressure")) == {"full"}
    assert all(keys(scene(name)) == set() for name in ("lecture", "lai_yang", "barriers_cycle"))
    assert keys(compose(run(two(register(StopTheWorld))))) == {"paused"}


def test_a_paused_process_has_stripes_on_its_line(register: Register) -> None:
    own = compose(run(two(register(StopTheWorld))))
    first, *_ = stops_of(own.execution)
    assert first.channel is None and first.process == "P1" and first.lasts is not None
    drawn = bars(Canvas(own, "right"))
    assert drawn[0].start[0] == drawn[0].end[0] == 0
    assert drawn[0].interval.text.startswith("P1 stands still for S1 from 2 to ")
    assert drawn[0].interval.lasting == f"stands still for {first.lasts:g}"
    assert len(of_sign(figure(own, "right"), PROCESS)) == 2


def test_what_never_ends_lasts_to_the_end_of_the_run() -> None:
    held = {"do": "hold", "message": {"channel": "s2->c1", "kind": "marker", "snapshot": "S1"}}
    own = compose(apply_edit(run(library.load("barriers")), held, 0))
    interval = next(part for part in own.intervals if part.channel == "s1->c1")
    assert (interval.end, interval.until, interval.lasting) == (None, None, "")
    assert interval.text == "s1->c1 is blocked for S1 from 4 on"
    late = next(arrow for arrow in own.arrows if arrow.kind == "app" and arrow.received is None)
    assert (late.channel, own.why_not_received(late)) == ("s1->c1", "channel blocked")
    bar = next(part for part in bars(Canvas(own, "right")) if part.interval == interval)
    assert bar.end[1] == own.extent[1]


def test_channels_that_are_blocked_at_once_lie_beside_each_other() -> None:
    """a, b and c come before d; b and c are on the same side of the receiver."""
    many = system(
        "a b c e d", "a->e b->e c->e d->e", algorithm="aligned_barriers", delay=DelayRule("fixed", 1.0),
        snapshots=(start("a", 1), start("b", 2), start("c", 3), start("d", 9)),
    )  # fmt: skip
    drawn = bars(Canvas(compose(run(many)), "right"))
    assert len({bar.start[0] for bar in drawn}) == 3 and all(bar.start[0] < 3 for bar in drawn)


def test_hidden_processes_take_their_stripes_along_and_senders_leave_theirs() -> None:
    own = scene("barriers")
    without_receiver = own.arranged(Arrangement(hidden=("c1",)))
    without_sender = own.arranged(Arrangement(hidden=("s1",)))
    assert [len(of_sign(figure(one, "right"), CHANNEL)[0]["x"]) for one in (without_receiver, without_sender)] == [3, 6]


def test_without_time_steps_are_counted() -> None:
    untimed = system(
        "a b c", "a->c b->c", algorithm="aligned_barriers", snapshots=(start("a", 1), start("b", 2)),
        scheduler=SchedulerChoice("random"), seed=1,
    )  # fmt: skip
    (interval,) = compose(run(untimed)).intervals
    begin, end = interval.step, interval.until
    assert end is not None
    unit = "step" if end - begin == 1 else "steps"
    assert interval.text.endswith(f"is blocked for S1 from step {begin} to {end}, {end - begin} {unit}")


def test_the_network_has_it_too() -> None:
    found = payload(scene("barriers"), ("right",))
    traces = [trace for trace in found["topology"]["figure"]["data"] if trace.get("line", {}).get("dash")]
    assert [trace["meta"] for trace in traces] == [{"stride": 3, "show": [[13, 23], [14, 25]]}]
    assert found["stops"][0] == {
        "what": "s1->c1 has been blocked", "kind": "blocked", "lane": found["lanes"].index("c1"),
        "channel": "s1->c1", "since": 4.0, "ended": 7.0, "from": 13, "until": 23,
        "text": "s1->c1 is blocked for S1 from 4 to 7, 3 time units",
    }  # fmt: skip


PREVIEW = """(fifo, scene, asked) => asked.map(([label, due]) => {
    const message = scene.messages.find(({ sent_label }) => sent_label === label);
    const { arrival, front, moved } = fifo.arrivalIfDue(scene, message, due);
    return [arrival, front, moved.length];
})"""


@IN_BOTH
def test_the_preview_of_a_drag_knows_what_is_blocked(run_module: Callable[..., Any]) -> None:
    """o1 waits until 7 unless it comes later; y3 in front of the barrier moves, and o1 stays behind it."""
    found = payload(scene("barriers"), ("right",))
    asked = [["o1", 5.6], ["o1", 9.0], ["y3", 3.0]]
    assert run_module(PREVIEW, [EXPLORE / "run/fifo.js"], found, asked) == [[7, None, 0], [9, None, 0], [3, None, 0]]
    assert freed_at(run(library.load("barriers"))) == {
        flight.id: 7 for flight in run(library.load("barriers")).flights if flight.send.label == "o1"
    }


def test_what_fails_is_drawn_and_named_in_the_legend_of_its_run_only() -> None:
    told = {name: {sign["key"] for sign in signs(scene(name))} for name in ("crash", "partition", "lecture")}
    faults = {"down", "severed", "dropped"}
    assert {name: own & faults for name, own in told.items()} == {
        "crash": {"down", "dropped"}, "partition": {"severed"}, "lecture": set(),
    }  # fmt: skip
    (_, ended) = of_sign(figure(scene("crash"), "right"), CRASHED)
    assert ended["text"][0] == "P2 is down from 5 to 9, 4 time units"
    (_, ended) = of_sign(figure(scene("partition"), "down"), SEVERED)
    assert ended["text"][0] == "C12 is severed from 2.5 to 9, 6.5 time units"
    assert b"10 (lost)" in exported("crash", "mermaid") and b"down for 4" in exported("crash", "svg")
    lost = next(arrow for arrow in scene("crash").arrows if arrow.name == "10")
    assert lost.text == "10 on C12: step 10, lost at step 11"


def test_who_is_frozen_has_blocks_on_its_line_and_a_sign_and_a_star_in_the_network() -> None:
    (_, ended) = of_sign(figure(scene("standstill"), "right"), ICED)
    assert ended["text"][0] == "P3 is frozen from 3.5 to 16, 12.5 time units"
    assert len({(look.width, look.stripes) for _, look in LOOKS.values()}) == len(LOOKS), "told apart without colour"
    assert "frozen" in {sign["key"] for sign in signs(scene("standstill"))}
    assert b"frozen for 12.5" in exported("standstill", "svg")
    assert rb"\draw[look/frozen process]" in exported("standstill", "tikz")
    for form in ("mermaid", "plantuml"):
        assert b"is frozen" in exported("standstill", form) and b"is thawed" in exported("standstill", form)
    traces = payload(scene("standstill"), ("right",))["topology"]["figure"]["data"]
    (star,) = [trace for trace in traces if trace.get("marker", {}).get("symbol") == "asterisk"]
    (frozen,) = [own for own in payload(scene("standstill"), ("right",))["stops"] if own["kind"] == "frozen"]
    assert star["meta"] == {"stride": 1, "show": [[frozen["from"], frozen["until"]]]}


def test_what_is_lost_is_told_and_no_longer_on_its_way() -> None:
    found = payload(scene("crash"), ("right",))
    (message,) = [own for own in found["messages"] if own["lost"] is not None]
    assert (message["lost"], message["received"], message["held"]) == (11, None, False)
    assert found["events"]["lost"] == [message["id"]]
    (down,) = [own for own in found["stops"] if own["kind"] == "crash"]
    assert (down["what"], down["since"], down["ended"]) == ("P2 has been down", 5.0, 9.0)
    crash, restart = [own for own in found["items"] if own["kind"] == "fault"]
    assert (crash["fault"], crash["item"], restart["fault"]) == ("P2 crashes", {"faults": 0}, "P2 starts again")
    record = found["snapshots"][0]["processes"][1]["text"]
    assert [text for _, text in record] == ["not recorded yet", "50", "lost in a crash", "50"]


def test_the_ring_of_a_recording_goes_with_the_crash_in_which_it_is_lost() -> None:
    traces = payload(scene("crash"), ("right",))["topology"]["figure"]["data"]
    (rings,) = [trace["meta"]["show"] for trace in traces if trace.get("marker", {}).get("symbol") == "circle-open"]
    assert sorted(rings) == [[2, None], [4, 9], [5, None], [13, None]]


def test_the_meter_counts_nothing_of_a_process_that_is_down_nor_of_what_is_lost() -> None:
    """P1 has 100 - 20 - 10, P3 30 + 20. P2 has 50 and is down from step 9 to 12; 10 to it is lost at step 11."""
    (meter,) = meters_of(run(library.load("crash")))
    processes, channels = dict(meter["processes"]), dict(meter["channels"])
    assert [(processes[step], channels[step]) for step in (0, 1, 3, 9, 10, 11, 12)] == [
        (180, 0), (160, 20), (180, 0), (130, 0), (120, 10), (120, 0), (170, 0),
    ]  # fmt: skip
    assert list(processes) == list(channels) == [0, 1, 3, 9, 10, 11, 12, 16, 17]


def test_who_predicts_sees_what_fails_and_what_is_full_but_nothing_that_a_snapshot_stops() -> None:
    found = {name: question(scene(name), "right") for name in ("crash", "partition", "back_pressure", "barriers")}
    told = {name: {trace.get("meta", {}).get("sign") for trace in own["data"]} for name, own in found.items()}
    signs_of_stops = {CRASHED, SEVERED, FILLED, CHANNEL, PROCESS}
    assert {name: own & signs_of_stops for name, own in told.items()} == {
        "crash": {CRASHED}, "partition": {SEVERED}, "back_pressure": {FILLED}, "barriers": set(),
    }  # fmt: skip
    assert of_sign(question(scene("stop_the_world"), "right"), PROCESS) == []


def test_the_ring_of_a_recording_that_is_thrown_away_is_gone_in_the_network():
    """P1 gives up at step 7 of two_outcomes; P2 keeps its part."""
    own = topology(compose(run(library.load("two_outcomes"))))
    rings = [trace for trace in own["figure"]["data"] if trace.get("marker", {}).get("symbol") == theme.RING_SYMBOLS[0]]
    assert [trace["meta"]["show"] for trace in rings] == [[[1, 7], [3, None]]]
