"""The budget of one answer of the app: its time, the size of its runs, and turns for big runs.

An answer is all that a page does at once, such as opening a link, or taking the edits that a browser has sent. It has
ANSWER_S seconds. A run is priced before it is made (sim/run/price.py). The whole app makes one BIG run at a time, and
the turn lasts to the end of the answer. So five big runs take no more memory than one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from threading import Lock, Semaphore

from sim.core.deadline import PATIENCE, Deadline, OutOfTime, within
from sim.core.errors import InputError
from sim.document.scenario import Scenario
from sim.run.execution import Execution, run
from sim.run.price import price_of
from views.server import words

ANSWER_S = 10.0
POLL_S = 0.1  # between two looks whether it is still wanted
WAIT_S = 5.0  # that an answer waits at most until it may make a big run
BIG = 10_000  # steps of a price
MOST_STEPS = 200_000  # of a price: a quiet machine takes about 8 s for it
MOST_CHANNELS = 10_000


class Busy(InputError):
    """The error while another visitor's big run is being made: the same may be asked again."""

    def __init__(self) -> None:
        super().__init__(words.BUSY)


class Answer:
    """One answer: its deadline, and whether it is its turn to make big runs. Waiting costs none of its own time."""

    def __init__(self, deadline: Deadline) -> None:
        self.deadline = deadline
        self.has_turn = False

    def take_turn(self) -> None:
        """Wait until no other answer makes a big run. Raises Busy after WAIT_S, OutOfTime if it is not wanted."""
        end = time.monotonic() + WAIT_S

        def check() -> None:
            if time.monotonic() >= end:
                raise Busy
            self.deadline.check()

        if not self.has_turn:
            wait_for(_big_runs, check)
            self.has_turn = True

    def end(self) -> None:
        """Let others make big runs."""
        if self.has_turn:
            self.has_turn = False
            _big_runs.release()


_big_runs = Lock()
_present: ContextVar[Answer | None] = ContextVar("answer", default=None)


def wait_for(turn: Lock | Semaphore, check: Callable[[], None]) -> None:
    """Wait for a turn. `check` is called every POLL_S, and ends the wait by an exception."""
    while not turn.acquire(timeout=POLL_S):
        check()


@contextmanager
def answering(
    is_wanted: Callable[[], bool] = lambda: True,
    seconds: float | None = None,
    patience: float = PATIENCE,
    advice: str = words.SMALLER,
) -> Iterator[Deadline]:
    """The block makes one answer; within another answer it is a part of that one.

    Raises InputError, with `advice`, when its time (`seconds`; by default ANSWER_S) is spent, and OutOfTime when it is
    no longer wanted.
    """
    outer = _present.get()
    if outer is not None:
        yield outer.deadline
        return
    seconds = ANSWER_S if seconds is None else seconds
    deadline = Deadline(seconds, is_wanted, patience)
    answer = Answer(deadline)
    token = _present.set(answer)
    try:
        with within(deadline):
            yield deadline
    except OutOfTime:
        if not is_wanted():
            raise
        raise InputError(words.too_long(seconds, advice)) from None
    finally:
        _present.reset(token)
        answer.end()


def run_of(scenario: Scenario) -> Execution:
    """The run of a scenario. Raises InputError when it cannot run, or is too big for a page."""
    own = replace(scenario)  # a copy: values cached in a scenario are freed with its run
    allow(own)
    return run(own, most_steps=MOST_STEPS)


def allow(scenario: Scenario) -> None:
    """Raises InputError if a scenario is too big for a page; for a big one, waits for the turn of the answer."""
    if len(scenario.channels) > MOST_CHANNELS:
        raise InputError(words.too_many_channels(len(scenario.channels), MOST_CHANNELS))
    price = price_of(scenario)
    price.refuse_beyond(MOST_STEPS, words.A_PAGE)
    if price.steps > BIG:
        take_turn()


def take_turn() -> None:
    """Wait until no other answer makes a big run; without an answer do nothing. Raises Busy and OutOfTime."""
    answer = _present.get()
    if answer is not None:
        answer.take_turn()


def is_big_run_made() -> bool:
    """Whether a big run is being made at this moment."""
    return _big_runs.locked()
