"""The lattice of a run as the plain JSON that the browser's tab shows."""

from __future__ import annotations

from typing import Any

from diagrams.panels.lattice.figure import figure
from diagrams.panels.lattice.panel import Lattice, whole_graph
from diagrams.panels.lattice.words import predicate, snapshots, summary
from diagrams.scene.composition import Scene


def lattice_payload(scene: Scene, step: int, text: str) -> dict[str, Any]:
    """The figure, the names of the cuts by the number of their node, the words, and the answers about a predicate."""
    lattice = Lattice(scene, step, text)
    return {
        "figure": figure(lattice),
        "cuts": [lattice.events.names.name(cut) for cut in lattice.cuts],
        "words": summary(lattice),
        "snapshots": snapshots(lattice),
        "predicate": predicate(lattice),
        "text": text,
        "examples": lattice.events.predicates.examples(),
    }


def whole_lattice(scene: Scene, step: int, text: str) -> dict[str, Any] | None:
    """The same for a stand-alone page; None if the lattice is too large to be drawn completely."""
    is_small = whole_graph(scene.whole_run.cut_space) is not None
    return lattice_payload(scene, step, text) if is_small else None
