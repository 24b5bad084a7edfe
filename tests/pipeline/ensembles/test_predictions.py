"""Formulas over the quantities of a cell: arithmetic is evaluated, everything else refused."""

from __future__ import annotations

import json
import math

import pytest

from pipeline.ensembles.predictions import (
    QUANTITIES,
    error_of,
    names_in,
    quantities_of,
    read_formula,
    typical_error,
)
from sim.core.errors import InputError
from sim.theory.expressions import MOST_LETTERS

KNOWN = {"rate": 0.5, "delay": 4.0, "channels": 6.0, "zero": 0.0}

CELL = {
    "processes": 3, "channels": 4, "initiators": 1, "mean_delay": 5.0, "mean_marker_delay": 2.0,
    "messages_50": 80, "duration_50": 40.0, "parameters": json.dumps({"pace": 4.0, "names": {"P1": 1}, "on": True}),
}  # fmt: skip


ARITHMETIC = [
    ("rate * delay * channels", 12.0),
    ("rate*(delay+2)**2", 18.0),
    ("-delay + 10 / channels", -4 + 10 / 6),
    ("min(rate, delay, channels)", 0.5),
    ("max(rate, 1) * sqrt(delay)", 2.0),
    ("2 ** -1", 0.5),
    ("1e3 - .5", 999.5),
    (" rate\n* 2 ", 1.0),
]
NOT_ARITHMETIC = [
    ("", "empty"),
    ("rate *", "no formula"),
    ("rate = 3", "no formula"),
    ("rat * delay", "did you mean 'rate'"),
    ("speed", "known: rate, delay, channels, zero"),
    ("__import__('os')", "no function here"),
    ("rate.real", "no arithmetic"),
    ("(lambda: 1)()", "no arithmetic"),
    ("[1][0]", "no arithmetic"),
    ("'a' * 3", "no arithmetic"),
    ("True + 1", "no arithmetic"),
    ("1j", "no arithmetic"),
    ("delay // 2", "no arithmetic"),
    ("delay if rate else 1", "no arithmetic"),
    ("sqrt(1, 2)", "sqrt is given 2"),
    ("min(rate)", "min is given 1"),
    ("max(*rate, 1)", "no arithmetic"),
    ("min(rate, key=rate)", "no arithmetic"),
    ("sqrt", "no quantity"),
    ("(" * 90 + "1" + ")" * 90 + "+", "no formula"),
    ("1" + "+1" * MOST_LETTERS, "at most"),
    ("\0", "no formula"),
]


def test_arithmetic():
    for text, value in ARITHMETIC:
        assert read_formula(text, KNOWN).value(KNOWN) == pytest.approx(value), text


def test_what_comes_to_no_number_is_no_prediction():
    for text in ("1 / zero", "zero ** -1", "sqrt(-1)", "(-8) ** 0.5", "9 ** 9 ** 9 ** 9", "1e999", "0 * 1e999"):
        assert read_formula(text, KNOWN).value(KNOWN) is None, text


def test_anything_else_is_refused_in_one_sentence():
    for text, words in NOT_ARITHMETIC:
        with pytest.raises(InputError) as refused:
            read_formula(text, KNOWN)
        assert words in str(refused.value), text
        assert "\n" not in str(refused.value)


def test_the_quantities_of_a_cell_are_those_that_are_promised_and_the_numbers_of_its_workload():
    found = quantities_of(CELL)
    assert found == {
        "processes": 3, "channels": 4, "initiators": 1, "delay": 5.0, "marker_delay": 2.0, "rate": 0.5, "pace": 4.0,
    }  # fmt: skip
    assert set(QUANTITIES) <= set(found)


def test_what_a_cell_cannot_say_is_left_out():
    assert "delay" not in quantities_of(CELL | {"mean_delay": None})


def test_a_cell_in_which_nothing_happens_has_a_rate_of_zero():
    assert quantities_of(CELL | {"duration_50": 0.0})["rate"] == 0
    assert quantities_of(CELL | {"channels": 0})["rate"] == 0


def test_only_what_every_cell_has_may_be_named():
    cells = [{"rate": 1.0, "pace": 2.0, "delay": 1.0}, {"rate": 1.0, "delay": 3.0, "hold": 1.0}]
    assert names_in(cells) == ["delay", "rate"]
    assert names_in([]) == sorted(QUANTITIES)


def test_errors_are_shares_of_what_was_measured():
    assert error_of(12, 10) == pytest.approx(0.2)
    assert error_of(5, 10) == pytest.approx(-0.5)
    assert error_of(5, 0) is None
    assert typical_error([(12, 10), (5, 10), (10, 10), (3, 0), (None, 10)]) == pytest.approx(0.2)
    assert typical_error([(3, 0)]) is None
    assert not math.isnan(typical_error([(0, 1)]) or math.nan)
