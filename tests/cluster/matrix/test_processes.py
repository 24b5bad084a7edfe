"""The cells of the matrix in which processes of the cluster are hit. Two files, so that two workers play them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.matrix.cells import PROCESSES, TELLING, Cell, cells
from tests.cluster.matrix.playing import Play
from tests.tools import check_none

pytestmark = pytest.mark.long("the matrix: processes of a cluster under every fault")
CELLS = [own for own in cells() if own.who in PROCESSES and own not in TELLING]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_a_cell_of_processes(cell: Cell, tmp_path: Path) -> None:
    check_none(Play(cell, tmp_path).problems())
