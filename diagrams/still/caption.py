"""What a picture shows, as text: its caption in a paper, and what it says to those who cannot see it.

The first sentence of the story; then each cut with what its processes and channels hold, as far as the step has come.
It tells of the steps, the processes and the channels that the picture shows, and of no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from diagrams.panels.lattice.panel import Lattice
from diagrams.panels.lattice.words import predicate, snapshots, summary
from diagrams.panels.proof.panel import Proof
from diagrams.panels.proof.picture import told as row_told
from diagrams.scene.composition import Scene
from diagrams.still.contents import channels_in_words, is_between, left_out, on_show
from diagrams.still.run_caption import RunCaption
from diagrams.still.story import broken_rules, first_sentence
from sim.explain.words import capital, listing
from sim.theory.interchange import ColouredAction
from sim.theory.positions import ACTS

MOST_FAULTS = 6  # of Dijkstra's page, in words


def of_run(scene: Scene, step: int, frontier: Sequence[int] | None = None) -> str:
    """A space-time diagram of a scene after a step; with the cut that is drawn there, as events inside by process."""
    return " ".join(RunCaption(scene, step).told(frontier))


def of_row(runs: Sequence[tuple[str, Scene | str]], steps: Sequence[int], below: str) -> str:
    """One scenario under several algorithms, each by its title, at these `steps`, or the sentence that refuses it.

    `below` says what is below the diagrams.
    """
    own = iter(steps)
    first = next(scene for _, scene in runs if isinstance(scene, Scene))
    told = [first_sentence(first), f"The same scenario under {listing([title for title, _ in runs])}."]
    for title, scene in runs:
        what = scene if isinstance(scene, str) else " ".join(RunCaption(scene, next(own)).told_beside())
        told.append(f"{title}: {what or 'no snapshot has begun.'}")
    return " ".join(filter(None, [*told, below]))


def of_lattice(lattice: Lattice, has_cut: bool) -> str:
    """A lattice, and whether a cut is ringed there."""
    return " ".join(_lattice(lattice, has_cut))


def of_proof(scene: Scene, proof: Proof, row: Sequence[ColouredAction]) -> str:
    """Dijkstra's page with the actions in this order."""
    return " ".join(_proof(scene, proof, row))


def at_step(scene: Scene, step: int) -> str:
    """What happens at a step before the end of the run; "" where the picture does not show it."""
    rows, processes = scene.whole_run.rows(step, step), on_show(scene)
    is_seen = scene.first <= step <= scene.until and (not rows or any(row.process in processes for row in rows))
    if step == scene.last or not is_seen:
        return ""
    return f"Step {step} of {scene.last}. {scene.window(step, step).steps[step].sentence}"


def _lattice(lattice: Lattice, has_cut: bool) -> Iterator[str]:
    yield from (*summary(lattice), *snapshots(lattice))
    answers = predicate(lattice) or {}
    for how in ("possibly", "definitely"):
        if lattice.asked and answers.get(how):
            holds = "holds" if answers[how]["holds"] else "does not hold"
            yield f"{how.capitalize()} {lattice.asked.text.strip()} {holds}. {answers[how]['told']}"
    if has_cut:
        yield "Two rings are round the cut that is asked about."


def _proof(scene: Scene, proof: Proof, row: Sequence[ColouredAction]) -> Iterator[str]:
    yield row_told(row, proof)
    yield from broken_rules(scene)
    yield "A ring is a white action, before its process recorded; a square is a red one, after it."
    faults = [proof.told(action) for action in row if action.kind != ACTS]
    if 0 < len(faults) <= MOST_FAULTS:
        yield " ".join(f"{own.label}: {own.sentence}" for own in faults)
    yield from left_out(scene)
    processes = on_show(scene)
    found = [own for own in proof.snapshot.recorded_messages if is_between(scene, processes, own.id)]
    if found:
        yield f"{capital(channels_in_words(scene, found))}."
