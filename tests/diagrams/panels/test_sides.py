"""The groups of a split network in its picture: boundaries where they lie apart, else letters."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from diagrams.browser.payload import payload
from diagrams.panels.network.sides import is_apart, outline
from diagrams.scene.composition import compose
from sim.document.scenario import FaultLine
from sim.run.execution import run
from tests.sim.tools import system

BOUNDARIES, LETTERS = "9px,6px", 16


def drawn(*group: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]:
    """Of four processes, split at 1 and healed at 5: the traces of boundaries and of letters, and all the page has."""
    whole = system("P1 P2 P3 P4")
    between = tuple(
        own.name for own in whole.channels if (own.source_name in group) != (own.target_name in group)
    )  # fmt: skip
    faults = (FaultLine("sever", None, between, 1.0), FaultLine("mend", None, between, 5.0))
    found = payload(compose(run(replace(whole, faults=faults))), ())
    traces = found["topology"]["figure"]["data"]
    lines = [own for own in traces if own.get("line", {}).get("dash") == BOUNDARIES]
    return lines, [own for own in traces if own.get("textfont", {}).get("size") == LETTERS], found


def test_groups_that_lie_apart_have_a_boundary_each_while_the_network_is_split() -> None:
    (lines,), letters, found = drawn("P1", "P2")
    assert not letters
    assert lines["meta"]["show"] == [[1, 2], [1, 2]]
    stride = lines["meta"]["stride"]
    first = [(x, y) for x, y in zip(lines["x"][:stride], lines["y"][:stride], strict=True) if x is not None]
    assert first[0] == first[-1] and lines["x"][stride - 1] is None
    places = {own["name"]: (own["x"], own["y"]) for own in found["topology"]["nodes"]}
    assert all(min(math.dist(point, places[name]) for name in ("P1", "P2")) < 0.25 for point in first)
    assert all(math.dist(point, places["P3"]) > 0.5 for point in first)
    (split,) = found["splits"]
    assert (split["groups"], split["since"]) == ((("P1", "P2"), ("P3", "P4")), 1.0)
    assert split["what"] == "The network has been split into P1 and P2 | P3 and P4"


def test_groups_whose_boundaries_would_cross_have_a_letter_at_each_process() -> None:
    """The processes lie in a circle, so that the line from P1 to P3 crosses the one from P2 to P4."""
    lines, (letters,), _ = drawn("P1", "P3")
    assert not lines
    assert letters["text"] == ["<b>A</b>", "<b>A</b>", "<b>B</b>", "<b>B</b>"]
    assert letters["meta"]["show"] == [[1, 2]] * 4


@pytest.mark.parametrize(("away", "apart"), [(0.45, True), (0.55, False)])
def test_outlines_that_come_closer_than_twice_their_distance_touch(away: float, apart: bool) -> None:
    one, other = outline([(0.0, 0.0), (0.0, 3.0)], away), outline([(1.0, 1.0)], away)
    assert is_apart(one, other) is is_apart(other, one) is apart
