"""The cells of the matrix in which registry, storage or network are hit. Two files, so that two workers play them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.matrix.cells import POSTGRESQL, PROCESSES, S3, TELLING, Cell, cells
from tests.cluster.matrix.playing import Play
from tests.tools import check_none

pytestmark = pytest.mark.long("the matrix: registry, storage and network of a cluster under every fault")
CELLS = [own for own in cells() if own.who not in PROCESSES and own not in TELLING]
FIXTURES = {POSTGRESQL: "postgresql", S3: "bucket"}


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_a_cell_of_surroundings(cell: Cell, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    needed = FIXTURES.get(cell.who)
    check_none(Play(cell, tmp_path, request.getfixturevalue(needed) if needed else None).problems())
