"""The experiment with markers as calls of their own: what is counted, and that a stream keeps the order."""

from __future__ import annotations

import json

import pytest

from cluster.__main__ import main
from cluster.rpc.inversions import BESIDE, BY_CALLS, IN_STREAM, Outcome, outcome
from tests.cluster.running import refused


@pytest.mark.parametrize(
    ("came", "early", "late", "left_out", "let_in", "overtaken"),
    [
        ([1, 2, -2, 3, 4, -4], 0, 0, 0, 0, 0),
        ([1, -2, 2, 3, 4, -4], 1, 0, 1, 0, 0),
        ([1, 2, 3, -2, 4, -4], 0, 1, 0, 1, 0),
        ([1, 3, -2, 2, 4, -4], 1, 1, 1, 1, 1),
        ([-4, -2, 4, 3, 2, 1], 2, 0, 6, 0, 3),
    ],
)
def test_what_an_order_means(
    came: list[int], early: int, late: int, left_out: int, let_in: int, overtaken: int
) -> None:
    assert outcome("", came) == Outcome("", 4, 2, early, late, left_out, let_in, overtaken)


@pytest.mark.slow
def test_a_stream_keeps_the_order_and_calls_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    """That calls are inverted is chance; of 3,000 with 64 at once, some have been in each of many tries."""
    assert main(["inversions", "--messages", "3000", "--json"]) == 0
    found = {own.pop("way"): own for own in json.loads(capsys.readouterr().out)}
    for own in found.values():
        assert (own["messages"], own["markers"]) == (3000, 300)
    kept = found[IN_STREAM]
    assert [kept[name] for name in ("early", "late", "left_out", "let_in", "overtaken")] == [0] * 5
    assert found[BESIDE]["early"] + found[BESIDE]["late"] > 0
    assert found[BY_CALLS]["overtaken"] > 0


def test_bad_numbers_are_refused() -> None:
    assert "from 1 to 1,000,000" in refused("inversions", "--messages", "0")
    assert "--at-once: from 1 to 1,000" in refused("inversions", "--at-once", "-3")
