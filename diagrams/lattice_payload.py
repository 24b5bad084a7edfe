"""The lattice of a run as the plain JSON that the browser's tab shows."""

from __future__ import annotations

from typing import Any

from diagrams.lattice import Lattice
from diagrams.lattice_figure import figure
from diagrams.lattice_words import predicate, snapshots, summary
from diagrams.scene import Scene
from sim.run.predicates import Predicates


def lattice_payload(scene: Scene, step: int, text: str) -> dict[str, Any]:
    """The figure, the cuts by the number of their node, words, and what a predicate (in `text`) does."""
    lattice = Lattice(scene, step, text)
    return {
        "figure": figure(lattice),
        "cuts": lattice.cuts,
        "is_whole": lattice.is_whole,
        "words": summary(lattice),
        "snapshots": snapshots(lattice),
        "predicate": predicate(lattice),
        "text": text,
        "examples": Predicates(scene.execution).examples(),
    }
