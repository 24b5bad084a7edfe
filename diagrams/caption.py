"""What a picture shows, as text: its caption in a paper, and what it says to those who cannot see it.

The first sentence of the story; then each cut with what its processes and channels hold, as far as the step has come.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from diagrams.export_options import CROP, CUT, DRAWING, LATTICE, PREDICATE, PROOF, PROOF_SNAPSHOT, SPACE_TIME, SWAPS
from diagrams.frontiers import frontier_in
from diagrams.lattice import lattice_of
from diagrams.lattice_words import predicate, snapshots, summary
from diagrams.proof import proof_of
from diagrams.proof_picture import read_swaps, row_after, told
from diagrams.scene import Scene
from diagrams.view import View
from diagrams.window import on_show
from sim.explain.words import capital, counted, listing, sequence
from sim.run.snapshots import RecordedMessage, Snapshot

MOST_TOLD = 6  # processes whose states are told, channels whose messages are
MOST_SNAPSHOTS = 3


def caption(scene: Scene, view: View) -> str:
    """What the picture of a view shows. Raises InputError as the picture does."""
    return " ".join(_CAPTIONS[DRAWING.of(view)](scene, view))


def described(scene: Scene, view: View) -> str:
    """The same for those who cannot see it: before the end of the run with the sentence of the step."""
    told = caption(scene, view)
    if DRAWING.of(view) != SPACE_TIME or view.step == scene.last:
        return told
    return f"Step {view.step} of {scene.last}. {scene.window(view.step, view.step).steps[view.step].sentence} {told}"


def first_sentence(scene: Scene) -> str:
    """What the story says first; without a story the title."""
    scenario = scene.execution.scenario
    begins = "|".join(["[A-Z\"'(]", *(re.escape(name) + r"\b" for name in scenario.processes)])
    story = " ".join(scenario.story.split())
    return re.split(rf"(?<=[.!?])\s+(?={begins})", story)[0] if story else f"{scenario.title.rstrip('.')}."


def _space_time(scene: Scene, view: View) -> Iterator[str]:
    on_show(scene, view)  # refuses what the picture refuses
    yield first_sentence(scene)
    crop = CROP.of(view)
    if crop:
        yield f"The figure shows steps {crop[0]} to {crop[1]} of {scene.last}."
    if view.step < scene.last:
        yield f"This is the run after step {view.step} of {scene.last}."
    if CUT.of(view):
        yield _shown_cut(scene, frontier_in(scene.execution, CUT.of(view)))
        return
    begun = [own for own in scene.snapshots if own.began is not None and own.began <= view.step]
    yield from (_snapshot(scene, own, view.step) for own in begun[:MOST_SNAPSHOTS])
    if len(begun) > MOST_SNAPSHOTS:
        yield f"{counted(len(begun) - MOST_SNAPSHOTS, 'more snapshot')} began as well."


def _snapshot(scene: Scene, snapshot: Snapshot, step: int) -> str:
    """The cut of a snapshot, and what it holds, at a step."""
    if snapshot.aborted is not None and snapshot.aborted <= step:
        return f"Snapshot {snapshot.id} was aborted."
    recorded = [name for name in scene.processes if name in snapshot.local and snapshot.local[name].step <= step]
    states = _states(scene, snapshot, recorded)
    found = [message for message in snapshot.recorded_messages if message.step <= step]
    is_closed = snapshot.completed is not None and snapshot.completed <= step
    held = [_channels(scene, found), _rest(found) if is_closed else ""]
    if len(recorded) < len(scene.processes):
        return _sentence(f"Snapshot {snapshot.id} is under way", states, _missing(scene, recorded), *held)
    witness = scene.execution.history.violation(snapshot.frontier)
    what = "a consistent cut" if witness is None else "not a consistent cut"
    return _sentence(f"Snapshot {snapshot.id} is {what}", states, _witness(scene, witness), *held)


def _sentence(what: str, *parts: str) -> str:
    """What there is to say, and its details, if any."""
    return ": ".join(filter(None, [what, "; ".join(filter(None, parts))])) + "."


def _missing(scene: Scene, recorded: Sequence[str]) -> str:
    missing = [name for name in scene.processes if name not in recorded]
    told = listing(missing) if len(missing) <= MOST_TOLD else f"{len(missing)} processes"
    return f"{told} {'have' if len(missing) > 1 else 'has'} not recorded yet"


def _states(scene: Scene, snapshot: Snapshot, recorded: Sequence[str]) -> str:
    """What each process recorded; of many, how many have."""
    if len(recorded) > MOST_TOLD:
        return f"{len(recorded)} processes have recorded their states"
    words = scene.whole_run.words
    states = {name: words.state(snapshot.local[name].state, snapshot.events[name]) for name in recorded}
    return _each("recorded", states)


def _each(verb: str, told: Mapping[str, str]) -> str:
    """What each of some does, the verb said once: `P1 recorded 550 and P2 170`."""
    verbs = [f" {verb}", *[""] * len(told)]
    return listing([f"{name}{verb} {what}" for (name, what), verb in zip(told.items(), verbs, strict=False)])


def _channels(scene: Scene, found: Sequence[RecordedMessage]) -> str:
    """What each channel holds; of many, how many messages there are in how many."""
    words = scene.whole_run.words
    held: dict[str, list[str]] = {}
    for message in found:
        held.setdefault(scene.captions[message.channel], []).append(words.label(scene.execution.flights[message.id]))
    return _held(held)


def _held(held: Mapping[str, Sequence[str]]) -> str:
    if len(held) > MOST_TOLD:
        return f"{counted(sum(map(len, held.values())), 'message')} are in {len(held)} channels"
    told = {name: messages[0] if len(messages) == 1 else sequence(messages) for name, messages in held.items()}
    return f"channel {_each('holds', told)}" if told else ""


def _rest(found: Sequence[RecordedMessage]) -> str:
    return "all other channels are empty" if found else "all channels are empty"


def _witness(scene: Scene, message: int | None) -> str:
    """What speaks against a cut."""
    if message is None:
        return ""
    told = scene.whole_run.words.message(scene.execution.flights[message])
    return f"{told} is received inside and sent outside"


def _shown_cut(scene: Scene, frontier: Sequence[int]) -> str:
    """The cut that somebody has put there."""
    history, inside = scene.execution.history, dict(zip(scene.processes, frontier, strict=True))
    labels = {name: history.of[name][count - 1].label for name, count in inside.items() if count}
    told = [f"{name} up to {labels[name]}" if name in labels else f"{name} without an event" for name in inside]
    cut = counted(sum(frontier), "event") if len(told) > MOST_TOLD else listing(told)
    words, held = scene.whole_run.words, history.in_channels(inside)
    named = {
        scene.captions[channel]: [words.label(scene.execution.flights[own]) for own in messages]
        for channel, messages in held.items()
    }
    witness = history.violation(inside)
    what = "consistent" if witness is None else "not consistent"
    return _sentence(f"The cut of {cut} is {what}", _witness(scene, witness), _held(named))


def _lattice(scene: Scene, view: View) -> Iterator[str]:
    lattice = lattice_of(scene, view)
    yield from (*summary(lattice), *snapshots(lattice))
    answers = predicate(lattice) or {}
    for how in ("possibly", "definitely"):
        if answers.get(how):
            holds = "holds" if answers[how]["holds"] else "does not hold"
            yield f"{how.capitalize()} {PREDICATE.of(view).strip()} {holds}. {answers[how]['told']}"
    if CUT.of(view):
        yield "Two rings are round the cut that is asked about."


def _proof(scene: Scene, view: View) -> Iterator[str]:
    proof = proof_of(scene.execution, PROOF_SNAPSHOT.of(view) or None)
    yield told(row_after(proof, read_swaps(proof, SWAPS.of(view))), proof)
    yield "A ring is a white action, before its process recorded; a square is a red one, after it."
    held = _channels(scene, proof.snapshot.recorded_messages)
    if held:
        yield f"{capital(held)}."


_CAPTIONS: Mapping[str, Callable[[Scene, View], Iterator[str]]] = {
    SPACE_TIME: _space_time, LATTICE: _lattice, PROOF: _proof,
}  # fmt: skip
