"""Scene -> what the browser needs for Dijkstra's page of a snapshot, ready for JSON (assets/explore/proof/)."""

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
    """The figures, by orientation, and the actions on show in the order of the run; else why there is no page.

    `first` is the place of the first action on show, `total` their number in the run, `whites` that of the white ones.
    `turns` are the places of the turns to red, by lane; `begin` and `end` those of S0 and S1. `forbidden` says of each
    red action that stays before a white one why it does. `ends` is the step with which the run on show ends, if a
    recovery takes back later what is inside (None: it does not).
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
    """The actions on show: lane (None: on its way), step and events, from index `first` to `last`; in words.

    `after` are the actions on show that are directly before it in every order, each with the clause that says why.
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
