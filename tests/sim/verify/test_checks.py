"""The checks: when each is decided, and that each finds an error in a changed table."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sim.core.delays import HOLD, DelayRule
from sim.core.model import CHANNEL_CLOSED, MARKER, MARKER_SEND, RECORD, Event, MessageReference
from sim.document.scenario import Scenario
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from sim.verify.checks import CHECKS, Verdict
from tests.cases import each
from tests.reference.verdicts import verdicts_from_table
from tests.sim.tools import bodies, failing, send, start, system, verdicts


def bank() -> Scenario:
    """P2's 30 and 20 leave at 1 and 2 and arrive at 6; P1 starts at 3, so both are in its channel."""
    script = (send("P2", "P1", 1, 30, label="m"), send("P2", "P1", 2, 20, label="n"))
    return system(
        "P1 P2", workload="bank", script=script, snapshots=(start("P1", 3),), delays={MessageReference(label="m"): 5.0}
    )


def names(row: list[Verdict]) -> list[str]:
    return [verdict.check for verdict in row]


# --------------------------------------------------------------------------- decided or undecided


def test_a_complete_snapshot_has_every_verdict_in_the_listed_order() -> None:
    (row,) = verdicts(run(bank())).values()
    assert names(row) == [name for name in CHECKS if name != "one_outcome"]
    assert all(v.holds and v.witness is None for v in row)


def test_nothing_is_conserved_where_the_workload_says_so() -> None:
    (row,) = verdicts(run(system("P1 P2", snapshots=(start("P1", 1),)))).values()
    assert names(row) == ["completion", "one_marker", "consistency", "channel_states"]


@pytest.mark.parametrize(
    ("held", "witness", "consistent"),
    [("P2->P1", "C21 is not closed", True), ("P1->P2", "P2 has not recorded", None)],
)
def test_a_check_is_undecided_until_what_it_needs_is_there(held: str, witness: str, consistent: bool | None) -> None:
    """Consistency needs all recordings, channel states all channels."""
    marker = MessageReference(None, held, MARKER, "S1")
    (row,) = verdicts(run(system("P1 P2", snapshots=(start("P1", 1),), delays={marker: HOLD}))).values()
    assert row == [
        ("completion", False, witness), ("one_marker", True, None), ("consistency", consistent, None),
        ("channel_states", None, None),
    ]  # fmt: skip


def test_a_snapshot_that_never_begins_is_not_complete() -> None:
    never = system("P1 P2", snapshots=(start("P1", 0, after="P1.1"),))
    assert failing(run(never)) == {"S1:completion": "P1 has not recorded"}


def test_one_process_alone_is_a_complete_snapshot() -> None:
    (row,) = verdicts(run(system("P1", workload="bank", snapshots=(start("P1", 1),)))).values()
    assert names(row) == [name for name in CHECKS if name != "one_outcome"] and all(v.holds for v in row)


def test_every_snapshot_of_a_run_is_judged_by_itself() -> None:
    two = system(
        "P1 P2",
        snapshots=(start("P1", 1), start("P2", 1, "S2")),
        delays={MessageReference(None, "P1->P2", MARKER, "S2"): HOLD},
    )
    assert failing(run(two)) == {"S2:completion": "C12 is not closed"}


def test_a_held_marker_of_one_snapshot_stands_in_the_way_of_the_next() -> None:
    """FIFO: S2's marker is behind S1's."""
    two = system(
        "P1 P2",
        snapshots=(start("P1", 1), start("P1", 2, "S2")),
        delays={MessageReference(None, "P1->P2", MARKER, "S1"): HOLD},
    )
    assert failing(run(two)) == {"S1:completion": "P2 has not recorded", "S2:completion": "P2 has not recorded"}


# --------------------------------------------------------------------------- a table that was tampered with

Tamper = Callable[[list[Event]], list[Event]]


def without(kind: str, process: str) -> Tamper:
    return lambda rows: [row for row in rows if (row.kind, row.process) != (kind, process)]


def changed(kind: str, process: str, **fields: object) -> Tamper:
    return lambda rows: [row._replace(**fields) if (row.kind, row.process) == (kind, process) else row for row in rows]


def twice(kind: str) -> Tamper:
    return lambda rows: [row for row in rows for _ in range(2 if row.kind == kind else 1)]


TAMPERED: dict[str, tuple[Tamper, list[str]]] = {
    "a process that has not recorded": (without(RECORD, "P2"), ["completion"]),
    "a channel that is not closed": (without(CHANNEL_CLOSED, "P1"), ["completion"]),
    "a marker sent twice": (twice(MARKER_SEND), ["one_marker"]),
    "a marker not sent": (without(MARKER_SEND, "P2"), ["one_marker"]),
    "a receive inside, its send outside": (changed(RECORD, "P2", index=0), ["channel_states"]),
    "P1 records too late": (changed(RECORD, "P1", index=1), ["channel_states"]),
    "neither sent, one received": (
        lambda rows: changed(RECORD, "P1", index=1)(changed(RECORD, "P2", index=0)(rows)),
        ["consistency", "channel_states"],
    ),
    "a message lost": (changed(CHANNEL_CLOSED, "P1", body="[30]"), ["channel_states", "conservation"]),
    "messages in a wrong order": (changed(CHANNEL_CLOSED, "P1", body="[20,30]"), ["channel_states"]),
    "a message of another amount": (changed(CHANNEL_CLOSED, "P1", body="[30,21]"), ["channel_states", "conservation"]),
    "money found": (changed(RECORD, "P2", body="51"), ["conservation"]),
}


@each("name", TAMPERED)
def test_a_table_that_was_tampered_with_is_caught_by_the_reference(name: str) -> None:
    tamper, checks = TAMPERED[name]
    execution = run(bank())
    (row,) = verdicts_from_table(tamper(execution.table), execution.scenario).values()
    assert [check for check, holds in row.items() if holds is False] == checks


# --------------------------------------------------------------------------- snapshots


def test_a_snapshot_put_together() -> None:
    (snapshot,) = snapshots_of(run(bank()))
    assert (snapshot.id, snapshot.initiators, snapshot.status, snapshot.markers) == ("S1", ("P1",), "complete", 2)
    assert snapshot.frontier == {"P1": 0, "P2": 2}
    assert snapshot.events == {"P1": (), "P2": ("m", "n")}
    assert bodies(snapshot) == {"P2->P1": [30, 20]}
    assert (snapshot.began, snapshot.completed) == (3, 7)


def test_snapshots_come_in_the_order_of_their_first_recording_and_those_that_never_begin_last() -> None:
    asked = (start("P1", 0, "A", after="P1.9"), start("P1", 9, "B"), start("P2", 1, "C"), start("P1", 9, "C"))
    found = snapshots_of(run(system("P1 P2", snapshots=asked)))
    assert [(s.id, s.initiators) for s in found] == [("C", ("P2",)), ("B", ("P1",)), ("A", ())]
    assert [s.status for s in found] == ["complete", "complete", "recording"]
    assert (found[2].began, found[2].completed, found[2].local) == (None, None, {})


def test_overlapping_snapshots_are_kept_apart() -> None:
    """One message is in S1's channel and inside S2's cut; each adds up."""
    scenario = system(
        "P1 P2",
        workload="bank",
        script=(send("P2", "P1", 1, 30, label="m"),),
        snapshots=(start("P1", 2), start("P1", 8, "S2")),
        delays={MessageReference(label="m"): 5.0, MessageReference(None, "P1->P2", MARKER, "S1"): 20.0},
        delay=DelayRule("fixed", 1.0, 1.0),
    )
    first, second = snapshots_of(execution := run(scenario))
    assert bodies(first) == {"P2->P1": [30]} and bodies(second) == {}
    assert second.local["P1"].state == 130 and second.began is not None and first.completed is not None
    assert second.began < first.completed and failing(execution) == {}
