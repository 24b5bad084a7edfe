"""The measures of a run, compared with values worked out by hand and with an oracle that reads the event table."""

from __future__ import annotations

from typing import Any

from hypothesis import given

from pipeline.ensembles.measure import describe, measure
from pipeline.ensembles.options import SETTINGS
from pipeline.store.schema import RUN_TYPES, WITHOUT_RECOVERY, WITHOUT_STORAGE
from sim.core.model import CHANNEL_CLOSED, MARKER_SEND, RECEIVE, RECORD, SEND, SNAPSHOT_COMPLETE
from sim.document.files import parse_toml
from sim.run.execution import Execution, run
from sim.verify.checks import CHECKS, verdicts_of
from tests.reference.verdicts import verdicts_from_table
from tests.sim.strategies import scenarios
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
        "faults": 0, "lost": 0, **WITHOUT_RECOVERY,
        "snapshot_id": "S1", "initiators": 1, "status": "complete",
        "latency": 6.0, "recorded_messages": 2, "recorded_bytes": 4, "markers": 2, "slowest": "P2",
        **WITHOUT_STORAGE,
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
        **WITHOUT_RECOVERY, "failed": False,
    }  # fmt: skip


# Three processes record at 0, and are done when the markers come at 1. The storage takes one upload at a time, of 3
# bytes, in 2.5 time units. It takes that of P1, and refuses the others: at 1, at 2, and that of P3 at 4. P3 comes again
# at 8, so its part is there at 10.5, and the manifest at 15.5.
STORM = """
processes = 3
workload = { kind = "bank", balance = 100 }
storage = { bandwidth = 1.2, limit = 1, manifest = 6 }
snapshots = [{ id = "S1", process = "P1", at = 0 }, { id = "S1", process = "P2", at = 0 },
             { id = "S1", process = "P3", at = 0 }]
"""


def test_what_a_storage_did_worked_out_by_hand() -> None:
    (row,) = measure(run(parse_toml(STORM, "storm")))
    found = {name: row[name] for name in WITHOUT_STORAGE}
    assert found == {"refusals": 5, "committed": True, "commit_latency": 15.5, "stored_bytes": 15}
    (row,) = measure(run(parse_toml(STORM.replace("limit = 1", "limit = 1, tries = 3"), "storm")))
    found = {name: row[name] for name in WITHOUT_STORAGE}
    assert found == {"refusals": 5, "committed": False, "commit_latency": None, "stored_bytes": None}


# P3 sends at 0, before it records, and P1 receives that at 1, after it has: it is recorded. P1 sends at 17, and P2
# receives that at 18. P2 crashes at 20, and all go back at 22 to what they have recorded.
ROLLED_BACK = """
processes = 3
workload = { kind = "bank", balance = 100 }
recovery = { on = "crash", detect = 2 }
script = [{ process = "P3", at = 0, to = "P1", body = 10 }, { process = "P1", at = 17, to = "P2", body = 5 }]
snapshots = [{ id = "S1", process = "P1", at = 0 }, { id = "S1", process = "P2", at = 0 },
             { id = "S1", process = "P3", at = 0 }]
faults = [{ kind = "crash", process = "P2", at = 20 }]
"""


def test_what_a_recovery_cost_worked_out_by_hand() -> None:
    """Three events are taken back: both receives, and the send at 17."""
    (row,) = measure(run(parse_toml(ROLLED_BACK, "rolled_back")))
    found = {name: row[name] for name in WITHOUT_RECOVERY}
    assert found == {"recoveries": 1, "recovery_time": 2.0, "rolled_back": 3, "put_back": 1}


def test_without_a_crash_the_time_counts_from_the_recovery_on() -> None:
    text = STORM.replace("storage = {", "recovery = { at = [16, 30] }\nstorage = {")
    (row,) = measure(run(parse_toml(text, "again")))
    assert (row["recoveries"], row["recovery_time"], row["rolled_back"]) == (2, 7.5, 0)


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
        "storage_bandwidth": None, "storage_limit": None, "storage_jitter": None, "checkpoint_interval": None,
    }  # fmt: skip
    unordered = BY_HAND.rpartition("snapshots")[0] + 'not_fifo = ["P1->P2"]'
    assert describe(parse_toml(unordered, "unordered"))["fifo"] is False
    storing = describe(parse_toml(STORM + "coordinator = { interval = 5 }", "storing"))
    assert {name: storing[name] for name in SETTINGS} == {
        "storage_bandwidth": 1.2, "storage_limit": 1, "storage_jitter": 0.0, "checkpoint_interval": 5,
    }  # fmt: skip
    recovering = describe(parse_toml("processes = 2\nrecovery = { at = 5 }", "recovering"))
    assert (recovering["storage_bandwidth"], recovering["storage_limit"]) == (None, 0)  # it takes no time
    plain = describe(parse_toml('processes = 4\ntopology = { kind = "random", extra = 2 }', "plain"))
    assert (plain["topology"], plain["channels"]) == ("random:2", 6)
    assert (plain["marker_delay"], plain["mean_marker_delay"]) == ("same", 1.0)


@given(scenarios())
@examples(30)
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
    verdicts = verdicts_from_table(execution.table, execution.scenario)[snapshot]
    told = {verdict.check: verdict for verdict in verdicts_of(execution)[snapshot]}
    broken = [told[check] for check, holds in verdicts.items() if holds is False]
    complete = {event.process for event in own if event.kind == SNAPSHOT_COMPLETE} == set(execution.scenario.processes)
    recorded = open_or_closed(execution, snapshot)
    return {
        "events": sum(1 for event in events if event.kind in ("send", "receive", "internal")),
        "steps": execution.steps,
        "duration": execution.times[-1],
        "messages": sum(1 for event in events if event.kind == SEND),
        "in_flight_peak": peak(events),
        "faults": sum(1 for event in events if event.kind in ("crash", "restart", "frozen", "thawed", "down", "up")),
        "lost": sum(1 for event in events if event.kind == "lost"),
        **WITHOUT_RECOVERY,
        "snapshot_id": snapshot,
        "initiators": len([start for start in execution.scenario.snapshots if start.snapshot == snapshot]),
        "status": "complete" if complete else "recording",
        "latency": max(e.time for e in own) - min(e.time for e in own if e.kind == RECORD) if complete else None,
        "recorded_messages": len(recorded),
        "recorded_bytes": sum(len(body.encode()) for body in recorded),
        "markers": sum(1 for event in own if event.kind == MARKER_SEND),
        "slowest": [e.process for e in own if e.kind == SNAPSHOT_COMPLETE][-1] if complete else None,
        **WITHOUT_STORAGE,
        **dict.fromkeys(CHECKS),
        **verdicts,
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
