"""The columns of the matrix: every pair of values is in a cell, or is named with the reason why it means nothing."""

from __future__ import annotations

from tests.cluster.matrix.cells import MEANINGLESS, TELLING, cells, uncovered


def test_every_pair_of_values_is_in_a_cell_or_is_named() -> None:
    assert uncovered(cells()) == {*MEANINGLESS}


def test_a_pair_that_is_left_out_is_seen() -> None:
    first, *others = cells()
    assert uncovered([own for own in others if own.what != first.what]) > {*MEANINGLESS}


def test_no_cell_is_there_twice_and_the_telling_ones_come_first() -> None:
    listed = cells()
    assert len({*listed}) == len(listed)
    assert tuple(listed[: len(TELLING)]) == TELLING
