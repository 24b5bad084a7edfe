"""The bundled scenarios: every .toml file in scenarios/."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from sim.core.errors import InputError, brief, nearest
from sim.document.files import load as load_file
from sim.document.scenario import Scenario

FOLDER = Path(__file__).resolve().parents[2] / "scenarios"


def names() -> list[str]:
    """The names of the bundled scenarios, "lecture" first, then in string order."""
    return sorted((path.stem for path in FOLDER.glob("*.toml")), key=lambda stem: (stem != "lecture", stem))


@cache
def load(name: str) -> Scenario:
    """The bundled scenario called `name`. Raises InputError if there is none, and suggests the nearest name."""
    if name not in names():
        raise InputError(f"there is no scenario {brief(name)}; {nearest(name, names())}")
    return load_file(FOLDER / f"{name}.toml")


def find(given: str) -> Scenario:
    """The scenario in the file `given`, or the bundled scenario called `given`. Raises InputError."""
    path = Path(given)
    return load_file(path) if path.suffix == ".toml" or os.path.lexists(path) else load(given)
