"""The domino effect in words: each rollback with what forces it, and the recovery line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sim.core.errors import InputError
from sim.core.notation import moment
from sim.core.recovery_line import Recovery, Rollback
from sim.document.scenario import Scenario
from sim.document.validate import validate
from sim.explain.words import counted, listing, words_of
from sim.run.execution import Execution
from sim.run.recovery_lines import recoveries_of

LAST, LINE = "Last copies", "Recovery line"
FAILURE = "After the failure"
MOST_STAGES = 30  # cuts of one domino effect that are told one by one


class Stage(NamedTuple):
    """A cut on the way from a failure to the recovery line: its name, what it is, and its events by process."""

    name: str
    text: str
    frontier: Mapping[str, int]


def stages(execution: Execution) -> Iterator[Stage]:
    """The cut after a failure, and that after each rollback, for each snapshot; the recovery line is the last."""
    recoveries = recoveries_of(execution)
    for snapshot, recovery in recoveries.items():
        of = f" of {snapshot}" if len(recoveries) > 1 else ""
        cuts = recovery.cuts()
        if len(cuts) > 1:
            yield Stage(f"{LAST if recovery.is_total else FAILURE}{of}", _first_in_words(recovery), cuts[0])
        for number, (rollback, cut) in enumerate(zip(recovery.rollbacks, cuts[1:-1], strict=False), start=1):
            if number > MOST_STAGES:
                break
            yield Stage(f"Rollback {number}{of}", rollback_in_words(execution, recovery, rollback), cut)
        end = [rollback_in_words(execution, recovery, own) for own in recovery.rollbacks[-1:]]
        yield Stage(f"{LINE}{of}", " ".join([*end, line_in_words(execution, recovery)]), recovery.line)


def _first_in_words(recovery: Recovery) -> str:
    """`P1 fails and goes back to its last copy. P2 and P3 have their present states.`"""
    if recovery.is_total:
        return "All processes fail. Each goes back to its last copy."
    back = _all(recovery.failed, "fails and goes back to its last copy", "fail and go back to their last copies")
    return f"{back[0]}. {_all(_others(recovery), 'still has its present state', 'still have their present states')[0]}."


def rollback_in_words(execution: Execution, recovery: Recovery, rollback: Rollback) -> str:
    """`P1 goes back from its copy after H (step 10) to its copy after D (step 6): it has received m4, ...`."""
    flight = execution.flights[rollback.message]
    start = _state(execution, recovery, rollback.process, rollback.start)
    end = _copy(execution, rollback.process, rollback.end)
    return (
        f"{rollback.process} goes back from {start} to {end}: it has received {words_of(execution).message(flight)}, "
        f"which {flight.channel.source_name} sent {moment(flight.send)}, after its own copy."
    )


def line_in_words(execution: Execution, recovery: Recovery) -> str:
    """Who fails, what each process goes back to or keeps at the recovery line, and how many rollbacks lead there."""
    crossing = execution.history.in_channels(recovery.line)
    messages = [words_of(execution).message(execution.flights[own]) for held in crossing.values() for own in held]
    lost = f" Lost, or to be sent again: {listing(messages)}." if messages else ""
    count, who = len(recovery.rollbacks), _failure(recovery)
    if count:
        leads = f"{counted(count, 'rollback')} {'leads' if count == 1 else 'lead'} to it"
    elif recovery.is_total:
        leads = "the last copies fit together, without any rollback"
    else:
        own = "its last copy fits" if len(recovery.failed) == 1 else "their last copies fit"
        leads = f"{own} {_present(recovery)}"
    useless = "; no copy was of any use" if count and not any(recovery.line.values()) else ""
    return f"{who}, {leads}: {_where(execution, recovery)}{useless}.{lost}"


def _present(recovery: Recovery) -> str:
    others = _others(recovery)
    return f"the present state{'' if len(others) == 1 else 's'} of {listing(others)}"


def _others(recovery: Recovery) -> list[str]:
    return [name for name in recovery.line if name not in recovery.failed]


def _failure(recovery: Recovery) -> str:
    """`If all processes fail (a total failure)`, `If only P1 fails`."""
    if recovery.is_total:
        return "If all processes fail (a total failure)"
    failed = recovery.failed
    return f"If only {failed[0]} fails" if len(failed) == 1 else f"If {listing(failed)} fail"


def _where(execution: Execution, recovery: Recovery) -> str:
    """`P1 goes back to its copy after H (step 10), and P2 keeps its present state`."""
    back = [name for name in recovery.line if name not in recovery.kept]
    copies = [name for name in back if recovery.line[name]]
    told = [f"{name} goes back to {_copy(execution, name, recovery.line[name])}" for name in copies]
    first = [name for name in back if not recovery.line[name]]
    told += _all(first, "goes back to its initial state", "go back to their initial states")
    return listing([*told, *_all(recovery.kept, "keeps its present state", "keep their present states")])


def _all(names: Sequence[str], one: str, several: str) -> list[str]:
    """What these processes do, in one part of a sentence; none if there are none."""
    return [f"{listing(names)} {one if len(names) == 1 else several}"] if names else []


def recovery_in_words(execution: Execution) -> Iterator[str]:
    """Every stage on a line, for a terminal."""
    for stage in stages(execution):
        yield f"{stage.name}: {stage.text}"


def recoveries_report(execution: Execution) -> dict[str, Any]:
    """The recovery lines by snapshot, for JSON: cuts as the number of events inside, by process."""
    return {
        snapshot: {
            "failed": [*own.failed],
            "line": own.line,
            "kept": [*own.kept],
            "rollbacks": [rollback._asdict() for rollback in own.rollbacks],
        }
        for snapshot, own in recoveries_of(execution).items()
    }


FAILED_HELP = "uncoordinated checkpoints: the recovery line if these processes fail (default: all, a total failure)"


def with_failed(scenario: Scenario, names: str | None) -> Scenario:
    """The scenario with the recovery line if the processes `names` fail, as in `P1,P2`. None: as it is.

    Raises InputError if it has no such line, or no such process.
    """
    if names is None:
        return scenario
    if scenario.rules.coordinated:
        why = f"{scenario.rules.title} coordinates what is recorded, so all processes go back to one snapshot"
        raise InputError(scenario.at(f"failed: {why}; choose the algorithm uncoordinated"))
    failed = tuple(name.strip() for name in names.split(","))
    changed = replace(scenario, algorithm_parameters={**scenario.algorithm_parameters, "failed": failed})
    validate(changed)
    return changed


def _state(execution: Execution, recovery: Recovery, process: str, count: int) -> str:
    """`its present state`, or a copy."""
    is_present = process not in recovery.failed and count == recovery.first[process]
    return "its present state" if is_present else _copy(execution, process, count)


def _copy(execution: Execution, process: str, count: int) -> str:
    """`its copy after H (step 10)`, `its initial state`."""
    if not count:
        return "its initial state"
    return f"its copy after {moment(execution.history.of[process][count - 1]).removeprefix('at ')}"
