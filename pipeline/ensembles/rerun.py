"""Makes the scenario of a row of the table runs; running it gives the same events again, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from sim import SAME_RUNS, VERSION
from sim.core.errors import InputError
from sim.document.files import parse_toml
from sim.document.scenario import Scenario


def scenario_of(row: Mapping[str, Any]) -> Scenario:
    """The scenario of the run in `row` (RUN_TYPES), from its document and seed.

    Raises InputError if these are missing, or if a version made the run whose runs may differ (SAME_RUNS).
    """
    if not isinstance(row.get("document"), str) or not isinstance(row.get("seed"), int):
        raise InputError("a row of runs has a document and a seed; this one lacks them")
    if row.get("version", VERSION) not in SAME_RUNS:
        raise InputError(
            f"run {row.get('run_id')} was made by version {row['version']}, and this is {VERSION}: "
            "the run may differ in this version, so use the other one, or run the ensemble anew"
        )
    name = row.get("scenario") or row.get("workload") or "run"
    return replace(_parsed(row["document"], name), name=f"{name}-{row.get('run_id', 0)}", seed=row["seed"])


@lru_cache(maxsize=64)
def _parsed(document: str, name: str) -> Scenario:
    """The parsed document, cached, since thousands of runs share one."""
    return parse_toml(document, name)
