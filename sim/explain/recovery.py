"""The domino effect in words: each rollback with what forces it, and the recovery line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sim.core.notation import moment
from sim.explain.words import counted, listing, words_of
from sim.run.execution import Execution
from sim.run.recovery import recoveries_of
from sim.theory.recovery import Recovery, Rollback

LAST, LINE = "Last copies", "Recovery line"
MOST_STAGES = 30  # cuts of one domino effect that are told one by one


class Stage(NamedTuple):
    """A cut on the way from the last copies to the recovery line: its name, what it is, and its events by process."""

    name: str
    text: str
    frontier: Mapping[str, int]


def stages(execution: Execution) -> Iterator[Stage]:
    """The cut of the last copies, and that after each rollback, for each snapshot; the recovery line is the last."""
    recoveries = recoveries_of(execution)
    for snapshot, recovery in recoveries.items():
        of = f" of {snapshot}" if len(recoveries) > 1 else ""
        cuts = recovery.cuts()
        if len(cuts) > 1:
            yield Stage(f"{LAST}{of}", "What each process recorded last.", cuts[0])
        for number, (rollback, cut) in enumerate(zip(recovery.rollbacks, cuts[1:-1], strict=False), start=1):
            if number > MOST_STAGES:
                break
            yield Stage(f"Rollback {number}{of}", rollback_in_words(execution, rollback), cut)
        end = [rollback_in_words(execution, own) for own in recovery.rollbacks[-1:]]
        yield Stage(f"{LINE}{of}", " ".join([*end, line_in_words(execution, recovery)]), recovery.line)


def rollback_in_words(execution: Execution, rollback: Rollback) -> str:
    """`P1 goes back from its copy after H (step 10) to its copy after D (step 6): it has received m4, ...`."""
    flight = execution.flights[rollback.message]
    start, end = (_copy(execution, rollback.process, count) for count in (rollback.start, rollback.end))
    return (
        f"{rollback.process} goes back from {start} to {end}: it has received {words_of(execution).message(flight)}, "
        f"which {flight.channel.source_name} sent {moment(flight.send)}, after its own copy."
    )


def line_in_words(execution: Execution, recovery: Recovery) -> str:
    """Where everybody is at the recovery line, and how many rollbacks lead there."""
    first = [name for name, count in recovery.line.items() if not count]
    others = [f"{name} has {_copy(execution, name, count)}" for name, count in recovery.line.items() if count]
    where = listing([*others, *([f"{listing(first)} in the initial state"] if first else [])])
    crossing = execution.history.in_channels(recovery.line)
    messages = [words_of(execution).message(execution.flights[own]) for held in crossing.values() for own in held]
    lost = f" Lost, or to be sent again: {listing(messages)}." if messages else ""
    if not recovery.rollbacks:
        return f"The last copies fit together, without any rollback: {where}.{lost}"
    count = len(recovery.rollbacks)
    what = "" if others else "; no copy was of any use"
    return f"{counted(count, 'rollback')} {'leads' if count == 1 else 'lead'} to it: {where}{what}.{lost}"


def recovery_in_words(execution: Execution) -> Iterator[str]:
    """Every stage on a line, for a terminal."""
    for stage in stages(execution):
        yield f"{stage.name}: {stage.text}"


def _copy(execution: Execution, process: str, count: int) -> str:
    """`its copy after H (step 10)`, `its initial state`."""
    if not count:
        return "its initial state"
    return f"its copy after {moment(execution.history.of[process][count - 1]).removeprefix('at ')}"
