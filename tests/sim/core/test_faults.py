"""Crashes and severed channels: what the world does to a run. The times are worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.core.errors import InputError
from sim.core.model import (
    CRASH,
    DOWN,
    JOIN,
    LEAVE,
    LOST,
    RECEIVE,
    RECORD,
    RESTART,
    SEND,
    SNAPSHOT_COMPLETE,
    TIMER,
    UP,
    MessageReference,
)
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import FaultLine, Scenario, SchedulerChoice
from sim.document.validate import validate
from sim.document.writing import dumps
from sim.edit.words import describe_edit
from sim.explain.choices import all_choices
from sim.explain.narration import narrate, sentences
from sim.explain.reasons import explain, reasons_over_steps
from sim.run.cut_states import states_at_cuts
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from sim.run.stops import freed_at, stops_of
from tests.cases import each
from tests.sim import rule_books
from tests.sim.strategies import scenarios
from tests.sim.tools import edited_by, failing, only_snapshot, rows_of, send, start, summary, system, verdicts
from tests.tools import examples

PARTITION, A_CRASH = library.load("partition"), library.load("crash")


def fault(kind: str, about: str, at: float, after: str | None = None) -> FaultLine:
    """A fault of a process, or of channels: `P1->P2 P2->P1`."""
    if "->" in about:
        return FaultLine(kind, None, tuple(about.split()), at, after)
    return FaultLine(kind, about, (), at, after)


class TestPartition:
    """Oracle 11: both channels severed from 2.5 to 9, start at 2, delay 1."""

    def test_what_falls_due_meanwhile_arrives_at_the_mend(self):
        execution = run(PARTITION)
        snapshot = only_snapshot(execution)
        assert [execution.times[snapshot.closed[name]] for name in ("P1->P2", "P2->P1")] == [9, 10]
        assert [message.body for message in snapshot.channels["P2->P1"]] == [30]
        assert failing(execution) == {}

    def test_without_it_the_snapshot_is_complete_at_4(self):
        execution = run(replace(PARTITION, faults=(), delays={}))
        assert execution.times[only_snapshot(execution).completed or 0] == 4

    def test_the_rows_the_stops_and_the_sentences(self):
        execution = run(PARTITION)
        assert [(row.kind, row.process, row.channel, row.time) for row in rows_of(execution, DOWN, UP)] == [
            (DOWN, "P1", "P1->P2", 2.5), (DOWN, "P2", "P2->P1", 2.5), (UP, "P1", "P1->P2", 9), (UP, "P2", "P2->P1", 9),
        ]  # fmt: skip
        assert [(stop.kind, stop.channel, stop.lasts) for stop in stops_of(execution)] == [
            (DOWN, "P1->P2", 6.5), (DOWN, "P2->P1", 6.5)
        ]  # fmt: skip
        assert set(freed_at(execution).values()) == {9}
        assert sentences(execution)[3] == "C12 and C21 are severed. Nothing arrives there until they are mended."
        assert narrate(execution)[3].badge == "Fault"

    def test_a_channel_that_is_never_mended_keeps_what_is_on_it(self):
        execution = run(replace(PARTITION, faults=PARTITION.faults[:1]))
        assert failing(execution) == {"S1:completion": "P2 has not recorded"}
        assert [len(queue) for queue in execution.final.queues] == [1, 1]


class TestCrash:
    """P2 records at 3, is down from 5 to 9, and gets a late marker at 10: see the story."""

    def test_what_it_has_recorded_is_lost_and_the_snapshot_is_never_complete(self):
        execution = run(A_CRASH)
        snapshot = only_snapshot(execution)
        assert (snapshot.status, snapshot.local["P2"].step) == ("recording", rows_of(execution, RECORD)[-1].step)
        assert [row.time for row in rows_of(execution, RECORD) if row.process == "P2"] == [3, 10]
        assert failing(execution)["S1:completion"] == "P2 has lost its part in a crash"

    def test_between_the_crash_and_the_late_marker_it_has_recorded_nothing(self):
        held = run(replace(A_CRASH, delays={}, snapshots=A_CRASH.snapshots))
        crashed = replace(A_CRASH, faults=(fault("crash", "P2", 5), fault("restart", "P2", 30)))
        assert "P2" not in only_snapshot(run(crashed)).local
        assert "P2" in only_snapshot(held).local

    def test_what_comes_while_it_is_down_is_lost(self):
        execution = run(A_CRASH)
        (lost,) = rows_of(execution, LOST)
        assert (lost.time, lost.process, lost.channel) == (7, "P2", "P1->P2")
        flight = execution.flights[lost.message_id or 0]
        assert flight.receive is None and flight.lost == lost
        assert sentences(execution)[lost.step] == "10 from P1 is lost, because P2 is down."

    def test_it_starts_again_from_its_initial_state_and_its_events_go_on(self):
        scenario = system(
            "P1 P2", workload="bank", parameters={"balance": {"P1": 9, "P2": 5}},
            script=(send("P1", "P2", 1, 2), send("P1", "P2", 8, 3)), faults=(fault("crash", "P2", 3),),
        )  # fmt: skip
        down = run(scenario)
        assert down.final.processes[1].state is None
        up = run(replace(scenario, faults=(*scenario.faults, fault("restart", "P2", 6))))
        assert [row.index for row in rows_of(up, RECEIVE)] == [1, 2]
        assert up.final.processes[1].state == 5 + 3
        assert sentences(up)[4] == "P2 starts again from its initial state 5."

    def test_a_part_that_is_done_is_not_lost(self):
        scenario = system("P1 P2", snapshots=(start("P1", 1),), faults=(fault("crash", "P2", 2.5),))
        execution = run(scenario)
        assert only_snapshot(execution).status == "complete" and failing(execution) == {}

    def test_script_lines_and_initiations_wait_until_it_is_up(self):
        scenario = system(
            "P1 P2", script=(send("P2", "P1", 4),), snapshots=(start("P2", 5),),
            faults=(fault("crash", "P2", 3), fault("restart", "P2", 9)),
        )  # fmt: skip
        execution = run(scenario)
        assert [row.time for row in rows_of(execution, "send", RECORD) if row.process == "P2"] == [9, 9]

    def test_its_timers_are_gone(self, register):
        scenario = system("P1 P2", algorithm=register(rule_books.Patient), snapshots=(start("P1", 1), start("P2", 1)))
        down = replace(scenario, faults=(fault("crash", "P2", 2), fault("restart", "P2", 3)))
        assert summary(scenario, TIMER) == ["4 P1 timer quiet", "4 P2 timer quiet"]
        assert summary(down, TIMER) == ["4 P1 timer quiet"]


class TestJoinAndLeave:
    """P3 is not there at first; see sim/core/faults.py."""

    JOINS = system(
        "P1 P2 P3", absent=("P3",), workload="bank", parameters={"balance": 100},
        script=(send("P1", "P2", 1, 5), send("P3", "P1", 3, 7)), snapshots=(start("P1", 2), start("P1", 8, "S2")),
        faults=(fault("join", "P3", 5),),
    )  # fmt: skip

    def test_a_snapshot_has_those_who_are_there(self):
        execution = run(self.JOINS)
        first, second = snapshots_of(execution)
        assert (first.members, sorted(first.channels)) == (("P1", "P2"), ["P1->P2", "P2->P1"])
        assert (second.members, len(second.channels)) == (("P1", "P2", "P3"), 6)
        found = {name: {own.check: own.holds for own in row} for name, row in verdicts(execution).items()}
        assert found["S1"] == found["S2"] == dict.fromkeys(found["S1"], True)

    def test_its_script_waits_until_it_has_joined_and_then_it_has_its_initial_state(self):
        execution = run(self.JOINS)
        (joined,) = rows_of(execution, JOIN)
        assert (joined.time, joined.body) == (5, "100")
        assert [row.time for row in rows_of(execution, SEND) if row.process == "P3"] == [5]
        assert sentences(execution)[joined.step] == "P3 joins in its initial state 100."
        assert [(own.kind, own.process, own.begin.time, own.lasts) for own in stops_of(execution)] == [
            (LEAVE, "P3", 0, 5)
        ]  # fmt: skip

    def test_what_comes_to_one_who_is_not_there_is_lost(self):
        early = replace(self.JOINS, script=(send("P1", "P3", 1, 5),), snapshots=())
        execution = run(early)
        (lost,) = rows_of(execution, LOST)
        assert sentences(execution)[lost.step] == "5 from P1 is lost, because P3 is not in the system."

    def test_a_channel_of_one_who_has_left_does_not_stand_for_another(self):
        """P1 has closed C31 when P3 leaves. Two of its channels are left, and C41 is still open when C21 is closed."""
        late = {MessageReference(None, "P4->P1", "marker", "S1", 1): 9.0}
        scenario = system(
            "P1 P2 P3 P4", snapshots=(start("P1", 1),), faults=(fault("leave", "P3", 3.5),),
            delays={**late, MessageReference(None, "P2->P1", "marker", "S1", 1): 3.0},
        )  # fmt: skip
        done = {row.process: row.time for row in rows_of(run(scenario), SNAPSHOT_COMPLETE)}
        assert done["P1"] == 11

    def test_bad_input(self):
        for faults, problem in (
            ((fault("join", "P1", 5),), "P1 is there already at 5; only a process under `absent`, or one that left"),
            ((fault("crash", "P3", 2), fault("join", "P3", 5)), "P3 is not there at 2; it has to join first"),
        ):
            with pytest.raises(InputError, match=problem):
                validate(replace(self.JOINS, faults=faults))
        with pytest.raises(InputError, match="absent: 'P9' is no process"):
            validate(replace(self.JOINS, absent=("P9",)))
        with pytest.raises(InputError, match="do not support processes that join"):
            validate(replace(self.JOINS, algorithm="lai_yang"))


def test_a_message_that_is_lost_is_in_no_channel_of_any_cut():
    scenario = system(
        "P1 P2", workload="bank", parameters={"balance": {"P1": 9, "P2": 5}}, script=(send("P1", "P2", 1, 4),),
        faults=(fault("crash", "P2", 1.5), fault("restart", "P2", 3)), snapshots=(start("P1", 4),),
    )  # fmt: skip
    execution = run(scenario)
    assert execution.history.in_channels({"P1": 1, "P2": 0}) == {}
    at_cuts = states_at_cuts(execution)
    assert [len(at_cuts.in_channel("P1->P2", (1, place))) for place in range(4)] == [1, 1, 0, 0], "crash, loss, restart"
    assert only_snapshot(execution).status == "complete"
    verdict = {own.check: own.holds for own in verdicts(execution)["S1"]}
    assert verdict == {
        "completion": True, "one_marker": True, "consistency": True, "channel_states": True, "conservation": None,
    }  # fmt: skip


def test_by_hand_faults_are_choices_in_their_order():
    scenario = replace(PARTITION, scheduler=SchedulerChoice("manual", order=("sever P1->P2 P2->P1",)))
    before, after = all_choices(run(scenario), 0, 1)
    assert [own.choice for own in before] == ["act P2", "initiate S1 at P1", "sever P1->P2 P2->P1"]
    assert [own.choice for own in after] == ["act P2", "initiate S1 at P1", "mend P1->P2 P2->P1"]
    assert before[-1].words == "C12 and C21 are severed" and before[-1].process == "P1"


class TestEdits:
    def test_a_crash_and_a_restart_are_added_moved_and_deleted(self):
        base = system("P1 P2", script=(send("P1", "P2", 1),), snapshots=(start("P1", 2),))
        crashed = edited_by(base, {"do": "fault", "kind": "crash", "process": "P2", "at": 5}, 0.0)
        assert crashed.faults == (FaultLine("crash", "P2", (), 5.0),)
        assert edited_by(crashed, {"do": "change", "item": {"faults": 0}, "at": 7}, 0.0).faults[0].at == 7
        other = edited_by(crashed, {"do": "change", "item": {"faults": 0}, "process": "P1"}, 0.0)
        assert other.faults[0].process == "P1"
        assert edited_by(crashed, {"do": "delete", "item": {"faults": 0}}, 0.0).faults == ()
        with pytest.raises(InputError, match="P2 is down already at 6"):
            edited_by(crashed, {"do": "fault", "kind": "crash", "process": "P2", "at": 6}, 0.0)

    def test_words(self):
        told = [
            describe_edit(run(PARTITION), {"do": "fault", **edit})
            for edit in (
                {"kind": "crash", "process": "P2", "at": 5}, {"kind": "restart", "process": "P2", "at": 9},
                {"kind": "sever", "channels": ["P1->P2"], "at": 1},
            )
        ]  # fmt: skip
        assert told == ["P2 crashes at 5", "P2 starts again at 9", "C12 is severed at 1"]
        moved = {"do": "change", "item": {"faults": 0}, "at": 3}
        assert describe_edit(run(PARTITION), moved) == "move the severing of P1->P2 and P2->P1 at 2.5 to 3"


BAD = {
    'kind = "restart"\nprocess = "P2"\nat = 3': "faults[1]: P2 is not down at 3; a restart comes after a crash",
    'kind = "mend"\nchannels = ["P1->P2"]\nat = 3': "faults[1]: P1->P2 is not severed at 3; only what is severed can",
    'kind = "crash"\nprocess = "Q"\nat = 3': "faults[1].process: 'Q' is no process; ",
    'kind = "sever"\nchannels = ["P1->Q"]\nat = 3': "faults[1].channels: 'P1->Q' is no channel of this topology",
    'kind = "sever"\nat = 3': "faults[1].channels: is missing; say which to sever",
    'kind = "crash"\nat = 3': "faults[1].process: is missing",
    'kind = "crash"\nprocess = "P2"': "faults[1].at: is missing",
    'kind = "explode"\nprocess = "P2"\nat = 3': "faults[1].kind: 'explode' is unknown; ",
    'kind = "crash"\nprocess = "P2"\nat = 3\nafter = "nothing"': "faults[1].after: there is no event 'nothing'",
}  # fmt: skip


@each("lines, complaint", BAD.items())
def test_bad_input_gets_one_sentence(lines: str, complaint: str) -> None:
    with pytest.raises(InputError) as problem:
        parse_toml(f"processes = 2\n[[faults]]\n{lines}\n", "test")
    assert str(problem.value).startswith(f"test.toml: {complaint}") and "\n" not in str(problem.value)


def test_an_algorithm_that_does_not_allow_for_crashes_says_so() -> None:
    with pytest.raises(InputError, match="the rules of Lai-Yang do not support a crash yet"):
        edited_by(A_CRASH, {"do": "algorithm", "kind": "lai_yang"}, 0.0)
    assert run(edited_by(PARTITION, {"do": "algorithm", "kind": "lai_yang"}, 0.0))


@st.composite
def faulty(draw: st.DrawFn) -> Scenario:
    """A random scenario in which processes crash and start again, and channels are severed and mended."""
    scenario = draw(scenarios())
    found: list[FaultLine] = []
    for name in draw(st.lists(st.sampled_from(scenario.processes), unique=True)):
        at = draw(st.floats(0, 40, width=16))
        found.append(fault("crash", name, at))
        if draw(st.booleans()):
            found.append(fault("restart", name, at + draw(st.floats(0.5, 20, width=16))))
    for channel in draw(st.lists(st.sampled_from(scenario.channels), unique=True)) if scenario.channels else ():
        at = draw(st.floats(0, 40, width=16))
        found += [
            fault("sever", channel.name, at),
            fault("mend", channel.name, at + draw(st.floats(0.5, 20, width=16))),
        ]
    scenario = replace(scenario, faults=tuple(draw(st.permutations(found))))
    validate(scenario)
    return scenario


@pytest.mark.slow
@examples(25)
@given(faulty())
def test_whatever_fails_a_complete_snapshot_keeps_every_check(scenario: Scenario) -> None:
    execution = run(scenario)
    found = verdicts(execution)
    for snapshot in snapshots_of(execution):
        if snapshot.status == "complete":
            # a process that has forgotten that it recorded sends its markers again
            assert [own for own in found[snapshot.id] if own.holds is False and own.check != "one_marker"] == []
    assert run(scenario, copied=True).events == execution.events
    assert run(parse_toml(dumps(scenario), scenario.name)).events == execution.events
    assert len(sentences(execution)) == execution.steps + 1
    down = {row.process for row in rows_of(execution, CRASH)} - {row.process for row in rows_of(execution, RESTART)}
    assert {own.name for own in execution.final.processes if own.state is None and own.name in down} <= down


def test_why_a_message_that_is_lost_is_in_no_state() -> None:
    """Before the snapshot, and although its sender recorded after sending it."""
    scenario = system(
        "P1 P2", script=(send("P1", "P2", 1, label="a"),), snapshots=(start("P1", 4),),
        faults=(fault("crash", "P2", 1.5), fault("restart", "P2", 3)),
    )  # fmt: skip
    execution = run(scenario)
    (told,) = reasons_over_steps(execution, only_snapshot(execution), execution.flights[:1])
    assert [(step, reason.case) for step, reason in told] == [(1, "on_its_way"), (3, "dropped")]
    assert explain(execution, only_snapshot(execution), 0) == (
        "a is lost: sent at a (step 1), it came to P2 while that was down (step 3). "
        "What is lost is in no recorded state."
    )
