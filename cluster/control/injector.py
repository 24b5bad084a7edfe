"""Faults in a running cluster: a node is killed, frozen or thawed; channels are severed, slow or lossy."""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Sequence

from cluster.control.members import Member, Members
from cluster.model import FAULT_KINDS, Fault, Problem
from cluster.node.link_conditions import LinkConditions
from cluster.node.system import System
from sim.core.model import Channel

_SIGNALS = {"kill": signal.SIGKILL, "freeze": signal.SIGSTOP, "thaw": signal.SIGCONT}


class Injector:
    """Injects faults, and remembers those of channels for nodes that start again."""

    def __init__(self, system: System, members: Members) -> None:
        self._system, self._members = system, members
        self._conditions = LinkConditions()

    def inject(self, fault: Fault) -> None:
        """Inject a fault into a node or channels. Raises Problem."""
        if fault.kind not in FAULT_KINDS:
            raise Problem(422, f"kind: {fault.kind!r} is none of {', '.join(FAULT_KINDS)}")
        if fault.kind in _SIGNALS:
            member = self._members.named(fault.node or "")
            if member.process is None:
                raise Problem(409, f"{member.name} is {member.status}; it has no process to {fault.kind}")
            os.kill(member.process.pid, _SIGNALS[fault.kind])
            return
        channels = self._channels(fault.channels)
        if fault.kind == "delay":
            if not 0 <= fault.low <= fault.high < math.inf:
                raise Problem(422, "low_ms and high_ms: numbers from 0, and high_ms is at least low_ms")
            self.delay(channels, fault.low / 1000, fault.high / 1000)
            return
        conditions, told = self._conditions, {}
        if fault.kind == "lose":
            if not 0 <= fault.share < 1:
                raise Problem(422, "share: a number from 0, below 1")
            told["share"] = fault.share
            conditions.shares.update((channel.number, fault.share) for channel in channels)
        elif fault.kind == "sever":
            conditions.severed |= frozenset(channels)
        else:
            conditions.severed -= frozenset(channels)
        for number, own in self._by_target(channels).items():
            self._members[number].tell(self._system, fault.kind, {"channels": own, **told})

    def _channels(self, names: Sequence[str]) -> list[Channel]:
        known = {channel.name: channel for channel in self._system.engine.channels}
        for name in names:
            if name not in known:
                raise Problem(
                    404, f"channels: there is no channel {name!r}; there are {', '.join(list(known)[:6])} ..."
                )
        return [known[name] for name in names] if names else list(known.values())

    @staticmethod
    def _by_target(channels: Sequence[Channel]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for channel in channels:
            found.setdefault(channel.target, []).append(channel.number)
        return found

    def delay(self, channels: Sequence[Channel], low: float, high: float) -> None:
        """Delay messages on channels by `low` to `high` seconds."""
        self._conditions.delays.update((channel.number, (low, high)) for channel in channels)
        for number, own in self._by_target(channels).items():
            self._members[number].tell(self._system, "delay", {"channels": own, "low": low, "high": high})

    @property
    def longest_way(self) -> float:
        """Seconds that a message may take on the slowest channel, by injected delays, or else by the scenario."""
        delays, own = self._conditions.delays, self._system.longest_way
        return max((delays.get(channel.number, (0.0, own))[1] for channel in self._system.engine.channels), default=own)

    def tell(self, member: Member) -> None:
        """Tell a node that has started the faults of its incoming channels."""
        conditions = self._conditions
        for channel in self._system.engine.channels:
            if channel.target != member.number:
                continue
            own = {"channels": [channel.number]}
            member.tell(self._system, "sever" if channel in conditions.severed else "mend", own)
            if channel.number in conditions.delays:
                low, high = conditions.delays[channel.number]
                member.tell(self._system, "delay", {**own, "low": low, "high": high})
            if channel.number in conditions.shares:
                member.tell(self._system, "lose", {**own, "share": conditions.shares[channel.number]})
