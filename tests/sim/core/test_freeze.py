"""Processes that stand still: `freeze` and `thaw`. The times are worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.core.errors import InputError
from sim.core.model import (
    CRASH,
    FROZEN,
    LEAVE,
    LOST,
    PAUSED,
    RECEIVE,
    RECORD,
    RESTORE,
    SEND,
    SNAPSHOT_COMPLETE,
    THAWED,
    TIMER,
)
from sim.core.recovery import RecoveryPlan
from sim.core.topology import EVERY_CHANNEL, Topology
from sim.document.files import parse_toml
from sim.document.scenario import FaultLine, Scenario, SchedulerChoice
from sim.document.validate import validate
from sim.document.writing import dumps
from sim.edit.words import describe_edit
from sim.explain.choices import all_choices
from sim.explain.narration import sentences
from sim.run.execution import Execution, run
from sim.run.snapshots import COMPLETE, snapshots_of
from sim.run.stops import freed_at, stops_of
from tests.cases import each
from tests.sim import rule_books
from tests.sim.strategies import scenarios
from tests.sim.tools import edited_by, failing, only_snapshot, rows_of, send, start, summary, system
from tests.tools import examples


def fault(kind: str, process: str, at: float) -> FaultLine:
    return FaultLine(kind, process, (), at)


def frozen(process: str, begin: float, end: float) -> tuple[FaultLine, FaultLine]:
    return fault("freeze", process, begin), fault("thaw", process, end)


PAIR = system(
    "P1 P2", workload="bank", parameters={"balance": 100}, snapshots=(start("P2", 4),),
    script=(send("P1", "P2", 1, 5), send("P2", "P1", 3, 7)), faults=frozen("P2", 1.5, 6),
)  # fmt: skip


class TestStandsStill:
    def test_all_that_it_would_do_waits_and_happens_at_once(self):
        """Its send at 3, its start at 4 and the arrival at 2: at 6, in the order of all that happens at one time."""
        assert summary(PAIR, SEND, RECEIVE, RECORD, FROZEN, THAWED) == [
            "1 P1 send P1.1", "1.5 P2 frozen None", "6 P2 thawed None", "6 P2 send P2.1", "6 P2 record None",
            "6 P2 receive P2.2", "7 P1 receive P1.2", "7 P1 record None",
        ]  # fmt: skip
        assert failing(run(PAIR)) == {} and only_snapshot(run(PAIR)).status == COMPLETE

    def test_without_a_thaw_it_does_nothing_more_and_loses_nothing(self):
        execution = run(replace(PAIR, faults=PAIR.faults[:1]))
        assert [row.kind for row in execution.events if row.process == "P2"] == [FROZEN]
        assert execution.final.processes[1].state == 100 and len(execution.final.queues[0]) == 1

    def test_its_timers_stand_still(self, register):
        """Timers of 3 are set at 1. P2, frozen from 2 to 6.5, has 2 left then; a second time, from 7 to 8, 1.5."""
        timed = system(
            "P1 P2", algorithm=register(rule_books.Patient), snapshots=(start("P1", 1), start("P2", 1)),
            faults=frozen("P2", 2, 6.5),
        )  # fmt: skip
        assert summary(timed, TIMER) == ["4 P1 timer quiet", "8.5 P2 timer quiet"]
        assert summary(replace(timed, faults=(*timed.faults, *frozen("P2", 7, 8))), TIMER)[1:] == ["9.5 P2 timer quiet"]
        crashed = (*timed.faults[:1], fault("crash", "P2", 3), fault("restart", "P2", 3.5))
        assert summary(replace(timed, faults=crashed), TIMER) == ["4 P1 timer quiet"]

    def test_its_channels_fill_and_their_senders_stand_still(self):
        full = system(
            "P1 P2", topology=Topology("complete", capacity=((EVERY_CHANNEL, 1),)),
            script=(send("P1", "P2", 1), send("P1", "P2", 2)), faults=frozen("P2", 1.5, 6),
        )  # fmt: skip
        assert [row.time for row in rows_of(run(full), SEND)] == [1, 6]

    def test_a_pause_and_a_freeze_are_two_things(self):
        """Whoever is paused and frozen goes on when both are over."""
        paused = system(
            "P1 P2 P3", algorithm="stop_the_world", snapshots=(start("coordinator", 2),), script=(send("P2", "P3", 9),)
        )
        alone = run(paused)
        (begin, *_) = (row.time for row in rows_of(alone, PAUSED) if row.process == "P2")
        execution = run(replace(paused, faults=frozen("P2", begin + 0.5, 30)))
        assert failing(execution) == {} and only_snapshot(execution).status == COMPLETE
        assert {row.process for row in execution.events if begin + 0.5 < row.time < 30} <= {"P1", "P3"} | {
            *alone.engine.nodes[3:]
        }
        assert [row.time for row in rows_of(execution, SEND)] == [
            stop.end.time for stop in stops_of(execution) if stop.end and (stop.kind, stop.process) == (PAUSED, "P2")
        ]

    def test_a_crash_ends_it_and_it_starts_again_awake(self):
        scenario = replace(
            PAIR, snapshots=(), faults=(*PAIR.faults[:1], fault("crash", "P2", 2.5), fault("restart", "P2", 5))
        )
        execution = run(scenario)
        assert summary(scenario, FROZEN, CRASH, LOST, SEND)[1:] == [
            "1.5 P2 frozen None", "2.5 P2 crash None", "2.5 P2 lost P1->P2", "5 P2 send P2.1"
        ]  # fmt: skip
        assert [(own.kind, own.lasts) for own in stops_of(execution)] == [(FROZEN, 1.0), (CRASH, 2.5)]

    def test_it_leaves_without_a_word(self):
        coordinated = {"timeout": 50.0}
        scenario = system("P1 P2 P3", coordinator=coordinated, faults=(fault("leave", "P3", 5),))
        assert any(row.body == '"bye"' for row in run(scenario).table)
        execution = run(replace(scenario, faults=(fault("freeze", "P3", 3), fault("leave", "P3", 5))))
        assert [row.kind for row in execution.events if row.process == "P3"] == [FROZEN, LEAVE]
        assert not execution.final.processes[2].frozen

    def test_a_recovery_restores_it_when_it_is_thawed(self):
        """P1 crashes at 5; P2, frozen from 3 to 12, is in the old epoch till then, and what is new waits for it."""
        scenario = system(
            "P1 P2", workload="bank", parameters={"balance": 100}, recovery=RecoveryPlan(on="crash", detect=1.0),
            script=(send("P1", "P2", 2.5, 5), send("P1", "P2", 7, 9)),
            snapshots=(start("P1", 0.5), start("P1", 8, "S2")), faults=(*frozen("P2", 3, 12), fault("crash", "P1", 5)),
        )  # fmt: skip
        execution = run(scenario)
        assert [(row.process, row.time) for row in rows_of(execution, RESTORE)] == [("P1", 6), ("P2", 12)]
        assert min(row.time for row in rows_of(execution, SNAPSHOT_COMPLETE) if row.snapshot_id == "S2") == 12
        assert failing(execution) == {} and {own.status for own in snapshots_of(execution)} == {COMPLETE}
        assert sum(own.state for own in execution.final.processes) == 200

    def test_of_two_recoveries_only_the_later_one_restores(self):
        """A part is fetched for the recovery under way: what was due for the one before is not in time for it."""
        scenario = system(
            "P1 P2", snapshots=(start("P1", 0.5),), storage={"bandwidth": 3.0},
            recovery=RecoveryPlan(at=(20.0, 21.0)), faults=frozen("P2", 19, 20.5),
        )  # fmt: skip
        execution = run(scenario)
        takes = execution.final.recovery.goal.takes
        assert [(row.process, row.time) for row in rows_of(execution, RESTORE)] == [
            (name, 21 + takes[name]) for name in sorted(takes, key=lambda own: (takes[own], own))
        ]


class TestWords:
    def test_sentences_and_choices(self):
        told = sentences(run(PAIR))
        assert told[2] == "P2 freezes. It keeps all that it holds, but it and its timers stand still."
        assert told[3] == "P2 thaws after 4.5 time units and goes on with all that it holds."
        by_hand = replace(PAIR, scheduler=SchedulerChoice("manual", order=("act P1", "freeze P2")))
        assert [own.words for own in all_choices(run(by_hand), 2, 2)[0]] == ["P2 is thawed"]

    def test_what_waits_for_it_is_free_when_it_is_thawed(self):
        assert freed_at(run(PAIR)) == {0: 6.0}

    def test_edits(self):
        base = replace(PAIR, faults=())
        still = edited_by(base, {"do": "fault", "kind": "freeze", "process": "P2", "at": 1.5}, 0.0)
        assert edited_by(still, {"do": "fault", "kind": "thaw", "process": "P2", "at": 6}, 0.0).faults == PAIR.faults
        with pytest.raises(InputError, match="P2 is frozen already at 2"):
            edited_by(still, {"do": "fault", "kind": "freeze", "process": "P2", "at": 2}, 0.0)
        crashed = edited_by(PAIR, {"do": "fault", "kind": "crash", "process": "P2", "at": 5}, 0.0)
        assert crashed.faults == (PAIR.faults[0], fault("crash", "P2", 5)), "the thaw would change nothing"
        told = [describe_edit(run(PAIR), {"do": "delete", "item": {"faults": number}}) for number in (0, 1)]
        assert told == ["delete the freezing of P2 at 1.5", "delete the thawing of P2 at 6"]


BAD = {
    'kind = "thaw"\nprocess = "P2"\nat = 3': "faults[1]: P2 is not frozen at 3; only what is frozen can be thawed",
    'kind = "freeze"\nprocess = "Q"\nat = 3': "faults[1].process: 'Q' is no process; ",
    'kind = "freeze"\nat = 3': "faults[1].process: is missing",
    'kind = "crash"\nprocess = "P2"\nat = 2\n[[faults]]\nkind = "freeze"\nprocess = "P2"\nat = 3': (
        "faults[2]: P2 is down at 3; only a process that is up can be frozen"
    ),
    'kind = "freeze"\nprocess = "P2"\nat = 2\n[[faults]]\nkind = "crash"\nprocess = "P2"\nat = 3\n'
    '[[faults]]\nkind = "thaw"\nprocess = "P2"\nat = 4': "faults[3]: P2 is not frozen at 4; ",
    'kind = "freeze"\nprocess = "P2"\nat = 2\n[[faults]]\nkind = "freeze"\nprocess = "P2"\nat = 3\n'
    "[recovery]\nat = 9": (
        "faults[2]: P2 is frozen already at 3; give another time, or leave one out"
    ),
}  # fmt: skip


@each("lines, complaint", BAD.items())
def test_bad_input_gets_one_sentence(lines: str, complaint: str) -> None:
    with pytest.raises(InputError) as problem:
        parse_toml(f"processes = 2\n[[faults]]\n{lines}\n", "test")
    assert str(problem.value).startswith(f"test.toml: {complaint}") and "\n" not in str(problem.value)


# ------------------------------------------------------------------ any run


@st.composite
def with_freezes(draw: st.DrawFn) -> Scenario:
    """A random scenario in which processes are frozen and thawed, each up to three times."""
    scenario = draw(scenarios())
    found: list[FaultLine] = []
    for name in draw(st.lists(st.sampled_from(scenario.processes), unique=True, min_size=1)):
        times = sorted(draw(st.lists(st.floats(0, 40, width=16), min_size=2, max_size=6, unique=True)))
        kinds = [("freeze", "thaw")[number % 2] for number in range(len(times))]
        found += [fault(kind, name, at) for kind, at in zip(kinds, times, strict=True)]
    scenario = replace(scenario, faults=tuple(draw(st.permutations(found))))
    validate(scenario)
    return scenario


@pytest.mark.slow
@examples(25)
@given(with_freezes())
def test_a_run_with_freezes_is_a_run_of_slow_processes(scenario: Scenario) -> None:
    """A frozen process has no row, nothing is lost, and the checks that fail are those that fail without a freeze."""
    execution = run(scenario)
    _check_stillness(execution)
    assert {row.kind for row in execution.events}.isdisjoint({LOST, CRASH})
    if not any(process.frozen for process in execution.final.processes):
        assert failing(execution).keys() == failing(run(replace(scenario, faults=()))).keys()
    assert run(scenario, copied=True).events == execution.events
    assert run(parse_toml(dumps(scenario), scenario.name)).events == execution.events
    assert len(sentences(execution)) == execution.steps + 1


def _check_stillness(execution: Execution) -> None:
    for stop in stops_of(execution):
        if stop.kind == FROZEN:
            last = stop.end.row if stop.end else len(execution.events)
            within = execution.events[stop.begin.row + 1 : last]
            assert stop.process not in {row.process for row in within}
