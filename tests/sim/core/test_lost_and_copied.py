"""Messages that are lost and copied, on a raw network and under a FIFO layer, and slow processes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.core.delays import HOLD, DelayRule
from sim.core.errors import InputError
from sim.core.model import COPIED, DROPPED, LOST, MARKER, RECEIVE, RESENT, SEND, SLOW, MessageReference
from sim.core.network import Network
from sim.document.fault_rates import FaultRates
from sim.document.files import parse_toml
from sim.document.scenario import FaultLine, Scenario, SchedulerChoice
from sim.document.validate import validate
from sim.document.writing import dumps
from sim.explain.choices import all_choices
from sim.explain.narration import sentences
from sim.explain.reasons import explain
from sim.run.cut_states import states_at_cuts
from sim.run.execution import Execution, run
from sim.run.fifo import due, held, waits_behind
from sim.run.references import references
from sim.run.snapshots import snapshots_of
from tests.cases import each
from tests.sim.strategies import scenarios
from tests.sim.tools import failing, only_snapshot, rows_of, send, start, system, verdicts
from tests.tools import examples

RAW = Network("raw")
BANK: dict[str, Any] = {"workload": "bank", "parameters": {"balance": {"P1": 800, "P2": 200}}}


def fault(kind: str, label: str, at: float = 0.0, after: str | None = None) -> FaultLine:
    return FaultLine(kind, at=at, after=after, message=MessageReference(label=label))


def of_marker(kind: str, channel: str, snapshot: str = "S1", at: float = 0.0) -> FaultLine:
    return FaultLine(kind, at=at, message=MessageReference(None, channel, MARKER, snapshot))


def slow(process: str, factor: float, at: float = 0.0) -> FaultLine:
    return FaultLine("slow", process, at=at, factor=factor)


def one_message(*faults: FaultLine, network: Network = RAW, **more: Any) -> Scenario:
    """Oracle 12: 30 sent at 1, delay 1."""
    return system("P1 P2", script=(send("P1", "P2", 1, 30, label="m"),), faults=faults, network=network, **BANK, **more)


def balances(execution: Execution) -> list[Any]:
    return [process.state for process in execution.final.processes]


def received(execution: Execution) -> list[tuple[Any, float]]:
    return [(execution.body_of(row), row.time) for row in rows_of(execution, RECEIVE)]


class TestOracle12:
    def test_on_a_raw_network_what_is_lost_is_lost(self):
        execution = run(one_message(fault("lose", "m")))
        assert balances(execution) == [770, 200]
        assert [(row.kind, row.process, row.message_id) for row in rows_of(execution, LOST)] == [(LOST, "P1", 0)]
        assert execution.final.queues == [[], []]

    def test_and_a_copy_is_one_more_message(self):
        execution = run(one_message(fault("copy", "m")))
        assert balances(execution) == [770, 260]
        assert received(execution) == [(30, 2), (30, 3)]
        (row,) = rows_of(execution, COPIED)
        assert (row.index, row.peer_index, row.message_id, row.label) == (1, 2, 1, "m")

    def test_under_the_layer_it_is_sent_again(self):
        execution = run(one_message(fault("lose", "m"), network=Network("fifo", 4.0)))
        assert balances(execution) == [770, 230]
        assert received(execution) == [(30, 6)]
        assert [row.kind for row in rows_of(execution, LOST, RESENT)] == [RESENT]

    def test_and_the_copy_is_dropped(self):
        execution = run(one_message(fault("copy", "m"), network=Network()))
        assert balances(execution) == [770, 230]
        assert [row.kind for row in rows_of(execution, COPIED, DROPPED)] == [DROPPED]

    def test_names_of_the_send_both_name_the_message(self):
        assert balances(run(one_message(fault("lose", "P1.1")))) == [770, 200]

    def test_the_sentences(self):
        told = {
            ("raw", "lose"): "30 on C12 is lost. P2 never receives it.",
            ("raw", "copy"): "30 on C12 is copied, so it arrives twice.",
            ("fifo", "lose"): "30 on C12 is lost. The FIFO layer sends it again at 5.",
            ("fifo", "copy"): "30 on C12 is copied, but the FIFO layer drops the copy.",
        }
        for (layer, kind), sentence in told.items():
            assert sentences(run(one_message(fault(kind, "m"), network=Network(layer))))[2] == sentence


class TestWhen:
    def test_later_than_sent(self):
        scenario = one_message(fault("lose", "m", 3), delay=DelayRule("fixed", 5))
        assert rows_of(run(scenario), LOST)[0].time == 3

    def test_not_once_it_has_arrived(self):
        execution = run(one_message(fault("lose", "m", 3)))
        assert balances(execution) == [770, 230] and not rows_of(execution, LOST)

    def test_after_an_event(self):
        scenario = system(
            "P1 P2 P3", script=(send("P1", "P2", 1, label="m"), send("P3", "P1", 2, label="x")),
            delay=DelayRule("fixed", 9), faults=(fault("lose", "m", 1.5, after="x"),), network=RAW,
        )  # fmt: skip
        assert rows_of(run(scenario), LOST)[0].time == 3.5

    def test_lost_twice_is_sent_three_times(self):
        scenario = one_message(fault("lose", "m"), fault("lose", "m"), network=Network("fifo", 4.0))
        assert received(run(scenario)) == [(30, 10)]

    def test_lost_after_its_alarm_it_is_sent_at_once(self):
        scenario = one_message(fault("lose", "m", 8), network=Network("fifo", 4.0), delay=DelayRule("fixed", 20))
        assert received(run(scenario)) == [(30, 28)]

    def test_a_fault_that_never_happens_keeps_no_other_from_happening(self):
        scenario = one_message(
            fault("lose", "m", 9), FaultLine("sever", channels=("P1->P2",), at=10), network=Network()
        )
        assert [row.kind for row in rows_of(run(scenario), "down")] == ["down"]

    def test_a_held_message_stays_held(self):
        execution = run(one_message(fault("lose", "m"), network=Network(), delays={MessageReference("m"): HOLD}))
        assert received(execution) == [] and held(execution) == {0}

    def test_a_loss_is_never_of_a_copy(self):
        """The copy is on its way from 2, where the other one arrives, to 3."""
        assert balances(run(one_message(fault("copy", "m"), fault("lose", "m", 2.5)))) == [770, 260]


class TestFifoLayer:
    def test_what_is_sent_behind_a_lost_message_waits_for_it(self):
        scenario = system(
            "P1 P2", script=(send("P1", "P2", 1, 1, label="a"), send("P1", "P2", 2, 2), send("P1", "P2", 7, 3)),
            faults=(fault("lose", "a"),), network=Network("fifo", 4.0),
        )  # fmt: skip
        execution = run(scenario)
        assert received(execution) == [(1, 6), (2, 6), (3, 8)]
        assert waits_behind(execution) == {1: 0}

    def test_what_is_sent_before_it_is_not_late(self):
        scenario = system(
            "P1 P2", script=(send("P1", "P2", 1, 1, label="a"), send("P1", "P2", 2, 2, label="b")),
            delays={MessageReference("a"): 3.0}, faults=(fault("lose", "b"),), network=Network("fifo", 4.0),
        )  # fmt: skip
        assert received(run(scenario)) == [(1, 4), (2, 7)]

    def test_a_message_that_waits_on_a_severed_channel_is_delivered_once(self):
        down = FaultLine("sever", channels=("P1->P2",), at=1.5), FaultLine("mend", channels=("P1->P2",), at=9)
        for at in (1.5, 3.0, 8.0):
            execution = run(one_message(*down, fault("lose", "m", at), network=Network("fifo", 4.0)))
            assert received(execution) == [(30, 9)]

    def test_a_lost_marker_comes_later_and_nothing_overtakes_it(self):
        scenario = system(
            "P1 P2", script=(send("P1", "P2", 3, 5),), snapshots=(start("P1", 1),),
            faults=(of_marker("lose", "P1->P2"),), network=Network("fifo", 4.0),
        )  # fmt: skip
        execution = run(scenario)
        assert failing(execution) == {}
        assert [execution.times[local.step] for local in only_snapshot(execution).local.values()] == [1, 6]
        assert received(execution) == [(5, 6)]


class TestRawNetwork:
    def test_a_lost_marker_never_comes(self):
        scenario = system(
            "P1 P2", snapshots=(start("P1", 1),), faults=(of_marker("lose", "P2->P1"),), network=RAW, breaks=("fifo",)
        )
        assert only_snapshot(run(scenario)).status == "recording"

    def test_a_marker_that_comes_twice_changes_nothing(self):
        scenario = system(
            "P1 P2", snapshots=(start("P1", 1),), faults=(of_marker("copy", "P1->P2"),), network=RAW, breaks=("fifo",)
        )
        execution = run(scenario)
        assert only_snapshot(execution).status == "complete" and failing(execution) == {}
        assert len([row for row in rows_of(execution, "channel_closed") if row.channel == "P1->P2"]) == 1

    def test_a_snapshot_with_a_copy_and_a_loss_adds_up(self):
        """30 is copied before the snapshot, 20 lost; the copy is on its way at the cut."""
        scenario = system(
            "P1 P2", script=(send("P1", "P2", 1, 30, label="a"), send("P2", "P1", 1, 20, label="b")),
            delay=DelayRule("fixed", 2), marker_delay=DelayRule("fixed", 1), snapshots=(start("P2", 4),),
            faults=(fault("copy", "a"), fault("lose", "b")), network=RAW, breaks=("fifo",), **BANK,
        )  # fmt: skip
        execution = run(scenario)
        (snapshot,) = snapshots_of(execution)
        assert snapshot.status == "complete"
        assert {name: local.state for name, local in snapshot.local.items()} == {"P1": 770, "P2": 210}
        assert [message.body for message in snapshot.channels["P1->P2"]] == [30]
        assert failing(execution) == {}  # 1,010 found, 20 lost, 30 copied
        assert next(own.holds for own in verdicts(execution)["S1"] if own.check == "conservation")

    def test_a_copy_that_no_channel_has_speaks_against_a_snapshot(self):
        """Broken FIFO: the marker overtakes the copy, which nobody has in a state."""
        scenario = system(
            "P1 P2", script=(send("P1", "P2", 1, 30, label="a"),), delay=DelayRule("fixed", 4),
            marker_delay=DelayRule("fixed", 1), snapshots=(start("P1", 6),), faults=(fault("copy", "a"),),
            network=RAW, breaks=("fifo",), **BANK,
        )  # fmt: skip
        assert failing(run(scenario)) == {
            "S1:channel_states": "C12 recorded [], but [30] crosses the cut",
            "S1:conservation": "1000 money recorded of 1000, copied 30",
        }

    def test_a_loss_makes_room_in_a_full_channel_and_a_copy_fills_one(self):
        """The channel holds two. 1 and its copy fill it from 2 to 3, where 1 is lost; P1 goes on then."""
        scenario = system(
            "P1 P2", script=(send("P1", "P2", 1, 1, label="a"), send("P1", "P2", 2.5, 2)), network=RAW,
            delay=DelayRule("fixed", 9), faults=(fault("copy", "a", 2), fault("lose", "a", 3)),
        )  # fmt: skip
        own = replace(scenario, topology=replace(scenario.topology, capacity=(("P1->P2", 2),)))
        told = [(row.kind, row.process, row.time) for row in rows_of(run(own), SEND, "full", "room")]
        assert told[:5] == [
            (SEND, "P1", 1), ("full", "P1", 2), ("room", "P2", 3), (SEND, "P1", 3), ("full", "P1", 3)
        ]  # fmt: skip

    def test_what_waits_on_a_severed_channel_is_lost_and_what_waits_behind_it_comes(self):
        scenario = system(
            "P1 P2", script=(send("P1", "P2", 1, 1, label="a"), send("P1", "P2", 1.2, 2)), network=RAW,
            faults=(
                FaultLine("sever", channels=("P1->P2",), at=1.5), FaultLine("mend", channels=("P1->P2",), at=9),
                fault("lose", "a", 5),
            ),
        )  # fmt: skip
        assert received(run(scenario)) == [(2, 9)]

    def test_a_loss_makes_lai_yang_wait_for_ever(self):
        scenario = one_message(fault("lose", "m"), algorithm="lai_yang", snapshots=(start("P1", 2),))
        assert only_snapshot(run(scenario)).status == "recording"

    def test_why_a_message_that_is_lost_on_its_way_is_in_no_state(self):
        execution = run(one_message(fault("lose", "m"), algorithm="lai_yang", snapshots=(start("P1", 2),)))
        assert explain(execution, only_snapshot(execution), 0) == (
            "30 is lost: sent at m (step 1), it was lost on its way (step 2). What is lost is in no recorded state."
        )

    def test_a_cut_has_the_copy_in_its_channel_and_no_lost_message(self):
        execution = run(one_message(fault("copy", "m"), fault("lose", "m")))
        states, copied, lost = states_at_cuts(execution), (1, 0, 1, 0), (1, 0, 1, 1)
        assert [[own.id for own in states.in_channel("P1->P2", cut)] for cut in ((1, 0, 0, 0), copied, lost)] == [
            [0], [0, 1], [1],
        ]  # fmt: skip
        assert execution.history.in_channels({"P1": 1, "P2": 0}) == {"P1->P2": [1]}
        assert execution.history.violations({"P1": 0, "P2": 1}) == [1]


class TestSlow:
    def test_its_messages_take_so_many_times_as_long(self):
        scenario = system(
            "P1 P2", script=tuple(send("P1", "P2", at, label=f"m{at}") for at in (1, 5, 20)),
            faults=(slow("P2", 3, 4), slow("P2", 1, 10)),
        )  # fmt: skip
        execution = run(scenario)
        assert [row.time for row in rows_of(execution, RECEIVE)] == [2, 8, 21]
        assert [(row.process, execution.body_of(row)) for row in rows_of(execution, SLOW)] == [("P2", 3), ("P2", 1)]
        assert waits_behind(execution) == {}
        told = sentences(execution)
        assert "P2 takes 3 times as long from now on." in told and "P2 goes at its usual pace again." in told

    def test_a_delay_set_by_hand_stays_as_it_is(self):
        scenario = one_message(slow("P1", 5), network=Network(), delays={MessageReference("m"): 2.0})
        assert received(run(scenario)) == [(30, 3)]

    def test_its_turns_are_so_many_times_as_far_apart(self):
        bank = system("P1 P2", workload="bank", parameters={"transfers": 6, "pace": 1.0}, seed=3)
        slower = replace(bank, faults=(slow("P1", 10),))
        ends = [max(row.time for row in rows_of(run(own), SEND) if row.process == "P1") for own in (bank, slower)]
        assert ends[1] > 5 * ends[0]

    def test_a_straggler_makes_a_snapshot_late(self):
        scenario = system("P1 P2 P3", snapshots=(start("P1", 1),))
        latencies = []
        for faults in ((), (slow("P3", 4),)):
            execution = run(replace(scenario, faults=faults))
            snapshot = only_snapshot(execution)
            latencies.append(execution.times[snapshot.completed or 0] - execution.times[snapshot.began or 0])
        assert latencies == [2, 8]


class TestByHand:
    def test_a_loss_is_a_choice_while_the_message_is_on_its_way(self):
        scenario = one_message(fault("lose", "m"), scheduler=SchedulerChoice("manual", order=("act P1",)))
        execution = run(scenario)
        assert [own.choice for own in all_choices(execution, 0, 0)[0]] == ["act P1"]
        (enabled,) = all_choices(execution, 1, 1)
        assert [(own.choice, own.words) for own in enabled] == [
            ("lose m", "30 is lost"), ("deliver P1->P2", "deliver 30 on C12")
        ]  # fmt: skip
        lost = run(replace(scenario, scheduler=SchedulerChoice("manual", order=("act P1", "lose m"))))
        assert lost.final.queues[0] == []

    def test_a_copy_draws_no_delay(self):
        """It would be number 2 of its channel, which is held."""
        scenario = one_message(
            fault("copy", "m"), delays={MessageReference(None, "P1->P2", ordinal=2): HOLD},
            scheduler=SchedulerChoice("manual", order=("act P1", "copy m")),
        )  # fmt: skip
        (enabled,) = all_choices(run(scenario), 2, 2)
        assert [own.choice for own in enabled] == ["deliver P1->P2", "deliver P1->P2 #2"]


class TestAtRandom:
    def test_a_greater_share_loses_the_same_messages_and_more(self):
        bank = system("P1 P2 P3", workload="bank", parameters={"transfers": 40}, seed=5, network=RAW)
        lost = []
        for share in (0.05, 0.2):
            execution = run(replace(bank, fault_rates=FaultRates(lose=share)))
            lost.append({(row.channel, row.body) for row in rows_of(execution, LOST)})
        assert 0 < len(lost[0]) < len(lost[1])
        assert 10 < len(lost[1]) < 40  # of 120

    def test_the_layer_makes_all_of_it_good(self):
        bank = system("P1 P2 P3", workload="bank", parameters={"transfers": 40}, seed=5, snapshots=(start("P1", 20),))
        execution = run(replace(bank, fault_rates=FaultRates(lose=0.2, copy=0.2)))
        assert failing(execution) == {} and sum(balances(execution)) == 300
        assert rows_of(execution, RESENT) and rows_of(execution, DROPPED)

    def test_what_is_all_lost(self):
        bank = system("P1 P2", workload="bank", parameters={"transfers": 5}, network=RAW)
        assert not rows_of(run(replace(bank, fault_rates=FaultRates(lose=1.0))), RECEIVE)


# ------------------------------------------------------------------ bad input

BAD = {
    '[[faults]]\nkind = "lose"': "faults[1].message: is missing; say which message to lose",
    '[[faults]]\nkind = "lose"\nmessage = "x"': "faults[1].message: 'x' is not the label of a send; a loss names",
    '[[faults]]\nkind = "copy"\nchannel = "P1->Q"\nsnapshot = "S1"': "faults[1].channel: 'P1->Q' is no channel",
    '[[faults]]\nkind = "copy"\nchannel = "P1->P2"\nsnapshot = "S9"': "faults[1].snapshot: no snapshot is called 'S9'",
    '[[faults]]\nkind = "copy"\nchannel = "P1->P2"': "faults[1].snapshot: is missing",
    '[[faults]]\nkind = "slow"\nprocess = "P1"\nat = 1': "faults[1].factor: is missing; say how many times as long",
    '[[faults]]\nkind = "slow"\nprocess = "P1"\nat = 1\nfactor = 0': "faults[1].factor: expected a number above 0",
    '[network]\nlayer = "wet"': "network.layer: 'wet' is unknown",
    '[network]\nresend = -1': "network.resend: expected",
    '[network]\nlayer = "raw"\n[[snapshots]]\nid = "S1"\nprocess = "P1"\nat = 1':
        "network.layer: Chandy-Lamport needs FIFO channels, and a raw network has none; say",
    '[network]\nlayer = "raw"\n[scheduler]\nkind = "tick"': "network.layer: the tick scheduler delivers the heads",
    '[scheduler]\nkind = "tick"\n[[faults]]\nkind = "lose"\nmessage = "P1.1"': "faults[1]: the tick scheduler, COS",
    '[fault_rates]\nlose = 1.5': "fault_rates.lose: expected a share of all messages, from 0 to 1, not 1.5",
    '[algorithm]\nkind = "lai_yang"\n[network]\nlayer = "raw"\n[[snapshots]]\nid = "S1"\nprocess = "P1"\nat = 1\n'
    '[fault_rates]\ncopy = 0.1': "network.layer: Lai-Yang counts messages, and would count a copy twice; remove",
}  # fmt: skip


@each("lines, complaint", BAD.items())
def test_bad_input_gets_one_sentence(lines: str, complaint: str) -> None:
    with pytest.raises(InputError) as problem:
        parse_toml(f"processes = 2\n{lines}\n", "test")
    assert str(problem.value).startswith(f"test.toml: {complaint}") and "\n" not in str(problem.value)


# ------------------------------------------------------------------ whatever happens


@st.composite
def meddled(draw: st.DrawFn, network: Network) -> Scenario:
    """A random scenario in which messages and markers are lost and copied, and processes become slow."""
    scenario = draw(scenarios(schedulers=("timed", "random")))
    own = replace(scenario, network=network, breaks=("fifo",) if network.is_raw else ())
    sends = [f"{name}.{number}" for name in own.processes for number in (1, 2, 3)]
    kinds, times = st.sampled_from(["lose", "copy"]), st.sampled_from([0.0, 5.0, 20.0])
    planned = draw(st.lists(st.tuples(kinds, st.sampled_from(sends), times), max_size=6))
    found = [fault(*one) for one in planned]
    if own.channels:
        ways = st.tuples(kinds, st.sampled_from(own.channels))
        found += [of_marker(kind, channel.name) for kind, channel in draw(st.lists(ways, max_size=3))]
    slowed = draw(st.lists(st.tuples(st.sampled_from(own.processes), st.sampled_from([0.5, 2.0, 7.0])), max_size=2))
    found += [slow(name, factor, draw(st.floats(0, 30, width=16))) for name, factor in slowed]
    rates = draw(st.sampled_from([FaultRates(), FaultRates(lose=0.2, copy=0.1)]))
    own = replace(own, faults=tuple(found), fault_rates=rates)
    validate(own)
    return own


def bodies_by_channel(execution: Execution, kind: str) -> dict[str, list[str | None]]:
    found: dict[str, list[str | None]] = {}
    for row in rows_of(execution, kind):
        found.setdefault(row.channel or "", []).append(row.body)
    return found


@pytest.mark.slow
@examples(20)
@given(meddled(Network("fifo", 3.0)))
def test_under_the_layer_nobody_notices_but_by_the_time(scenario: Scenario) -> None:
    execution = run(scenario)
    found = verdicts(execution)
    for snapshot in snapshots_of(execution):
        if snapshot.status == "complete":
            assert [own for own in found[snapshot.id] if own.holds is False] == []
    sent = bodies_by_channel(execution, SEND)
    for channel, bodies in bodies_by_channel(execution, RECEIVE).items():
        assert bodies == sent[channel][: len(bodies)]
    assert not rows_of(execution, LOST, COPIED)
    assert run(scenario, copied=True).events == execution.events
    assert run(parse_toml(dumps(scenario), scenario.name)).events == execution.events
    assert len(sentences(execution)) == execution.steps + 1


@pytest.mark.slow
@examples(20)
@given(meddled(RAW))
def test_on_a_raw_network_both_code_paths_agree(scenario: Scenario) -> None:
    execution = run(scenario)
    verdicts(execution)  # compares them
    assert run(scenario, copied=True).events == execution.events
    assert run(parse_toml(dumps(scenario), scenario.name)).events == execution.events
    assert len(sentences(execution)) == execution.steps + 1
    assert len({*references(execution)}) == len(execution.flights)
    lost, copied = (rows_of(execution, kind) for kind in (LOST, COPIED))
    on_its_way = sum(map(len, execution.final.queues))
    gone = len([flight for flight in execution.flights if flight.receive]) + len(lost) + on_its_way
    controls = sum(map(len, execution.final.control.values()))
    assert len(execution.flights) == gone + controls
    assert len([flight for flight in execution.flights if flight.copied]) == len(copied)
    if scenario.scheduler.has_time:
        for flight in execution.flights:
            if flight.receive is not None:
                assert flight.receive.time == pytest.approx(due(execution, flight))
