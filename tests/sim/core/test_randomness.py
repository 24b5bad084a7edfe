"""Draws: the published mixing function, keys, and the distributions of delays."""

from __future__ import annotations

import math
from statistics import mean

from sim.core import randomness
from sim.core.delays import DelayRule
from tests.cases import each


def test_bits_are_splitmix64() -> None:
    """The reference output of Steele, Lea & Flood's generator for the seed 1234567."""
    assert [randomness.bits(1234567, n) for n in range(1, 4)] == [
        6457827717110365317, 3203168211198807973, 9817491932198370423,
    ]  # fmt: skip


def test_units_are_spread_over_0_to_1() -> None:
    draws = [randomness.unit(randomness.key(1, "x"), n) for n in range(2000)]
    assert 0 <= min(draws) < 0.01 and 0.99 < max(draws) < 1
    assert abs(mean(draws) - 0.5) < 0.03


def test_keys_differ_by_seed_and_by_every_name() -> None:
    keys = [randomness.key(1, "a", "b"), randomness.key(1, "ab"), randomness.key(11, "b"), randomness.key(1, "a", "c")]
    assert len(set(keys)) == 4 and randomness.key(1, "a", "b") == keys[0]


@each(
    "rule, least, most, average",
    [
        (DelayRule("fixed", 3.0, 3.0), 3, 3, 3),
        (DelayRule("uniform", 2.0, 6.0), 2, 6, 4),
        (DelayRule("whole", 0.0, 4.0), 0, 4, 2),
        (DelayRule("exponential", 5.0, 5.0), 0, math.inf, 5),
    ],
)
def test_delays_keep_their_bounds_and_their_mean(rule: DelayRule, least: float, most: float, average: float) -> None:
    draws = [rule.draw(randomness.key(7, "delay"), n) for n in range(1, 3001)]
    assert least <= min(draws) and max(draws) <= most
    assert abs(mean(draws) - average) <= 0.06 * average
    if rule.kind == "whole":
        assert set(draws) == {0, 1, 2, 3, 4}
