"""Markers that ride on messages: the oracle, the bare marker, and what goes wrong without each rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from diagrams.browser.payload import payload
from diagrams.scene.composition import compose
from pipeline.compiled.listed import is_listed
from sim.algorithms.chandy_lamport import ChandyLamport
from sim.core.algorithm import SnapshotAlgorithm
from sim.core.broken_rule import BROKEN_RULES
from sim.core.delays import DelayRule
from sim.core.effects import CancelTimer, Out
from sim.core.errors import InputError
from sim.core.model import (
    MARKER_CARRIED,
    MARKER_RECEIVE,
    MARKER_SEND,
    RECEIVE,
    RECORD,
    SEND,
    TIMER,
    Channel,
    Message,
    Process,
    Timer,
)
from sim.core.piggybacking import Piggybacking
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import Scenario
from sim.document.writing import dumps
from sim.edit.edits import apply_edit
from sim.explain.narration import narrate
from sim.explain.reasons import explain
from sim.explain.recorded_reasons import why_channel, why_state
from sim.explore.report import changed, complete_graph, exploration
from sim.run.execution import Execution, run
from sim.run.price import price_of
from sim.run.snapshots import snapshots_of
from sim.verify.sound import sound_snapshots
from tests.cases import each
from tests.sim.conftest import Register
from tests.sim.explore.comparison import plain_counts
from tests.sim.strategies import has_holds, scenarios
from tests.sim.tools import bodies, failing, only_snapshot, rows_of, send, start, system, verdicts
from tests.tools import examples


def piggybacked(scenario: Scenario, wait: float = 5.0) -> Scenario:
    return replace(scenario, algorithm_parameters={"piggyback": wait})


def states(execution: Execution) -> dict[str, Any]:
    return {name: local.state for name, local in only_snapshot(execution).local.items()}


# --------------------------------------------------------------------------- oracle 8


def test_one_marker_is_carried_and_one_is_bare() -> None:
    """P1 records at 1 and sends 30 at 2, there at 5: P2 records first. Its bare marker leaves at 5 + 5, there at 13."""
    execution = run(library.load("piggybacked"))
    told = [
        (row.time, row.process, row.kind)
        for row in rows_of(
            execution, RECORD, MARKER_CARRIED, SEND, RECEIVE, TIMER, MARKER_SEND, MARKER_RECEIVE
        )
    ]  # fmt: skip
    assert told == [
        (1, "P1", RECORD), (2, "P1", MARKER_CARRIED), (2, "P1", SEND), (5, "P2", RECORD), (5, "P2", RECEIVE),
        (10, "P2", TIMER), (10, "P2", MARKER_SEND), (13, "P1", MARKER_RECEIVE),
    ]  # fmt: skip
    snapshot = only_snapshot(execution)
    assert (snapshot.carried, snapshot.markers) == (1, 1)
    assert states(execution) == {"P1": 800, "P2": 200} and bodies(snapshot) == {}
    assert snapshot.completed is not None and execution.times[snapshot.completed] == 13
    assert failing(execution) == {}
    assert {check.check for check in verdicts(execution)["S1"]} >= {"one_marker", "conservation"}


def test_who_starts_a_snapshot_says_that_its_markers_wait() -> None:
    text = narrate(run(library.load("piggybacked")))[1]
    assert text.badge == "Markers wait for messages"
    assert text.sentence.endswith(
        "it records its state 800, and starts recording C21. Its markers wait for messages to ride on."
    )


def test_without_the_parameter_it_is_chandy_lamport_and_nothing_else() -> None:
    scenario = library.load("two_banks")
    assert scenario.rules is ChandyLamport and piggybacked(scenario, 0.0).rules is ChandyLamport
    rules = run(scenario).engine.rules
    assert (rules._on_send, rules._on_message) == (None, None) and not run(scenario).engine.algorithm.uses_control
    assert run(piggybacked(scenario, 0.0)).events == run(scenario).events


def test_what_is_sent_after_the_wait_carries_no_marker() -> None:
    """P1's bare marker leaves at 3; what it sends at 4 is plain."""
    scenario = system(
        "P1 P2", workload="bank", script=(send("P1", "P2", 4, 30, label="late"),), snapshots=(start("P1", 1),),
        algorithm_parameters={"piggyback": 2.0},
    )  # fmt: skip
    execution = run(scenario)
    snapshot = only_snapshot(execution)
    assert (snapshot.carried, snapshot.markers) == (0, 2) and failing(execution) == {}
    assert not next(flight for flight in execution.flights if flight.send.label == "late").stamp


def test_a_message_carries_the_markers_of_all_snapshots_that_wait() -> None:
    scenario = system(
        "P1 P2", workload="bank", script=(send("P1", "P2", 3, 30, label="both"),),
        snapshots=(start("P1", 1), start("P1", 2, "S2")), algorithm_parameters={"piggyback": 9.0},
    )  # fmt: skip
    execution = run(scenario)
    assert [(own.carried, own.markers) for own in snapshots_of(execution)] == [(1, 1), (1, 1)]
    assert failing(execution) == {}
    assert any("30, stamped with the markers of S1 and S2, to P2" in text.sentence for text in narrate(execution))


def test_a_carried_marker_closes_a_channel_that_was_recorded() -> None:
    """P1 records at 1; 6, sent at 2, is in C21; 7, sent at 5 after P2 recorded, carries the marker that closes C21."""
    scenario = system(
        "P1 P2", workload="bank", delay=DelayRule("fixed", 2.0), algorithm_parameters={"piggyback": 9.0},
        script=(
            send("P1", "P2", 1.5, 5, label="a"), send("P2", "P1", 2, 6, label="b"), send("P2", "P1", 5, 7, label="c")
        ),
        snapshots=(start("P1", 1),),
    )  # fmt: skip
    execution = run(scenario)
    snapshot = only_snapshot(execution)
    assert bodies(snapshot) == {"P2->P1": [6]} and (snapshot.carried, snapshot.markers) == (2, 0)
    assert snapshot.status == "complete" and failing(execution) == {}
    assert rows_of(execution, TIMER) == [], "both timers were cancelled"
    (own,) = sound_snapshots(execution) or ()
    assert own.markers == snapshot.markers


# --------------------------------------------------------------------------- any run


@pytest.mark.slow
@examples(17)
@given(scenarios(), st.sampled_from([0.5, 4.0, 40.0]))
def test_every_check_holds_in_any_run(scenario: Scenario, wait: float) -> None:
    execution = run(piggybacked(scenario, wait))
    assert set(failing(execution)) <= ({f"S{n}:completion" for n in (1, 2, 3)} if has_holds(scenario) else set())
    assert run(execution.scenario, copied=True).events == execution.events
    for snapshot in snapshots_of(execution):
        texts = [explain(execution, snapshot, flight.id) for flight in execution.flights]
        texts += [why_state(execution, snapshot, process) for process in scenario.processes]
        texts += [why_channel(execution, snapshot, channel.name) for channel in scenario.channels]
        assert all("None" not in text and "{" not in text for text in texts)
        if not has_holds(scenario):
            assert snapshot.markers + snapshot.carried == len(scenario.channels)


@pytest.mark.slow
@examples(17)
@given(scenarios())
def test_a_run_has_no_more_steps_than_its_price(scenario: Scenario) -> None:
    assume(not has_holds(scenario))
    own = piggybacked(scenario)
    assert run(own).steps <= price_of(own).steps + len(own.script)  # a script line may start as many events


@pytest.mark.slow
@pytest.mark.parametrize(
    ("processes", "sends", "states_", "transitions"), [(2, 1, 101, 171), (2, 2, 686, 1_478), (3, 0, 54, 118)]
)
def test_in_every_order_of_the_actions_every_check_holds(processes, sends, states_, transitions) -> None:
    """The timer may go off at any moment, so each marker is carried in some runs and bare in others."""
    scenario = piggybacked(complete_graph(processes, sends))
    done = exploration(scenario)
    assert done.found.complete and done.shortest() == []
    assert (done.found.states, done.found.transitions) == (states_, transitions)
    if processes == 2:
        assert plain_counts(scenario) == (states_, transitions)


# --------------------------------------------------------------------------- what each rule is for


class PayloadFirst(Piggybacking):
    """The message is taken in before the marker that it carries."""

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        if message.stamp:
            process.memory = {**(process.memory or {}), "late": message}
            out.set_timer("late", 0.0)

    def on_timer(self, process: Process, timer: Timer, out: Out) -> None:
        if timer.name == "late":
            super().on_message(process, process.memory["late"], out)
        else:
            super().on_timer(process, timer, out)


class Hasty(ChandyLamport):
    """Chandy-Lamport with that option."""

    name = "test_hasty"
    options: ClassVar[Mapping[str, type[SnapshotAlgorithm]]] = {"piggyback": PayloadFirst}


def test_a_message_taken_in_before_its_marker_is_received_inside_and_sent_outside(register: Register) -> None:
    execution = run(replace(library.load("piggybacked"), algorithm=register(Hasty)))
    assert states(execution) == {"P1": 800, "P2": 230}
    assert failing(execution) == {
        "S1:consistency": "message pay on C12 is received inside the cut, but sent outside it",
        "S1:conservation": "1030 money recorded of 1000",
    }


class NeverBare(Piggybacking):
    """A marker waits for a message, however long."""

    def on_timer(self, process: Process, timer: Timer, out: Out) -> None:
        """Nothing."""


class Silent(ChandyLamport):
    """Chandy-Lamport with that option."""

    name = "test_silent"
    options: ClassVar[Mapping[str, type[SnapshotAlgorithm]]] = {"piggyback": NeverBare}


def test_without_bare_markers_a_silent_channel_is_never_closed(register: Register) -> None:
    execution = run(replace(library.load("piggybacked"), algorithm=register(Silent)))
    assert failing(execution) == {"S1:completion": "C21 is not closed"}


class Twice(Piggybacking):
    """A marker that has ridden on a message goes on waiting."""

    def on_send(self, process: Process, channel: Channel, out: Out) -> Any:
        before = process.memory
        stamp = super().on_send(process, channel, out)
        process.memory = before
        out.effects = [effect for effect in out.effects if not isinstance(effect, CancelTimer)]
        return stamp


class Doubled(ChandyLamport):
    """Chandy-Lamport with that option."""

    name = "test_doubled"
    options: ClassVar[Mapping[str, type[SnapshotAlgorithm]]] = {"piggyback": Twice}


def test_a_carried_marker_counts_as_the_marker_of_its_channel(register: Register) -> None:
    execution = run(replace(library.load("piggybacked"), algorithm=register(Doubled)))
    assert failing(execution) == {"S1:one_marker": "C12 carried 2 markers"}


def test_on_a_channel_that_is_not_fifo_a_message_may_pass_its_marker() -> None:
    """As with bare markers: 1, sent before the recording, comes after the message that carries the marker."""
    scenario = system(
        "P1 P2", workload="bank", not_fifo=("P1->P2",), breaks=("fifo",), algorithm_parameters={"piggyback": 5.0},
        script=(send("P1", "P2", 1, 1, label="slow"), send("P1", "P2", 3, 2, label="fast")),
        snapshots=(start("P1", 2),),
    )  # fmt: skip
    edited = apply_edit(run(scenario), {"do": "delay", "message": {"label": "slow"}, "delay": 9.0}, 0.0)
    assert set(failing(edited)) == {"S1:channel_states", "S1:conservation"}


@pytest.mark.parametrize("not_fifo", [True, False])
def test_without_fifo_the_shortest_wrong_run_has_six_actions(not_fifo: bool) -> None:
    """P1 sends and initiates; its timer goes off; the bare marker passes the message; then the same at P2."""
    done = exploration(changed(piggybacked(complete_graph(2, 1)), None, not_fifo=not_fifo))
    assert done.found.complete
    assert done.shortest() == ([("channel_states", 6), ("consistency", 7)] if not_fifo else [])


# --------------------------------------------------------------------------- everywhere else


def test_it_is_not_compiled() -> None:
    plain = system("P1 P2 P3", workload="bank", parameters={"transfers": 3}, snapshots=(start("P1", 1),))
    assert is_listed(plain) and not is_listed(piggybacked(plain))


def test_it_is_written_read_and_refused_in_a_sentence() -> None:
    scenario = library.load("piggybacked")
    assert parse_toml(dumps(scenario), scenario.name) == scenario
    with pytest.raises(InputError, match="piggyback: expected a finite number of at least 0, not -1"):
        parse_toml(dumps(scenario).replace("piggyback = 5.0", "piggyback = -1"), "wrong")


@each("rule", [name for name in BROKEN_RULES if name != "fifo" and BROKEN_RULES[name].of == "chandy_lamport"])
def test_a_broken_rule_is_broken_without_the_option(rule: str) -> None:
    broken = apply_edit(run(library.load("piggybacked")), {"do": "break", "rule": rule}, 0.0)
    assert "piggyback" not in broken.scenario.algorithm_parameters and not rows_of(broken, MARKER_CARRIED)


def test_it_is_told_and_shown() -> None:
    execution = run(library.load("piggybacked"))
    assert [(text.badge, text.sentence) for text in narrate(execution)][2:5] == [
        ("Markers wait for messages", "pay: P1 sends 30, stamped with the marker of S1, to P2 on C12."),
        (
            "A message carries a marker",
            "30 from P1 carries P2's first marker: before P2 takes it in, it records its state 200, marks C12 empty, "
            "and has done its part. paid: P2 receives 30, stamped with the marker of S1, from P1 on C12.",
        ),
        (
            "A bare marker",
            "For some time P2 has sent nothing that the marker could ride on: it sends a bare marker on C21.",
        ),
    ]
    assert why_channel(execution, only_snapshot(execution), "P1->P2").startswith("C12 is empty: P2's first marker came")
    shown = payload(compose(execution))
    assert shown["snapshots"][0]["facts"] == "1 marker, 1 marker on messages, 0 recorded messages"
    labels = [sign["label"] for sign in shown["signs"] if sign["drawn"] != "asked"]
    assert labels[1:3] == ["carrying message", "marker"], "no message is plain here"
    plain = payload(compose(run(library.load("two_banks"))))
    assert "carrying message" not in [sign["label"] for sign in plain["signs"]]
