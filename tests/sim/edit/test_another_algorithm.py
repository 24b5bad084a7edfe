"""Running a scenario with another algorithm: who starts the snapshots, and what helps where something lacks."""

from __future__ import annotations

import pytest

from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario
from sim.edit.another_algorithm import remedy_of_order, remedy_of_refused
from sim.edit.edits import checked_run, planned
from sim.edit.words import describe_plan
from sim.run.snapshots import snapshots_of
from tests.cases import each
from tests.sim import rule_books
from tests.sim.tools import start, system


def run_with(scenario: Scenario, **edit: str) -> Scenario:
    return planned(scenario, {"do": "algorithm", **edit}, 0.0)


def starts(scenario: Scenario) -> list[tuple[str, str, float]]:
    return [(start.snapshot, start.process, start.at) for start in scenario.snapshots]


def test_a_coordinator_starts_what_a_process_started_and_back(register):
    lecture = library.load("lecture")
    commanded = run_with(lecture, kind=register(rule_books.Commanded))
    assert starts(commanded) == [("S1", "boss", lecture.snapshots[0].at)]
    assert snapshots_of(checked_run(commanded))[0].status == "complete"
    back = run_with(commanded, kind="chandy_lamport")
    assert starts(back) == [("S1", "P1", lecture.snapshots[0].at)]
    edit = {"do": "algorithm", "kind": rule_books.Commanded.name}
    assert describe_plan(lecture, edit) == "snapshots by Commanded, started by boss"
    everybody = {"do": "algorithm", "kind": "uncoordinated"}
    assert describe_plan(lecture, everybody) == "snapshots by Uncoordinated checkpoints, started by P1, P2 and P3"


def test_who_does_not_reach_all_is_replaced_by_one_who_does():
    """Announcements of Mattern's initiator need no channel, so the sink may start a snapshot; a marker would not do."""
    chain = system("a b c", "a->b b->c", algorithm="mattern", snapshots=(start("c", 4), start("b", 6, "S2")))
    after = run_with(chain, kind="chandy_lamport")
    assert starts(after) == [("S1", "a", 4), ("S2", "a", 6)]
    assert starts(run_with(system("a b c", "a->c b->c", algorithm="mattern", snapshots=(start("c", 4),)),
                           kind="chandy_lamport")) == [("S1", "a", 4), ("S1", "b", 4), ("S1", "c", 4)]  # fmt: skip


def test_a_second_initiator_that_is_asked_for_is_refused_where_there_is_one_only():
    collecting = planned(library.load("lecture"), {"do": "parameter", "name": "collect", "value": True}, 0.0)
    with pytest.raises(InputError, match="P1 and P2 cannot both start S1"):
        checked_run(planned(collecting, {"do": "snapshot", "process": "P2", "id": "S1", "at": 3}, 0.0))


def test_every_process_starts_where_all_have_to_and_the_order_of_snapshots_stays(register):
    scenario = library.load("overlapping")
    everybody = run_with(scenario, kind=register(rule_books.Everybody))
    processes, order = len(scenario.processes), [start.snapshot for start in scenario.snapshots]
    assert [start.snapshot for start in everybody.snapshots] == [name for name in order for _ in range(processes)]
    assert all(snapshot.status == "complete" for snapshot in snapshots_of(checked_run(everybody)))


def test_without_a_source_the_edit_is_refused_and_the_remedy_makes_one(register):
    scenario, edit = library.load("lecture"), {"do": "algorithm", "kind": register(rule_books.Aligned)}
    with pytest.raises(InputError, match="sources, which have no incoming channel"):
        checked_run(planned(scenario, edit, 0.0))
    remedy = remedy_of_refused(scenario, edit)
    assert remedy is not None and remedy.words == "Remove the channels to P1, which makes it a source"
    assert remedy.why == "Aligned barriers begin at a source, a process without incoming channels, and there is none"
    changed = planned(scenario, remedy.edit, 0.0)
    assert not [channel for channel in changed.channels if channel.target_name == "P1"]
    assert not [line for line in changed.script if line.to == "P1"]
    assert describe_plan(scenario, remedy.edit).endswith("P1 loses its incoming channels")
    assert remedy_of_refused(changed, edit) is None, "there is a source"
    with pytest.raises(InputError, match="'P9' is no process"):
        planned(scenario, {**edit, "source": "P9"}, 0.0)


def test_who_needs_fifo_can_have_it_on_every_channel():
    scenario = library.load("lai_yang")
    broken = run_with(scenario, kind="chandy_lamport")
    remedy = remedy_of_order(broken)
    assert remedy is not None and remedy.words == "Make every channel FIFO"
    whole = planned(broken, remedy.edit, 0.0)
    assert not whole.not_fifo and not whole.breaks and remedy_of_order(whole) is None
    assert describe_plan(broken, remedy.edit) == "every channel is FIFO"
    assert snapshots_of(checked_run(whole))[0].status == "complete"
    again = planned(whole, {"do": "fifo", "channel": "all", "fifo": False}, 0.0)
    assert len(again.not_fifo) == len(again.channels) and "fifo" in again.breaks


def test_what_waits_for_a_message_to_the_source_is_gone_with_it(register):
    scenario = parse_toml(
        """
        processes = ["P1", "P2"]
        script = [
          { process = "P2", at = 1, to = "P1", label = "a" },
          { process = "P1", at = 1, after = "a", label = "b" },
          { process = "P2", at = 9, after = "b" },
          { process = "P2", at = 3, label = "c" },
        ]
        snapshots = [{ id = "S1", process = "P1", at = 1, after = "a" }]
        delays = [{ label = "a", delay = 4 }]
        """,
        "waiting",
    )
    changed = run_with(scenario, kind=register(rule_books.Aligned), source="P1")
    assert [line.label for line in changed.script] == ["c"]
    assert changed.snapshots[0].after is None and not changed.delays
    checked_run(changed)


@pytest.mark.slow
@each("name", [name for name in library.names() if name != "hundred"])
def test_every_scenario_runs_with_every_algorithm_or_says_in_a_sentence_why_not(name):
    scenario = library.load(name)
    for kind in ALGORITHMS:
        edit = {"do": "algorithm", "kind": kind}
        remedy = remedy_of_refused(scenario, edit)
        try:
            checked_run(planned(scenario, remedy.edit if remedy else edit, 0.0))
        except InputError as problem:
            # what the program needs, a process that is not reached, a crash, a coordinator, or a copy that is counted
            about = ("workload", "script", "snapshots", "faults", "coordinator", "network")
            assert str(problem).startswith(about) and "\n" not in str(problem)


def test_a_setting_of_the_algorithm_is_given_and_taken_away():
    lecture = library.load("lecture")
    edit = {"do": "parameter", "name": "collect", "value": True}
    collecting = planned(lecture, edit, 0.0)
    assert describe_plan(lecture, edit).endswith("to the process that started the snapshot: yes")
    assert snapshots_of(checked_run(collecting))[0].collected is not None
    riding = planned(collecting, {"do": "parameter", "name": "piggyback", "value": 5}, 0.0)
    assert riding.algorithm_parameters == {"collect": True, "piggyback": 5}
    assert snapshots_of(checked_run(riding))[0].status == "complete"
    plain = planned(planned(riding, {"do": "parameter", "name": "piggyback"}, 0.0), {**edit, "value": False}, 0.0)
    assert plain.algorithm_parameters == {}
    found = planned(library.load("barriers_cycle"), {"do": "parameter", "name": "back_edges"}, 0.0)
    assert found.algorithm_parameters == {} and checked_run(found)
    for wrong in ({"name": "speed"}, {"name": "collect", "value": 3}, {"name": "piggyback", "value": -1}):
        with pytest.raises(InputError, match=wrong["name"]):
            planned(lecture, {"do": "parameter", **wrong}, 0.0)
