"""The audit of a run: it holds where the rules were followed, and fails as soon as one row is not as it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

import pytest

from cluster.replay.audit import Audit, ChannelAudit, audit
from sim.core.model import PUT_BACK, RECEIVE, RECORD, RECORDED, SEND, Event
from sim.document.files import parse_toml
from sim.document.scenario import Scenario
from sim.run.execution import run
from sim.run.snapshots import snapshots_of

TWO_CRASHES = """
processes = 3
seed = 4
workload = { kind = "bank", transfers = 60, pace = 2 }
delay = { kind = "uniform", low = 1, high = 6 }
coordinator = { timeout = 100, interval = 15, until = 150 }
storage = {}
recovery = { on = "crash" }
faults = [ { kind = "crash", process = "P2", at = 40 }, { kind = "crash", process = "P1", at = 90 } ]
"""
LAST_EPOCH = 2


def scenario(**changes: str) -> Scenario:
    text = TWO_CRASHES
    for key, line in changes.items():
        old = next(own for own in text.splitlines() if own.startswith(f"{key} ="))
        text = text.replace(old, f"{key} = {line}")
    return parse_toml(text, "two crashes")


@cache
def told() -> tuple[Event, ...]:
    return tuple(run(scenario()).table)


def of(rows: Iterable[Event]) -> Audit:
    return audit([row._replace(row=number) for number, row in enumerate(rows)], scenario())


def doctored(which: int, change: Callable[[Event], list[Event]]) -> Audit:
    rows = list(told())
    return of([*rows[:which], *change(rows[which]), *rows[which + 1 :]])


def rows_of(kind: str, channel: str = "P1->P2", epoch: int = LAST_EPOCH) -> list[int]:
    found = [
        row.row
        for row in told()
        if row.kind == kind and row.epoch == epoch and (kind == RECORD or row.channel == channel)
    ]
    assert found, f"the run has no {kind} row on {channel} in epoch {epoch}"
    return found


def channel_of(own: Audit, name: str = "P1->P2") -> ChannelAudit:
    return next(channel for channel in own.channels if channel.channel == name)


# ---------------------------------------------------------------------- a run that follows the rules


def test_the_audit_of_a_run_with_two_recoveries_holds() -> None:
    own = of(told())
    assert own.wrong == []
    assert own.recoveries == LAST_EPOCH
    assert own.total("put_back") == sum(row.kind == PUT_BACK for row in told()) > 0
    assert own.total("received") == own.total("sent") < own.messages == sum(row.kind == RECEIVE for row in told())


def test_snapshots_are_counted_by_how_they_ended_with_what_they_recorded_in_channels() -> None:
    own = of(told())
    snapshots = snapshots_of(run(scenario()))
    assert own.statuses == {"complete": 8, "failed": 2}
    assert {one.id: one.status for one in own.snapshots} == {one.id: one.status for one in snapshots}
    kept = {one.id: sum(map(len, one.channels.values())) for one in snapshots if one.status == "complete"}
    assert {one.id: one.messages for one in own.snapshots if one.status == "complete"} == kept
    assert own.recorded == sum(kept.values()) > 0
    assert {one.epoch for one in own.snapshots if one.status == "complete"} == {0, 1, 2}


# ---------------------------------------------------------------------- one row is not as it was


def test_a_receipt_that_is_missing_is_a_message_lost() -> None:
    own = doctored(rows_of(RECEIVE)[0], lambda row: [])
    assert (channel_of(own).lost, channel_of(own).left) == (1, 0)
    assert "P1->P2: messages lost: 1" in own.wrong


def test_a_message_that_no_process_received_is_left_in_its_channel() -> None:
    own = doctored(rows_of(RECEIVE)[-1], lambda row: [])
    assert (channel_of(own).lost, channel_of(own).left) == (0, 1)
    assert own.wrong == ["P1->P2: messages left in the channel at the end: 1"]


def test_a_message_received_twice_is_found() -> None:
    again = told()[rows_of(RECEIVE)[0]]._replace(index=10_000)
    own = of([*told(), again])
    assert channel_of(own).duplicated == 1
    assert f"at the end: {300 + int(again.body or 0)} money there, 300 at first" in own.wrong


def test_two_receipts_in_the_wrong_order_are_found() -> None:
    one, other = rows_of(RECEIVE)[-2:]
    rows = list(told())
    rows[one], rows[other] = (
        rows[here]._replace(message_id=rows[there].message_id, body=rows[there].body)
        for here, there in ((one, other), (other, one))
    )
    assert channel_of(of(rows)).out_of_order == 1


def test_a_receipt_without_a_send_is_found() -> None:
    own = doctored(rows_of(RECEIVE)[-1], lambda row: [row._replace(message_id=10_000)])
    assert (channel_of(own).unfounded, channel_of(own).left) == (1, 1)


def test_a_message_of_an_earlier_life_that_gets_through_is_found() -> None:
    put_back = next(row for row in told() if row.kind == PUT_BACK)
    own = of(row for row in told() if row is not put_back)
    receipts = [row for row in told() if row.kind == RECEIVE and row.message_id == put_back.message_id]
    survives = any(row.epoch == put_back.epoch for row in receipts)
    assert channel_of(own, put_back.channel or "").unfounded == survives


@pytest.mark.parametrize("epoch", [0, 1, 2])
@pytest.mark.parametrize("by", [-1, 1])
def test_a_wrong_amount_in_a_recorded_state_is_found(epoch: int, by: int) -> None:
    own = doctored(rows_of(RECORD, epoch=epoch)[0], lambda row: [row._replace(body=str(int(row.body or 0) + by))])
    (found,) = (one for one in own.snapshots if one.problems)
    assert found.epoch == epoch
    assert found.problems[-1] == f"{300 + by} money there, 300 at first"


def test_a_wrong_amount_in_a_recorded_channel_is_found() -> None:
    which = next(row.row for row in told() if row.kind == RECORDED)
    own = doctored(which, lambda row: [row._replace(body="0")])
    (found,) = (one for one in own.snapshots if one.problems)
    assert " crosses the cut" in found.problems[0]
    assert " money there, 300 at first" in found.problems[-1]


@pytest.mark.parametrize("kind", [SEND, RECEIVE])
def test_a_wrong_amount_in_a_message_is_found(kind: str) -> None:
    own = doctored(rows_of(kind)[-1], lambda row: [row._replace(body="1000")])
    assert any(problem.startswith("at the end: ") for problem in own.wrong)


def test_a_record_row_in_the_wrong_place_is_found() -> None:
    rows = list(told())
    process = rows[(which := rows_of(RECORD)[0])].process
    later = next(row.row for row in rows[which:] if row.process == process and row.kind in (SEND, RECEIVE))
    moved = [*rows[:which], *rows[which + 1 : later + 1], rows[which], *rows[later + 1 :]]
    (found,) = (one for one in of(moved).snapshots if one.problems)
    assert found.problems[0].startswith(f"{process} recorded after ")


def test_a_cut_that_is_not_consistent_is_found() -> None:
    """A process whose part has none of its events is behind everything that it has sent to others."""
    own = doctored(rows_of(RECORD)[0], lambda row: [row._replace(index=0)])
    (found,) = (one for one in own.snapshots if one.problems)
    assert any("is received inside the cut, but sent outside it" in problem for problem in found.problems)


def test_a_snapshot_that_lacks_a_part_is_found() -> None:
    own = doctored(which := rows_of(RECORD)[0], lambda row: [])
    process = told()[which].process
    assert [one.problems for one in own.snapshots if one.problems] == [
        (f"complete, though {process} has not recorded",)
    ]


# ---------------------------------------------------------------------- recoveries that do half of their work


def test_what_a_recovery_does_not_put_back_is_lost() -> None:
    half = scenario(recovery='{ on = "crash", channels = false }')
    own = audit(run(half).table, half)
    assert own.total("lost") > 0
    assert own.total("put_back") == 0


def test_what_is_not_fenced_off_is_received_without_a_send() -> None:
    half = scenario(recovery='{ on = "crash", fence = false }')
    assert audit(run(half).table, half).total("unfounded") > 0
