"""The beginning of a segment of the live run: the states of its processes, and the messages in transit.

A scenario begins with empty channels. So a process begins in the state before it has sent the messages in transit, and
sends them in the first steps. After these steps, the system is in the state of the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cluster.replay.holdings import Holdings
from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS
from sim.core.workload import WORKLOADS
from sim.document.scenario import Scenario
from sim.document.validate import validate
from sim.run.cut_states import states_at_cuts
from sim.run.execution import Execution
from sim.services.words import listing
from sim.theory.surviving import is_gone
from views.live import words
from views.server.budget import run_of

MOST_LETTERS = 300  # of all states in words
Doings = Mapping[str, Sequence[tuple[Any, ...]]]


def with_states(scenario: Scenario, live: Execution, held: Holdings, left: Holdings) -> Scenario | None:
    """The scenario of the events of `live`, which begins in the states of `held` and ends in those of `left`.

    It has the workload of the cluster, without its turns. None: the workload cannot do that.
    """
    own = live.scenario
    quiet = WORKLOADS[own.workload].quiet(len(own.processes))
    begun = replace(
        scenario, workload=own.workload, parameters={**own.parameters, **quiet}, seed=own.seed,
    )  # fmt: skip
    usual = begun.engine().workload.initial
    states = {name: usual(name) if state is None else state for name, state in held.states.items()}  # None: it is down
    first = {name: state for name, state in _before_sends(held, states).items() if state != usual(name)}
    begun = replace(begun, initial=first)
    try:
        validate(begun)
        found = run_of(begun)
    except InputError:
        return None
    ends = {name: states[-1] for name, states in states_at_cuts(found).local.items()}
    is_same = all(state in (None, ends[name]) for name, state in left.states.items())
    return begun if is_same and _doings(found) == _doings(live) else None


def _before_sends(held: Holdings, states: Mapping[str, Any]) -> dict[str, Any]:
    """The state of each process before it has sent its messages in transit."""
    workload = held.system.engine.workload
    sent = [
        (number, name.partition("->")[0], message.body)
        for name, own in held.channels.items()
        for number, message in own.items()
    ]
    found = dict(states)
    for _, process, body in sorted(sent, key=lambda own: own[0], reverse=True):
        found[process] = workload.before_send(found[process], body)
    return found


def _doings(execution: Execution) -> Doings:
    """The application events of each process that no recovery has taken back, without their labels and times."""
    found: dict[str, list[tuple[Any, ...]]] = {}
    for row in execution.events:
        if row.kind in APPLICATION_KINDS and not is_gone(row):
            found.setdefault(row.process, []).append((row.kind, row.channel, row.body))
    return found


def beginning_words(held: Holdings, left: Holdings, begun: Scenario, at: float) -> str:
    """The beginning of the scenario, in sentences."""
    own = held.system.scenario
    if begun.workload != own.workload:
        why = words.cannot_begin(WORKLOADS[own.workload].title) if left.is_one_epoch else words.IN_RECOVERY
        return words.without_states(at, why)
    in_words = held.system.engine.workload.state_words
    each = listing([
        words.state_of(name, None if state is None else in_words(state)) for name, state in held.states.items()
    ])  # fmt: skip
    text = words.with_states(at, each if len(each) <= MOST_LETTERS else "")
    count = sum(map(len, held.channels.values()))
    return f"{text} {words.in_transit(count) if count else words.NONE_IN_TRANSIT}"
