"""Scene -> what the browser needs for Dijkstra's page of a snapshot, ready for JSON (assets/explore/proof/)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diagrams.proof import Proof, proof_of
from diagrams.proof_figure import figure
from diagrams.scene import Scene
from sim.core.deadline import in_time
from sim.core.errors import InputError
from sim.explain.words import capital, words_of
from sim.theory.interchange import ColouredAction


def proof_page(scene: Scene, snapshot: str, orientations: Sequence[str]) -> dict[str, Any]:
    """The figures, by orientation, and the actions on show in the order of the run; else why there is no page.

    `first` is the place of the first action on show, `total` their number in the run, `whites` that of the white ones.
    `turns` are the places of the turns to red, by lane; `begin` and `end` those of S0 and S1. `messages` has the names
    of messages by their ids.
    """
    try:
        proof = proof_of(scene.execution, snapshot)
    except InputError as problem:
        return {"problem": f"{capital(str(problem))}."}
    return {
        "figures": {orientation: figure(scene, proof, orientation) for orientation in orientations},
        "first": proof.first,
        "total": proof.total,
        "whites": proof.whites,
        "actions": [_action(scene, action) for action in in_time(proof.actions)],
        "messages": _names(scene, proof),
        "turns": proof.turns,
        "inversions": proof.inversions,
        "swaps": len(proof.swaps),
        "forbidden": proof.forbidden,
        "begin": proof.begin,
        "end": proof.end,
        "compared": [] if proof.is_forbidden else proof.compared(),
    }


def _names(scene: Scene, proof: Proof) -> dict[int, str]:
    words = words_of(scene.execution)
    moved = {message for action in proof.actions for message in (*action.sent, *action.accepted)}
    return {number: words.message(scene.execution.flights[number]) for number in sorted(moved)}


def _action(scene: Scene, action: ColouredAction) -> dict[str, Any]:
    """An action: its lane, its step and its events, from index `first` to `last`; the messages by their ids."""
    return {
        "lane": scene.whole_run.lane_of[action.process],
        "label": action.label,
        "red": action.is_red,
        "step": action.step,
        "first": action.first,
        "last": action.last,
        "sent": sorted(action.sent),
        "accepted": sorted(action.accepted),
    }
