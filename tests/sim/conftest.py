"""Fixtures: algorithms that exist only in tests, and the COS 418 cases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sim.core.algorithm import ALGORITHMS, SnapshotAlgorithm
from tests.tools import ROOT

CASES = ROOT.parent / "shared" / "data" / "cos418"


@pytest.fixture(scope="session")
def cos418_cases() -> Path:
    """The folder with the assignment's cases. They have no licence, so they are not part of the project."""
    if not CASES.is_dir():
        pytest.skip(f"the COS 418 cases are not here; they belong in {CASES}")
    return CASES


Register = Callable[[type[SnapshotAlgorithm]], str]


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Register:
    """Registers an algorithm for one test. Returns its name."""

    def add(algorithm: type[SnapshotAlgorithm]) -> str:
        known = ALGORITHMS._found.get(algorithm.name, algorithm)
        assert known is algorithm, "a test's algorithm must not take the name of a real one"
        monkeypatch.setitem(ALGORITHMS._found, algorithm.name, algorithm)
        return algorithm.name

    return add
