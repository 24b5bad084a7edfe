"""Scene -> the stable properties of its run, as the plain JSON that the browser's tab follows step by step.

The answer of a snapshot has the step at which it is complete; the browser shows it from then on. A run of more than
MOST_STEPS steps is not followed step by step: it has no `truths`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from diagrams.panels.network.topology import Place
from diagrams.panels.property.wait_for_graph import places, waiting
from diagrams.scene.composition import Scene
from sim.core.deadline import in_time
from sim.core.detector import Detector, Finding
from sim.explain.properties import became_in_words, found_in_words, history_in_words, said, theorem, waits_in_words
from sim.run.execution import Execution
from sim.verify.stable import Answer, Glance, Property, properties_of, real_states

MOST_STEPS = 2_000

At = dict[str, Place]
Seen = tuple[int, Finding, Finding]  # the first step, the truth, and the finding from the process states alone


def properties(scene: Scene) -> list[dict[str, Any]]:
    """Every stable property of the run of a scene."""
    execution = scene.execution
    return [_property(scene, own, _truths(execution, own.detector)) for own in properties_of(execution)]


def _truths(execution: Execution, detector: Detector) -> list[Seen]:
    """The truth and the finding from process states alone, at the steps at which either changes; [] for a long run."""
    if execution.steps > MOST_STEPS:
        return []
    found: list[Seen] = []
    for step, (states, contents) in in_time(real_states(execution)):
        seen = detector.look(states, contents), detector.look(states, {})
        if not found or found[-1][1:] != seen:
            found.append((step, *seen))
    return found


def _property(scene: Scene, own: Property, truths: list[Seen]) -> dict[str, Any]:
    known = chain(
        ((whole, alone) for _, whole, alone in truths),
        ((answer.finding, answer.alone) for answer in own.answers),
        ((glance.whole or glance.finding, glance.finding) for glance in own.glances),
    )
    at = places(chain.from_iterable(known), scene.processes)
    return {
        "name": own.detector.name,
        "title": own.detector.title,
        "not_followed": ""
        if truths
        else f"This run has more than {MOST_STEPS:,} steps, too many to examine one by one.",
        "since_share": None if own.since is None else _share(scene, own.since),
        "history": list(_history(scene, own)),
        "truths": [[step, _seen(own, whole, alone, at)] for step, whole, alone in truths],
        "glances": [_glance(scene, own, glance, at) for glance in own.glances],
        "answers": {answer.snapshot: _answer(scene, own, answer, at) for answer in own.answers},
    }


def _history(scene: Scene, own: Property) -> Iterator[dict[str, Any]]:
    """Yield when the property became true and when it was found; `since` is the first step of each sentence."""
    execution, found = scene.execution, own.found_by
    if own.since is None:
        yield {"text": history_in_words(execution, own), "since": scene.last, "step": None}
        return
    yield {"text": became_in_words(execution, own), "since": own.since, "step": own.since}
    ended = found.ended if found else None
    yield {"text": found_in_words(execution, own), "since": scene.last if ended is None else ended, "step": ended}


def _seen(own: Property, whole: Finding, alone: Finding, at: At) -> dict[str, Any]:
    """The finding in a global state; the graph and the notes mark what only its channels show."""
    return {
        "holds": whole.holds,
        "said": said(own, whole),
        "graph": waiting(whole, alone, at),
        "notes": waits_in_words(whole, alone),
    }


def _answer(scene: Scene, own: Property, answer: Answer, at: At) -> dict[str, Any]:
    return {
        "ended": answer.ended,
        "shares": [_share(scene, answer.began), _share(scene, answer.ended)],
        "proves": answer.proves,
        "theorem": theorem(answer),
        "whole": _seen(own, answer.finding, answer.alone, at),
        "alone": _seen(own, answer.alone, answer.alone, at),
    }


def _glance(scene: Scene, own: Property, glance: Glance, at: At) -> dict[str, Any]:
    """The finding at a cut of the story; `whole` is None if the cut is not consistent, as it has no channel states."""
    (text,) = (cut.text for cut in scene.execution.scenario.cuts if cut.name == glance.cut)
    return {
        "cut": glance.cut,
        "text": text,
        "ended": glance.at,
        "whole": glance.whole and _seen(own, glance.whole, glance.finding, at),
        "alone": _seen(own, glance.finding, glance.finding, at),
    }


def _share(scene: Scene, step: int) -> float:
    """The share of the run up to a step, 0 to 1."""
    return round(scene.times[step] / (scene.times[-1] or 1), 4)
