"""Runs by the compiled kernel, as long as its rows equal those of Python: in each call one run is done both ways.

If the two differ on a document, this process does not give it to the kernel again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from pipeline.compiled.runs import Compiled, compiled
from pipeline.ensembles.measure import Row, measure
from sim.document.files import parse_toml
from sim.document.scenario import Scenario
from sim.run.execution import run

_distrusted: set[str] = set()  # documents


class BothWays(NamedTuple):
    """The rows of runs (pipeline/ensembles/measure.py; None: Python has to do this run), and whether a row differed."""

    rows: list[list[Row] | None]
    is_disputed: bool


def quick_rows(document: str, name: str, seeds: Sequence[int]) -> BothWays:
    """The runs of a scenario (as TOML, without a seed) with these seeds. The first answer is compared with Python's."""
    if document in _distrusted:
        return BothWays([None for _ in seeds], True)
    quick = compiled_of(document, name)
    rows: list[list[Row] | None] = [None for _ in seeds] if quick is None else list(quick.rows(seeds))
    for seed, found in zip(seeds, rows, strict=True):
        if found is None:
            continue
        if _is_that_of_python(parse_toml(document, name), seed, found):
            break
        _distrusted.add(document)
        return quick_rows(document, name, seeds)
    return BothWays(rows, False)


def rows_in_python(scenario: Scenario, seed: int) -> list[Row]:
    """The rows of one run. Raises every exception that the scenario raises."""
    return measure(run(replace(scenario, seed=seed)))


def _is_that_of_python(scenario: Scenario, seed: int, found: list[Row]) -> bool:
    try:
        return rows_in_python(scenario, seed) == found
    except Exception:  # an error that the kernel missed; repeating the run reports it
        return False


@lru_cache(maxsize=16)
def compiled_of(document: str, name: str) -> Compiled | None:
    """A scenario (as TOML) for the kernel, cached, since many runs share one; None if Python does it."""
    return compiled(parse_toml(document, name))
