"""Lai and Yang where no red message is ever sent: only the counts make P2 record and P1 done.

P1=800, P2=200; m1 50 (sent by P1 at 1, received at 5), m2 30 (sent by P2 at 2, received at 9), m3 20 (3, 5, overtakes
m2). P1 records at 4: 800 - 50. Its count of 1 comes to P2 at 6, after m1: P2 records 200 - 30 - 20 + 50, and C12 is
empty. P2's count of 2 is at P1 at 8, and m2 at 9: C21 holds m3 and m2.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.algorithms.lai_yang import LaiYang
from sim.core.effects import Keep, Out
from sim.core.model import CONTROL_SEND, Message, Process
from sim.document import library
from sim.document.scenario import Scenario
from sim.explore.report import changed, complete_graph, exploration
from sim.run.execution import run
from tests.sim.conftest import Register
from tests.sim.tools import bodies, failing, only_snapshot, rows_of


def silent(algorithm: str = "lai_yang") -> Scenario:
    return replace(library.load("lai_yang_silent"), algorithm=algorithm)


def test_no_message_is_red_and_the_snapshot_is_complete() -> None:
    execution = run(silent())
    assert {flight.stamp for flight in execution.flights if flight.kind == "app"} == {()}
    snapshot = only_snapshot(execution)
    assert {name: own.state for name, own in snapshot.local.items()} == {"P1": 750, "P2": 200}
    assert {name: execution.times[own.step] for name, own in snapshot.local.items()} == {"P1": 4, "P2": 6}
    assert bodies(snapshot) == {"P2->P1": [20, 30]}
    assert {name: execution.times[step] for name, step in snapshot.closed.items()} == {"P1->P2": 6, "P2->P1": 9}
    assert [row.time for row in rows_of(execution, CONTROL_SEND)] == [4, 6]
    assert failing(execution) == {}


class Uncounted(LaiYang):
    """Stamps alone: counts that come are dropped."""

    name = "test_uncounted"
    title = "Uncounted"

    def on_control(self, process: Process, message: Message, out: Out) -> None:
        pass


class OnlyClosing(LaiYang):
    """A count does not make a white process record."""

    name = "test_only_closing"
    title = "Only closing"

    def on_control(self, process: Process, message: Message, out: Out) -> None:
        if message.snapshot in process.snapshots:
            super().on_control(process, message, out)


@pytest.mark.parametrize("rules", [Uncounted, OnlyClosing])
def test_with_the_counts_dropped_it_is_never_complete(register: Register, rules: type[LaiYang]) -> None:
    execution = run(silent(register(rules)))
    assert failing(execution) == {"S1:completion": "P2 has not recorded"}
    assert only_snapshot(execution).status == "recording"


def test_where_a_red_message_is_sent_stamps_alone_record_but_never_end(register: Register) -> None:
    """In the run of the scenario lai_yang, m3 makes P2 record; without counts nobody knows when to stop."""
    execution = run(replace(library.load("lai_yang"), algorithm=register(Uncounted)))
    assert failing(execution) == {"S1:completion": "C12 is not closed"}
    assert set(only_snapshot(execution).local) == {"P1", "P2"}


class Colourblind(LaiYang):
    """A red message does not make a white process record, and so is counted as a white one."""

    name = "test_colourblind"
    title = "Colourblind"

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        known = tuple(snapshot for snapshot in message.stamp if snapshot in process.snapshots)
        super().on_message(process, replace(message, stamp=known), out)


class Forgetful(LaiYang):
    """A white message that comes to a red process is counted, but not recorded."""

    name = "test_forgetful"
    title = "Forgetful"

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        super().on_message(process, message, out)
        out.effects = [effect for effect in out.effects if not isinstance(effect, Keep)]


@pytest.mark.parametrize(
    ("rules", "shortest"),
    [
        (Colourblind, [("completion", 7)]),
        # P2 sends, P1 records and tells its count, P2 records and tells its own, the message comes, and then the count
        (Forgetful, [("channel_states", 5)]),
    ],
)
def test_the_shortest_wrong_run_without_a_rule(
    register: Register, rules: type[LaiYang], shortest: list[tuple[str, int]]
) -> None:
    done = exploration(changed(complete_graph(2, 1), register(rules), not_fifo=True))
    assert done.shortest() == shortest
    assert all(check in {name.partition(":")[2] for name in failing(run(own))} for check, own in done.runs.items())
