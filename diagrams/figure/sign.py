"""A sign of a diagram: its word and its sentence in the legend, and the runs in which it is seen.

Each module that draws an element declares the signs of it; diagrams/panels/signs.py lists them all.
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
    """A sign of the diagram. In its label and title `{marker}` and `{control}` stand for the algorithm's own words;
    so do `{recorded}` and `{recorded_title}`, which tell of a message that a snapshot has recorded.

    `label` is its word below the diagram, `title` its sentence. A `rare` sign is in the full list only. One that is
    `of_snapshots` is drawn where a snapshot is taken. `drawn` says when: in the "run", while somebody predicts what a
    snapshot records ("asked"), on Dijkstra's page ("proof"), in a picture of the "lattice", or "always" in the first
    two. Of one that is `as_drawn` a still picture shows the look that it has there, with several snapshots that of
    each one. `is_in` says whether a scene has such a sign. `explains` are the signs of primitives that it stands for
    (diagrams/shapes/primitives.py).
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
    """Whether the run has a row of this kind."""
    return lambda scene: any(event.kind == kind for event in scene.execution.events)


def as_told(sign: Sign) -> dict[str, Any]:
    """A sign, ready for JSON."""
    return {
        "key": sign.key, "label": sign.label, "title": sign.title, "icon": sign.icon.svg(), "rare": sign.rare,
        "of_snapshots": sign.of_snapshots, "drawn": sign.drawn,
    }  # fmt: skip
