"""Cuts and their lattice, after Coulouris et al., chapter 14."""

from __future__ import annotations

from tests.scenarios.tools import clocks_by_label, frontiers, run_of


def test_lattice_clocks_and_exact_cuts() -> None:
    history = run_of("lattice").history
    assert clocks_by_label(history) == {
        "e10": "10", "e11": "20", "e12": "30", "e13": "43", "e20": "21", "e21": "22", "e22": "23",
    }  # fmt: skip
    lattice = history.lattice()
    assert sorted("".join(map(str, cut)) for cut in lattice) == sorted(
        ["00", "10", "20", "30", "21", "31", "22", "32", "23", "33", "43"]
    )
    assert lattice[4, 3] == 4
    assert len(frontiers(history)) == 20, "as the story says"
