"""A sign of a diagram: its word and its sentence in the legend, and the runs in which it is seen.

Each module that draws an element declares the signs of it; diagrams/panels/legend.py lists them all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from diagrams.figure.icons import Icon
from diagrams.scene.composition import Scene

RUN, ASKED, PROOF, LATTICE, ALWAYS = "run", "asked", "proof", "lattice", "always"


@dataclass(frozen=True)
class Sign:
    """A sign of the diagram.

    label: its word below the diagram. title: its sentence. In both, `{marker}` and `{control}` stand for the
        algorithm's own words, as do `{recorded}` and `{recorded_title}` for a message that a snapshot has recorded.
    icon: its picture. rare: it is in the full list only. of_snapshots: it is drawn only if a snapshot is taken.
    drawn: the place in which it is drawn: the "run", a prediction ("asked"), Dijkstra's page ("proof"), a picture of
        the "lattice", or "always" for the first two.
    as_drawn: a still picture shows the sign as it looks there, once for each of several snapshots.
    explains: the signs of primitives that it stands for (diagrams/shapes/primitives.py).
    is_in: whether a scene has such a sign.
    """

    key: str
    label: str
    title: str
    icon: Icon
    rare: bool = False
    of_snapshots: bool = False
    drawn: str = RUN
    as_drawn: bool = False
    explains: tuple[str, ...] = ()
    is_in: Callable[[Scene], bool] = lambda scene: True


def has(kind: str) -> Callable[[Scene], bool]:
    """A test whether a run has a row of this kind."""
    return lambda scene: any(event.kind == kind for event in scene.execution.events)


def as_told(sign: Sign) -> dict[str, Any]:
    """A sign, ready for JSON."""
    return {
        "key": sign.key, "label": sign.label, "title": sign.title, "icon": sign.icon.svg(), "rare": sign.rare,
        "of_snapshots": sign.of_snapshots, "drawn": sign.drawn,
    }  # fmt: skip
