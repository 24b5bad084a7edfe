"""The experiment with markers as calls of their own: what is counted, and that a stream keeps the order."""

from __future__ import annotations

import json

import pytest

from cluster.rpc.inversions import BESIDE, BY_CALLS, IN_STREAM, Outcome, outcome
from tests.cluster.running import refused, said
from tests.tools import check_none
from tests.waiting import until

# What came, and early, late, left out, let in, overtaken.
ORDERS = [
    ([1, 2, -2, 3, 4, -4], 0, 0, 0, 0, 0),
    ([1, -2, 2, 3, 4, -4], 1, 0, 1, 0, 0),
    ([1, 2, 3, -2, 4, -4], 0, 1, 0, 1, 0),
    ([1, 3, -2, 2, 4, -4], 1, 1, 1, 1, 1),
    ([-4, -2, 4, 3, 2, 1], 2, 0, 6, 0, 3),
]


def test_what_an_order_means() -> None:
    check_none(
        f"{came}: {outcome('', came)}" for came, *counts in ORDERS if outcome("", came) != Outcome("", 4, 2, *counts)
    )


@pytest.mark.slow
def test_a_stream_keeps_the_order_and_calls_do_not() -> None:
    """Calls are inverted by chance, so this tries until some are; the stream keeps the order each time."""

    def are_inverted() -> bool:
        found = {own.pop("way"): own for own in json.loads(said("inversions", "--messages", "1000", "--json").stdout)}
        for own in found.values():
            assert (own["messages"], own["markers"]) == (1000, 100)
        kept = found[IN_STREAM]
        assert [kept[name] for name in ("early", "late", "left_out", "let_in", "overtaken")] == [0] * 5
        return found[BESIDE]["early"] + found[BESIDE]["late"] > 0 and found[BY_CALLS]["overtaken"] > 0

    until(are_inverted, "calls are inverted")


def test_bad_numbers_are_refused() -> None:
    assert "from 1 to 1,000,000" in refused("inversions", "--messages", "0")
    assert "--at-once: from 1 to 1,000" in refused("inversions", "--at-once", "-3")
