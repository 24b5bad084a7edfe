"""The search that Find and the list of events share, and the arrangements that the list asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from diagrams.browser.payload import payload
from diagrams.browser.scripts import EXPLORE
from diagrams.scene.composition import compose
from sim.core.algorithm import ALGORITHMS
from sim.core.model import APPLICATION_KINDS, Event
from sim.document import library
from sim.document.files import parse_toml
from sim.run.execution import Execution, run
from tests.diagrams.browser.test_against_python import scene_of
from tests.diagrams.tools import scene
from tests.javascript import IN_BOTH
from tests.sim.strategies import scenarios
from tests.tools import drawn

MODULES = [EXPLORE / "run/events.js", EXPLORE / "run/search.js"]
FIND = """({ Events, Search }, scenes, asked) => scenes.map((scene, number) => {
    const events = new Events(scene);
    const search = new Search(events);
    return asked[number].map(([text, lane, kind]) => {
        const query = search.query(text, lane, kind);
        const { count, found } = query.best(Infinity);
        const rows = Array.from({ length: events.rows.count }, (_, row) => row);
        if (rows.filter((row) => query.finds(row)).length !== count) throw new Error(text);
        return found.map((row) => [row, events.rowName(row), Object.fromEntries(query.reasons(row))]);
    });
})"""
Found = list[tuple[int, str, dict[str, str]]]


def search(run_module: Callable[..., Any], name: str, *texts: str) -> list[Found]:
    """What the browser finds in a bundled scenario for each text: rows, their names, and the reasons."""
    answer: list[Found] = run_module(
        FIND, MODULES, [payload(scene(name), ())], [[[text, None, None] for text in texts]]
    )[0]
    return answer


def rows(name: str, wanted: Callable[[Event], bool]) -> set[int]:
    return {event.row for event in scene(name).execution.events if wanted(event)}


@IN_BOTH
def test_a_kind_a_channel_a_process_a_snapshot_and_a_body_are_found_and_say_why(
    run_module: Callable[..., Any],
) -> None:
    texts = ("marker", "C21", "p2", "S1", "records", "stops recording", "P1->P3")
    marker, channel, process, snapshot, records, closed, pair = search(run_module, "lecture", *texts)
    assert {row for row, *_ in marker} == rows("lecture", lambda event: event.kind.startswith("marker"))
    assert {why["kind"] for *_, why in marker} == {"marker sent", "marker received"}
    assert {row for row, *_ in channel} == rows("lecture", lambda event: event.channel == "P2->P1")
    assert all(why == {"channel": "C21"} for *_, why in channel)
    assert {row for row, *_ in process} == rows("lecture", lambda event: event.process == "P2")
    assert {row for row, *_ in snapshot} == rows("lecture", lambda event: event.snapshot_id == "S1")
    assert {row for row, *_ in records} == rows("lecture", lambda event: event.kind in ("record", "recorded"))
    assert {row for row, *_ in closed} == rows("lecture", lambda event: event.kind == "channel_closed")
    assert {row for row, *_ in pair} == rows("lecture", lambda event: event.channel == "P1->P3")


def test_a_body_is_found_as_a_whole_word_and_not_within_a_number(run_module: Callable[..., Any]) -> None:
    (found, none), execution = search(run_module, "lai_yang", "20", "0"), scene("lai_yang").execution
    bodies = {flight.id for flight in execution.flights if flight.body == 20}
    assert {row for row, *_ in found} == rows("lai_yang", lambda event: event.message_id in bodies) != set()
    assert all(why == {"body": "20"} for *_, why in found)
    assert not none


def test_the_name_of_a_process_is_found_in_a_label_as_a_whole_word(run_module: Callable[..., Any]) -> None:
    labels = ["to P1", "P1: done", "P12", "xP1", "(P1)"]
    lines = [f'[[script]]\nprocess = "P2"\nat = {at}\nlabel = "{label}"\n' for at, label in enumerate(labels)]
    document = payload(compose(run(parse_toml("processes = 2\n" + "".join(lines), "words"))), ())
    (answers,) = run_module(FIND, MODULES, [document], [[["P1", None, None]]])
    assert sorted(name for _, name, _ in answers[0]) == ["(P1)", "P1: done", "to P1"]


@pytest.mark.slow
def test_every_word_must_be_found_and_the_name_of_a_process_is_no_other_one(run_module: Callable[..., Any]) -> None:
    (found,) = search(run_module, "hundred", "P1 receive")
    received = ("receive", "marker_receive", "control_receive")
    assert {row for row, *_ in found} == rows("hundred", lambda e: e.process == "P1" and e.kind in received) != set()


def test_what_is_called_so_comes_first_then_what_begins_so(run_module: Callable[..., Any]) -> None:
    (found,) = search(run_module, "lecture", "h")
    assert found[0][1] == "H" and found[0][2] == {}, "the label itself is no reason"
    assert [why for *_, why in found[1:]] == [{"body": "H->D"}] * 2
    (nothing,) = search(run_module, "lecture", "no such thing")
    assert nothing == []


@pytest.mark.parametrize("word", ["barrier", "marker"])
def test_what_an_algorithm_calls_its_markers_is_found_and_so_is_marker(
    run_module: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setattr(ALGORITHMS["chandy_lamport"], "marker", "barrier")
    document = payload(compose(run(library.load("lecture"))), ())
    (answers,) = run_module(FIND, MODULES, [document], [[[word, None, None]]])
    names = {name for _, name, _ in answers[0]}
    assert names == {"barrier sent", "barrier received"}


@pytest.mark.slow
def test_on_random_runs_labels_processes_and_kinds_are_found_as_in_the_event_table(
    run_module: Callable[..., Any],
) -> None:
    executions = [run(scenario) for scenario in drawn(scenarios(), 20)]
    asked = [
        [["", None, None], ["", 0, None], ["", None, 1], [label_of(execution), None, None]] for execution in executions
    ]
    answers = run_module(FIND, MODULES, [scene_of(execution) for execution in executions], asked)
    for execution, (everything, own, sends, labelled) in zip(executions, answers, strict=True):
        events = execution.events
        assert [row for row, *_ in everything] == [event.row for event in events]
        assert [row for row, *_ in own] == [e.row for e in events if e.process == execution.scenario.processes[0]]
        assert [row for row, *_ in sends] == [event.row for event in events if event.kind == "send"]
        label = label_of(execution).lower()
        named = {e.row for e in events if e.kind in APPLICATION_KINDS and label in (e.label or "").lower()}
        assert {row for row, *_ in labelled} >= named
        for row, name, _ in everything:
            assert events[row].kind not in APPLICATION_KINDS or name == events[row].label


def label_of(execution: Execution) -> str:
    """The label of the last application event without spaces, or a text that nothing has."""
    labels = [e.label for e in execution.events if e.kind in APPLICATION_KINDS and e.label and not e.label.isspace()]
    return labels[-1].split()[0] if labels else "nothing"


def test_a_process_with_an_event_of_another_language_is_found(run_module: Callable[..., Any]) -> None:
    text = 'processes = ["A", "B"]\n[[script]]\nprocess = "A"\nat = 1\nlabel = "Grüße 漢字"\n'
    document = payload(compose(run(parse_toml(text, "words"))), ())
    (answers,) = run_module(FIND, MODULES, [document], [[["grüße", None, None], ["漢", None, None]]])
    assert [[name for _, name, _ in found] for found in answers] == [["Grüße 漢字"]] * 2


ARRANGE = """(module, start, processes) => {
    const { hide, fold, move, put, onShow, leftOut, isAsItIs } = module;
    const moved = move(start, "A", 1, processes);
    const hidden = hide(hide(moved, "C", true), "C", true);
    const past = move(hidden, "B", 1, processes);
    const folded = fold(hidden, "B", true);
    return {
        moved: moved.order, end: move(start, "A", -1, processes).order, past: past.order,
        shown: onShow(hidden, processes), put: put(start, "D", "A").order,
        back: isAsItIs(hide(put(hidden, "A", "B"), "C", false), start.order),
        told: [leftOut(start, processes), leftOut(hidden, processes), leftOut(fold(hidden, "B", true), processes)],
        unfolded: fold(folded, "B", false).folded, kept: isAsItIs(folded, start.order),
    };
}"""


@IN_BOTH
def test_processes_are_moved_past_hidden_ones_and_what_is_left_out_is_told(run_module: Callable[..., Any]) -> None:
    start = {"order": ["A", "B", "C", "D", "clock"], "hidden": [], "folded": []}
    told = run_module(ARRANGE, [EXPLORE / "run/arrangement.js"], start, ["A", "B", "C", "D"])
    assert told["moved"] == ["B", "A", "C", "D", "clock"]
    assert told["end"] == start["order"], "there is nothing before the first"
    assert told["shown"] == ["B", "A", "D"]
    assert told["past"] == ["A", "B", "C", "D", "clock"]
    assert told["put"] == ["D", "A", "B", "C", "clock"]
    assert told["back"] is True and told["kept"] is False and told["unfolded"] == []
    nothing, one, both = told["told"]
    assert nothing == ""
    assert one == "1 of 4 processes is hidden: C. The cut line runs over it; records and verdicts still count it."
    assert both.startswith(one) and "Folded: B." in both


def test_of_a_hidden_service_nothing_is_said_of_cuts(run_module: Callable[..., Any]) -> None:
    hidden = {"order": ["A", "B", "clock"], "hidden": ["clock"], "folded": []}
    ask = "({ inOrder, leftOut }, hidden) => [leftOut(hidden, ['A', 'B']), inOrder(hidden, ['clock'])]"
    told, services = run_module(ask, [EXPLORE / "run/arrangement.js"], hidden)
    assert (told, services) == ("The lane of the clock is hidden; the run is the same.", ["clock"])
