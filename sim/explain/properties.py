"""Stable properties in words: what a snapshot says, what follows from it, when it became true and was found out."""

from __future__ import annotations

from collections.abc import Iterator

from sim.explain.words import small
from sim.run.execution import Execution
from sim.verify.stable import Answer, Glance, Property


def properties_in_words(execution: Execution, own: Property) -> Iterator[str]:
    """A stable property of a run, a sentence or two on each line."""
    yield f"{own.detector.title}: {history_in_words(execution, own)}"
    for glance in own.glances:
        yield f"  {glance.cut}: {glance_in_words(own, glance)}"
    for answer in own.answers:
        yield f"  {answer.snapshot}: {answer_in_words(own, answer)} {alone_in_words(own, answer)}".rstrip()
        yield f"      {theorem(answer)}"


def history_in_words(execution: Execution, own: Property) -> str:
    """When the property became true, and when it was found out."""
    if own.since is None:
        return f"{own.detector.fails}, in the whole run."
    if own.since == 0:
        became = f"{own.detector.holds}, from the beginning."
    else:
        became = f"{own.detector.holds} from step {own.since} on (time {execution.times[own.since]:g})."
    found = own.found_by
    if found is None:
        return f"{became} No snapshot of this run shows it."
    late = execution.times[found.ended] - execution.times[own.since]
    return f"{became} {found.snapshot} is the first to show it, at step {found.ended}: {late:g} time units later."


def answer_in_words(own: Property, answer: Answer) -> str:
    """What a snapshot says, and what shows this."""
    said = own.detector.holds if answer.finding.holds else own.detector.fails
    return f"{said}: {answer.finding.why}."


def alone_in_words(own: Property, answer: Answer) -> str:
    """What the process states of a snapshot alone would have said; empty where that is the same."""
    if answer.alone.holds == answer.finding.holds:
        return ""
    said = own.detector.holds if answer.alone.holds else own.detector.fails
    return f"The process states alone would say the contrary, and be wrong: {small(said)} ({answer.alone.why})."


def glance_in_words(own: Property, glance: Glance) -> str:
    """What somebody sees at a cut of the story who reads the process states alone."""
    said = own.detector.holds if glance.finding.holds else own.detector.fails
    return f"Who reads the process states there, and no channel, says: {small(said)} ({glance.finding.why})."


def theorem(answer: Answer) -> str:
    """What follows from the answer of a snapshot (Chandy & Lamport 1985, section 4.3)."""
    name = answer.snapshot
    if answer.finding.holds:
        return f"It holds in {name}, so it holds at step {answer.ended}, when {name} was complete, and ever after."
    return (
        f"It does not hold in {name}, so it did not hold at step {answer.began}, when {name} began. {name} cannot say "
        "whether it holds by now."
    )
