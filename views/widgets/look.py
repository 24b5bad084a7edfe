"""The look of a run in the browser: window, orientation and arrangement of the processes, and the scene as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from diagrams.browser.payload import payload
from diagrams.panels.lattice.document import lattice_payload
from diagrams.scene.arrangement import Arrangement
from diagrams.scene.composition import Scene
from sim.core.deadline import OutOfTime, at_most
from sim.core.errors import InputError
from sim.document.scenario import ORIENTATIONS
from sim.document.toml_table import Table
from views.server.plain_words import sentence
from views.widgets import words

WHOLE = 2_000  # steps; longer runs are seen through a window
MOST_DRAWN = 20_000  # messages on show
MOST_REASONS = 200_000  # messages on show, times snapshots: each has a reason for each
LATTICE_S = 3.0  # for the lattice: without it the rest is drawn
WINDOW, LEAST_WINDOW, MOST_WINDOW = 300, 20, 2_000  # steps that a window shows


@dataclass(frozen=True)
class Look:
    """The direction of time (None: the scenario's), and the window on a long run: `width` steps around `step`.

    `expanded`: long rows of internal events are drawn one by one. `arrangement`: the hidden and folded processes, and
    the order of all. `lattice`: with the lattice of consistent cuts, and the answer to `predicate` ("": none). `proof`:
    with Dijkstra's page of this snapshot, by its id. `question`: with the diagram for a user who predicts.
    """

    orientation: str | None = None
    step: int = 0
    width: int = WINDOW
    expanded: bool = False
    arrangement: Arrangement = field(default_factory=Arrangement)
    lattice: bool = False
    predicate: str = ""
    proof: str | None = None
    question: bool = False

    def has(self, other: Look) -> bool:
        """Whether the drawing for this look has all that `other` asks for."""
        return other in (self, replace(self, lattice=False, predicate="", proof=None, question=False))


def _check_drawn(scene: Scene) -> None:
    """Raises InputError if more messages are on show than a browser can draw, or than reasons can be given for."""
    messages, snapshots = len(scene.flights), len(scene.snapshots)
    if messages > MOST_DRAWN or messages * snapshots > MOST_REASONS:
        raise InputError(words.too_many_drawn(messages, snapshots, MOST_DRAWN))


def read_look(edit: Mapping[str, Any]) -> Look:
    """The look that a browser asks for, kept within bounds. Raises InputError."""
    table = Table(edit, "")
    numbers = [table.take(*known, "a number") for known in (("step", (int, float), 0), ("width", (int, float), WINDOW))]
    step, width = (int(number) if math.isfinite(number) else 0 for number in numbers)
    orientation = edit.get("orientation") if edit.get("orientation") in ORIENTATIONS else None
    width = min(max(width, LEAST_WINDOW), MOST_WINDOW)
    lattice = edit.get("lattice") is True
    predicate = table.text("predicate") if lattice else ""
    proof = edit["proof"] if isinstance(edit.get("proof"), str) else None
    arrangement = _read_arrangement(edit)
    is_expanded, question = edit.get("expanded") is True, edit.get("question") is True
    return Look(orientation, max(0, step), width, is_expanded, arrangement, lattice, predicate, proof, question)


def _read_arrangement(edit: Mapping[str, Any]) -> Arrangement:
    """The arrangement that a browser asks for; anything that is no name is left out."""
    lists = (edit.get(key) for key in ("order", "hidden", "folded"))
    return Arrangement(
        *(tuple(n for n in names if isinstance(n, str)) if isinstance(names, list) else () for names in lists)
    )


def draw(scene: Scene, look: Look) -> bytes:
    """The scene as JSON: all of it, or the window of a long run."""
    scene = scene.arranged(look.arrangement)
    if scene.last > WHOLE:
        first = max(0, min(look.step - look.width // 2, scene.last - look.width))
        scene = scene.window(first, first + look.width, expanded=look.expanded)
    elif look.expanded:
        scene = scene.window(0, scene.last, expanded=True)
    _check_drawn(scene)
    orientation = look.orientation or scene.execution.scenario.orientation
    proofs = [snapshot.id for snapshot in scene.snapshots if snapshot.id == look.proof]
    document = payload(scene, (orientation,), proofs, look.question)
    if look.lattice:
        document["lattice"] = _lattice(scene, look)
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _lattice(scene: Scene, look: Look) -> dict[str, Any]:
    """The lattice for the browser, or the `problem` why there is none; the rest is drawn in any case."""
    try:
        with at_most(LATTICE_S) as deadline:
            return lattice_payload(scene, look.step, look.predicate)
    except OutOfTime:
        if not deadline.is_wanted():
            raise
        problem = words.NO_TIME_FOR_LATTICE
    except InputError as refusal:
        problem = str(refusal)
    return {"text": look.predicate, "problem": sentence(problem)}
