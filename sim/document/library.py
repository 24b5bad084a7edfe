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
    return load_file(_bundled(name))


def find(given: str) -> Scenario:
    """The scenario in the file `given`, or the bundled scenario called `given`. Raises InputError."""
    return load_file(path_of(given))


def path_of(given: str) -> Path:
    """The path `given`, or that of the bundled scenario called `given`. Raises InputError."""
    path = Path(given)
    return path if path.suffix == ".toml" or os.path.lexists(path) else _bundled(given)


def _bundled(name: str) -> Path:
    if name not in names():
        raise InputError(f"there is no scenario {brief(name)}; {nearest(name, names())}")
    return FOLDER / f"{name}.toml"
