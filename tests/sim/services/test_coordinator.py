"""The coordinator: who starts a snapshot, and that every one is decided once. The times are worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.core.delays import DelayRule
from sim.core.errors import InputError
from sim.core.model import CONTROL, DECISION, MARKER, RECORD, SNAPSHOT_ABORTED, MessageReference
from sim.core.network import Network
from sim.document.fault_rates import FaultRates
from sim.document.files import parse_toml
from sim.document.scenario import FaultLine, Scenario
from sim.document.validate import validate
from sim.document.writing import dumps
from sim.explain.narration import sentences
from sim.explain.reasons import explain
from sim.run.execution import Execution, run
from sim.run.snapshots import COMPLETE, EXPIRED, FAILED, GIVEN_UP, snapshots_of
from tests.sim.strategies import scenarios
from tests.sim.tools import failing, rows_of, send, start, system, verdicts
from tests.tools import examples


def delay(value: float) -> DelayRule:
    return DelayRule("fixed", value, value)


def fault(kind: str, process: str, at: float) -> FaultLine:
    return FaultLine(kind, process, (), at)


def outcomes(execution: Execution) -> dict[str, tuple[str, str]]:
    return {own.id: (own.status, own.reason) for own in snapshots_of(execution)}


ORACLE_10 = system(
    "P1 P2", marker_delay=delay(2), control_delay=delay(0), snapshots=(start("P1", 2),),
    faults=(fault("crash", "P2", 3), fault("restart", "P2", 14)),
    coordinator={"timeout": 10.0, "retries": 1, "minimum_pause": 5.0},
)  # fmt: skip


class TestExpiredAndTriedAgain:
    """Oracle 10."""

    def test_it_has_expired_once_and_the_other_process_starts_the_next(self):
        execution = run(ORACLE_10)
        first, second = snapshots_of(execution)
        assert (first.id, first.status, first.initiators) == ("S1", EXPIRED, ("P1",))
        assert (second.id, second.status, second.initiators) == ("S2", COMPLETE, ("P2",))
        assert [(row.time, row.snapshot_id) for row in rows_of(execution, DECISION)] == [(12, "S1"), (21, "S2")]
        assert [(row.process, row.time) for row in rows_of(execution, RECORD)] == [("P1", 2), ("P2", 17), ("P1", 19)]
        assert failing(execution) == {}

    def test_without_a_retry_nothing_follows(self):
        execution = run(replace(ORACLE_10, coordinator={"timeout": 10.0, "minimum_pause": 5.0}))
        assert outcomes(execution) == {"S1": (EXPIRED, "no word from P1 and P2 within 10")}

    def test_the_marker_of_a_snapshot_that_has_ended_changes_nothing(self):
        late = replace(ORACLE_10, faults=(), marker_delay=delay(15), coordinator={"timeout": 10.0})
        execution = run(late)
        assert outcomes(execution)["S1"][0] == EXPIRED
        assert [row.process for row in rows_of(execution, RECORD)] == ["P1"]
        assert failing(execution) == {}

    def test_the_sentences(self):
        told = sentences(run(ORACLE_10))
        assert "P1 asks the coordinator for snapshot S1." in told
        assert any("S1 has expired: no word from P1 and P2 within 10" in sentence for sentence in told)


def test_a_request_for_what_has_been_decided_keeps_no_other_from_starting() -> None:
    """S1 is asked for twice and S2 once while S1 is under way: when it is complete, S2 starts at once."""
    asked = (start("P1", 2), start("P2", 2.5), start("P3", 3, "S2"))
    scenario = system(
        "P1 P2 P3", marker_delay=delay(3), control_delay=delay(0), snapshots=asked, coordinator={"timeout": 50.0}
    )
    execution = run(scenario)
    assert outcomes(execution) == {"S1": (COMPLETE, ""), "S2": (COMPLETE, "")}
    assert [row.time for row in rows_of(execution, RECORD) if row.snapshot_id == "S2"] == [8, 11, 11]


class TestMembers:
    def test_oracle_14_a_join_makes_the_snapshot_fail_and_the_next_has_three_processes(self):
        scenario = system(
            "P1 P2 P3", absent=("P3",), marker_delay=delay(4), snapshots=(start("P1", 2),),
            faults=(fault("join", "P3", 5),), coordinator={"timeout": 20.0},
        )  # fmt: skip
        execution = run(scenario)
        first, second = snapshots_of(execution)
        assert (first.status, first.reason, first.detail) == (FAILED, "membership changed", "P3 joined")
        assert (second.id, second.status, set(second.local)) == ("S2", COMPLETE, {"P1", "P2", "P3"})
        assert failing(execution) == {}

    def test_who_leaves_says_so(self):
        scenario = system(
            "P1 P2 P3", marker_delay=delay(4), snapshots=(start("P1", 2),), faults=(fault("leave", "P2", 5),),
            coordinator={"timeout": 20.0},
        )  # fmt: skip
        first, second = snapshots_of(run(scenario))
        assert (first.status, first.reason, first.detail) == (FAILED, "membership changed", "P2 left")
        assert (second.status, second.members) == (COMPLETE, ("P1", "P3"))

    def test_who_sends_no_heartbeat_is_gone_and_the_others_go_on(self):
        scenario = system(
            "P1 P2 P3", marker_delay=delay(4), control_delay=delay(0.5), snapshots=(start("P1", 2),),
            faults=(fault("crash", "P2", 3),), coordinator={"timeout": 20.0, "heartbeat": 1.0, "until": 20.0},
        )  # fmt: skip
        execution = run(scenario)
        first, second = snapshots_of(execution)
        # P2's last heartbeat is from 2, there at 2.5; silence lasts 3 more
        assert (first.status, first.detail) == (FAILED, "P2 has sent no heartbeat for 3")
        assert execution.times[first.decided or 0] == 5.5
        assert (second.status, second.members, sorted(second.channels)) == (
            COMPLETE, ("P1", "P3"), ["P1->P3", "P3->P1"]
        )  # fmt: skip
        assert failing(execution) == {}

    def test_who_comes_back_takes_nothing_until_the_coordinator_has_answered(self):
        scenario = system(
            "P1 P2", control_delay=delay(2), script=(send("P1", "P2", 5),),
            faults=(fault("crash", "P2", 3), fault("restart", "P2", 5)),
            coordinator={"timeout": 20.0, "heartbeat": 5.0, "until": 20.0},
        )  # fmt: skip
        (row,) = rows_of(run(scenario), "receive")
        assert row.time == 9  # here: 7 at the coordinator, answered at 9; the message was due at 6

    def test_a_process_of_which_no_heartbeat_comes_stands_still_before_it_is_gone(self):
        """Else P3, which is up, leads what P1 sent after it recorded past P2, which has not recorded yet."""
        late = {
            MessageReference(None, "P3->coordinator", CONTROL, None, 2): 20.0,
            MessageReference(None, "P1->P3", MARKER, "S1", 1): 1.0,
        }
        scenario = system(
            "P1 P2 P3", marker_delay=delay(6), control_delay=delay(0.5), delays=late,
            script=(send("P1", "P3", 12), send("P3", "P2", 13.5)), snapshots=(start("coordinator", 10),),
            coordinator={"timeout": 30.0, "heartbeat": 2.0, "missed": 2, "until": 40.0},
        )  # fmt: skip
        execution = run(scenario)
        (snapshot,) = snapshots_of(execution)
        assert (snapshot.status, snapshot.members, failing(execution)) == (COMPLETE, ("P1", "P2"), {})
        (pause,), (resume,) = rows_of(execution, "paused"), rows_of(execution, "resumed")
        assert (pause.process, pause.time) == ("P3", 5.5)  # 3.5 after its heartbeat of 2, the last that is answered
        assert resume.time == 24.5  # when that of 4 has come

    def test_a_member_whose_answer_is_late_goes_on_and_its_rounds_with_it(self):
        late = {MessageReference(None, "coordinator->P2", CONTROL, None, 2): 3.0}
        scenario = system(
            "P1 P2", marker_delay=delay(6), control_delay=delay(0.5), delays=late, snapshots=(start("coordinator", 4),),
            coordinator={"timeout": 30.0, "heartbeat": 2.0, "missed": 2, "until": 20.0},
        )  # fmt: skip
        execution = run(scenario)
        assert [row.process for row in rows_of(execution, "paused")] == ["P2"]
        assert outcomes(execution) == {"S1": (COMPLETE, "")}

    def test_a_member_that_leaves_takes_what_is_in_its_channels_along(self):
        """P1 waits for no marker of P2 any more; but what P2 sent before it recorded is missing in the part of P1."""
        late = {
            MessageReference(None, "P2->P1", MARKER, "S1", 1): 9.0,
            MessageReference(None, "P3->P1", MARKER, "S1", 1): 5.0,  # at 8.5, the last for which P1 waits
            MessageReference(None, "P2->coordinator", CONTROL, None, 1): 5.0,  # that it leaves
        }
        scenario = system(
            "P1 P2 P3", marker_delay=delay(1), delays=late, snapshots=(start("P1", 2),),
            faults=(fault("leave", "P2", 6),), control_delay=delay(0.5), coordinator={"timeout": 30.0},
        )  # fmt: skip
        first = snapshots_of(run(scenario))[0]
        assert (first.status, first.detail) == (FAILED, "P2 left")

    def test_a_process_that_has_started_again_has_lost_its_part(self):
        scenario = replace(ORACLE_10, faults=(fault("crash", "P2", 3), fault("restart", "P2", 6)), coordinator={})
        assert outcomes(run(scenario))["S1"] == (FAILED, "P2 started again")


class TestLimits:
    def test_every_so_often(self):
        scenario = system("P1 P2", coordinator={"interval": 10.0, "until": 35.0})
        execution = run(scenario)
        assert [own.id for own in snapshots_of(execution)] == ["S1", "S2", "S3"]
        assert [execution.times[own.triggered or 0] for own in snapshots_of(execution)] == [10, 20, 30]

    def test_at_most_so_many_at_a_time(self):
        asked = (start("P1", 1), start("P2", 1.5, "S2"), start("P1", 1.6, "S3"))
        for most in (1, 2, 3):
            execution = run(system("P1 P2", snapshots=asked, coordinator={"most_concurrent": most}))
            spans = [(own.began or 0, own.decided or 0) for own in snapshots_of(execution)]
            assert max(sum(a <= step < b for a, b in spans) for step in range(execution.steps)) == most
            assert {own.status for own in snapshots_of(execution)} == {COMPLETE}

    def test_only_the_newest_are_kept(self):
        execution = run(system("P1 P2", coordinator={"interval": 10.0, "until": 45.0, "retained": 2}))
        assert [set(process.snapshots) for process in execution.final.processes] == [{"S3", "S4"}] * 2

    def test_who_asks_late_for_one_that_is_not_kept_any_more_gets_none(self):
        asked = (start("P1", 1), start("P2", 20), start("P1", 10, "S2"))
        execution = run(system("P1 P2", snapshots=asked, coordinator={"retained": 1}))
        assert [row.snapshot_id for row in rows_of(execution, DECISION)] == ["S1", "S2"]

    def test_after_too_many_failures_it_starts_no_other(self):
        never = system(
            "P1 P2", faults=(fault("crash", "P2", 1),),
            coordinator={"interval": 10.0, "until": 100.0, "timeout": 5.0, "tolerable_failures": 2.0},
        )  # fmt: skip
        assert [own[0] for own in outcomes(run(never)).values()] == [EXPIRED] * 3

    def test_one_more_than_may_wait_has_failed_at_once(self):
        asked = (start("P1", 1), start("P2", 1, "S2"), start("coordinator", 1, "S3"), start("P2", 1, "S4"))
        late = start("P1", 30, "S5")
        waiting = system("P1 P2", snapshots=(*asked, late), coordinator={"most_waiting": 2})
        execution = run(waiting)
        refused = (FAILED, "too many snapshots wait")
        assert outcomes(execution) == {
            "S3": (COMPLETE, ""), "S1": (COMPLETE, ""), "S2": refused, "S4": refused, "S5": (COMPLETE, ""),
        }  # fmt: skip
        assert failing(execution) == {}
        assert "(2 are under way or wait)" in " ".join(sentences(execution))
        assert {own[0] for own in outcomes(run(replace(waiting, coordinator={}))).values()} == {COMPLETE}

    def test_more_than_it_may_hold_makes_it_fail(self):
        lines = tuple(send("P2", "P1", 4.1 + n / 10) for n in range(5))
        held = system(
            "P1 P2", script=lines, snapshots=(start("P1", 2),), marker_delay=delay(5),
            coordinator={"most_held": 3},
        )  # fmt: skip
        assert outcomes(run(held))["S1"] == (FAILED, "P1 would hold more than 3 messages")
        assert outcomes(run(replace(held, coordinator={"most_held": 5})))["S1"] == (COMPLETE, "")

    def test_or_its_senders_stand_still_until_they_record(self):
        lines = tuple(send("P2", "P1", 4.1 + n) for n in range(5))
        held = system(
            "P1 P2", script=lines, snapshots=(start("P1", 2),), marker_delay=delay(6), control_delay=delay(0.1),
            coordinator={"most_held": 2, "when_held": "stop"},
        )  # fmt: skip
        execution = run(held)
        (snapshot,) = snapshots_of(execution)
        assert snapshot.status == COMPLETE
        assert len(snapshot.channels["P2->P1"]) == 3  # one was on its way when P2 heard of it
        assert failing(execution) == {}


class TestWithoutOne:
    def test_a_time_to_live_can_have_two_outcomes(self):
        scenario = system(
            "P1 P2", algorithm_parameters={"time_to_live": 5.0}, snapshots=(start("P1", 1),), delay=delay(2),
        )  # fmt: skip
        late = replace(scenario, delays={MessageReference(None, "P2->P1", "marker", "S1", 1): 9.0})
        execution = run(late)
        (snapshot,) = snapshots_of(execution)
        assert [row.process for row in rows_of(execution, SNAPSHOT_ABORTED)] == ["P1"]
        assert (snapshot.status, set(snapshot.local)) == ("aborted", {"P2"})
        assert failing(execution) == {"S1:one_outcome": "P2 keeps its part"}
        assert failing(run(scenario)) == {}


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"timeout": 0.0}, "timeout"),
        ({"heartbeat": 0.001}, "heartbeat"),
        ({"when_held": "explode"}, "when_held"),
    ],
)
def test_bad_settings(given: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError, match=f"coordinator.{where}: expected"):
        system("P1 P2", coordinator=given)


def test_rules_that_do_not_work_with_it():
    with pytest.raises(InputError, match="Lai-Yang do not support a coordinator"):
        system("P1 P2", algorithm="lai_yang", coordinator={})


@st.composite
def coordinated(draw: st.DrawFn) -> Scenario:
    """A random system with random faults of processes, channels and messages, and a coordinator.

    The network has its FIFO layer: without it, the rules of Chandy and Lamport promise nothing.
    """
    base = draw(scenarios())
    base = replace(base, snapshots=(), faults=(), delays={}, algorithm="chandy_lamport", algorithm_parameters={})
    times = st.integers(0, 60).map(lambda n: n / 2)
    faults: list[FaultLine] = []
    for process in base.processes:
        cuts = sorted(draw(st.lists(times, max_size=4, unique=True)))
        pair = draw(st.sampled_from([("crash", "restart"), ("leave", "join")]))
        faults += [FaultLine(pair[n % 2], process, (), at) for n, at in enumerate(cuts)]
    for channel in base.channels[:3]:
        cuts = sorted(draw(st.lists(times, max_size=2, unique=True)))
        faults += [FaultLine(("sever", "mend")[n % 2], None, (channel.name,), at) for n, at in enumerate(cuts)]
    is_timed = base.scheduler.kind != "tick"  # which has no messages to lose
    kinds = st.sampled_from(["lose", "copy"])
    for name in draw(st.lists(st.sampled_from(base.processes), max_size=2, unique=True)) if is_timed else ():
        send = MessageReference(label=f"{name}.{draw(st.integers(1, 4))}")
        faults += [
            FaultLine("slow", name, at=draw(times), factor=draw(st.sampled_from([0.5, 4.0]))),
            FaultLine(draw(kinds), at=draw(times), message=send),
        ]
    for channel in base.channels[:2] if is_timed else ():
        marker = MessageReference(None, channel.name, MARKER, f"S{draw(st.integers(1, 3))}")
        faults.append(FaultLine(draw(kinds), message=marker))
    rates = FaultRates(lose=0.1, copy=0.1) if is_timed and draw(st.booleans()) else FaultRates()
    settings = {
        "timeout": draw(st.sampled_from([2.0, 5.0, 20.0])), "retries": draw(st.integers(0, 2)),
        "minimum_pause": draw(st.sampled_from([0.0, 3.0])), "most_concurrent": draw(st.integers(1, 3)),
        "retained": draw(st.integers(0, 2)),
        "heartbeat": draw(st.sampled_from([0.0, 2.0])) if base.scheduler.kind != "random" else 0.0,
        "interval": draw(st.sampled_from([0.0, 7.0])), "until": 40.0, "most_held": draw(st.sampled_from([0, 1, 3])),
        "most_waiting": draw(st.sampled_from([0, 1, 2])),
        "when_held": draw(st.sampled_from(["fail", "stop"])),
    }  # fmt: skip
    asked = tuple(
        start(draw(st.sampled_from([*base.processes, "coordinator"])), draw(times), f"S{n}")
        for n in range(1, draw(st.integers(1, 3)) + 1)
    )
    scenario = replace(
        base, control_delay=delay(draw(st.sampled_from([0.0, 0.5]))), coordinator=settings, faults=tuple(faults),
        snapshots=asked, fault_rates=rates, network=Network(resend=draw(st.sampled_from([1.0, 6.0]))),
    )  # fmt: skip
    try:
        validate(scenario)
    except InputError:
        scenario = replace(scenario, not_fifo=())
        validate(scenario)
    return scenario


@pytest.mark.slow
@examples(20)
@given(coordinated())
def test_with_any_faults_every_snapshot_is_decided_once_and_what_is_complete_is_right(scenario: Scenario) -> None:
    execution = run(scenario)
    found = verdicts(execution)
    for snapshot in snapshots_of(execution):
        failed = {own.check for own in found[snapshot.id] if own.holds is False} - {"one_marker"}
        assert snapshot.status != COMPLETE or not failed, (snapshot.id, failed)
        assert "one_outcome" not in failed
        if snapshot.began is not None:
            decided = [row for row in rows_of(execution, DECISION) if row.snapshot_id == snapshot.id]
            assert len(decided) == 1
        if snapshot.status in GIVEN_UP:
            assert all(snapshot.id not in own.snapshots for own in execution.final.processes)
    assert run(scenario, copied=True).events == execution.events
    assert run(parse_toml(dumps(scenario), scenario.name)).events == execution.events
    assert len(sentences(execution)) == execution.steps + 1
    for snapshot in snapshots_of(execution)[:2]:
        for flight in execution.flights[:20]:
            assert explain(execution, snapshot, flight.id)
