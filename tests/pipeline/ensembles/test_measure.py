"""The measures of a run, compared with values worked out by hand and with an oracle that reads the event table."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from pipeline.ensembles.measure import describe, measure
from pipeline.store.schema import RUN_TYPES
from sim.core.model import CHANNEL_CLOSED, MARKER_SEND, RECEIVE, RECORD, SEND, SNAPSHOT_COMPLETE
from sim.document.files import parse_toml
from sim.run.execution import Execution, run
from sim.verify.checks import CHECKS
from tests.sim.strategies import scenarios
from tests.sim.tools import table_verdicts
from tests.tools import examples

# P1 sends 10 at 1, 20 at 3 and 30 at 6: they arrive at 6 (after the third has been sent), 8 and 11. P2 records at 2,
# and its marker reaches P1 at 5. P1 records then, and its own marker reaches P2 at 8, right behind the second transfer.
BY_HAND = """
processes = 2
workload = { kind = "bank", balance = 100 }
delay = { kind = "fixed", value = 5 }
marker_delay = { kind = "uniform", low = 3, high = 3 }
script = [
    { process = "P1", at = 1, to = "P2", body = 10 },
    { process = "P1", at = 3, to = "P2", body = 20 },
    { process = "P1", at = 6, to = "P2", body = 30 },
]
snapshots = [{ id = "S1", process = "P2", at = 2 }]
"""


def test_the_measures_of_a_run_worked_out_by_hand() -> None:
    (row,) = measure(run(parse_toml(BY_HAND, "by_hand")))
    assert row == {
        # three sends and three receives; two recordings, one of them with the receipt of a marker; another receipt
        "events": 6, "steps": 9, "duration": 11.0, "messages": 3, "in_flight_peak": 3,
        "faults": 0, "lost": 0,
        "snapshot_id": "S1", "initiators": 1, "status": "complete",
        "latency": 6.0, "recorded_messages": 2, "recorded_bytes": 4, "markers": 2, "slowest": "P2",
        "completion": True, "one_marker": True, "consistency": True, "channel_states": True, "one_outcome": None,
        "conservation": True,
        "failed": False, "witness": None,
    }  # fmt: skip


def test_a_snapshot_that_never_completes_fails_and_says_why() -> None:
    held = BY_HAND + 'delays = [{ channel = "P1->P2", kind = "marker", snapshot = "S1", delay = inf }]'
    (row,) = measure(run(parse_toml(held, "held")))
    keys = ("status", "latency", "slowest", "recorded_messages", "completion", "conservation")
    found = {key: row[key] for key in keys}
    assert found == {
        "status": "recording", "latency": None, "slowest": None, "recorded_messages": 2, "completion": False,
        "conservation": None,
    }  # fmt: skip
    assert (row["failed"], row["witness"]) == (True, "completion: C12 is not closed")


def test_a_run_without_snapshots_is_a_row_all_the_same() -> None:
    (row,) = measure(run(parse_toml(BY_HAND.rpartition("snapshots")[0], "none")))
    assert row == {
        "events": 6, "steps": 6, "duration": 11.0, "messages": 3, "in_flight_peak": 3, "faults": 0, "lost": 0,
        "failed": False,
    }  # fmt: skip


def test_bytes_are_those_of_the_bodies_as_json() -> None:
    text = BY_HAND.replace('workload = { kind = "bank", balance = 100 }\n', "").replace("body = 10", 'body = "ß"')
    (row,) = measure(run(parse_toml(text, "bytes")))
    assert row["recorded_bytes"] == len('"ß"'.encode()) + len("20") == 6


def test_a_scenario_in_columns() -> None:
    assert describe(parse_toml(BY_HAND, "by_hand")) == {
        "workload": "bank", "topology": "complete", "processes": 2, "channels": 2, "fifo": True,
        "algorithm": "chandy_lamport", "delay": "fixed:5", "marker_delay": "uniform:3:3", "mean_delay": 5.0,
        "mean_marker_delay": 3.0, "parameters": '{"balance": 100}',
        "crash": 0.0, "restart": 0.0, "sever": 0.0, "mend": 0.0, "lose": 0.0, "copy": 0.0,
        "faults_until": 100.0,
    }  # fmt: skip
    unordered = BY_HAND.rpartition("snapshots")[0] + 'not_fifo = ["P1->P2"]'
    assert describe(parse_toml(unordered, "unordered"))["fifo"] is False
    plain = describe(parse_toml('processes = 4\ntopology = { kind = "random", extra = 2 }', "plain"))
    assert (plain["topology"], plain["channels"]) == ("random:2", 6)
    assert (plain["marker_delay"], plain["mean_marker_delay"]) == ("same", 1.0)


@given(scenarios())
@examples(60)
def test_the_event_table_says_the_same(scenario: Any) -> None:
    """The oracle reads only the event table."""
    execution = run(scenario)
    rows = measure(execution)
    assert {row["snapshot_id"]: row for row in rows} == {
        name: expected(execution, name) for name in dict.fromkeys(start.snapshot for start in scenario.snapshots)
    }
    assert set().union(*rows) <= set(RUN_TYPES)


def expected(execution: Execution, snapshot: str) -> dict[str, Any]:
    events = execution.events
    own = [event for event in events if event.snapshot_id == snapshot]
    verdicts = table_verdicts(events, execution.scenario, execution.engine.workload)[snapshot]
    broken = [verdict for verdict in verdicts if verdict.holds is False]
    complete = {event.process for event in own if event.kind == SNAPSHOT_COMPLETE} == set(execution.scenario.processes)
    recorded = open_or_closed(execution, snapshot)
    return {
        "events": sum(1 for event in events if event.kind in ("send", "receive", "internal")),
        "steps": execution.steps,
        "duration": execution.times[-1],
        "messages": sum(1 for event in events if event.kind == SEND),
        "in_flight_peak": peak(events),
        "faults": sum(1 for event in events if event.kind in ("crash", "restart", "down", "up")),
        "lost": sum(1 for event in events if event.kind == "lost"),
        "snapshot_id": snapshot,
        "initiators": len([start for start in execution.scenario.snapshots if start.snapshot == snapshot]),
        "status": "complete" if complete else "recording",
        "latency": max(e.time for e in own) - min(e.time for e in own if e.kind == RECORD) if complete else None,
        "recorded_messages": len(recorded),
        "recorded_bytes": sum(len(body.encode()) for body in recorded),
        "markers": sum(1 for event in own if event.kind == MARKER_SEND),
        "slowest": [e.process for e in own if e.kind == SNAPSHOT_COMPLETE][-1] if complete else None,
        **dict.fromkeys(CHECKS),
        **{verdict.check: verdict.holds for verdict in verdicts},
        "failed": broken != [],
        "witness": f"{broken[0].check}: {broken[0].witness}" if broken else None,
    }


def open_or_closed(execution: Execution, snapshot: str) -> list[str]:
    """The bodies (JSON) received after their target recorded and before the marker closed their channel."""
    found: list[str] = []
    recording: dict[str, bool] = {}
    for event in execution.events:
        if event.kind == RECORD and event.snapshot_id == snapshot:
            recording.update({c.name: True for c in execution.engine.channels if c.target_name == event.process})
        elif event.kind == CHANNEL_CLOSED and event.snapshot_id == snapshot:
            recording[event.channel or ""] = False
        elif event.kind == RECEIVE and recording.get(event.channel or ""):
            found.append(event.body or "null")
    return found


def peak(events: Any) -> int:
    on_their_way: set[int] = set()
    most = 0
    for event in events:
        if event.kind == SEND:
            on_their_way.add(event.message_id)
        elif event.kind == RECEIVE:
            on_their_way.remove(event.message_id)
        most = max(most, len(on_their_way))
    return most
