"""What an exploration found, in the words of the page Every run."""

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
from views.every_run.exploration import Exploring, Result
from views.server.plain_words import without_flags

# Each check that an exploration makes: its title, and what it says of every run.
CHECKS = {
    "completion": ("Completion", "A snapshot that somebody has started is completed."),
    "consistency": ("Consistent cut", "No message is received inside the cut and sent outside it."),
    "channel_states": (
        "Channel states", "The state of each channel is the messages that cross the cut, in their order."
    ),
    "conservation": ("Conservation", "Nothing is lost or counted twice."),
}  # fmt: skip
LABELS = {
    "--algorithm": "Rule", "--complete": "Processes", "--sends": "Messages each", "--crashes": "Crashes",
    "--restarts": "Who has crashed may start again", "--losses": "Losses", "--freezes": "Freezes",
}  # fmt: skip


def headline(found: Result) -> str:
    """What was found, in a sentence, as HTML."""
    with_faults = f" with {at_most(found.may)}" if found.may != NO_FAULTS else ""
    steps, states = f"{counted(found.transitions, 'step')} between them", counted(found.states, "state")
    if found.runs:
        checks = "1 check fails" if len(found.runs) == 1 else f"{len(found.runs)} checks fail"
        more = f" Not all explored ({escape(found.problem)})." if found.problem else ""
        return f'<span class="cut-bad">{checks} in some runs</span>{with_faults}: {states}, {steps}.{more}'
    if found.problem:
        return (
            f"Not all explored ({escape(found.problem)}): depth {len(found.depths) - 1}, {states}, no violation so far."
        )
    if not found.recorded:
        return f"No run completes a snapshot: {states}, {steps}."
    return f'<span class="cut-good">Every check holds in every run</span>{with_faults}: {states}, {steps}.'


def system(scenario: Scenario, may: MayHappen = NO_FAULTS) -> str:
    """What was explored and by which rule, such as `Two banks. Chandy-Lamport, broken: channels are not FIFO`.

    may: the faults that were explored.
    """
    rule = ALGORITHMS[scenario.algorithm].title
    switches = [BROKEN_RULES[name].switch for name in scenario.breaks]
    broken = f", broken: {'; '.join(switches)}" if switches else ""
    free = "" if all(own.fifo for own in scenario.channels) or "fifo" in scenario.breaks else ", channels not FIFO"
    then = [f"who has crashed {'may start again' if may.restarts else 'stays down'}"] if may.crashes else []
    then += ["what is lost is not sent again"] if may.losses else []
    then += ["who is frozen may be thawed"] if may.freezes else []
    faults = "; ".join([f". In a run {at_most(may)}", *then]) if then else ""
    return f"{scenario.title or scenario.name}. {rule}{broken}{free}{faults}"


def at_most(may: MayHappen) -> str:
    """`at most 1 crash`, `at most 2 crashes and 1 loss`."""
    counts = (may.crashes, "crash", "crashes"), (may.losses, "loss", "losses"), (may.freezes, "freeze", "freezes")
    return f"at most {listing([f'{count} {one if count == 1 else more}' for count, one, more in counts if count])}"


def takes_away(found: Result) -> str:
    """What takes a state or a message away in some run: `a crash`, `a loss`, `a crash or a loss`; empty: nothing."""
    return " or ".join([*(["a crash"] if found.has_crashes else []), *(["a loss"] if found.may.losses else [])])


def what_is_checked(found: Result) -> str:
    """What is checked of a run in which something is taken away."""
    told = f"Of a run with {takes_away(found)}, only complete snapshots are checked, and not for conservation."
    return f"{told} A snapshot whose marker is lost is never complete." if found.may.losses else told


def titles(checks: Iterable[str]) -> str:
    """Checks by their titles."""
    return ", ".join(CHECKS[check][0] for check in checks)


def together(found: Result) -> list[list[str]]:
    """The checks that fail, those together for which the same run was found."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for check, run in found.runs.items():
        groups.setdefault(run.scheduler.order, []).append(check)
    return list(groups.values())


def how_far(exploring: Exploring) -> str:
    """How far it is, and how fast."""
    if not exploring.depths:
        return "getting ready …"
    rate = round(exploring.states / max(exploring.seconds, 0.1), -2)
    ahead = f" and up to {exploring.ahead:,} one step deeper" if exploring.ahead else ""
    return (
        f"depth {len(exploring.depths) - 1}, {counted(exploring.states, 'state')}{ahead}, "
        f"{counted(exploring.transitions, 'step')}, {rate:,.0f} states per second"
    )


def checks_of(scenario: Scenario) -> list[str]:
    """The checks that were made, in their order."""
    engine = scenario.engine()
    made = ["completion", *(check for check in CHECKS if check in engine.algorithm.checks and check != "completion")]
    return [check for check in made if check != "conservation" or engine.workload.total()]


def ways(own: Snapshot, total: int | None) -> str:
    """Such as `11 of 16`; empty where it is not known."""
    if own.ways is None:
        return ""
    said = ways_in_words(own).split(" way")[0]
    return f"{said} of {total:,}" if own.is_exact and total is not None else said


def states_in_words(own: Snapshot, workload: Workload) -> dict[str, str]:
    """What each process recorded; empty where its state says nothing."""
    return {name: "" if state is None else workload.state_words(state) or "" for name, state in own.processes.items()}


def channels_in_words(own: Snapshot, workload: Workload) -> str:
    """What each channel holds that is not empty."""
    caption = captions(list(own.processes), own.channels)
    told = [
        f"{caption[name]}: {', '.join(workload.body_words(body) or 'a message' for body in bodies)}"
        for name, bodies in own.channels.items()
        if bodies
    ]
    return "; ".join(told) or "all empty"


def total_of(own: Snapshot, workload: Workload, first: Mapping[str, int]) -> tuple[str, bool]:
    """The recorded goods, added up, and whether they are those that there were at first."""
    found: Counter[str] = Counter()
    for state in own.processes.values():
        found.update(workload.measure(state))
    for bodies in own.channels.values():
        for body in bodies:
            found.update(workload.measure_body(body))
    is_right = all(found[good] == first.get(good, 0) for good in {*found, *first})
    told = ", ".join(f"{found[good]} {good}" for good in first)
    return told if is_right else f"{told}, not {', '.join(str(amount) for amount in first.values())}", is_right


def in_the_forms_words(problem: str) -> str:
    """A problem in the words of the form."""
    for option, label in LABELS.items():
        problem = problem.replace(option, label)
    return without_flags(problem)
