"""The findings of an exploration, in sentences and cells of tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape

from sim.core.algorithm import ALGORITHMS
from sim.core.broken_rule import BROKEN_RULES
from sim.core.notation import captions
from sim.core.workload import Workload
from sim.document.scenario import Scenario
from sim.explain.words import listing
from sim.explore.report import Snapshot, counted, ways_in_words
from sim.explore.world import NO_FAULTS, MayHappen
from views.every_run import words
from views.every_run.exploration import Exploring, Result
from views.server.plain_words import without_flags

LABELS = {
    "--algorithm": words.RULE, "--complete": words.PROCESSES, "--sends": words.SENDS, "--crashes": words.CRASHES,
    "--restarts": words.RESTARTS, "--losses": words.LOSSES, "--freezes": words.FREEZES,
}  # fmt: skip


def headline(found: Result) -> str:
    """The main finding in a sentence or two, as HTML."""
    with_faults = f", with {at_most(found.may)}" if found.may != NO_FAULTS else ""
    steps, states = counted(found.transitions, "step"), counted(found.states, "state")
    not_all = words.not_all(escape(found.problem)) if found.problem else ""
    if found.runs:
        verdict = f'<span class="cut-bad">{words.checks_fail(len(found.runs))}</span>{with_faults}: {states}, {steps}.'
        return f"{verdict} {not_all}".rstrip()
    if found.problem:
        return f"{not_all} {words.no_violation(len(found.depths) - 1, states)}"
    if not found.recorded:
        return words.no_snapshot(states, steps)
    right = f'<span class="cut-good">{words.ALL_RIGHT}</span>'
    return f"{words.EVERY_ORDER}{with_faults}: {states}, {steps}. {right}"


def system(scenario: Scenario, may: MayHappen = NO_FAULTS) -> str:
    """The system that was explored and its rule, such as `Two banks. Chandy-Lamport, broken: channels are not FIFO`.

    may: the faults that were explored.
    """
    rule = ALGORITHMS[scenario.algorithm].title
    switches = [BROKEN_RULES[name].switch for name in scenario.breaks]
    broken = f", {words.with_broken('; '.join(switches))}" if switches else ""
    free = "" if all(own.fifo for own in scenario.channels) or "fifo" in scenario.breaks else f", {words.NOT_FIFO}"
    then = [words.MAY_RESTART if may.restarts else words.STAYS_DOWN] if may.crashes else []
    then += [words.NOT_RESENT] if may.losses else []
    then += [words.MAY_THAW] if may.freezes else []
    faults = f". {words.in_a_run('; '.join([at_most(may), *then]))}" if then else ""
    return f"{scenario.title or scenario.name}. {rule}{broken}{free}{faults}"


def at_most(may: MayHappen) -> str:
    """`at most 1 crash`, `at most 2 crashes and 1 loss`."""
    counts = zip((may.crashes, may.losses, may.freezes), words.FAULTS, strict=True)
    return words.at_most(listing([f"{count} {one if count == 1 else more}" for count, (one, more) in counts if count]))


def takes_away(found: Result) -> str:
    """The faults that take a state or a message away: `a crash`, `a loss`, `a crash or a loss`; empty without any."""
    return " or ".join([*([words.A_CRASH] if found.has_crashes else []), *([words.A_LOSS] if found.may.losses else [])])


def titles(checks: Iterable[str]) -> str:
    """Checks by their titles."""
    return ", ".join(words.CHECKS[check][0] for check in checks)


def together(found: Result) -> list[list[str]]:
    """The checks that fail, those together for which the same run was found."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for check, run in found.runs.items():
        groups.setdefault(run.scheduler.order, []).append(check)
    return list(groups.values())


def how_far(exploring: Exploring) -> str:
    """The progress of an exploration, and its speed."""
    if not exploring.depths:
        return words.GETTING_READY
    rate = round(exploring.states / max(exploring.seconds, 0.1), -2)
    states, steps = counted(exploring.states, "state"), counted(exploring.transitions, "step")
    return words.how_far(len(exploring.depths) - 1, states, exploring.ahead, steps, rate)


def checks_of(scenario: Scenario) -> list[str]:
    """The checks that were made, in their order."""
    engine = scenario.engine()
    made = [
        "completion",
        *(check for check in words.CHECKS if check in engine.algorithm.checks and check != "completion"),
    ]
    return [check for check in made if check != "conservation" or engine.workload.total()]


def ways(own: Snapshot, total: int | None) -> str:
    """Such as `11 of 16`; empty if it is not known."""
    if own.ways is None:
        return ""
    count = ways_in_words(own).split(" way")[0]
    return words.of_all(count, total) if own.is_exact and total is not None else count


def states_in_words(own: Snapshot, workload: Workload) -> dict[str, str]:
    """The recorded state of each process; empty if its state says nothing."""
    return {name: "" if state is None else workload.state_words(state) or "" for name, state in own.processes.items()}


def channels_in_words(own: Snapshot, workload: Workload) -> str:
    """The contents of the channels that are not empty."""
    caption = captions(list(own.processes), own.channels)
    held = [
        f"{caption[name]}: {', '.join(workload.body_words(body) or words.A_MESSAGE for body in bodies)}"
        for name, bodies in own.channels.items()
        if bodies
    ]
    return "; ".join(held) or words.ALL_EMPTY


def total_of(own: Snapshot, workload: Workload, first: Mapping[str, int]) -> tuple[str, bool]:
    """The sum of the recorded goods, and whether it is the sum at the beginning."""
    found: Counter[str] = Counter()
    for state in own.processes.values():
        found.update(workload.measure(state))
    for bodies in own.channels.values():
        for body in bodies:
            found.update(workload.measure_body(body))
    is_right = all(found[good] == first.get(good, 0) for good in {*found, *first})
    amounts = ", ".join(f"{found[good]} {good}" for good in first)
    return amounts if is_right else words.not_all_there(amounts, ", ".join(map(str, first.values()))), is_right


def in_the_forms_words(problem: str) -> str:
    """A problem in the words of the form."""
    for option, label in LABELS.items():
        problem = problem.replace(option, label)
    return without_flags(problem)
