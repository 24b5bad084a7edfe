"""Systems in which any features meet: drawn from a number, and run, or refused with a sentence.

No pair of features is left out on purpose: what does not go together is refused by the project itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

from sim.core.algorithm import ALGORITHMS, ALL, COORDINATOR, SOURCES
from sim.core.delays import DelayRule
from sim.core.errors import InputError
from sim.core.model import MessageReference
from sim.core.network import Network
from sim.core.recovery import RecoveryPlan
from sim.core.topology import KINDS, Topology
from sim.document.scenario import FaultLine, Initiation, Scenario, SchedulerChoice, ScriptLine
from sim.document.validate import validate
from sim.run.execution import Execution, run
from sim.services.increments import TYPES

MOST_EVENTS = 16
END = 24  # the last time at which something is planned
NAMES = ("P1", "P2", "P3", "P4")
WORKLOADS = ("bank", "trade", "dataflow", "token_ring", "requests", "diffusing", "scripted")


class Drawn(NamedTuple):
    """A scenario with its features; its execution, or the sentence that refuses it."""

    scenario: Scenario
    features: frozenset[str]
    execution: Execution | None
    refused: str = ""


def drawn(number: int, algorithm: str = "") -> Drawn:
    """The system with this number, under one of the algorithms, or under this one."""
    scenario, features = _Drawing(Random(number)).scenario(number, algorithm)
    try:
        validate(scenario)
        return Drawn(scenario, features, run(scenario, most_steps=600))
    except InputError as problem:
        return Drawn(scenario, features, None, str(problem))


def executions(first: int, count: int, algorithm: str = "") -> Iterator[Drawn]:
    """The next `count` systems from a number on that are not refused, and small enough to look at every cut."""
    number = first
    while count:
        found = drawn(number, algorithm)
        number += 1
        if found.execution is not None and len(found.execution.history.rows) <= MOST_EVENTS:
            count -= 1
            yield found


def of_all(systems: Iterable[Drawn], differences: Callable[[Execution], Iterable[str]]) -> Iterator[str]:
    """The differences of the runs of some systems, each with the name of its system."""
    for own in systems:
        if own.execution is not None:
            yield from (f"{own.scenario.name}: {problem}" for problem in differences(own.execution))


class _Drawing:
    def __init__(self, draw: Random) -> None:
        self.draw = draw
        self.features: set[str] = set()

    def may(self, feature: str, chance: float) -> bool:
        """Whether a feature is there; it is noted."""
        found = self.draw.random() < chance
        if found:
            self.features.add(feature)
        return found

    def one(self, feature: str, choices: tuple[str, ...]) -> str:
        """One of several; it is noted."""
        found = self.draw.choice(choices)
        self.features.add(f"{feature} {found}")
        return found

    def scenario(self, number: int, algorithm: str) -> tuple[Scenario, frozenset[str]]:
        """A scenario, not yet looked at."""
        draw = self.draw
        self.names = NAMES[: draw.choice((2, 2, 3, 3, 4))]
        usual = (*ALGORITHMS, *["chandy_lamport"] * 4)  # which allows most faults
        algorithm = self.one("algorithm", (algorithm,) if algorithm else usual)
        rules = ALGORITHMS[algorithm]
        topology = self._topology("dag" if rules.initiators == SOURCES and draw.random() < 0.5 else "")
        is_raw = self.may("raw network", 0.35)
        self.workload = self.one("workload", WORKLOADS)
        scenario = Scenario(
            name=f"drawn-{number}", title=f"drawn {number}", processes=self.names, topology=topology,
            network=Network("raw") if is_raw else Network(), seed=number, algorithm=algorithm,
            algorithm_parameters=self._parameters(rules.parameters), workload=self.workload,
            parameters=self._workload(), scheduler=SchedulerChoice("random" if draw.random() < 0.15 else "timed"),
            absent=self.names[-1:] if self.may("absent at first", 0.25) else (),
            delay=self._delay(), marker_delay=self._delay(), control_delay=self._delay(),
        )  # fmt: skip
        channels = [own.name for own in scenario.channels]
        changes: dict[str, Any] = {"script": self._script(channels), "snapshots": self._snapshots(rules)}
        if channels:
            changes |= {"not_fifo": self._not_fifo(channels), "faults": self._faults(channels, changes["script"])}
            changes["delays"] = self._delays(channels)
        changes |= self._services(rules)
        if rules.needs_fifo and (is_raw or changes.get("not_fifo")) and self.may("FIFO is broken", 0.7):
            changes["breaks"] = ("fifo",)
        changes["faults"] = (*changes.get("faults", ()), *self._freezes())
        if "coordinator" in changes and self.may("heartbeat", 0.4):
            changes["coordinator"] |= {"heartbeat": float(self.draw.randint(2, 4)), "missed": 2, "until": END + 12.0}
        scenario = replace(scenario, **changes)
        if scenario.has_storage and self.may("types of snapshots", 0.5):
            types = {own.snapshot: self.draw.choice(TYPES) for own in scenario.snapshots}
            starts = (replace(own, type=types[own.snapshot]) for own in scenario.snapshots)
            scenario = replace(scenario, snapshots=tuple(starts))
        return scenario, frozenset(self.features)

    def _topology(self, kind: str) -> Topology:
        kind = kind or self.one("topology", KINDS)
        pairs = [(one, other) for one in self.names for other in self.names if one != other]
        listed = tuple(self.draw.sample(pairs, self.draw.randint(1, len(pairs)))) if kind == "listed" else ()
        capacity = (("all", self.draw.randint(1, 2)),) if self.may("capacity", 0.15) else ()
        return Topology(kind, channels=listed, capacity=capacity)

    def _parameters(self, known: Mapping[str, Any]) -> dict[str, Any]:
        flags = [name for name, own in known.items() if own.kind == "flag" and self.may(f"option {name}", 0.3)]
        found: dict[str, Any] = {name: not known[name].default for name in flags}
        if "alignment_timeout" in known and self.may("option alignment_timeout", 0.4):
            found["alignment_timeout"] = float(self.draw.randint(1, 4))
        if "every" in known:
            found["every"] = self.draw.randint(1, 3)
        return found

    def _workload(self) -> dict[str, Any]:
        draw, few = self.draw, self.draw.randint(0, 3)
        return {
            "bank": {"balance": 100, "transfers": few, "pace": 4.0},
            "trade": {
                "goods": {self.names[0]: {"cash": 100}, self.names[1]: {"widget": 7}},
                "ships": {self.names[1]: "widget"},
            },
            "dataflow": {
                "records": {self.names[0]: 1 + few}, "pace": 2.0, "keys": 1,
                "sink": draw.choice(("", "plain", "transactional")),
            },
            "token_ring": {"tokens": {self.names[0]: 1}, "hold": 1.0, "rounds": 1},
            "requests": {
                "objects": {name: [name.lower()] for name in self.names},
                "holds": {name: [name.lower()] for name in self.names}, "requests": few, "pace": 4.0,
            },
            "diffusing": {"active": self.names[:1], "acts": few, "pace": 3.0},
            "scripted": {},
        }[self.workload]  # fmt: skip

    def _delay(self) -> DelayRule:
        low = float(self.draw.randint(0, 3))
        if self.draw.random() < 0.3:
            return DelayRule("fixed", low, low)
        return DelayRule("whole", low, low + self.draw.randint(0, 8))

    def _script(self, channels: list[str]) -> tuple[ScriptLine, ...]:
        lines = []
        for place in range(self.draw.randint(0, 5)):
            at, label = float(self.draw.randint(1, END)), f"e{place}"
            source, _, target = self.draw.choice(channels or [""]).partition("->")
            if target and self.workload not in ("token_ring", "diffusing", "requests") and self.draw.random() < 0.75:
                lines.append(ScriptLine(source, at, to=target, body=self._body(), label=label))
            else:
                lines.append(ScriptLine(self.draw.choice(self.names), at, label=label))
        return tuple(lines)

    def _body(self) -> Any:
        if self.workload == "trade":
            return {"order": 1, "cash": 10} if self.draw.random() < 0.6 else {"cash": 5}
        if self.workload == "scripted":
            return self.draw.choice((None, 1, "text"))
        return self.draw.randint(1, 9)

    def _snapshots(self, rules: Any) -> tuple[Initiation, ...]:
        found = []
        count = 2 if self.may("two snapshots", 0.35) else 1
        for place in range(1, count + 1):
            at = float(self.draw.randint(1, END - 6))
            if rules.initiators == COORDINATOR:
                starters = [rules.services[0].name] if rules.services else []
            elif rules.initiators in (ALL, SOURCES):
                starters = list(self.names if rules.initiators == ALL else self.names[: self.draw.randint(1, 2)])
            else:
                several = not rules.one_initiator and self.may("several initiators", 0.25)
                starters = self.draw.sample(self.names, 2 if several else 1)
            found += [Initiation(f"S{place}", name, at + self.draw.randint(0, 4)) for name in starters]
        return tuple(found)

    def _not_fifo(self, channels: list[str]) -> tuple[str, ...]:
        if self.may("not FIFO", 0.3):
            return ("all",) if self.draw.random() < 0.5 else (self.draw.choice(channels),)
        return ()

    def _delays(self, channels: list[str]) -> dict[MessageReference, float]:
        if not self.may("a message held or late", 0.25):
            return {}
        delay = math.inf if self.draw.random() < 0.4 else float(self.draw.randint(8, 20))
        return {MessageReference(None, self.draw.choice(channels), "app", None, self.draw.randint(1, 2)): delay}

    def _faults(self, channels: list[str], script: tuple[ScriptLine, ...]) -> tuple[FaultLine, ...]:
        found: list[FaultLine] = []
        name, at = self.draw.choice(self.names), float(self.draw.randint(1, END))
        if self.may("crash", 0.25):
            found.append(FaultLine("crash", name, at=at))
            if self.may("restart", 0.6):
                found.append(FaultLine("restart", name, at=at + self.draw.randint(1, 6)))
        if "absent at first" in self.features:
            found.append(FaultLine("join", self.names[-1], at=float(self.draw.randint(1, 12))))
        elif self.may("leave", 0.12):
            found.append(FaultLine("leave", self.names[-1], at=at + 1))
            if self.may("join again", 0.5):
                found.append(FaultLine("join", self.names[-1], at=at + self.draw.randint(2, 6)))
        for kind in ("lose", "copy"):
            if self.may(kind, 0.3):
                channel, ordinal = self.draw.choice(channels), self.draw.randint(1, 2)
                reference = MessageReference(None, channel, "app", None, ordinal)
                labels = [line.label for line in script if line.to is not None]
                if labels and self.draw.random() < 0.8:
                    reference = MessageReference(label=self.draw.choice(labels))
                found.append(FaultLine(kind, message=reference, at=float(self.draw.choice((0, 5, 10)))))
        if self.may("sever", 0.12):
            severed = (self.draw.choice(channels),)
            found += [FaultLine("sever", channels=severed, at=at), FaultLine("mend", channels=severed, at=at + 5)]
        return tuple(found)

    def _freezes(self) -> Iterator[FaultLine]:
        """Processes stand still, some of them for good, or until they crash or leave."""
        for name in self.names if self.may("freeze", 0.3) else ():
            if self.draw.random() < 0.5:
                at = self.draw.randint(0, END)
                yield FaultLine("freeze", name, at=float(at))
                if self.may("thaw", 0.8):
                    yield FaultLine("thaw", name, at=float(at + self.draw.randint(0, 12)))

    def _services(self, rules: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if rules.allows_coordinator and self.may("coordinator", 0.35):
            found["coordinator"] = {"timeout": float(self.draw.choice((10, 40))), "retries": self.draw.randint(0, 1)}
            found["snapshots"] = (Initiation("S1", "coordinator", float(self.draw.randint(1, 12))),)
        if self.may("storage", 0.25):
            found["storage"] = {"latency": float(self.draw.randint(0, 2))}
        if rules.allows_recovery and self.may("recovery", 0.5):
            on_crash = self.draw.random() < 0.5
            found["recovery"] = RecoveryPlan(
                at=() if on_crash else (float(self.draw.randint(8, END)),), on="crash" if on_crash else "",
                processes=self.names[:1] if self.may("recovery of one", 0.2) else (),
                channels=not self.may("recovery without channels", 0.2),
                fence=not self.may("recovery without fence", 0.3),
            )  # fmt: skip
        return found
