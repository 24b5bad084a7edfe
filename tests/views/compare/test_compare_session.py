"""The runs behind the Compare page, without a browser: an edit in one of them goes to all."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.core.deadline import OutOfTime
from sim.core.errors import InputError
from sim.document import library
from sim.edit.link import Shared, read_query
from sim.run.references import references
from tests.sim.strategies import edits
from tests.tools import examples
from views.compare.session import CompareSession

FOUR = ["chandy_lamport", "lai_yang", "mattern", "stop_the_world"]
HELD = {"channel": None, "kind": "app", "label": "t2", "snapshot": None, "ordinal": 1}


def opened(name: str, *algorithms: str) -> CompareSession:
    session = CompareSession()
    session.open(Shared(scenario=name), algorithms)
    return session


def submit(session: CompareSession, algorithm: str, edit: dict[str, Any], time: float = 0.0) -> str | None:
    """Submit an edit in the column of an algorithm. Returns the notice there, if it is an error."""
    own = session.columns[algorithm]
    entry = {"seq": own.ack + 1, "time": time, "revision": own.revision, "edit": edit}
    session.absorb({algorithm: [entry]})
    notice = session.columns[algorithm].notice if algorithm in session.columns else None
    return notice["text"] if notice and notice["level"] == "error" else None


def told(session: CompareSession) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(session.document())
    return document


def figures(session: CompareSession) -> dict[str, list[str]]:
    return {row["title"]: [cell["text"] for cell in row["cells"]] for row in told(session)["figures"]}


@pytest.mark.slow
def test_a_page_begins_with_the_scenarios_own_algorithm_and_others_beside_it() -> None:
    assert [own["name"] for own in told(opened("lecture"))["columns"]] == [
        "Chandy-Lamport", "Lai-Yang", "Mattern's counters", "Stop-the-world",
    ]  # fmt: skip
    assert opened("barriers").algorithms == ("aligned_barriers", *FOUR[:3])


def test_every_column_has_its_run_and_its_figures() -> None:
    """The figures of two_banks were worked out by hand from its times and delays."""
    session = opened("two_banks", "chandy_lamport", "stop_the_world")
    document = told(session)
    assert [own["scene"]["rules"] for own in document["columns"]] == ["chandy_lamport", "stop_the_world"]
    assert figures(session)["Markers"] == ["2", "0"]
    assert figures(session)["Persisted in-flight data"] == ["2", "0"]
    assert figures(session)["Blocked time"] == ["0", "100"]
    assert [own["is_first"] for own in document["columns"]] == [True, False]
    assert document["columns"][1]["differs"][0] == "S2 records 250, not 170; C21 records nothing, not [80]."


def test_the_table_begins_with_the_status() -> None:
    assert figures(opened("two_banks", "aligned_barriers", "chandy_lamport"))["Status"] == ["refused", "complete"]
    assert figures(opened("crash", "chandy_lamport"))["Status"] == ["recording"]
    sentences = [
        told(opened(name, "chandy_lamport"))["figures"][0]["sentence"] for name in ("two_banks", "overlapping")
    ]
    assert [sentence.endswith("all other figures are sums.") for sentence in sentences] == [False, True]


def test_what_differs_from_the_first_column_is_marked() -> None:
    document = told(opened("two_banks", "chandy_lamport", "stop_the_world"))
    late = [own for own in document["columns"][1]["scene"]["messages"] if own["id"] in document["columns"][1]["marked"]]
    assert [own["name"] for own in late] == ["80"]
    differs = {row["title"]: [cell["differs"] for cell in row["cells"]] for row in document["figures"]}
    assert differs["Blocked time"] == [False, True] and differs["Time to recover"] == [False, False]


@pytest.mark.slow
def test_an_edit_in_one_column_goes_to_all() -> None:
    session = opened("two_banks", *FOUR)
    assert submit(session, "lai_yang", {"do": "delay", "message": HELD, "delay": 60}) is None
    assert {own.compared.execution.scenario.delays[key] for own in session.shown
            for key in own.compared.execution.scenario.delays if key.label == "t2"} == {60}  # fmt: skip
    document = told(session)
    assert (document["undo"], document["redo"], document["edits"]) == (
        1,
        0,
        ["delay the message sent at t2: 60 time units"],
    )
    submit(session, "mattern", {"do": "undo"})
    assert (told(session)["undo"], told(session)["redo"]) == (0, 1)
    assert all(60 not in own.compared.execution.scenario.delays.values() for own in session.shown)
    submit(session, "mattern", {"do": "redo"})
    submit(session, "mattern", {"do": "reset"})
    assert (told(session)["undo"], session.version.scenario) == (2, library.load("two_banks"))


def test_what_is_refused_is_told_in_its_column_and_changes_nothing() -> None:
    session = opened("two_banks", *FOUR)
    before = session.versions
    text = submit(session, "lai_yang", {"do": "internal", "process": "Nobody", "at": 5})
    assert text is not None and "Nobody" in text and session.versions is before
    assert [own.notice is not None for own in session.shown] == [False, True, False, False]
    assert submit(session, "lai_yang", {"do": "internal", "process": "S1", "at": 5}) is None
    assert session.columns["lai_yang"].notice is None


@pytest.mark.parametrize("edit", [{"do": "manual", "after": 2}, {"do": "lay_bare"}])
def test_what_makes_sense_for_one_run_only_is_done_in_explore(edit: dict[str, Any]) -> None:
    text = submit(opened("two_banks", *FOUR), "lai_yang", edit)
    assert text is not None and text.endswith("open one of the runs in Explore.")


def test_an_algorithm_that_is_refused_says_why_and_what_helps() -> None:
    session = opened("two_banks", "chandy_lamport", "aligned_barriers")
    column = told(session)["columns"][1]
    assert column["scene"] is None and column["times"] == []
    assert (
        column["refused"]
        == "Aligned barriers begin at a source, a process without incoming channels, and there is none."
    )
    assert submit(session, "aligned_barriers", column["remedy"]["edit"]) is None
    assert [own["refused"] for own in told(session)["columns"]] == [None, None]
    assert [len(own.compared.execution.engine.channels) for own in session.shown] == [1, 1]


@pytest.mark.slow
def test_a_parameter_of_another_algorithm_stays_in_its_column_and_is_in_the_link() -> None:
    session = opened("lai_yang", "lai_yang", "chandy_lamport")
    assert submit(session, "chandy_lamport", {"do": "parameter", "name": "collect", "value": True}) is None
    assert submit(session, "lai_yang", {"do": "internal", "process": "P1", "at": 5}) is None
    parameters = [own.compared.execution.scenario.algorithm_parameters for own in session.shown]
    assert parameters == [{}, {"collect": True}] and session.version.scenario.algorithm_parameters == {}
    again = CompareSession()
    again.open(read_query(dict(parse_qsl(session.link()))), session.algorithms)
    assert figures(again) == figures(session)
    assert [own.compared.execution.scenario.algorithm_parameters for own in again.shown] == parameters


@pytest.mark.slow
def test_a_control_message_is_delayed_in_its_column_alone() -> None:
    """Mattern's counters and stop-the-world have control messages between the same two; each keeps its own delay."""
    session = opened("two_banks", "chandy_lamport", "stop_the_world", "mattern")
    execution = session.columns["stop_the_world"].compared.execution
    flight = next(own for own in execution.flights if own.is_control)
    reference = references(execution)[flight.id]._asdict()
    others = [session.columns[name].compared.execution.table for name in ("chandy_lamport", "mattern")]
    assert submit(session, "stop_the_world", {"do": "delay", "message": reference, "delay": 9}) is None
    late = session.columns["stop_the_world"].compared.execution.flights[flight.id]
    assert late.receive.time - late.send.time == 9
    assert [session.columns[name].compared.execution.table for name in ("chandy_lamport", "mattern")] == others
    submit(session, "mattern", {"do": "internal", "process": "S1", "at": 200})
    assert session.columns["stop_the_world"].compared.execution.flights[flight.id].receive.time == late.receive.time
    submit(session, "stop_the_world", {"do": "release", "message": reference})
    again = session.columns["stop_the_world"].compared.execution.flights[flight.id]
    assert again.receive.time == flight.receive.time


def test_algorithms_come_go_and_change_places() -> None:
    session = opened("two_banks", "chandy_lamport", "lai_yang")
    submit(session, "lai_yang", {"do": "add", "kind": "mattern"})
    assert session.algorithms == ("chandy_lamport", "lai_yang", "mattern")
    submit(session, "mattern", {"do": "algorithm", "kind": "chandy_lamport"})
    assert session.algorithms == ("mattern", "lai_yang", "chandy_lamport")
    submit(session, "lai_yang", {"do": "algorithm", "kind": "stop_the_world"})
    submit(session, "mattern", {"do": "remove"})
    assert session.algorithms == ("stop_the_world", "chandy_lamport")
    assert session.at == 0, "nothing is edited by that"
    assert "S2 records 170, not 250; C21 records [80], not nothing." in told(session)["columns"][1]["differs"]


def test_an_algorithm_that_comes_after_an_undo_runs_what_is_on_show() -> None:
    session = opened("two_banks", "chandy_lamport", "lai_yang")
    submit(session, "lai_yang", {"do": "delay", "message": HELD, "delay": 60})
    submit(session, "lai_yang", {"do": "undo"})
    submit(session, "lai_yang", {"do": "add", "kind": "mattern"})
    execution = session.columns["mattern"].compared.execution
    assert execution is not None and 60 not in execution.scenario.delays.values()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("lai_yang", "lai_yang is named twice; name each once"),
        ("lay_yang", "did you mean 'lai_yang'"),
        ("uncoordinated", "too many"),
    ],
)
def test_another_algorithm_that_cannot_be_shown_is_refused(kind: str, words: str) -> None:
    session = opened("two_banks", *FOUR)
    text = submit(session, "mattern", {"do": "add", "kind": kind})
    assert text is not None and words in text and session.algorithms == tuple(FOUR)


def test_the_last_algorithm_cannot_go() -> None:
    session = opened("two_banks", "mattern")
    assert "no algorithm is named" in (submit(session, "mattern", {"do": "remove"}) or "").lower()
    assert session.algorithms == ("mattern",)


def test_a_look_is_of_its_column() -> None:
    session = opened("two_banks", "chandy_lamport", "lai_yang")
    before = [own.revision for own in session.shown]
    submit(session, "lai_yang", {"do": "look", "step": 0, "width": 300, "orientation": "down"})
    assert [own.revision for own in session.shown] == [before[0], before[1] + 1]
    assert list(told(session)["columns"][1]["scene"]["figures"]) == ["down"]


def test_a_run_that_is_too_big_is_refused_in_its_column_with_what_would_be_right() -> None:
    busy = 'workload = { kind = "bank", transfers = 400 }'
    toml = f'processes = 40\n{busy}\nsnapshots = [{{ id = "S1", process = "P1", at = 1 }}]\n'
    session = CompareSession()
    session.open(Shared(toml=toml, name="big"), ["chandy_lamport"])
    (column,) = told(session)["columns"]
    assert "too big for the page Compare" in column["refused"] and "use a smaller workload" in column["refused"]
    assert session.row == (("Chandy-Lamport", column["refused"][:-1].replace("This", "this", 1)),)


def test_an_outbox_that_comes_twice_is_applied_once() -> None:
    session = opened("two_banks", "chandy_lamport", "lai_yang")
    entry = {"seq": 1, "time": 0.0, "edit": {"do": "internal", "process": "S1", "at": 5}}
    for _ in range(2):
        session.absorb({"lai_yang": [entry]})
    assert session.at == 1


def test_entries_that_a_browser_still_holds_are_not_applied_to_the_next_run() -> None:
    """The browser's state keeps its last outbox until it sends another one."""
    session = opened("two_banks", "chandy_lamport", "lai_yang")
    edited = {"lai_yang": [{"seq": 1, "time": 0.0, "edit": {"do": "internal", "process": "S1", "at": 5}}]}
    session.absorb(edited)
    revisions = [own.revision for own in session.shown]
    session.open(Shared(scenario="two_banks"))
    session.absorb(edited)
    assert session.at == 0
    assert all(own.revision > before for own, before in zip(session.shown, revisions, strict=True)), "it is drawn anew"
    session.choose(["chandy_lamport"])
    session.choose(["chandy_lamport", "lai_yang"])
    session.absorb(edited)
    assert (session.at, session.columns["lai_yang"].ack) == (0, 1)
    assert session.columns["lai_yang"].revision > revisions[1] + 1


def test_work_for_a_tab_that_has_gone_changes_nothing() -> None:
    session = opened("two_banks", "chandy_lamport", "lai_yang")
    entry = {"seq": 1, "time": 0.0, "edit": {"do": "internal", "process": "S1", "at": 5}}
    with pytest.raises(OutOfTime):
        session.absorb({"lai_yang": [entry]}, lambda: False)
    assert (session.at, session.columns["lai_yang"].ack, len(session.versions)) == (0, 0, 1)


@pytest.mark.parametrize("outboxes", [None, [], {"lai_yang": 5}, {"lai_yang": [{"seq": "x"}]}, {"nobody": []}])
def test_what_is_no_outbox_is_left_out(outboxes: object) -> None:
    session = opened("two_banks", "chandy_lamport", "lai_yang")
    session.absorb(outboxes)
    assert session.at == 0


def test_a_link_that_cannot_be_opened_changes_nothing() -> None:
    session = opened("two_banks", "chandy_lamport", "lai_yang")
    before = session.document()
    with pytest.raises(InputError):
        session.open(Shared(scenario="two_banks"), ["nobody"])
    with pytest.raises(InputError):
        session.open(Shared(scenario="two_banks", edits=(({"do": "internal", "process": "Nobody"}, 0.0),)))
    assert session.document() == before


@pytest.mark.slow
@examples(6)
@given(st.sampled_from(["lecture", "two_banks", "barriers", "overlapping"]), st.sampled_from(FOUR), st.data())
def test_any_edit_leaves_one_scenario_and_is_in_the_link(name: str, algorithm: str, data: Any) -> None:
    """Every run is the shared scenario under its algorithm, and the link opens the same runs."""
    session = opened(name, *dict.fromkeys(["chandy_lamport", algorithm]))
    execution = session.columns[algorithm].compared.execution
    assume(execution is not None)
    edit, now = data.draw(edits(execution))
    assume(edit["do"] not in ("manual", "choose", "algorithm"))
    if submit(session, algorithm, edit, now) is not None:
        assert session.at == 0
        return
    assert session.at == 1
    after = session.columns[algorithm].compared
    for own in session.shown:
        run = own.compared.execution
        assert run is None or run.scenario == session.version.under(own.compared.algorithm)
    again = CompareSession()
    again.open(read_query(dict(parse_qsl(session.link()))), session.algorithms)
    assert [own.compared.execution and own.compared.execution.table for own in again.shown] == [
        own.compared.execution and own.compared.execution.table for own in session.shown
    ]
    assert after.execution is None or after.execution.scenario.seed == session.version.scenario.seed
