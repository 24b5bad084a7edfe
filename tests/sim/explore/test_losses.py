"""Every run in which messages are lost: what the engine alone reaches, and what checks of a replayed run say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sim.core.errors import InputError
from sim.core.model import MessageReference
from sim.document import library
from sim.document.fault_rates import FaultRates
from sim.document.files import parse_toml
from sim.document.scenario import FaultLine
from sim.document.writing import dumps
from sim.explore.report import changed, complete_graph, exploration
from sim.explore.world import NO_FAULTS, MayHappen
from sim.run.execution import run
from sim.verify.checks import verdicts_of
from tests.sim.explore.plain import explored
from tests.sim.explore.plain_faults import explored_with_faults, whole_states

ONE_LOSS, AND_A_CRASH = MayHappen(losses=1), MayHappen(crashes=1, losses=1)
TWO_BANKS, PARTITION = library.load("two_banks"), library.load("partition")
SLOW = (FaultLine("slow", "P1", at=1, factor=4.0), FaultLine("slow", "P1", at=20, factor=1.0))

PLAIN = {
    "one loss": (complete_graph(2, 1), ONE_LOSS),
    "two losses": (complete_graph(2, 1), MayHappen(losses=2)),
    "two messages each": (complete_graph(2, 2), ONE_LOSS),
    "a crash and a loss": (complete_graph(2, 1), AND_A_CRASH),
    "who crashes may start again": (complete_graph(2, 1), MayHappen(crashes=1, restarts=True, losses=1)),
    "three processes, no messages": (complete_graph(3, 0), ONE_LOSS),
    "messages overtake each other": (changed(complete_graph(2, 1), None, not_fifo=True), ONE_LOSS),
    "Lai-Yang": (changed(complete_graph(2, 1), "lai_yang", not_fifo=False), ONE_LOSS),
    "a script": (TWO_BANKS, MayHappen(losses=2)),
    "severed channels": (PARTITION, ONE_LOSS),
}


@pytest.mark.parametrize("name", PLAIN)
def test_the_engine_alone_finds_the_same_states(name):
    scenario, may = PLAIN[name]
    done, plain = exploration(scenario, may=may), explored_with_faults(scenario, may)
    print(name, done.found.states, done.found.transitions, plain.states, plain.transitions, done.shortest(), plain.wrong, done.found.is_levelled)
    assert set(whole_states(done.found)) == plain.of_engine
    assert (done.found.states, done.found.transitions) == (plain.states, plain.transitions)
    assert done.found.snapshots == plain.snapshots
    assert dict(done.shortest()) == plain.wrong
