"""Rows after a verdict may change it, until the snapshot is complete: the order of receipt, a recovery."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.streaming.growing import ByHand, append, by_the_batch_audit, written

Follow = Callable[..., tuple[dict[str, Any], dict[str, list[int]]]]


def send(index: int, message: int) -> dict[str, Any]:
    """P1 sends to P2."""
    return {"process": "P1", "kind": "send", "index": index, "channel": "P1->P2", "message_id": message}


def receive(index: int, message: int) -> dict[str, Any]:
    """P2 receives from P1."""
    return {"process": "P2", "kind": "receive", "index": index, "channel": "P1->P2", "message_id": message}


def record(process: str, index: int) -> dict[str, Any]:
    """A process records S."""
    return {"process": process, "kind": "record", "index": index, "snapshot_id": "S"}


def done(process: str) -> dict[str, Any]:
    """The part of a process is done."""
    return {"process": process, "kind": "snapshot_complete", "snapshot_id": "S"}


@pytest.fixture
def follow(tmp_path: Path) -> Follow:
    """Takes in some rows. Returns the witness, by snapshot, and what its channels hold."""
    follower = ByHand(tmp_path / "out", tmp_path / "logs", "jsonl")

    def act(*rows: dict[str, Any]) -> tuple[dict[str, Any], dict[str, list[int]]]:
        append(tmp_path / "logs", "all.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
        follower.catch_up()
        assert written(follower.store) == by_the_batch_audit(follower.store)
        audits, channels = written(follower.store)
        return {row["cut_id"]: row["witness"] for row in audits}, {row["channel"]: row["messages"] for row in channels}

    return act


@pytest.mark.slow
def test_messages_are_in_the_order_of_their_receipt(follow: Follow) -> None:
    assert follow(send(1, 5), send(2, 6), record("P1", 2), record("P2", 0)) == ({"S": None}, {"P1->P2": [5, 6]})
    assert follow(receive(1, 6)) == ({"S": None}, {"P1->P2": [6, 5]})
    assert follow(receive(2, 5)) == ({"S": None}, {"P1->P2": [6, 5]})


SENT = send(1, 5), send(2, 6), record("P1", 2), record("P2", 0)
RECEIVED = record("P1", 0), send(1, 5), receive(1, 5), record("P2", 1)


def test_a_part_that_is_taken_back_is_none(follow: Follow) -> None:
    assert follow(*SENT)[1] == {"P1->P2": [5, 6]}
    assert follow({"process": "P1", "kind": "restore", "index": 1}) == ({}, {})
    assert follow(record("P1", 1)) == ({"S": None}, {"P1->P2": [5]})


def test_a_snapshot_that_is_complete_keeps_its_verdict(follow: Follow) -> None:
    assert follow(*RECEIVED, done("P1"), done("P2")) == ({"S": 5}, {})
    assert follow({"process": "P2", "kind": "restore", "index": 0}) == ({"S": 5}, {})
    assert follow(receive(2, 5)) == ({"S": 5}, {})


def test_a_message_is_in_its_channel_if_it_is_lost_later(follow: Follow) -> None:
    lost = {"process": "P2", "kind": "lost", "channel": "P1->P2"}
    found = follow(send(1, 5), send(2, 6), {**lost, "message_id": 5}, record("P1", 2), record("P2", 0))
    assert found == ({"S": None}, {"P1->P2": [6]})
    assert follow({**lost, "message_id": 6}) == found


def test_one_who_appears_later_has_to_record_as_well(follow: Follow) -> None:
    assert follow(send(1, 5), receive(1, 5), record("P1", 1), record("P2", 0)) == ({"S": None}, {"P1->P2": [5]})
    late = {"process": "P3", "kind": "send", "index": 1, "channel": "P3->P2", "message_id": 7}
    found = follow(late, {**receive(2, 7), "channel": "P3->P2"}, record("P3", 1))
    assert found == ({"S": None}, {"P1->P2": [5], "P3->P2": [7]})


def test_a_snapshot_that_is_aborted_is_no_cut(follow: Follow) -> None:
    assert follow(send(1, 5), record("P1", 1), record("P2", 0))[0] == {"S": None}
    assert follow({"process": "P1", "kind": "snapshot_aborted", "snapshot_id": "S"}) == ({}, {})
    assert follow(record("P1", 1), record("P2", 0)) == ({}, {})


def test_one_who_has_left_need_not_record(follow: Follow) -> None:
    rows = send(1, 5), receive(1, 5), {"process": "P1", "kind": "leave"}, record("P2", 1)
    assert follow(*rows) == ({"S": None}, {})
