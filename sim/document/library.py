"""The bundled scenarios: every .toml in scenarios/, found by its presence there."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from sim.core.errors import InputError, brief, nearest
from sim.document.files import load as load_file
from sim.document.scenario import Scenario

FOLDER = Path(__file__).resolve().parents[2] / "scenarios"


def names() -> list[str]:
    """The stems of the bundled scenarios, the lecture example first."""
    return sorted((path.stem for path in FOLDER.glob("*.toml")), key=lambda stem: (stem != "lecture", stem))


@cache
def load(name: str) -> Scenario:
    """The bundled scenario called `name`. Raises InputError, naming the nearest one."""
    return load_file(_bundled(name))


def find(given: str) -> Scenario:
    """The scenario at the path `given`, or the bundled one of that name. Raises InputError."""
    return load_file(path_of(given))


def path_of(given: str) -> Path:
    """The path `given`, or that of the bundled scenario of that name. Raises InputError."""
    path = Path(given)
    return path if path.suffix == ".toml" or os.path.lexists(path) else _bundled(given)


def _bundled(name: str) -> Path:
    if name not in names():
        raise InputError(f"there is no scenario {brief(name)}; {nearest(name, names())}")
    return FOLDER / f"{name}.toml"
