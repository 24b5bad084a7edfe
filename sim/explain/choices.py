"""The actions that a user may choose next, at each step of a run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from sim.core.model import Action, Deliver, Fault, Fire, Initiate, Internal, Recover, Restore, Start, State
from sim.core.scheduler import choice_name
from sim.explain.faults import choice_in_words, whose
from sim.explain.words import words_of
from sim.run.execution import Execution
from sim.run.fifo import held


class Enabled(NamedTuple):
    """An action that may be chosen: its `choice_name`, the action in words, and its process.

    `message` is the id of the message that it delivers (None: it is not a delivery).
    """

    choice: str
    words: str
    message: int | None
    process: str


def all_choices(execution: Execution, first: int = 0, last: int | None = None) -> list[list[Enabled]]:
    """The actions that may be chosen after each of the steps `first` to `last` (default: the last step).

    Step 0 is the initial state. If the scheduler has time, held messages are included: choosing by hand ends the hold.
    If not, a held message cannot be chosen.
    """
    last = execution.steps if last is None else last
    hidden = frozenset() if execution.scenario.scheduler.has_time else held(execution)
    return [_enabled(execution, state, hidden) for state in islice(_states(execution), first, last + 1)]


def choices_made(execution: Execution, count: int) -> tuple[str, ...]:
    """The names of the actions of the first `count` steps."""
    made = []
    before = execution.engine.initial()
    for step in islice(execution.replay(), count):
        made.append(choice_name(execution.engine, before, step.action))
        before = step.state
    return tuple(made)


def _states(execution: Execution) -> Iterator[State]:
    yield execution.engine.initial()
    for step in execution.replay():
        yield step.state


def _enabled(execution: Execution, state: State, hidden: frozenset[int]) -> list[Enabled]:
    engine = execution.engine
    found = []
    for action in engine.enabled(state):
        message = action.message.id if isinstance(action, Deliver) else None
        if message not in hidden:
            process = _whose(execution, action)
            words = _in_words(execution, action, process)
            found.append(Enabled(choice_name(engine, state, action), words, message, process))
    return found


def _whose(execution: Execution, action: Action) -> str:
    """The name of the process or service with the rows of an action."""
    engine = execution.engine
    if isinstance(action, Fault):
        return whose(execution, action)
    if isinstance(action, Recover):
        return engine.recovers_at
    return engine.nodes[action.process if isinstance(action, Restore) else engine.actor(action)]


def _in_words(execution: Execution, action: Action, process: str) -> str:
    words = words_of(execution)
    if isinstance(action, Deliver):
        flight = execution.flights[action.message.id]
        return f"deliver {words.message(flight)} {words.where(flight)}"
    if isinstance(action, Fire):
        return f"the timer {action.timer.name} of {process} goes off"
    if isinstance(action, Initiate):
        return f"{process} starts {action.snapshot}"
    if isinstance(action, Fault):
        return choice_in_words(execution, action)
    if isinstance(action, Start):
        return f"{process} begins its work"
    if isinstance(action, Recover):
        return "the system is rolled back"
    if isinstance(action, Restore):
        return f"{execution.engine.processes[action.process]} is restored"
    if isinstance(action, Internal):
        event = words.workload.internal_words(action.body)
        return f"{process} {event if action.label is None else f'has its event {action.label}'}"
    return f"{process} sends {words.body(action.body, action.label or 'a message')} to {action.channel.target_name}"
