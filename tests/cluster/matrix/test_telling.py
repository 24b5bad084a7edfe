"""Five cells of the matrix that have broken a cluster once, at the same time."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cluster.matrix.cells import S3, TELLING, Cell
from tests.cluster.matrix.playing import Play
from tests.tools import check_none

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def played(bucket: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Cell, Future[list[str]]]]:
    folder = tmp_path_factory.mktemp("cells")

    def play(cell: Cell, to: Path) -> list[str]:
        return Play(cell, to, bucket if cell.who == S3 else None).problems()

    with ThreadPoolExecutor(len(TELLING)) as threads:
        yield {cell: threads.submit(play, cell, folder / f"cell-{at}") for at, cell in enumerate(TELLING)}


@pytest.mark.parametrize("cell", TELLING, ids=str)
def test_a_telling_cell(played: dict[Cell, Future[list[str]]], cell: Cell) -> None:
    check_none(played[cell].result())
