"""An exploration in the background of the app: how far it is, what it found, and its end.

It belongs to one tab. Stop ends it, and so does the tab that is gone for LOST_S. It may take MOST_S of processor time,
PATIENCE times as long by the clock, and as many states as were asked for. In the whole app, SMALL_ONES go on at a time,
and one of those that have more than SMALL states: thirty visitors take no more memory than a few, and leave the
processor to the other pages. Nothing here imports Streamlit.
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
from views.every_run.form_state import SMALL, Asked
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
    """The states that so many steps lead to, and whether steps to this depth complete a snapshot."""

    states: int
    completes: bool


@dataclass(frozen=True)
class Result:
    """What an exploration found, without the states themselves.

    pairs: how many pairs of a state and what the checks know of its past were explored. problem: why these are not
    all; "" if they are. runs: a shortest wrong run of each check that fails, the shortest
    first; told: its steps in sentences, and what shows that the check fails. taken: the keys (see `key_of`) of the
    snapshots of the run itself, as time has it. nodes, edges: the graph of states, if it is small; why: what shows that
    checks fail in a state, by its number. may: the faults that were explored, beside the faults of
    the scenario.
    """

    scenario: Scenario
    states: int
    pairs: int
    transitions: int
    depths: tuple[Depth, ...]
    problem: str
    recorded: list[Snapshot]
    runs: dict[str, Scenario]
    told: dict[str, list[str]]
    taken: frozenset[str]
    why: dict[int, list[str]] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    may: MayHappen = NO_FAULTS

    @property
    def has_crashes(self) -> bool:
        """Whether in some run a process crashes."""
        return self.may.crashes > 0 or any(fault.kind == "crash" for fault in self.scenario.all_faults)


class Exploring:
    """One exploration, under way or over: then `result` is what it found, or `problem` why it could not be done."""

    def __init__(self, asked: Asked, is_open: Callable[[], bool] = lambda: True) -> None:
        self.asked, self.is_open = asked, is_open
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
        """End before it begins: what was asked for is wrong."""
        self.problem = problem
        self._over.set()
        return self

    def run(self) -> None:
        """Explore; whatever happens ends this exploration only."""
        self._deadline = Deadline(MOST_S, self._is_wanted, PATIENCE)  # counts the time of this thread
        try:
            self._explore()
        except InputError as problem:
            self.problem = str(problem)
        except OutOfTime:
            self.problem = self._why_over("out of time")
        except Exception as problem:
            log.exception("exploration")
            self.problem = f"this failed unexpectedly ({type(problem).__name__}: {problem})"
        finally:
            self._ended = time.monotonic()
            self._end_turn()
            self._over.set()

    @property
    def is_over(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self._over.is_set()

    def wait(self, seconds: float) -> None:
        """Wait for its end, so long at most."""
        self._over.wait(seconds)

    @property
    def seconds(self) -> float:
        """Seconds of work, without those of waiting for others."""
        return (self._ended or time.monotonic()) - self.began - self.paused

    def _is_wanted(self) -> bool:
        if self.is_open():
            self._seen = time.monotonic()
        return not self.stop.is_set() and not self._is_lost

    @property
    def _is_lost(self) -> bool:
        return time.monotonic() - self._seen > LOST_S

    def _why_over(self, problem: str) -> str:
        """Why not all was explored, in the words of the page."""
        if problem != "out of time":
            return problem
        if self.stop.is_set():
            return "you stopped it"
        if self._is_lost:
            return "the connection was lost"
        if self._deadline.spent >= MOST_S:
            return f"after {MOST_S:.0f} seconds of work"
        return f"after {MOST_S * PATIENCE:.0f} seconds: the machine is busy"

    def _explore(self) -> None:
        with within(self._deadline):
            self._take_turn(_small_ones)
            scenario = self.asked.scenario(self._is_wanted)
            done = exploration(
                scenario, own_order=self.asked.own_order, most_states=self.asked.most_states, progress=self._look,
                may=self.asked.may,
            )  # fmt: skip
        self._note(done.found)
        self.result = self._result(done)

    def _look(self, found: Explored) -> None:
        """Take down how far it is; a big one waits for its turn."""
        self._note(found)
        if found.pairs + found.ahead > SMALL and self._turn is not _big_ones:
            self._take_turn(_big_ones)

    def _note(self, found: Explored) -> None:
        """What is new of the last level; it is asked first when that begins."""
        if len(self._ways) < len(found.per_depth):
            self._ways.append(float(sum(found.snapshots.values())))
        before = [0.0, *self._ways]
        self.depths = tuple(
            Depth(states, now > then) for states, now, then in zip(found.per_depth, self._ways, before, strict=False)
        )
        self.states, self.ahead, self.transitions = found.states, found.ahead, found.transitions

    def _take_turn(self, turn: threading.Semaphore) -> None:
        """Wait for a turn, which costs no time, instead of the present one. Raises OutOfTime where nobody waits."""
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
        told = {check: _told(check, wrong) for check, wrong in runs.items()}
        taken = _taken(done.scenario) if self.asked.shared is not None else frozenset()
        return Result(
            done.scenario, found.states, found.pairs, found.transitions, self.depths, problem, done.recorded, runs,
            told, taken, _why(done.scenario, nodes, edges), nodes, edges, self.asked.may,
        )  # fmt: skip


def _told(check: str, wrong: Scenario) -> list[str]:
    """The steps of a run in sentences, and then what shows that the check does not hold."""
    execution = run_of(wrong)
    return [*sentences(execution)[1:], *_witnesses(execution, (check,))[:1]]


def _why(scenario: Scenario, nodes: Sequence[Node], edges: Sequence[Edge]) -> dict[int, list[str]]:
    """What shows that checks fail in a state, by its number, for each state that is wrong."""
    return {
        number: _witnesses(run_of(by_hand(scenario, tuple(own.action for own in way_to(edges, number)))), node.wrong)
        for number, node in enumerate(nodes)
        if node.wrong
    }


def _witnesses(execution: Execution, checks: Collection[str]) -> list[str]:
    """What shows that these checks fail in a run, in sentences."""
    snapshots = {own.id: own for own in snapshots_of(execution)}
    shown = [
        verdict_words(execution, snapshots[name], verdict)
        for name, verdicts in verdicts_of(execution).items()
        for verdict in verdicts
        if verdict.check in checks and verdict.holds is False
    ]
    return [f"{words.check}: {words.text}" for words in shown]


def _taken(scenario: Scenario) -> frozenset[str]:
    """The keys of the snapshots that are complete in the run itself; none where it cannot run."""
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
    """Equal for equal snapshots: its id, what each process recorded, and what each channel holds."""
    held = {channel: bodies for channel, bodies in channels.items() if bodies}
    return json.dumps([name, processes, held], sort_keys=True)
