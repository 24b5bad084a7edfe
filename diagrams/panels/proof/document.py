"""Scene -> Dijkstra's page of a snapshot for the browser, ready for JSON (assets/explore/proof/)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diagrams.panels.proof.figure import figure
from diagrams.panels.proof.panel import Proof, proof_of
from diagrams.panels.proof.rearranged import scene_of
from diagrams.scene.composition import Scene
from sim.core.deadline import in_time
from sim.core.errors import InputError
from sim.explain.actions import why_first, why_sharp
from sim.explain.words import capital


def proof_page(scene: Scene, snapshot: str, orientations: Sequence[str]) -> dict[str, Any]:
    """The figures, by orientation, and the actions on show in the order of the run; else the `problem`.

    first: the place of the first action on show. total, whites: the numbers of all actions and white ones in the run.
    turns: the places of the turns to red, by lane. begin, end: the places of S0 and S1.
    forbidden: for each red action that stays before a white one, the reason.
    ends: the last step on show, if a recovery later takes back events inside the cut (None: it does not).
    """
    try:
        proof = proof_of(scene.execution, snapshot)
    except InputError as problem:
        return {"problem": f"{capital(str(problem))}."}
    scene = scene_of(proof, scene)
    return {
        "ends": proof.run.ends,
        "figures": {orientation: figure(scene, proof, orientation) for orientation in orientations},
        "first": proof.first,
        "total": proof.total,
        "whites": proof.whites,
        "actions": _actions(scene, proof),
        "turns": proof.turns,
        "inversions": proof.inversions,
        "swaps": len(proof.swaps),
        "forbidden": [why_sharp(scene.execution, found) for found in proof.forbidden],
        "begin": proof.begin,
        "end": proof.end,
        "compared": [] if proof.is_forbidden else proof.compared(),
    }


def _actions(scene: Scene, proof: Proof) -> list[dict[str, Any]]:
    """The actions on show: lane (None: in transit), step, events from index `first` to `last`, and words.

    `after` holds the actions on show that come directly before it in every order, each with the reason in a clause.
    """
    number_of = {action.place: number for number, action in enumerate(proof.actions)}
    found = []
    for action in in_time(proof.actions):
        label, name, sentence = proof.told(action)
        causes = sorted(number_of[place] for place in action.causes if place in number_of)
        found.append(
            {
                "lane": scene.whole_run.lane_of[action.process] if action.process else None,
                "label": label,
                "name": name,
                "told": sentence,
                "red": action.is_red,
                "step": action.step,
                "first": action.first,
                "last": action.last,
                "after": [[other, why_first(scene.execution, proof.actions[other], action)] for other in causes],
            }
        )
    return found
