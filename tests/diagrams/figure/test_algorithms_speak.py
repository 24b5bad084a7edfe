"""Everything that is shown asks the algorithm and the workload for their words; nothing speaks of markers by itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from diagrams.browser.payload import payload
from diagrams.export import exporter, formats
from diagrams.figure.cuts import complete, curve, straight_at
from diagrams.panels.legend import signs_in
from diagrams.panels.record.panel import record_of
from diagrams.scene.composition import Scene, compose
from diagrams.scene.view import View
from sim.core.delays import DelayRule
from sim.core.effects import Out
from sim.core.model import APPLICATION_KINDS, MARKER_RECEIVE, RECEIVE, RECORD, Process
from sim.core.workload import WORKLOADS, Workload
from sim.document import library
from sim.document.scenario import ScriptLine
from sim.explain.narration import narrate
from sim.explain.reasons import explain
from sim.explain.recorded_reasons import why_channel, why_state
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from tests.bundled import small
from tests.cases import each
from tests.diagrams.tools import exported
from tests.sim.conftest import Register, register
from tests.sim.rule_books import Barrier, Commanded, Impatient, two
from tests.sim.tools import send, start, system
from tests.tools import check_none

__all__ = ["register"]  # a fixture
SILENT = "lai_yang_silent"
FOR_PROGRAMS = {
    "aliases", "cases", "kind", "key", "meta", "mode", "marker", "symbol", "icon", "algorithms", "of_others", "rules",
    "reasons", "reference", "said_in",
}  # fmt: skip


def texts_of(value: Any) -> Iterator[str]:
    """Every text in a payload that a person reads; keys and kinds are for programs."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in FOR_PROGRAMS:
                yield from texts_of(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts_of(item)
    elif isinstance(value, str):
        yield value


def all_that_is_said(scene: Scene) -> list[str]:
    """Sentences, reasons, legend, record, hover texts, lists, and the two sequence diagrams."""
    execution = scene.execution
    said = [text for told in narrate(execution) for text in (*told.rules, told.sentence)]
    for snapshot in snapshots_of(execution):
        said += [explain(execution, snapshot, flight.id) for flight in execution.flights]
        said += [why_state(execution, snapshot, process) for process in execution.scenario.processes]
        said += [why_channel(execution, snapshot, channel.name) for channel in execution.engine.channels]
    said += texts_of({**payload(scene), "story": ""})
    for form in ("mermaid", "plantuml"):
        said += exporter(form).export(scene, View.of(scene)).decode().splitlines()
    return said


@each("name", ["lai_yang", "lai_yang_silent", "mattern"])
def test_rules_without_markers_never_speak_of_them(name: str) -> None:
    scene = compose(run(library.load(name)))
    check_none(text for text in all_that_is_said(scene) if re.search("marker|Chandy", text, re.I))


def test_the_legend_has_the_stamps_that_messages_carry_and_no_others() -> None:
    shown = {name: {sign.key for sign in signs_in(compose(run(library.load(name))))} for name in ("lai_yang", SILENT)}
    assert {"stamp-white", "stamp-red"} <= shown["lai_yang"]
    assert "stamp-white" in shown[SILENT] and "stamp-red" not in shown[SILENT]


@each(("name", "step"), [("collected", 20), ("mattern", 12), ("lecture", None)])
def test_the_record_says_who_knows_that_nothing_is_missing(name: str, step: int | None) -> None:
    (shown,) = record_of(compose(run(library.load(name))))
    assert shown.get("known") == (None if step is None else {"step": step, "to": "P1"})


def test_a_note_is_seen_in_the_list_of_events_and_in_sequence_diagrams() -> None:
    scene = compose(run(library.load("mattern")))
    assert "sets the sum to +2" in texts_of(payload(scene))
    for form in ("mermaid", "plantuml"):
        assert "sets the sum to +2" in exporter(form).export(scene, View.of(scene)).decode()


@pytest.mark.parametrize("rule", [Barrier, Commanded], ids=lambda rule: rule.name)
def test_a_rule_book_that_calls_its_markers_otherwise_is_heard_everywhere(register: Register, rule: Any) -> None:
    who = "boss" if rule is Commanded else "P1"
    scenario = system(
        "P1 P2 P3", "P1->P2 P2->P3", algorithm=register(rule), workload="bank", snapshots=(start(who, 3),),
        script=(send("P1", "P2", 1, 5), send("P1", "P2", 2, 6), send("P2", "P3", 4, 7)),
        delay=DelayRule("fixed", 9.0), marker_delay=DelayRule("fixed", 1.0), title="Barriers on a line",
    )  # fmt: skip
    said = all_that_is_said(compose(run(scenario)))
    check_none(text for text in said if re.search("marker|Chandy", text, re.I))
    assert any(rule.marker in text for text in said) == (rule is Barrier)


def test_lai_yang_in_the_legend_the_record_and_ask() -> None:
    scene = compose(run(library.load("lai_yang")))
    shown = payload(scene)
    labels = [sign["label"] for sign in shown["signs"] if sign["drawn"] != "asked"]
    assert labels[:4] == ["event", "white message", "red message", "count"] and "marker" not in labels
    (snapshot,) = shown["snapshots"]
    assert snapshot["facts"] == "2 counts, 2 recorded messages"
    assert [row["check"] for row in snapshot["verdicts"][0][1]] == [
        "Complete", "Consistent cut", "Channel states", "Conservation",
    ]  # fmt: skip
    by_label = {message["sent_label"]: message for message in shown["messages"]}
    assert (by_label["m2"]["stamp"], by_label["m3"]["stamp"]) == ("white", "red for S1")
    assert by_label["m3"]["colour"] == "@stamped" != by_label["m2"]["colour"]
    counts = [message for message in shown["messages"] if message["kind"] == "control"]
    assert [(one["name"], one["where"]) for one in counts] == [
        ("count S1 (2)", "from P1 to P2"), ("count S1 (1)", "from P2 to P1"),
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["mermaid", "plantuml"])
def test_a_process_is_seen_to_record_before_it_takes_in_a_red_message(form: str) -> None:
    lines = exported("lai_yang", form).decode().splitlines()
    record = next(at for at, line in enumerate(lines) if "records 190 for S1" in line)
    red = next(at for at, line in enumerate(lines) if "red 10 (sent" in line)
    assert record + 1 == red and "before it takes in red 10" in lines[record]


@pytest.mark.parametrize("form", ["mermaid", "plantuml"])
def test_a_marker_is_seen_to_arrive_before_the_recording_that_it_makes(form: str) -> None:
    lines = exported("lecture", form).decode().splitlines()
    marker = next(at for at, line in enumerate(lines) if "marker S1" in line and re.search(r"p0 ?-->+ ?p2", line))
    record = next(at for at, line in enumerate(lines) if "records" in line and "I" in line and "p2" in line)
    assert marker < record


# --------------------------------------------------------------------------- rows of one step lie apart


@each("name", small)
def test_what_is_seen_of_one_step_lies_apart_and_in_the_order_of_its_rows(name: str) -> None:
    """Dots and diamonds of a process never share a place; what is inside a cut lies before it, the rest after it."""
    scene = compose(run(library.load(name)))
    position, execution = scene.whole_run.position, scene.execution
    for process in scene.processes:
        own = [
            e for e in execution.events if e.process == process and (e.kind in APPLICATION_KINDS or e.kind == RECORD)
        ]
        positions = [position(event) for event in own]
        assert positions == sorted(set(positions)), f"{process}: {positions}"
    for event in execution.events:
        if event.kind in (RECEIVE, MARKER_RECEIVE):
            sent = next(flight for flight in execution.flights if flight.id == event.message_id).send
            assert position(sent) < position(event), "no arrow runs backwards"


def test_a_marker_arrives_before_its_recording_and_a_red_message_after_it() -> None:
    for name, kind, is_before in (("lecture", MARKER_RECEIVE, True), ("lai_yang", RECEIVE, False)):
        whole = compose(run(library.load(name))).whole_run
        records = {e.step: e for e in whole.execution.events if e.kind == RECORD}
        came = [e for e in whole.execution.events if e.kind == kind and e.step in records]
        assert came and all((whole.position(e) < whole.position(records[e.step])) == is_before for e in came), name


# --------------------------------------------------------------------------- workloads


class Lamps(Workload):
    """Each process is a lamp; a message says who has the switch."""

    name = "test_lamps"
    title = "Lamps"
    source = "a test"
    parameters: ClassVar[Any] = {}

    def initial(self, process: str) -> Any:
        return "off"

    def after_internal(self, process: Process, body: Any, out: Out) -> Any:
        if body == "on":
            out.send("P2", {"switch": 1})
        return body

    def state_words(self, state: Any) -> str:
        return f"a lamp that is {state}"

    def body_words(self, body: Any) -> str:
        return "the switch"

    def internal_words(self, body: Any) -> str:
        return f"turns itself {body}"


def test_a_workload_says_how_its_bodies_states_and_events_read(monkeypatch: Any) -> None:
    monkeypatch.setitem(WORKLOADS._found, Lamps.name, Lamps)
    scenario = system(
        "P1 P2", workload=Lamps.name, script=(ScriptLine("P1", 1, body="on", label="A"),), snapshots=(start("P1", 5),)
    )
    scene = compose(run(scenario))
    said = all_that_is_said(scene)
    assert "A: P1 turns itself on. P1 sends the switch to P2 on C12." in said
    assert any("records its state a lamp that is on" in text for text in said)
    assert any("P1.2: P2" not in text and "the switch" in text and "P2 receives" in text for text in said)
    assert json.dumps(payload(scene))


def test_what_an_internal_event_is_is_said_and_not_dropped() -> None:
    """ "passive" used to be dropped."""
    scenario = system("P1 P2", script=(ScriptLine("P1", 1, body="passive", label="A"), ScriptLine("P2", 2)))
    told = [part.sentence for part in narrate(run(scenario))]
    assert told[1:] == ["A: P1 has an internal event: passive.", "P2 has an internal event."]


# --------------------------------------------------------------------------- aborted snapshots, services


def test_an_aborted_snapshot_is_shown_as_thrown_away_and_undecided(register: Register) -> None:
    scene = compose(run(two(register(Impatient))))
    (shown,) = payload(scene)["snapshots"]
    assert [text for _, text in shown["status"]][-1] == "aborted" and shown["aborted"] == 4
    (p1, p2) = (process["text"][-1][1] for process in shown["processes"])
    assert (p1, p2) == ("thrown away", "97")
    back = next(channel for channel in shown["channels"] if channel["name"] == "P2->P1")
    assert [state for _, state in back["state"]] == ["idle", "recording", "idle"]
    ((step, verdicts),) = shown["verdicts"]
    assert step == 4 and {verdict["holds"] for verdict in verdicts} == {None}


@pytest.mark.slow
def test_a_service_and_an_aborted_snapshot_can_be_exported_in_every_format(register: Register) -> None:
    for scenario in (two(register(Impatient)), two(register(Commanded), snapshots=(start("boss", 2),))):
        scene = compose(run(scenario))
        for form in (name for name in formats() if name not in ("gif", "deck")):
            assert exporter(form).export(scene, View.of(scene)), form


def test_a_service_has_a_lane_beside_the_processes_and_no_cut_reaches_it(register: Register) -> None:
    scene = compose(run(two(register(Commanded), snapshots=(start("boss", 2),))))
    assert (scene.processes, scene.lanes) == (("P1", "P2"), ("P1", "P2", "boss"))
    (cut,) = scene.cuts
    assert len(cut.positions) == 2 and cut.known is not None
    assert [row["name"] for row in payload(scene)["snapshots"][0]["processes"]] == ["P1", "P2"]
    assert [node["name"] for node in payload(scene)["topology"]["nodes"]] == ["P1", "P2"]


def test_a_cut_goes_straight_where_a_curve_would_cross_a_message() -> None:
    """A message that is after the cut at both its ends is drawn after it all the way."""
    lines = (send("P1", "P2", 2.6, label="m"),)
    scenario = system(
        "P1 P2", script=lines, snapshots=(start("P1", 2.5),), delay=DelayRule("fixed", 7.5),
        marker_delay=DelayRule("fixed", 7.3), title="close",
    )  # fmt: skip
    scene = compose(run(scenario))
    (cut,) = scene.cuts
    positions = complete(cut)
    assert positions is not None
    (arrow,) = [arrow for arrow in scene.arrows if arrow.kind == "app"]
    assert arrow.end is not None and straight_at(scene, positions) == {0}
    for lane, position in curve(positions, straight={0})[1:-1]:
        assert arrow.start + (arrow.end - arrow.start) * lane >= position
    assert any(arrow.start + (arrow.end - arrow.start) * lane < position for lane, position in curve(positions)[1:-1])
