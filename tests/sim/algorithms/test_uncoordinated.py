"""Uncoordinated checkpoints: the domino effect of the bundled run, in rows, words and drawing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagrams.panels.record.panel import record_of
from diagrams.scene.composition import compose
from sim.algorithms.uncoordinated import Uncoordinated
from sim.core.delays import DelayRule
from sim.core.errors import InputError
from sim.core.model import CONTROL_SEND, MARKER_SEND, RECORD
from sim.document import library
from sim.document.scenario import Scenario
from sim.explain.domino import stages
from sim.explain.narration import sentences
from sim.explore.report import changed, complete_graph, exploration
from sim.run.execution import Execution, run
from sim.run.recovery_lines import recoveries_of
from sim.run.snapshots import snapshots_of
from sim.verify.checks import verdicts_of
from tests.sim.conftest import Register
from tests.sim.strategies import scenarios
from tests.sim.tools import failing, only_snapshot, rows_of, send, start, system
from tests.tools import examples

NAME = Uncoordinated.name


def domino() -> Execution:
    return run(library.load("domino"))


def copies_of(execution: Execution) -> dict[str, list[int | None]]:
    """After how many of its own events each process made its copies."""
    found: dict[str, list[int | None]] = {}
    for row in rows_of(execution, RECORD):
        found.setdefault(row.process, []).append(row.index)
    return found


def test_the_domino_effect() -> None:
    """Copies of the beginning, of P1 after events 2 and 4, of P2 after 1 and 3: four rollbacks to the beginning."""
    execution = domino()
    assert copies_of(execution) == {"P1": [0, 2, 4], "P2": [0, 1, 3]}
    recovery = recoveries_of(execution)["S1"]
    assert (recovery.first, recovery.line) == ({"P1": 4, "P2": 3}, {"P1": 0, "P2": 0})
    assert [(own.process, own.start, own.end) for own in recovery.rollbacks] == [
        ("P1", 4, 2), ("P2", 3, 1), ("P1", 2, 0), ("P2", 1, 0)
    ]  # fmt: skip


def test_the_record_counts_copies_from_the_first_on() -> None:
    (record,) = record_of(compose(domino()))
    assert record["status"] == [
        [0, "has not begun"], [1, "recording: 1 checkpoint so far"], [2, "recording: 2 checkpoints so far"],
        [4, "recording: 3 checkpoints so far"], [6, "recording: 4 checkpoints so far"],
        [8, "recording: 5 checkpoints so far"],
        [10, "complete"],
    ]  # fmt: skip


def test_a_question_says_where_the_first_copies_are_made_and_not_where_the_last_ones_are() -> None:
    (record,) = record_of(compose(domino()))
    truth = record["truth"]
    assert truth["start_steps"] == {"P1": 1, "P2": 2} and truth["record_steps"] == {"P1": 10, "P2": 8}


def test_a_copy_more_would_have_stopped_it() -> None:
    """With a copy after each event the last ones fit together; so they do if P2 copies after its sends."""
    scenario = replace(library.load("domino"), algorithm_parameters={"every": 1}, expect={})
    recovery = recoveries_of(run(scenario))["S1"]
    assert (recovery.line, recovery.rollbacks) == ({"P1": 5, "P2": 4}, ())
    some = replace(scenario, algorithm_parameters={"every": 2})
    assert recoveries_of(run(some))["S1"].line == {"P1": 4, "P2": 4}, "each copies after a receive, P2 after its send"


def test_nothing_is_sent_for_the_copies() -> None:
    assert rows_of(domino(), MARKER_SEND, CONTROL_SEND) == []


def test_the_snapshot_is_of_the_last_copies() -> None:
    snapshot = only_snapshot(domino())
    assert snapshot.events == {"P1": ("A", "D", "E", "H"), "P2": ("B", "C", "F")}
    assert (snapshot.status, snapshot.frontier) == ("complete", {"P1": 4, "P2": 3})


def test_nobody_asks_that_the_copies_fit_together() -> None:
    """The check of consistency is not made of them, and a sentence says so. With it this run would fail."""
    execution = domino()
    assert [(verdict.check, verdict.holds) for verdict in verdicts_of(execution)["S1"]] == [("completion", True)]
    (record,) = record_of(compose(execution))
    ((step, told),) = record["verdicts"]
    assert step == 10 and [own["check"] for own in told] == ["Complete", "Not coordinated", "Recovery line"]
    assert [own.get("remark", False) for own in told] == [False, True, True]
    assert told[1]["text"] == "No rule makes the checkpoints a consistent cut. Here the latest ones do not form one."
    assert told[2]["text"] == (
        "It is the latest consistent cut that the processes can go back to after a failure. If all processes fail (a "
        "total failure), 4 rollbacks lead to it: P1 and P2 go back to their initial states. No checkpoint was of any "
        "use."
    )


class Judged(Uncoordinated):
    """Asks of its copies what is asked of a snapshot."""

    name = "test_judged"
    checks = ("completion", "consistency", "conservation")


def test_a_message_that_crosses_makes_the_last_copies_inconsistent(register: Register) -> None:
    """m4 is received inside and sent outside: the check sees it, if it is asked."""
    scenario = replace(library.load("domino"), algorithm=register(Judged), expect={})
    assert failing(run(scenario)) == {
        "S1:consistency": "message G on C21 is received inside the cut, but sent outside it"
    }


def test_what_is_in_the_channels_is_in_no_copy() -> None:
    """P1 pays before its copy, P2 receives after it: the copies fit together, and the 30 are lost."""
    scenario = system(
        "P1 P2", workload="bank", algorithm=NAME, algorithm_parameters={"every": 1, "first": {"P2": 5}},
        script=(send("P1", "P2", 2, 30),), snapshots=(start("P1", 1), start("P2", 1)), delay=DelayRule("fixed", 2.0),
    )  # fmt: skip
    execution = run(scenario)
    recovery = recoveries_of(execution)["S1"]
    assert (recovery.line, recovery.rollbacks) == ({"P1": 1, "P2": 0}, ())
    (line,) = stages(execution)
    assert line.text.endswith("Lost, unless they are sent again: 30.")


def test_each_rollback_is_a_cut_to_look_at_and_the_line_is_drawn() -> None:
    execution = domino()
    scene = compose(execution)
    shown = [(cut.name, cut.frontier, cut.consistent) for cut in scene.whole_run.story_cuts]
    assert shown == [
        ("Last checkpoints", (4, 3), False), ("Rollback 1", (2, 3), False), ("Rollback 2", (2, 1), False),
        ("Rollback 3", (0, 1), False), ("Recovery line", (0, 0), True),
    ]  # fmt: skip
    (cut,) = scene.cuts
    first = [recording.position for recording in scene.recordings["S1"] if recording.step <= 2]
    assert (cut.name, cut.known, cut.consistent, list(cut.positions)) == ("recovery line", 10, True, first)


def test_every_copy_is_a_diamond_and_stands_in_the_record_until_the_next() -> None:
    scene = compose(domino())
    assert [recording.step for recording in scene.recordings["S1"]] == [1, 2, 4, 6, 8, 10]
    (record,) = record_of(scene)
    of_p1 = next(own["text"] for own in record["processes"] if own["name"] == "P1")
    assert of_p1 == [[0, "not recorded yet"], [1, "{}"], [6, "{A, D}"], [10, "{A, D, E, H}"]]


def test_a_copy_comes_after_its_event_in_one_step() -> None:
    told = sentences(domino())
    assert told[6] == "D: P1 receives m2 from P2 on C21. Then P1 takes a checkpoint of its state {A, D}."


def test_what_no_process_is_called_is_refused() -> None:
    with pytest.raises(InputError, match="'P9' is no process; the processes are P1, P2"):
        system("P1 P2", algorithm=NAME, algorithm_parameters={"first": {"P9": 1}})


def test_every_process_has_to_begin_by_itself() -> None:
    with pytest.raises(InputError, match="needs every process to initiate S1; add one at P2"):
        system("P1 P2", algorithm=NAME, snapshots=(start("P1", 1),))


def test_run_with_it_every_process_begins() -> None:
    scenario = changed(library.load("lecture"), NAME, not_fifo=False)
    assert [(own.snapshot, own.process) for own in scenario.snapshots] == [("S1", "P1"), ("S1", "P2"), ("S1", "P3")]
    assert len({own.at for own in scenario.snapshots}) == 1


@examples(20)
@given(scenarios(), st.integers(1, 4))
def test_copies_are_made_after_every_so_many_actions(scenario: Scenario, every: int) -> None:
    plain = changed(scenario, NAME, not_fifo=False)
    scenario = replace(plain, algorithm_parameters={"every": every})
    execution = run(scenario)
    assert failing(execution) == {}
    for snapshot in snapshots_of(execution):
        for process in scenario.processes:
            own = [
                row for row in rows_of(execution, RECORD) if (row.process, row.snapshot_id) == (process, snapshot.id)
            ]
            assert all((row.index or 0) % every == 0 for row in own[1:])
            assert [row.index for row in own] == sorted({row.index for row in own}, key=lambda index: index or 0)
        recovery = recoveries_of(execution)[snapshot.id]
        assert execution.history.is_consistent(recovery.line)
        assert all(recovery.line[name] <= recovery.first[name] for name in recovery.line)
    assert run(scenario, copied=True).events == execution.events
    assert len(sentences(execution)) == execution.steps + 1


@pytest.mark.parametrize(("processes", "sends", "states"), [(2, 1, 37), (3, 1, 804)])
def test_every_run_of_a_small_system(processes: int, sends: int, states: int) -> None:
    """Counted once. That every process makes copies holds in every run, and nothing else is asked."""
    done: Any = exploration(changed(complete_graph(processes, sends), NAME, not_fifo=True))
    assert (done.found.states, done.shortest()) == (states, [])
