"""A process that stands still until the coordinator answers keeps what its algorithm has blocked and paused."""

from __future__ import annotations

from typing import Any

import pytest

from sim.core.model import Channel, Message, Process, Timer
from sim.core.rules import Rules
from sim.document.scenario import Scenario
from tests.sim.tools import system

COORDINATED = system("P1 P2 P3", coordinator={"heartbeat": 2.0, "until": 100.0})


class Alone:
    """The surroundings of one process: it notes what is said. As sim.core.rules.World."""

    def __init__(self, scenario: Scenario) -> None:
        self.engine = scenario.engine()
        self.process: Process = self.engine.initial().processes[0]
        self.rules = Rules(self.engine.workload, self.engine.algorithm, {}, self)
        self.rows: list[Any] = []
        self.rules.emit = self.rows.append
        self.said: list[Any] = []
        self.timers: dict[str, float] = {}

    def transmit(self, channel: Channel, kind: str, body: Any, *rest: Any, **more: Any) -> int:
        """Note what is said."""
        self.said.append(body)
        return len(self.said)

    def control_channel(self, source: int, target: str) -> Channel:
        """As the engine."""
        return self.engine.control_channel(source, target)

    def channel_to(self, source: int, target: str) -> Channel:
        """As the engine."""
        return self.engine.channel_to(source, target)

    def schedule(self, process: Process, name: str, after: float | None, snapshot: str | None) -> None:
        """Note a timer, or that it is cancelled."""
        self.timers.pop(name, None)
        if after is not None:
            self.timers[name] = after

    def hears(self, body: Any, snapshot: str | None = None) -> None:
        """The coordinator says something."""
        channel = self.engine.control_channel(self.engine.number_of["coordinator"], "P1")
        self.rules.receive_control(self.process, Message(0, channel, "control", body, snapshot, None, None, None, None))

    def does(self, what: str, *given: Any) -> None:
        """The algorithm asks for an effect."""
        self.rules.from_outside(self.process, lambda out: getattr(out, what)(*given))

    def is_let_in(self) -> None:
        """The answer to its last question comes."""
        (number,) = (value for key, value in self.said[-1].items() if key in ("here", "awake"))
        self.hears({"welcome": [], "to": number})

    def kinds(self) -> list[str]:
        """The kinds of the rows since the last time."""
        found = [row[2] for row in self.rows if row[2] in ("paused", "resumed", "blocked", "unblocked")]
        self.rows.clear()
        return found


@pytest.fixture
def alone() -> Alone:
    return Alone(COORDINATED)


def test_what_the_algorithm_had_blocked_and_paused_stays_so(alone: Alone) -> None:
    first, _ = alone.process.incoming
    alone.does("pause", "S1")
    alone.does("block", first, "S1")
    alone.kinds()
    alone.rules.thaw(alone.process)
    assert alone.kinds() == ["blocked"]  # the other channel
    alone.is_let_in()
    assert alone.kinds() == ["unblocked"]
    assert (alone.process.stands, alone.process.paused, alone.process.blocked) == (False, True, frozenset({first}))


def test_what_it_blocks_and_frees_meanwhile_holds_afterwards(alone: Alone) -> None:
    first, second = alone.process.incoming
    alone.does("block", first, "S1")
    alone.rules.thaw(alone.process)
    alone.does("unblock", first, "S1")
    alone.does("block", second, "S1")
    alone.does("pause", "S1")
    alone.kinds()
    assert alone.process.stands
    alone.is_let_in()
    assert alone.kinds() == ["unblocked"]
    assert (alone.process.stands, alone.process.paused, alone.process.blocked) == (False, True, frozenset({second}))


def test_only_the_answer_to_the_last_question_counts(alone: Alone) -> None:
    alone.rules.thaw(alone.process)
    early = alone.said[-1]["awake"]
    alone.rules.thaw(alone.process)
    alone.hears({"welcome": ["S1"], "to": early})
    assert alone.process.stands
    assert "S1" in alone.process.aborted  # what has ended has ended, whoever hears of it
    alone.is_let_in()
    assert not alone.process.stands


def test_an_answer_to_an_earlier_incarnation_counts_for_nothing(alone: Alone) -> None:
    alone.rules.thaw(alone.process)
    early = alone.said[-1]["awake"]
    alone.process.coordination, alone.process.stands = None, False  # what a crash leaves
    alone.rules.begin_again(alone.process)
    alone.hears({"welcome": [], "to": early})
    assert alone.process.stands
    alone.is_let_in()
    assert not alone.process.stands


def test_who_hears_that_it_is_out_asks(alone: Alone) -> None:
    alone.rules.fire(alone.process, timer(alone, "heartbeat"))
    alone.hears({"out": True, "to": alone.said[-1]["alive"]})
    assert alone.process.stands
    assert "awake" in alone.said[-1]


def test_a_lease_ends_for_each_heartbeat_that_is_not_the_last_one_answered(alone: Alone) -> None:
    alone.timers.update(alone.engine.algorithm.first_timers())
    alone.rules.fire(alone.process, timer(alone, "heartbeat"))
    alone.rules.fire(alone.process, timer(alone, "heartbeat"))
    leases = {"lease 0", "lease 1", "lease 2"}
    assert leases <= {*alone.timers}
    alone.hears({"lease": 5.5, "to": [0, 1]})
    assert {*alone.timers} & leases == {"lease 1", "lease 2"}


def timer(alone: Alone, name: str) -> Timer:
    """A timer of the process that goes off."""
    return Timer(alone.process.number, name, 0.0, None, 0)
