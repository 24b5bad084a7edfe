"""Stable properties in words: what a snapshot says, what follows from it, when it became true and was found out."""

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
    """When the property became true, and when it was found out."""
    if own.since is None:
        return f"{own.detector.fails}, in the whole run."
    return f"{became_in_words(execution, own)} {found_in_words(execution, own)}"


def became_in_words(execution: Execution, own: Property) -> str:
    """Since when the property holds, which it does in this run."""
    assert own.since is not None
    if own.since == 0:
        return f"{own.detector.holds}, from the beginning."
    return f"{own.detector.holds} from step {own.since} on (time {execution.times[own.since]:g})."


def found_in_words(execution: Execution, own: Property) -> str:
    """Which snapshot was the first to show the property, and how late, where it became true."""
    found = own.found_by
    if found is None or own.since is None:
        return "No snapshot of this run shows it."
    late = execution.times[found.ended] - execution.times[own.since]
    return f"{found.snapshot} is the first to show it, at step {found.ended}: {late:g} time units later."


def watched_in_words(execution: Execution, own: Property, taken: Sequence[str]) -> str:
    """What came of snapshots that were taken one after the other, until the last one of them showed the property."""
    snapshots = counted(len(taken), "snapshot")
    found = next(answer for answer in own.answers if answer.snapshot == taken[-1])
    assert own.since is not None
    became = f"became true at step {own.since}" if own.since else "was true from the beginning"
    late = execution.times[found.ended] - execution.times[own.since]
    return f"{snapshots}. It {became}, {found.snapshot} found it at step {found.ended}: {late:g} time units later."


def answer_in_words(own: Property, answer: Answer) -> str:
    """What a snapshot says, and what shows this."""
    return said(own, answer.finding)


def alone_in_words(own: Property, answer: Answer) -> str:
    """What the process states of a snapshot alone would have said; empty where that is the same."""
    if answer.alone.holds == answer.finding.holds:
        return ""
    contrary = own.detector.holds if answer.alone.holds else own.detector.fails
    verdict = ", and be wrong" if answer.proves else ""
    return f"The process states alone would say the contrary{verdict}: {small(contrary)} ({answer.alone.why})."


def said(own: Property, finding: Finding) -> str:
    """What a finding says, and what shows this."""
    return f"{own.detector.holds if finding.holds else own.detector.fails}: {finding.why}."


def waits_in_words(whole: Finding, alone: Finding) -> list[str]:
    """How the channels change the wait-for graph that the process states alone show: a sentence for each such edge."""
    new = [
        f"{who} waits for {whom}: its request is on its way."
        for who, whom in whole.waits
        if (who, whom) not in alone.waits
    ]
    gone = [
        f"{who} does not wait for {whom} any more: what {whom} has released is on its way."
        for who, whom in alone.waits
        if (who, whom) not in whole.waits
    ]
    return new + gone


def glance_in_words(own: Property, glance: Glance) -> str:
    """What somebody sees at a cut of the story who reads the process states alone."""
    seen = own.detector.holds if glance.finding.holds else own.detector.fails
    return f"Who reads the process states there, and no channel, says: {small(seen)} ({glance.finding.why})."


def theorem(answer: Answer) -> str:
    """What follows from the answer of a snapshot (Chandy & Lamport 1985, section 5)."""
    name = answer.snapshot
    if not answer.proves:
        return f"{name} is not right, so nothing follows from what it says."
    if answer.finding.holds:
        return f"It holds in {name}, so it holds at step {answer.ended}, when {name} was complete, and ever after."
    return (
        f"It does not hold in {name}, so it did not hold at step {answer.began}, when {name} began. {name} cannot say "
        "whether it holds by now."
    )
