"""A larger exploration on Spark's workers; the small one is among all jobs (tests/pipeline/some_jobs.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.exploring.test_spread import check_it_finds_the_same


@pytest.mark.long("an exploration of 21,385 states on Spark's workers")
def test_it_finds_the_same_among_thousands_of_states(spark: Any, tmp_path: Path) -> None:
    check_it_finds_the_same(tmp_path, 3, 1, 21_385, 72_907)
