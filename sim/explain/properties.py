"""Stable properties in words: the answer of a snapshot, what follows from it, and when the property became true."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sim.core.detector import Finding
from sim.explain.words import counted, small
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
    """The step at which the property became true, and the first snapshot that shows it."""
    if own.since is None:
        return f"{own.detector.fails}, in the whole run."
    return f"{became_in_words(execution, own)} {found_in_words(execution, own)}"


def became_in_words(execution: Execution, own: Property) -> str:
    """The step from which a property holds that does hold in this run."""
    assert own.since is not None
    if own.since == 0:
        return f"{own.detector.holds}, from the beginning."
    return f"{own.detector.holds} from step {own.since} on (time {execution.times[own.since]:g})."


def found_in_words(execution: Execution, own: Property) -> str:
    """The first snapshot that shows the property, and the time units since it became true."""
    found = own.found_by
    if found is None or own.since is None:
        return "No snapshot of this run shows it."
    late = execution.times[found.ended] - execution.times[own.since]
    return f"{found.snapshot} is the first to show it, at step {found.ended}: {late:g} time units later."


def watched_in_words(execution: Execution, own: Property, taken: Sequence[str]) -> str:
    """The outcome of snapshots taken one after the other, the last of which shows the property."""
    snapshots = counted(len(taken), "snapshot")
    found = next(answer for answer in own.answers if answer.snapshot == taken[-1])
    assert own.since is not None
    became = f"became true at step {own.since}" if own.since else "was true from the beginning"
    late = execution.times[found.ended] - execution.times[own.since]
    return f"{snapshots}. It {became}, {found.snapshot} found it at step {found.ended}: {late:g} time units later."


def answer_in_words(own: Property, answer: Answer) -> str:
    """The answer of a snapshot, with its reason."""
    return said(own, answer.finding)


def alone_in_words(own: Property, answer: Answer) -> str:
    """The answer that the process states of a snapshot alone would give; empty if it is the same."""
    if answer.alone.holds == answer.finding.holds:
        return ""
    contrary = own.detector.holds if answer.alone.holds else own.detector.fails
    verdict = ", which is wrong" if answer.proves else ""
    return f"The process states alone say the opposite{verdict}: {small(contrary)} ({answer.alone.why})."


def said(own: Property, finding: Finding) -> str:
    """A finding in words, with its reason."""
    return f"{own.detector.holds if finding.holds else own.detector.fails}: {finding.why}."


def waits_in_words(whole: Finding, alone: Finding) -> list[str]:
    """The wait-for edges that the channels add to the process states, or take away: a sentence for each."""
    new = [
        f"{who} waits for {whom}: its request is on its way."
        for who, whom in whole.waits
        if (who, whom) not in alone.waits
    ]
    gone = [
        f"{who} no longer waits for {whom}: what {whom} has released is on its way."
        for who, whom in alone.waits
        if (who, whom) not in whole.waits
    ]
    return new + gone


def glance_in_words(own: Property, glance: Glance) -> str:
    """The answer of the process states alone at a cut that the story names."""
    seen = own.detector.holds if glance.finding.holds else own.detector.fails
    return f"There the process states, without the channels, say: {small(seen)} ({glance.finding.why})."


def theorem(answer: Answer) -> str:
    """The conclusion from the answer of a snapshot (Chandy & Lamport 1985, section 5)."""
    name = answer.snapshot
    if not answer.proves:
        return f"{name} is not right, so nothing follows from what it says."
    if answer.finding.holds:
        return f"It holds in {name}, so it holds from step {answer.ended} on, when {name} was complete."
    return (
        f"It does not hold in {name}, so it did not hold at step {answer.began}, when {name} began. {name} cannot say "
        "whether it holds now."
    )
