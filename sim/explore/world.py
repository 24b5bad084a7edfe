"""The environment of a system: the faults that a scenario plans, and those that may happen at any moment.

The environment is one more node. Its local state holds the severed channels, the faults that have happened, and the
number of those that may still happen. A crash is a step of the process that crashes, and changes the environment's
local state as well. So are a restart, a freeze and a thaw. A loss is a step of the environment alone: the message
leaves its channel, from any place, and the others keep their order.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sim.core.engine import Engine
from sim.core.errors import InputError
from sim.core.model import FAULTS, Channel, Crash, Freeze, Process, Restart, Thaw
from sim.document.scenario import Scenario
from sim.explore.local import Local
from sim.explore.machine import IMPOSSIBLE, Machine, Outcome
from sim.explore.numbers import Numbers, Tokens


@dataclass(frozen=True)
class MayHappen:
    """The faults that may happen at any moment, besides those that the scenario plans.

    crashes: the most in a run, of any process that is up. restarts: whether a process that is down may start again.
    losses: the most application messages and markers that are lost in transit in a run; they are not resent. freezes:
    the most in a run, of any process that is up; one that is frozen may be thawed at any later step.
    """

    crashes: int = 0
    restarts: bool = False
    losses: int = 0
    freezes: int = 0

    def check(self, scenario: Scenario) -> None:
        """Raises InputError if these faults do not go with the scenario."""
        for what in ("crashes", "losses", "freezes"):
            if getattr(self, what) < 0:
                raise InputError(f"--{what} {getattr(self, what)}: give a number of {what}, 0 or more")
        if self.restarts and not self.crashes:
            raise InputError("--restarts: only a process that has crashed can start again; give --crashes as well")
        for what in ("crashes", "freezes") if scenario.all_faults else ():
            if getattr(self, what):
                raise InputError(f"--{what}: the scenario has faults of its own; take them out, or leave --{what} out")
        if self.crashes and scenario.snapshots and not scenario.rules.allows_crashes:
            rules = f"the rules of {scenario.rules.title} do not support a crash yet"
            raise InputError(f"--crashes: {rules}; leave it out, or use Chandy-Lamport's")
        if scenario.fault_rates.meets_messages:
            what = "fault_rates: exploration does not support messages that are lost or copied by chance yet"
            raise InputError(f"{what}; remove `lose` and `copy`, or give --losses instead")

    def engine(self, scenario: Scenario) -> Engine:
        """An engine for the scenario in which this may happen."""
        has_faults = self.crashes + self.losses + self.freezes > 0
        return scenario.engine(has_faults=has_faults, is_raw=self.losses > 0)

    @property
    def kinds(self) -> list[str]:
        """The kinds of fault of a process that may happen."""
        crashes, restarts = ["crash"] if self.crashes else [], ["restart"] if self.restarts else []
        return [*crashes, *restarts, *(["freeze", "thaw"] if self.freezes else [])]

    @property
    def takes_away(self) -> bool:
        """Whether a state or a message may be lost."""
        return self.crashes + self.losses > 0


NO_FAULTS = MayHappen()
OF_BOTH = (Crash, Restart, Freeze, Thaw)  # faults that are a step of their process as well


def may_record_again(engine: Engine, may: MayHappen) -> bool:
    """Whether a process may start again, and then record for a snapshot a second time."""
    return may.restarts or any(type(item.action) is Restart for item in engine.agenda)


@dataclass
class WorldLocal(Local):
    """The local state of the environment.

    crashes, losses, freezes: the numbers that may still happen at any moment. takes_away: whether a state or a message
    may be lost so far. slowed: the factor by which a process is slower than usual, by its number; without time it
    changes nothing.
    """

    severed: frozenset[Channel] = frozenset()
    crashes: int = 0
    takes_away: bool = False
    losses: int = 0
    freezes: int = 0
    slowed: Mapping[int, float] = field(default_factory=dict)

    @property
    def account(self) -> Hashable:
        """The part that a check reads, and no rule."""
        return self.takes_away

    def holds(self, *, counts_events: bool) -> Hashable:
        """The faults that the environment may still cause."""
        position = self.process.position, self.done
        severed, slowed = frozenset(channel.number for channel in self.severed), frozenset(self.slowed.items())
        return position, severed, slowed, self.crashes, self.losses, self.freezes


class World(Machine):
    """The environment as a node.

    An input is ("item", number), ("lose", channel, rank of the message in it), or the half of a process's step:
    ("crash",), ("restart",), ("freeze",), ("thaw",). The other half is the outcome at the process, where the age of a
    run's local states counts the step. The other half of a loss is the content of the channel (Space).
    """

    def __init__(
        self, engine: Engine, tokens: Tokens, bodies: Numbers, column_of: Mapping[int, int], may: MayHappen
    ) -> None:
        super().__init__(engine, engine.environment, tokens, bodies, column_of)
        self.may = may

    def initial(self, process: Process) -> WorldLocal:
        """The local state before the first fault."""
        return WorldLocal(process, crashes=self.may.crashes, losses=self.may.losses, freezes=self.may.freezes)

    def _carried_out(self, local: int, given: int) -> int:
        self.executed.append((local, given))
        before: WorldLocal = self.locals.things[local]
        kind, *parts = self.inputs.things[given]
        if kind == "item":
            after = self._planned(before, parts[0])
        elif kind == "crash":
            after = replace(before, crashes=before.crashes - 1, takes_away=True) if before.crashes else None
        elif kind == "lose":
            after = self._with_a_loss(before) if before.losses else None
        elif kind == "freeze":
            after = replace(before, freezes=before.freezes - 1) if before.freezes else None
        else:
            after = before if kind in self.may.kinds else None
        if after is None:
            return IMPOSSIBLE
        outcome = Outcome(self.aged(after), (), frozenset())
        return self.outcomes.number(outcome, outcome)

    @staticmethod
    def _with_a_loss(before: WorldLocal) -> WorldLocal:
        return replace(before, losses=before.losses - 1, takes_away=True, age=before.age + 1)

    def _planned(self, before: WorldLocal, number: int) -> WorldLocal | None:
        """The local state after a fault that the scenario plans, as the engine carries it out."""
        item = self.engine.agenda[number]
        is_next = item.rank == before.process.position if item.after is None else number not in before.done
        state = self.engine.initial()
        state.services[-1] = process = before.process.copy()
        state.severed, state.slowed = before.severed, before.slowed
        fault: Any = item.action
        if type(fault) not in FAULTS or not is_next:
            return None
        is_of_process = isinstance(fault, OF_BOTH)
        if not is_of_process and not self._if_it_may(fault, state):
            return None
        self.engine.perform(state, fault, [])
        return replace(
            before, process=process, severed=state.severed, slowed=state.slowed, age=before.age + (not is_of_process),
            done=before.done | ({number} if item.after is not None else set()),
            takes_away=before.takes_away or isinstance(fault, Crash),
        )  # fmt: skip
