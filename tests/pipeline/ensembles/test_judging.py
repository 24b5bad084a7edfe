"""A claim is judged case by case, and what decides is found by cases that differ in one input alone."""

from __future__ import annotations

import pytest

from pipeline.tradeoffs.agreement import DEPENDS, HOLDS, REFUTED, delay_in_words, judged, said, spread
from pipeline.tradeoffs.cases import SNAPSHOT, Setting
from pipeline.tradeoffs.table import Outcome

SETTINGS = [
    Setting(topology, count, delay, pace)
    for topology in ("ring", "dag") for count in (4, 8) for delay in ("same", "uniform:1:40") for pace in (2.0, 20.0)
]  # fmt: skip
OUTCOMES = [Outcome(SNAPSHOT, setting, 3, 3, 3, 0, ()) for setting in SETTINGS]


def test_a_claim_that_holds_everywhere_or_nowhere_depends_on_nothing() -> None:
    assert judged(OUTCOMES, lambda own: True, str.upper) == (HOLDS, "HOLDS", (), ())
    assert judged(OUTCOMES, lambda own: False, str.upper) == (REFUTED, "DOES NOT HOLD", (), ())
    assert judged(OUTCOMES, lambda own: own.setting.topology == "ring" or None, str).verdict == HOLDS, (
        "of some: no word"
    )


@pytest.mark.parametrize("name", Setting._fields)
def test_the_input_that_decides_is_named_with_how_often_the_claim_holds(name: str) -> None:
    found = judged(OUTCOMES, lambda own: getattr(own.setting, name) in ("ring", 8, "same", 2.0), str)
    words = {
        "topology": ("topology", "Topology: 8 of 8 on ring, 0 of 8 on dag."),
        "processes": ("number of processes", "Number of processes: 0 of 8 with 4, 8 of 8 with 8."),
        "marker_delay": ("delay of markers", "Delay of markers: 8 of 8 with markers as long as messages, 0 of 8 with "
                         "markers of 1 to 40."),
        "pace": ("workload", "Workload: 8 of 8 with a send every 2, 0 of 8 with a send every 20."),
    }  # fmt: skip
    assert found == (DEPENDS, DEPENDS, (words[name][0],), ("It holds in 8 of 16 cases.", words[name][1]))


def test_inputs_that_decide_together_are_all_named_and_the_others_are_not() -> None:
    found = judged(OUTCOMES, lambda own: own.setting.processes == 8 and own.setting.topology == "dag", str)
    assert found.inputs == ("topology", "number of processes")


def test_the_input_that_decides_most_is_named_first() -> None:
    found = judged(OUTCOMES, lambda own: own.setting.pace == 2.0 and own.setting[:2] != ("ring", 4), str)
    assert found.inputs == ("workload", "topology", "number of processes")


# ------------------------------------------------------------------ how values are read


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.0139, "0.014"), (4.593, "4.6"), (9.96, "10"), (3.0, "3"), (1235.4, "1,235")]
)
def test_a_value_as_it_is_read(value: float, text: str) -> None:
    assert said(value) == text


def test_a_spread_as_it_is_read() -> None:
    assert (spread([3, 1, 380]), spread([2, 2]), spread([])) == ("1 to 380", "2", "0")


@pytest.mark.parametrize(
    ("delay", "text"),
    [
        ("same", "as long as messages"), ("fixed:3", "3"), ("uniform:1:9", "1 to 9"),
        ("exponential:4", "4 on average"), ("whole:0:4", "whole 0 to 4"),
    ],
)  # fmt: skip
def test_a_delay_as_it_is_read(delay: str, text: str) -> None:
    assert delay_in_words(delay) == text
