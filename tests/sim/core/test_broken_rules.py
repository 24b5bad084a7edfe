"""Every broken rule fails a check, with a witness; Chandy-Lamport passes all checks on the same scenario."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.delays import MessageReference
from sim.core.engine import Engine
from sim.core.workload import WORKLOADS
from sim.document.scenario import Scenario
from sim.run.execution import run
from tests.sim import broken_rules as broken
from tests.sim.conftest import Register
from tests.sim.tools import failing, send, start, system

CL = "chandy_lamport"
ONCE = (start("P1", 2),)
TWICE = (start("P1", 2), start("P1", 20, "S2"))
RING = "P1->P2 P2->P3 P3->P1"


def bank(processes: str = "P1 P2", channels: str = "", **fields: Any) -> Scenario:
    """100 each; P2's first transfer of 30 leaves at 1 and takes 5, everything else takes 1."""
    script = (send("P2", "P1", 1, 30, label="m"),)
    delays = {MessageReference(label="m"): 5.0}
    fields = {"workload": "bank", "script": script, "snapshots": ONCE, "delays": delays, **fields}
    return system(processes, channels, **fields)


class Case(NamedTuple):
    """A broken rule, the fields of its scenario, and the checks that fail, with their witnesses."""

    rule: type[SnapshotAlgorithm]
    scenario: dict[str, Any]
    caught: dict[str, str]


CASES = [
    Case(
        broken.DeafInitiator,
        {},
        {
            "S1:channel_states": "C21 recorded [], but [30] crosses the cut",
            "S1:conservation": "170 money recorded of 200",
        },
    ),
    Case(broken.OneFlag, {"snapshots": TWICE}, {"S2:completion": "P1 has not recorded"}),
    Case(
        broken.SlipsIn,
        {},
        {
            "S1:consistency": "the message sent at step 2 on C12 is received inside the cut, but sent outside it",
            "S1:conservation": "205 money recorded of 200",
        },
    ),
    Case(
        broken.CountsProcesses,
        {"processes": "P1 P2 P3", "channels": RING, "script": (), "delays": {}},
        {"S1:completion": "C12 is not closed"},
    ),
    Case(broken.KeepsTheFirst, {}, {"S1:completion": "C12 is not closed"}),
    Case(broken.Freezes, {"snapshots": TWICE}, {"S2:completion": "P2 has not recorded"}),
    Case(
        broken.MarkersFirst,
        {"script": (send("P1", "P2", 3, 30),), "delays": {}},
        {
            "S1:channel_states": "C12 recorded [], but [30] crosses the cut",
            "S1:conservation": "170 money recorded of 200",
        },
    ),
    Case(broken.SomeMarkers, {"processes": "P1 P2 P3"}, {"S1:completion": "P3 has not recorded"}),
    Case(broken.TwoMarkers, {"script": (), "delays": {}}, {"S1:one_marker": "C12 carried 2 markers"}),
    Case(
        broken.OutOfBand,
        {"script": (send("P1", "P2", 1, 30, label="m"),)},
        {
            "S1:channel_states": "C12 recorded [], but [30] crosses the cut",
            "S1:conservation": "170 money recorded of 200",
        },
    ),
    Case(
        broken.RecordsOn,
        {"script": (send("P2", "P1", 5, 30),), "delays": {}, "snapshots": TWICE},
        {
            "S1:channel_states": "C21 recorded [30], but [] crosses the cut",
            "S1:conservation": "230 money recorded of 200",
            "S2:completion": "C21 is not closed",
        },
    ),
    Case(
        broken.Backwards,
        {"script": (send("P2", "P1", 1, 30, label="m"), send("P2", "P1", 2, 20))},
        {"S1:channel_states": "C21 recorded [20,30], but [30,20] crosses the cut"},
    ),
    Case(
        broken.RecordsTwice,
        {"script": (send("P1", "P2", 3, 30),), "delays": {}},
        {
            "S1:channel_states": "C12 recorded [], but [30] crosses the cut",
            "S1:conservation": "170 money recorded of 200",
        },
    ),
    Case(
        broken.WaitsWithItsMarkers,
        {"script": (send("P2", "P1", 4, 30), send("P1", "P2", 5, 10)), "delays": {}},
        {
            "S1:channel_states": "C21 recorded [30], but [] crosses the cut",
            "S1:conservation": "230 money recorded of 200",
        },
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.rule.name for case in CASES])
def test_a_broken_rule_is_caught(case: Case, register: Register) -> None:
    assert failing(run(bank(algorithm=register(case.rule), **case.scenario))) == case.caught


@pytest.mark.parametrize("case", CASES, ids=[case.rule.name for case in CASES])
def test_the_right_rule_passes_the_same_scenario(case: Case) -> None:
    assert failing(run(bank(algorithm=CL, **case.scenario))) == {}


# --------------------------------------------------------------------------- the engine's own rules


def test_a_recorded_message_that_is_not_delivered_is_missed_by_the_next_snapshot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert failing(run(bank(snapshots=TWICE))) == {}
    monkeypatch.setattr(Engine, "perform", broken.swallow_recorded(Engine.perform))
    assert failing(run(bank(snapshots=TWICE))) == {"S2:conservation": "170 money recorded of 200"}


@pytest.mark.parametrize("copied", [True, False])
def test_a_shallow_copy_lets_the_recorded_state_change(monkeypatch: pytest.MonkeyPatch, copied: bool) -> None:
    monkeypatch.setitem(WORKLOADS._found, "shared_goods", broken.SharedGoods)
    goods = {"goods": {"P1": {"cash": 100}, "P2": {"cash": 100}}}
    fields: dict[str, Any] = {"parameters": goods, "script": (send("P2", "P1", 1, {"cash": 30}, label="m"),)}
    assert failing(run(bank(workload="trade", **fields), copied=copied)) == {}
    execution = run(bank(workload="shared_goods", **fields), copied=copied)
    assert failing(execution) == {"S1:conservation": "230 cash recorded of 200"}
