"""What may happen next at each step of a run, for a person who chooses: its name, and its words."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from sim.core.model import Action, Deliver, Fire, Initiate, Internal, Start, State
from sim.core.scheduler import choice_name
from sim.explain.words import words_of
from sim.run.execution import Execution
from sim.run.fifo import held


class Enabled(NamedTuple):
    """An action that may be chosen: its name as `order` has it, what it is in words, and at which process it happens.

    `message` is the id of the message that it delivers (None: it delivers none).
    """

    choice: str
    words: str
    message: int | None
    process: str


def all_choices(execution: Execution, first: int = 0, last: int | None = None) -> list[list[Enabled]]:
    """What may happen after each of the steps `first` to `last` (to the end where not given), in one walk.

    Step 0 is the initial state. Where messages have delays, held ones are among them: who chooses by hand may
    deliver them. Where they have none, a held message is one that cannot be chosen.
    """
    last = execution.steps if last is None else last
    hidden = frozenset() if execution.scenario.scheduler.has_time else held(execution)
    return [_enabled(execution, state, hidden) for state in islice(_states(execution), first, last + 1)]


def choices_made(execution: Execution, count: int) -> tuple[str, ...]:
    """The choices that the first `count` steps of the run were, by name."""
    made = []
    before = execution.engine.initial()
    for moment in islice(execution.moments(), count):
        made.append(choice_name(execution.engine, before, moment.action))
        before = moment.state
    return tuple(made)


def _states(execution: Execution) -> Iterator[State]:
    yield execution.engine.initial()
    for moment in execution.moments():
        yield moment.state


def _enabled(execution: Execution, state: State, hidden: frozenset[int]) -> list[Enabled]:
    engine = execution.engine
    found = []
    for action in engine.enabled(state):
        message = action.message.id if isinstance(action, Deliver) else None
        if message not in hidden:
            process = engine.nodes[engine.actor(action)]
            told = _in_words(execution, action, process)
            found.append(Enabled(choice_name(engine, state, action), told, message, process))
    return found


def _in_words(execution: Execution, action: Action, process: str) -> str:
    words = words_of(execution)
    if isinstance(action, Deliver):
        flight = execution.flights[action.message.id]
        return f"deliver {words.message(flight)} {words.where(flight)}"
    if isinstance(action, Fire):
        return f"the timer {action.timer.name} of {process} goes off"
    if isinstance(action, Initiate):
        return f"{process} starts {action.snapshot}"
    if isinstance(action, Start):
        return f"{process} begins its work"
    if isinstance(action, Internal):
        told = words.workload.tell_internal(action.body)
        return f"{process} {told if action.label is None else f'has its event {action.label}'}"
    return f"{process} sends {words.body(action.body, action.label or 'a message')} to {action.channel.target_name}"
