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
    return _told(Lattice(scene, step, text), text)


def whole_lattice(scene: Scene, step: int, text: str) -> dict[str, Any] | None:
    """The same, for a page that cannot ask for more; None where the lattice is too large to be drawn whole."""
    lattice = Lattice(scene, step, text)
    return _told(lattice, text) if lattice.is_whole else None


def _told(lattice: Lattice, text: str) -> dict[str, Any]:
    return {
        "figure": figure(lattice),
        "cuts": lattice.cuts,
        "words": summary(lattice),
        "snapshots": snapshots(lattice),
        "predicate": predicate(lattice),
        "text": text,
        "examples": Predicates(lattice.execution).examples(),
    }
