"""Every broken rule is caught by a check that names its witness; the right rule passes the same scenario."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.delays import MessageReference
from sim.core.engine import Engine
from sim.core.model import MARKER
from sim.core.workload import WORKLOADS
from sim.document.scenario import Scenario
from sim.run.execution import Execution, run
from sim.verify.checks import verdicts_of
from tests.sim import broken_rules as broken
from tests.sim.conftest import Register
from tests.sim.tools import bodies, failing, only_snapshot, send, start, system, table_verdicts

CL = "chandy_lamport"
ONCE = (start("P1", 2),)
TWICE = (start("P1", 2), start("P1", 20, "S2"))
PAIR = "P1->P2 P2->P1"
RING = "P1->P2 P2->P3 P3->P1"


def bank(processes: str = "P1 P2", channels: str = "", **fields: Any) -> Scenario:
    """100 each; P2's first transfer of 30 leaves at 1 and takes 5, everything else takes 1."""
    script = (send("P2", "P1", 1, 30, label="m"),)
    delays = {MessageReference(label="m"): 5.0}
    fields = {"workload": "bank", "script": script, "snapshots": ONCE, "delays": delays, **fields}
    return system(processes, channels, **fields)


def lai_yang(marker: float) -> Scenario:
    """On channels that are not FIFO; the marker to P2 leaves at 2.5, between m2 (there at 6) and m3 (there at 5)."""
    delays = dict(zip(("m1", "m2", "m3", "m4", "m5"), (1.0, 4.0, 2.0, 2.0, 1.0), strict=True))
    lines = (("P1", 1, 20), ("P1", 2, 30), ("P1", 3, 10), ("P2", 4, 30), ("P2", 7, 20))
    return bank(
        algorithm="anyhow",
        parameters={"balance": {"P1": 800, "P2": 200}},
        not_fifo=("P1->P2", "P2->P1"),
        script=tuple(
            send(process, "P2" if process == "P1" else "P1", at, amount, label=f"m{number}")
            for number, (process, at, amount) in enumerate(lines, start=1)
        ),
        snapshots=(start("P1", 2.5),),
        delays={
            **{MessageReference(label=label): delay for label, delay in delays.items()},
            MessageReference(None, "P1->P2", MARKER, "S1"): marker - 2.5,
            MessageReference(None, "P2->P1", MARKER, "S1"): 7.5 - marker,  # between m4 (there at 6) and m5 (there at 8)
        },
    )


class Case(NamedTuple):
    """A broken rule, the fields of its scenario, and the failing checks with their witnesses."""

    rule: type[SnapshotAlgorithm]
    scenario: dict[str, Any]
    caught: dict[str, str]


CASES = [
    Case(
        broken.DeafInitiator,
        {},
        {"S1:channel_states": "P2->P1 recorded [], the cut finds [30]", "S1:conservation": "170 money recorded of 200"},
    ),
    Case(broken.OneFlag, {"snapshots": TWICE}, {"S2:completion": "P1 has not recorded"}),
    Case(
        broken.SlipsIn,
        {},
        {
            "S1:consistency": "message P1.1 on P1->P2",
            "S1:conservation": "205 money recorded of 200",
        },
    ),
    Case(
        broken.CountsProcesses,
        {"processes": "P1 P2 P3", "channels": RING, "script": (), "delays": {}},
        {"S1:completion": "P1->P2 is not closed"},
    ),
    Case(broken.KeepsTheFirst, {}, {"S1:completion": "P1->P2 is not closed"}),
    Case(broken.Freezes, {"snapshots": TWICE}, {"S2:completion": "P2 has not recorded"}),
    Case(
        broken.MarkersFirst,
        {"script": (send("P1", "P2", 3, 30),), "delays": {}},
        {"S1:channel_states": "P1->P2 recorded [], the cut finds [30]", "S1:conservation": "170 money recorded of 200"},
    ),
    Case(broken.SomeMarkers, {"processes": "P1 P2 P3"}, {"S1:completion": "P3 has not recorded"}),
    Case(broken.TwoMarkers, {"script": (), "delays": {}}, {"S1:one_marker": "P1->P2 carried 2 markers"}),
    Case(
        broken.OutOfBand,
        {"script": (send("P1", "P2", 1, 30, label="m"),)},
        {"S1:channel_states": "P1->P2 recorded [], the cut finds [30]", "S1:conservation": "170 money recorded of 200"},
    ),
    Case(
        broken.RecordsOn,
        {"script": (send("P2", "P1", 5, 30),), "delays": {}, "snapshots": TWICE},
        {
            "S1:channel_states": "P2->P1 recorded [30], the cut finds []",
            "S1:conservation": "230 money recorded of 200",
            "S2:completion": "P2->P1 is not closed",
        },
    ),
    Case(
        broken.Backwards,
        {"script": (send("P2", "P1", 1, 30, label="m"), send("P2", "P1", 2, 20))},
        {"S1:channel_states": "P2->P1 recorded [20,30], the cut finds [30,20]"},
    ),
    Case(
        broken.RecordsTwice,
        {"script": (send("P1", "P2", 3, 30),), "delays": {}},
        {"S1:channel_states": "P1->P2 recorded [], the cut finds [30]", "S1:conservation": "170 money recorded of 200"},
    ),
    Case(
        broken.WaitsWithItsMarkers,
        {"script": (send("P2", "P1", 4, 30), send("P1", "P2", 5, 10)), "delays": {}},
        {"S1:channel_states": "P2->P1 recorded [30], the cut finds []", "S1:conservation": "230 money recorded of 200"},
    ),
]


def caught(execution: Execution) -> dict[str, str | None]:
    """The failing checks with their witnesses; the event table must find the same ones."""
    found = {
        f"{name}:{v.check}": v.witness for name, row in verdicts_of(execution).items() for v in row if v.holds is False
    }
    from_table = table_verdicts(execution.events, execution.scenario, execution.engine.workload)
    assert found.keys() == {f"{name}:{v.check}" for name, row in from_table.items() for v in row if v.holds is False}
    return found


@pytest.mark.parametrize("case", CASES, ids=[case.rule.name for case in CASES])
def test_a_broken_rule_is_caught(case: Case, register: Register) -> None:
    assert caught(run(bank(algorithm=register(case.rule), **case.scenario))) == case.caught


@pytest.mark.parametrize("case", CASES, ids=[case.rule.name for case in CASES])
def test_the_right_rule_passes_the_same_scenario(case: Case) -> None:
    assert caught(run(bank(algorithm=CL, **case.scenario))) == {}


@pytest.mark.parametrize("case", CASES, ids=[case.rule.name for case in CASES])
def test_both_paths_name_the_same_witness(case: Case, register: Register) -> None:
    """To the letter, also where a check fails."""
    assert failing(run(bank(algorithm=register(case.rule), **case.scenario))) == case.caught


# --------------------------------------------------------------------------- channels that are not FIFO


def test_a_marker_that_overtakes_a_message_loses_it(register: Register) -> None:
    register(broken.Anyhow)
    found = caught(run(lai_yang(marker=4.5)))
    assert found["S1:conservation"] == "970 money recorded of 1000"
    assert found["S1:channel_states"] == "P1->P2 recorded [], the cut finds [30]"


def test_a_marker_that_is_overtaken_lets_in_a_message_from_the_future(register: Register) -> None:
    register(broken.Anyhow)
    found = caught(run(lai_yang(marker=6.5)))
    assert found["S1:consistency"] == "message m3 on P1->P2"
    assert found["S1:conservation"] == "1010 money recorded of 1000"


# --------------------------------------------------------------------------- the engine's own rules


def test_a_recorded_message_that_is_not_delivered_is_missed_by_the_next_snapshot(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = caught(run(bank(snapshots=TWICE)))
    monkeypatch.setattr(Engine, "perform", broken.swallow_recorded(Engine.perform))
    assert right == {}
    assert caught(run(bank(snapshots=TWICE))) == {"S2:conservation": "170 money recorded of 200"}


@pytest.mark.parametrize("copied", [True, False])
def test_a_shallow_copy_lets_the_recorded_state_change(monkeypatch: pytest.MonkeyPatch, copied: bool) -> None:
    monkeypatch.setitem(WORKLOADS._found, "shared_goods", broken.SharedGoods)
    goods = {"goods": {"P1": {"cash": 100}, "P2": {"cash": 100}}}
    fields: dict[str, Any] = {"parameters": goods, "script": (send("P2", "P1", 1, {"cash": 30}, label="m"),)}
    assert caught(run(bank(workload="trade", **fields), copied=copied)) == {}
    execution = run(bank(workload="shared_goods", **fields), copied=copied)
    assert caught(execution) == {"S1:conservation": "230 cash recorded of 200"}


def test_a_message_that_is_recorded_and_delivered_counts_once() -> None:
    """The right rule: 70 + 100 in the processes, 30 in the channel, and P1 has 130 in the end."""
    execution = run(bank())
    snapshot = only_snapshot(execution)
    assert {name: local.state for name, local in snapshot.local.items()} == {"P1": 100, "P2": 70}
    assert bodies(snapshot) == {"P2->P1": [30]}
    assert [process.state for process in execution.final.processes] == [130, 70]
