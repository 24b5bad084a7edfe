"""An exploration in the background of the app: its progress, its findings, and its end.

It belongs to one tab. It ends by the button Stop, or once the tab is gone for LOST_S. It may take MOST_S of processor
time, PATIENCE times as long by the clock, and as many states as the form says. The whole app runs SMALL_ONES at a time,
and one with more than SMALL states. So thirty visitors take no more memory than a few, and leave the processor to the
other pages. Nothing here imports Streamlit.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from diagrams.charts.state_graph import way_to
from sim.core.deadline import Deadline, OutOfTime, within
from sim.core.errors import InputError
from sim.document.scenario import Scenario
from sim.explain.narration import sentences
from sim.explain.verdicts import verdict_words
from sim.explore.graph import Edge, Node, state_graph
from sim.explore.judging import in_one_order
from sim.explore.replay import by_hand
from sim.explore.report import Exploration, Snapshot, exploration
from sim.explore.search import Explored
from sim.explore.world import NO_FAULTS, MayHappen
from sim.run.execution import Execution
from sim.run.snapshots import COMPLETE, snapshots_of
from sim.verify.checks import verdicts_of
from views.every_run import words
from views.every_run.form_state import SMALL, FormState
from views.server.budget import run_of, wait_for

log = logging.getLogger("views")

MOST_S = 20.0
PATIENCE = 2.0
LOST_S = 10.0  # without a connection
SMALL_ONES = 2
MOST_DRAWN = 150  # states of a graph

_small_ones, _big_ones = threading.Semaphore(SMALL_ONES), threading.Semaphore(1)


@dataclass(frozen=True)
class Depth:
    """The number of states at a depth, and whether steps to this depth complete a snapshot."""

    states: int
    completes: bool


@dataclass(frozen=True)
class Result:
    """The findings of an exploration, without the states themselves.

    pairs: the number of explored pairs of a state and a past, as far as the checks remember it. problem: the reason why
    these are not all; "" if they are. runs: a shortest wrong run of each check that fails, the shortest first.
    sentences: by check, the steps of that run and the witness. taken: the keys (see `key_of`) of the snapshots of the
    run itself, with its own delays. nodes, edges: the graph of states, if it is small. why: the witnesses of failed
    checks in a state, by its number. may: the faults that were explored, besides those of the scenario.
    """

    scenario: Scenario
    states: int
    pairs: int
    transitions: int
    depths: tuple[Depth, ...]
    problem: str
    recorded: list[Snapshot]
    runs: dict[str, Scenario]
    sentences: dict[str, list[str]]
    taken: frozenset[str]
    why: dict[int, list[str]] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    may: MayHappen = NO_FAULTS

    @property
    def has_crashes(self) -> bool:
        """Whether a process crashes in some run."""
        return self.may.crashes > 0 or any(fault.kind == "crash" for fault in self.scenario.all_faults)


class Exploring:
    """One exploration, under way or over: then `result` holds its findings, or `problem` the reason of its failure."""

    def __init__(self, form_state: FormState, is_open: Callable[[], bool] = lambda: True) -> None:
        self.form_state, self.is_open = form_state, is_open
        self.stop = threading.Event()
        self.result: Result | None = None
        self.problem: str | None = None
        self.waits = False
        self._over = threading.Event()
        self.began, self.paused = time.monotonic(), 0.0
        self.states = self.ahead = self.transitions = 0
        self.depths: tuple[Depth, ...] = ()
        self._ways: list[float] = []  # up to each depth: to all the snapshots that are complete
        self._turn: threading.Semaphore | None = None
        self._ended: float | None = None
        self._seen = self.began  # when the tab was connected the last time
        self._deadline = Deadline(MOST_S, self._is_wanted, PATIENCE)

    def start(self) -> Exploring:
        """Begin in a thread of its own."""
        threading.Thread(target=self.run, name="exploration", daemon=True).start()
        return self

    def refuse(self, problem: str) -> Exploring:
        """End before it begins, because the form is wrong."""
        self.problem = problem
        self._over.set()
        return self

    def run(self) -> None:
        """Explore; any exception ends this exploration only."""
        self._deadline = Deadline(MOST_S, self._is_wanted, PATIENCE)  # counts the time of this thread
        try:
            self._explore()
        except InputError as problem:
            self.problem = str(problem)
        except OutOfTime:
            self.problem = self._why_over("out of time")
        except Exception as problem:
            log.exception("exploration")
            self.problem = words.unexpected(type(problem).__name__, problem)
        finally:
            self._ended = time.monotonic()
            self._end_turn()
            self._over.set()

    @property
    def is_over(self) -> bool:
        """Whether it has ended, with findings or with a problem."""
        return self._over.is_set()

    def wait(self, seconds: float) -> None:
        """Wait for its end, at most this long."""
        self._over.wait(seconds)

    @property
    def seconds(self) -> float:
        """Seconds of work, without those of waiting for a turn."""
        return (self._ended or time.monotonic()) - self.began - self.paused

    def _is_wanted(self) -> bool:
        if self.is_open():
            self._seen = time.monotonic()
        return not self.stop.is_set() and not self._is_lost

    @property
    def _is_lost(self) -> bool:
        return time.monotonic() - self._seen > LOST_S

    def _why_over(self, problem: str) -> str:
        """The reason why not every order was tried, in the words of the page."""
        if problem != "out of time":
            return problem
        if self.stop.is_set():
            return words.YOU_STOPPED
        if self._is_lost:
            return words.CONNECTION_LOST
        if self._deadline.spent >= MOST_S:
            return words.after_work(MOST_S)
        return words.after_waiting(MOST_S * PATIENCE)

    def _explore(self) -> None:
        with within(self._deadline):
            self._take_turn(_small_ones)
            scenario = self.form_state.scenario(self._is_wanted)
            done = exploration(
                scenario, own_order=self.form_state.own_order, most_states=self.form_state.most_states,
                progress=self._look, may=self.form_state.may,
            )  # fmt: skip
        self._note(done.found)
        self.result = self._result(done)

    def _look(self, found: Explored) -> None:
        """Note the progress; a big exploration waits for its turn."""
        self._note(found)
        if found.pairs + found.ahead > SMALL and self._turn is not _big_ones:
            self._take_turn(_big_ones)

    def _note(self, found: Explored) -> None:
        """Note the progress; the first call on a level comes at its beginning."""
        if len(self._ways) < len(found.per_depth):
            self._ways.append(float(sum(found.snapshots.values())))
        before = [0.0, *self._ways]
        self.depths = tuple(
            Depth(states, now > then) for states, now, then in zip(found.per_depth, self._ways, before, strict=False)
        )
        self.states, self.ahead, self.transitions = found.states, found.ahead, found.transitions

    def _take_turn(self, turn: threading.Semaphore) -> None:
        """Exchange the present turn for another, free of time. Raises OutOfTime once it is no longer wanted."""
        self._end_turn()
        begin, self.waits = time.monotonic(), True
        with self._deadline.paused():
            wait_for(turn, self._check_wanted)
        self._turn, self.waits = turn, False
        self.paused += time.monotonic() - begin

    def _check_wanted(self) -> None:
        if not self._is_wanted():
            raise OutOfTime

    def _end_turn(self) -> None:
        if self._turn is not None:
            self._turn.release()
            self._turn = None

    def _result(self, done: Exploration) -> Result:
        found = done.found
        nodes, edges = state_graph(found) if found.pairs <= MOST_DRAWN else ([], [])
        problem = self._why_over(found.problem) if found.problem else ""
        runs = {check: done.runs[check] for check, _ in done.shortest()}
        texts = {check: _sentences(check, wrong) for check, wrong in runs.items()}
        taken = _taken(done.scenario) if self.form_state.shared is not None else frozenset()
        return Result(
            done.scenario, found.states, found.pairs, found.transitions, self.depths, problem, done.recorded, runs,
            texts, taken, _why(done.scenario, nodes, edges), nodes, edges, self.form_state.may,
        )  # fmt: skip


def _sentences(check: str, wrong: Scenario) -> list[str]:
    """The steps of a run in sentences, and then the witness of the failed check."""
    execution = run_of(wrong)
    return [*sentences(execution)[1:], *_witnesses(execution, (check,))[:1]]


def _why(scenario: Scenario, nodes: Sequence[Node], edges: Sequence[Edge]) -> dict[int, list[str]]:
    """The witnesses of the failed checks in each wrong state, by its number."""
    return {
        number: _witnesses(run_of(by_hand(scenario, tuple(own.action for own in way_to(edges, number)))), node.wrong)
        for number, node in enumerate(nodes)
        if node.wrong
    }


def _witnesses(execution: Execution, checks: Collection[str]) -> list[str]:
    """The witnesses of these failed checks in a run, in sentences."""
    snapshots = {own.id: own for own in snapshots_of(execution)}
    found = [
        verdict_words(execution, snapshots[name], verdict)
        for name, verdicts in verdicts_of(execution).items()
        for verdict in verdicts
        if verdict.check in checks and verdict.holds is False
    ]
    return [f"{own.check}: {own.text}" for own in found]


def _taken(scenario: Scenario) -> frozenset[str]:
    """The keys of the snapshots that are complete in the run itself; none if it cannot run."""
    try:
        snapshots = snapshots_of(run_of(scenario))
        bags = {channel.name for channel in scenario.channels if not channel.fifo}
    except InputError:
        return frozenset()
    return frozenset(
        key_of(
            own.id,
            {name: local.state for name, local in own.local.items()},
            {
                name: _held([own.body for own in messages], is_bag=name in bags)
                for name, messages in own.channels.items()
            },
        )
        for own in snapshots
        if own.status == COMPLETE
    )


def _held(bodies: list[Any], *, is_bag: bool) -> list[Any]:
    return in_one_order(bodies) if is_bag else bodies


def key_of(name: str, processes: Mapping[str, Any], channels: Mapping[str, Any]) -> str:
    """A key that equal snapshots share: the id, the recorded states, and the contents of the channels."""
    held = {channel: bodies for channel, bodies in channels.items() if bodies}
    return json.dumps([name, processes, held], sort_keys=True)
