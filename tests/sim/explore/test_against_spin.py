"""A model checker counts the same states, where it is installed; larger systems: python -m bench.explore."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.explore import by_spin, missing, verifier
from sim.explore.report import complete_graph, exploration


@pytest.mark.skipif(bool(missing()), reason=f"not installed: {', '.join(missing())}")
def test_spin_counts_the_same_states_and_transitions(tmp_path: Path) -> None:
    verifier(tmp_path / "model", 2, 1)
    found = exploration(complete_graph(2, 1)).found
    assert by_spin(tmp_path / "model").counts == (found.states, found.transitions) == (65, 101)
