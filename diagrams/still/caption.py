"""A picture in words: its caption in a paper, and its description for readers who cannot see it.

A caption has the first sentence of the story, then each cut with the contents of its processes and channels at the
step. It covers only the steps, processes and channels on show.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagrams.panels.lattice.panel import Lattice
from diagrams.panels.lattice.words import predicate, snapshots, summary
from diagrams.panels.proof.panel import Proof
from diagrams.panels.proof.picture import row_in_words
from diagrams.scene.composition import Scene
from diagrams.still.contents import channels_in_words, is_between, left_out, on_show
from diagrams.still.run_caption import RunCaption
from diagrams.still.story import broken_rules, first_sentence
from sim.explain.words import capital, listing
from sim.theory.interchange import ColouredAction
from sim.theory.positions import ACTS

MOST_FAULTS = 6  # of Dijkstra's page, in words


def of_run(scene: Scene, step: int, frontier: Sequence[int] | None = None) -> str:
    """The caption of a space-time diagram after a step; `frontier` is the drawn cut, as events inside by process."""
    return " ".join(RunCaption(scene, step).sentences(frontier))


def of_row(runs: Sequence[tuple[str, Scene | str]], steps: Sequence[int], below: str) -> str:
    """The caption of one scenario under several algorithms: each by its title, at its step, or with its refusal.

    `below` is the sentence on the table below the diagrams.
    """
    own = iter(steps)
    first = next(scene for _, scene in runs if isinstance(scene, Scene))
    texts = [first_sentence(first), f"The same scenario under {listing([title for title, _ in runs])}."]
    for title, scene in runs:
        what = scene if isinstance(scene, str) else " ".join(RunCaption(scene, next(own)).sentences_beside())
        texts.append(f"{title}: {what or 'no snapshot has begun.'}")
    return " ".join(filter(None, [*texts, below]))


def of_lattice(lattice: Lattice, has_cut: bool) -> str:
    """The caption of a lattice; with `has_cut` a cut is ringed there."""
    return " ".join(_lattice(lattice, has_cut))


def of_proof(scene: Scene, proof: Proof, row: Sequence[ColouredAction]) -> str:
    """The caption of Dijkstra's page with the actions in this order."""
    return " ".join(_proof(scene, proof, row))


def at_step(scene: Scene, step: int) -> str:
    """The sentence of a step before the end of the run; "" if the picture does not show that step."""
    rows, processes = scene.whole_run.rows(step, step), on_show(scene)
    is_seen = scene.first <= step <= scene.until and (not rows or any(row.process in processes for row in rows))
    if step == scene.last or not is_seen:
        return ""
    return f"Step {step} of {scene.last}. {scene.window(step, step).steps[step].sentence}"


def _lattice(lattice: Lattice, has_cut: bool) -> Iterator[str]:
    yield from (*summary(lattice), *snapshots(lattice))
    answers = predicate(lattice) or {}
    for how in ("possibly", "definitely"):
        if lattice.answers and answers.get(how):
            holds = "holds" if answers[how]["holds"] else "does not hold"
            yield f"{how.capitalize()} {lattice.answers.text.strip()} {holds}. {answers[how]['told']}"
    if has_cut:
        yield "Two rings mark the chosen cut."


def _proof(scene: Scene, proof: Proof, row: Sequence[ColouredAction]) -> Iterator[str]:
    yield row_in_words(row, proof)
    yield from broken_rules(scene)
    yield "A ring is a white action, before the recording of its process; a square is a red one, after it."
    faults = [proof.told(action) for action in row if action.kind != ACTS]
    if 0 < len(faults) <= MOST_FAULTS:
        yield " ".join(f"{own.label}: {own.sentence}" for own in faults)
    yield from left_out(scene)
    processes = on_show(scene)
    found = [own for own in proof.snapshot.recorded_messages if is_between(scene, processes, own.id)]
    if found:
        yield f"{capital(channels_in_words(scene, found))}."
