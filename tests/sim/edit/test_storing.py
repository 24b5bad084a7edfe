"""Edits of storage and recovery, and a rollback at a moment: words, undo, links, files, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.core.model import MessageReference
from sim.core.recovery import RecoveryPlan
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario
from sim.document.writing import dumps
from sim.edit.edits import apply_edit, checked_run, planned
from sim.edit.link import Shared, query_of, read_query
from sim.edit.words import describe_edit, describe_plan
from sim.run.execution import run
from sim.run.stored import holdings
from sim.services.settings import STORAGE
from tests.cases import each

# The lecture's 800 and 200: S1 records 770, 200 and the 30 on its way. P2 crashes at 8; S1 is valid from 6 on.
BANK = """
processes = ["P1", "P2"]
marker_delay = { value = 1 }
storage = {}
script = [
    { process = "P1", to = "P2", at = 1, body = 30, label = "a", delay = 5 },
    { process = "P2", to = "P1", at = 6.5, body = 20, label = "b", delay = 0.5 },
    { process = "P1", to = "P2", at = 7, body = 50, label = "c", delay = 5 },
]
snapshots = [{ id = "S1", process = "P2", at = 2 }]
faults = [{ kind = "crash", process = "P2", at = 8 }]
[workload]
kind = "bank"
balance = { P1 = 800, P2 = 200 }
"""
ON: dict[str, Any] = {"do": "storage", "on": True}
OFF: dict[str, Any] = {"do": "storage", "on": False}
AFTER_CRASHES: dict[str, Any] = {"do": "recovery", "on": True}
NEVER: dict[str, Any] = {"do": "recovery", "on": False}


def bank(more: str = "") -> Scenario:
    return parse_toml(BANK.replace("storage = {}\n", more or "storage = {}\n"), "bank")


def of_storage(name: str, *value: Any) -> dict[str, Any]:
    return {"do": "storage", "name": name, **dict(zip(["value"], value, strict=False))}


def of_recovery(name: str, value: Any) -> dict[str, Any]:
    return {"do": "recovery", "name": name, "value": value}


def back_to(to: str, at: float) -> dict[str, Any]:
    return {"do": "roll_back", "to": to, "at": at}


def after(scenario: Scenario, *edits: dict[str, Any]) -> Scenario:
    for edit in edits:
        scenario = planned(scenario, edit, 0.0)
    return scenario


def plan_of(scenario: Scenario) -> RecoveryPlan:
    assert scenario.recovery is not None
    return scenario.recovery


def total(scenario: Scenario) -> int:
    final = checked_run(scenario).final
    assert not any(final.queues)
    return sum(process.state for process in final.processes)


# --------------------------------------------------------------------------- storage


def test_snapshots_are_stored_and_are_not() -> None:
    lecture = library.load("lecture")
    stored = after(lecture, ON)
    assert stored.storage == {} and after(stored, ON) == stored
    assert {row.snapshot_id for row in checked_run(stored).events if row.kind == "committed"} == {"S1"}
    assert after(stored, OFF).storage is None
    assert checked_run(after(stored, OFF)).events == run(lecture).events
    assert describe_plan(lecture, ON) == "snapshots are stored"


def test_a_setting_is_given_and_taken_away_and_the_others_stay() -> None:
    slow = after(bank(), of_storage("bandwidth", 10), of_storage("limit", 2), of_storage("offsets", True))
    assert slow.storage == {"bandwidth": 10, "limit": 2, "offsets": True}
    assert after(slow, of_storage("bandwidth")).storage == {"limit": 2, "offsets": True}
    assert after(slow, of_storage("offsets", False)).storage == {"bandwidth": 10, "limit": 2}
    implied = after(bank("recovery = { at = 10 }\n"), of_storage("latency", 2))
    assert implied.storage == {"latency": 2}, "a recovery alone has a storage that can be told something"


def test_every_setting_has_words() -> None:
    for name, own in STORAGE.items():
        told = describe_plan(bank(), of_storage(name, *([True] if own.kind == "flag" else [4])))
        assert told == f"the storage: {own.help}: {'yes' if own.kind == 'flag' else 4}"
    assert describe_plan(bank(), of_storage("bandwidth")).endswith(": any number")
    assert describe_plan(bank(), of_storage("offsets")).endswith(": no")


def test_without_a_storage_there_is_no_recovery_nor_a_delay_of_what_it_is_told() -> None:
    named = MessageReference(channel="P1->storage", kind="control", snapshot="S1")
    edit = {"do": "delay", "message": named._asdict(), "delay": 3}
    late = apply_edit(run(bank("recovery = { at = 10 }\n")), edit, 0.0).scenario
    assert set(late.delays) - set(bank().delays) == {named}
    without = after(late, OFF)
    assert (without.storage, without.recovery, without.delays) == (None, None, bank().delays)
    checked_run(without)
    assert describe_plan(late, OFF) == "snapshots are not stored, so there is no recovery"


# --------------------------------------------------------------------------- recovery


def test_a_recovery_after_each_crash_and_never_again() -> None:
    safe = after(bank(), AFTER_CRASHES)
    assert plan_of(safe) == RecoveryPlan(on="crash") and total(safe) == 1000
    assert after(safe, NEVER).recovery is None
    later = after(safe, of_recovery("detect", 2.5))
    assert plan_of(later).detect == 2.5
    assert plan_of(after(later, of_recovery("detect", None))).detect == RecoveryPlan.detect
    assert after(later, of_recovery("on", "")).recovery is None, "nothing is left that begins one"
    assert [describe_plan(bank(), edit) for edit in (AFTER_CRASHES, NEVER, of_recovery("on", ""))] == [
        "a recovery after each crash", "no recovery", "no recovery after a crash",
    ]  # fmt: skip


def test_times_of_recoveries_are_given_in_any_order_and_keep_what_they_go_back_to() -> None:
    at_times = after(bank(), of_recovery("at", [12, 10.5]))
    assert plan_of(at_times).at == (10.5, 12)
    goes_back = apply_edit(run(at_times), back_to("S1", 14), 0.0).scenario
    assert plan_of(goes_back).to == ("", "", "S1")
    assert plan_of(after(goes_back, of_recovery("at", [14, 9]))) == RecoveryPlan(at=(9, 14), to=("", "S1"))
    assert plan_of(after(goes_back, of_recovery("at", [9]))).to == ()
    assert after(goes_back, of_recovery("at", [])).recovery is None
    assert describe_plan(bank(), of_recovery("at", [12, 10.5])) == "a recovery at 12 and 10.5"
    assert describe_plan(at_times, of_recovery("at", [])) == "no recovery at a given time"


@each(
    "edits, found",
    [
        ([], 1000),
        ([of_recovery("channels", False)], 970),
        ([of_recovery("fence", False)], 1050),
        ([of_recovery("processes", ["P2"]), of_recovery("fence", False)], 1020),
        ([of_recovery("processes", ["P2"]), of_recovery("fence", False), of_recovery("channels", False)], 990),
    ],
)
def test_what_goes_wrong_where_a_part_of_it_is_left_out(edits: list[dict[str, Any]], found: int) -> None:
    """The totals of the tutorial, and of each of its mistakes alone."""
    wrong = after(bank(), of_recovery("at", [10]), *edits)
    assert total(wrong) == found
    right = after(wrong, *(of_recovery(own["name"], None) for own in edits))
    assert plan_of(right) == RecoveryPlan(at=(10,)) and total(right) == 1000


def test_what_is_said_of_a_recovery_has_words() -> None:
    scenario = bank("recovery = { at = 10 }\n")
    words = {
        "a recovery restores P2 only": of_recovery("processes", ["P2"]),
        "a recovery restores every process": of_recovery("processes", []),
        "a recovery drops the channels' contents": of_recovery("channels", False),
        "a recovery puts the channels' contents back": of_recovery("channels", True),
        "a recovery lets messages of the old epoch in": of_recovery("fence", False),
        "a recovery fences off the old epoch": of_recovery("fence", True),
        "a recovery begins 2.5 after a crash": of_recovery("detect", 2.5),
    }
    assert [describe_plan(scenario, edit) for edit in words.values()] == [*words]


# --------------------------------------------------------------------------- a rollback at a moment


def test_a_rollback_adds_a_recovery_and_is_undone() -> None:
    before = run(bank())
    execution = apply_edit(before, back_to("S1", 9), 0.0)
    assert plan_of(execution.scenario) == RecoveryPlan(at=(9,), to=("S1",))
    (recovery,) = (row for row in execution.events if row.kind == "recovery")
    assert (recovery.time, recovery.snapshot_id) == (9, "S1")
    assert [own.state for own in execution.final.processes] == [770, 230]
    assert run(before.scenario).events == before.events
    assert describe_edit(before, back_to("S1", 9)) == "roll back to S1 at 9"


def test_another_rollback_at_the_same_time_takes_its_place() -> None:
    execution = apply_edit(run(bank("recovery = { at = [10, 12], fence = false }\n")), back_to("S1", 12), 0.0)
    assert plan_of(execution.scenario) == RecoveryPlan(at=(10, 12), fence=False, to=("", "S1"))
    again = apply_edit(execution, {"do": "roll_back", "to": "S1"}, 11.0)
    assert plan_of(again.scenario).at == (10, 11, 12), "the time that the user looks at"


def test_a_rollback_to_an_older_snapshot_deletes_what_belongs_to_the_old_epoch() -> None:
    """Else the next recovery would go on in a future that is abandoned."""
    text = BANK.replace("at = 2 }]", 'at = 2 }, { id = "S2", process = "P1", at = 14 }]')
    text = text[: text.index("faults")] + text[text.index("[workload]") :]
    older = apply_edit(run(parse_toml(text, "two")), back_to("S1", 20), 0.0)
    (note,) = (row for row in older.events if row.kind == "noted" and row.snapshot_id == "S2")
    assert note.time == 20 and "the system is rolled back" in (note.body or "")
    again = apply_edit(older, of_recovery("at", [20, 30]), 0.0)
    assert [row.snapshot_id for row in again.events if row.kind == "recovery"] == ["S1", "S1"]
    assert sum(own.state for own in again.final.processes) == 1000
    with pytest.raises(InputError, match="to: S2 is not stored at 25; go back to S1"):
        apply_edit(older, back_to("S2", 25), 0.0)


def without_times(kind: str) -> Scenario:
    text = BANK[: BANK.index("faults")] + BANK[BANK.index("[workload]") :]
    for own in ("marker_delay = { value = 1 }\n", ", delay = 5", ", delay = 0.5"):
        text = text.replace(own, "")
    return parse_toml(f'seed = 1\n{text}[scheduler]\nkind = "{kind}"\n', "no times")


def test_without_times_it_is_the_last_of_the_recoveries() -> None:
    edit = {"do": "roll_back", "to": "S1"}
    once = apply_edit(run(without_times("random")), edit, 0.0)
    assert plan_of(once.scenario) == RecoveryPlan(at=(0.0,), to=("S1",))
    assert describe_edit(once, edit) == "roll back to S1"
    planned_before = (replace(once.scenario, recovery=RecoveryPlan(at=(3.0,)), seed=seed) for seed in range(50))
    execution = next(found for found in map(run, planned_before) if holdings(found)[-1].rollbacks)
    assert plan_of(apply_edit(execution, edit, 0.0).scenario) == RecoveryPlan(at=(3.0, 4.0), to=("", "S1"))


def test_by_hand_only_what_is_valid_so_far_can_be_gone_back_to() -> None:
    with pytest.raises(InputError, match="to: S1 is not stored; no snapshot is valid then"):
        apply_edit(run(without_times("manual")), {"do": "roll_back", "to": "S1"}, 0.0)


# --------------------------------------------------------------------------- what is refused


@each(
    "edit, told",
    [
        (of_storage("bandwidth", 0), "storage.bandwidth: expected a number above 0, not 0"),
        (of_storage("limit", 1.5), "limit: expected a whole number, not 1.5"),
        (of_storage("tries", 0), "tries: expected a whole number of at least 1, not 0"),
        (of_storage("offsets", 1), "offsets: expected true or false, not 1"),
        (of_storage("speed", 3), "name: 'speed' is unknown"),
        ({"do": "storage", "on": "yes"}, "on: expected true or false, not 'yes'"),
        (of_recovery("channels", False), "name: this run has no recovery; set first when one begins"),
        (of_recovery("speed", 3), "name: 'speed' is unknown"),
        (of_recovery("on", "sunday"), "on: 'sunday' is unknown"),
        (of_recovery("at", [1, "soon"]), "at[2]: expected a number of at least 0, not 'soon'"),
        (of_recovery("at", "soon"), "at: expected a number, not 'soon'"),
        ({"do": "recovery", "on": 1}, "on: expected true or false, not 1"),
        (back_to("S1", 6), "to: S1 is not stored at 6; no snapshot is valid then"),
        (back_to("S9", 7), "to: S9 is not stored at 7; go back to S1"),
        (back_to("S1", -1), "at: expected a finite number of at least 0, not -1"),
        ({"do": "roll_back"}, "to: is missing"),
    ],
)
def test_a_bad_value_is_refused_in_one_sentence(edit: dict[str, Any], told: str) -> None:
    execution = run(bank())
    with pytest.raises(InputError) as refused:
        apply_edit(execution, edit, 0.0)
    assert str(refused.value).startswith(told) and "\n" not in str(refused.value)


def test_who_is_restored_has_to_be_a_process() -> None:
    with pytest.raises(InputError, match=r"recovery\.processes: 'P9' is no process"):
        apply_edit(run(bank("recovery = { at = 10 }\n")), of_recovery("processes", ["P9"]), 0.0)


def test_a_run_that_stores_nothing_has_nothing_to_go_back_to() -> None:
    lecture = run(library.load("lecture"))
    with pytest.raises(InputError, match="to: this run stores nothing, so there is nothing to go back to"):
        apply_edit(lecture, back_to("S1", 100), 0.0)
    with pytest.raises(InputError, match="name: this run stores nothing; store its snapshots first"):
        apply_edit(lecture, of_storage("limit", 2), 0.0)


@each("kind", [name for name in ALGORITHMS if not ALGORITHMS[name].allows_recovery])
def test_an_algorithm_that_allows_no_recovery_has_none(kind: str) -> None:
    """Neither by an edit, nor where it takes the place of one that does; then its rules are the reason."""
    lecture = library.load("lecture")
    other = {"do": "algorithm", "kind": kind}
    with pytest.raises(InputError, match=r"recovery: the rules of .* do not support a recovery yet"):
        checked_run(after(lecture, other, AFTER_CRASHES))
    safe = after(lecture, ON, AFTER_CRASHES)
    changed = after(safe, other)
    assert changed.recovery is None and changed.storage == {}
    checked_run(changed)
    assert "the recovery is removed, because the rules of this algorithm do not support one" in describe_plan(
        safe, other
    )


def test_an_algorithm_that_allows_one_keeps_it() -> None:
    safe = after(library.load("lecture"), AFTER_CRASHES)
    edit = {"do": "algorithm", "kind": "unaligned_barriers"}
    assert after(safe, edit).recovery == safe.recovery
    assert "recovery" not in describe_plan(safe, edit)


# --------------------------------------------------------------------------- faults, links and files


def test_a_process_that_a_recovery_has_brought_back_may_crash_again() -> None:
    """Without a recovery the second crash is refused; and an earlier one takes the place of no later one."""
    crash = {"do": "fault", "kind": "crash", "process": "P2", "at": 12}
    with pytest.raises(InputError, match="P2 is down already at 12"):
        checked_run(after(bank(), crash))
    twice = after(bank(), AFTER_CRASHES, crash)
    assert [fault.at for fault in twice.faults] == [8, 12]
    assert [row.time for row in checked_run(twice).events if row.kind == "crash"] == [8, 12]
    assert total(twice) == 1000
    earlier = {**crash, "at": 6.2}
    assert [fault.at for fault in after(bank(), AFTER_CRASHES, earlier).faults] == [8, 6.2]
    assert [fault.at for fault in after(bank(), earlier).faults] == [6.2], "the later one would change nothing"


def test_links_and_files_keep_it() -> None:
    edits = (
        (of_storage("bandwidth", 100), 0.0), (of_recovery("at", [30]), 0.0), (back_to("S1", 9), 0.0),
        (of_recovery("processes", ["P2", "P1"]), 0.0), (of_recovery("channels", False), 0.0),
    )  # fmt: skip
    shared = Shared(toml=BANK, name="bank", edits=edits)
    again = read_query(query_of(shared))
    assert again == shared
    execution = run(again.base())
    for edit, now in again.edits:
        execution = apply_edit(execution, edit, now)
    scenario = execution.scenario
    plan = RecoveryPlan(at=(9, 30), to=("S1", ""), processes=("P2", "P1"), channels=False)
    assert (scenario.storage, scenario.recovery) == ({"bandwidth": 100}, plan)
    assert parse_toml(dumps(scenario), scenario.name) == scenario
