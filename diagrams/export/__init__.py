"""One file per format, found by its presence here: its name is the format, its `export` writes it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

from diagrams.scene import Scene

Export = Callable[[Scene, int], str]


def formats() -> list[str]:
    """The names of the formats there are."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__))


def exporter(name: str) -> Export:
    """The function that writes the scene at a step in the format called `name`."""
    export: Export = importlib.import_module(f"{__name__}.{name}").export
    return export
