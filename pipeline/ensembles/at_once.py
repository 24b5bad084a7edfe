"""Runs of one scenario at once, in this process: for a page that shows them while a user drags a slider."""

from __future__ import annotations

from pipeline.ensembles.both_ways import quick_rows, rows_in_python
from pipeline.ensembles.measure import Row
from sim.document.files import parse_toml


def rows_at_once(document: str, name: str, by_numba: int, in_python: int) -> list[Row]:
    """The rows of the first runs of a scenario (as TOML, without a seed), with seeds from 0, as an ensemble has them.

    There are `by_numba` runs if the compiled kernel can do them, else `in_python` runs. A row has the measures and
    verdicts of its snapshot (pipeline/ensembles/measure.py) and its seed. Raises InputError.
    """
    quick = quick_rows(document, name, range(by_numba)).rows
    found = quick if any(rows is not None for rows in quick) else [None for _ in range(in_python)]
    scenario = parse_toml(document, name)
    return [
        {**row, "seed": seed}
        for seed, rows in enumerate(found)
        for row in (rows_in_python(scenario, seed) if rows is None else rows)
    ]
