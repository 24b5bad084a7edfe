"""The system that a cluster runs: a scenario, with the facts that its processes need."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import networkx

from cluster.wire.codec import Codec
from cluster.wire.frames import Transport
from cluster.wire.tcp import Tcp
from sim.core.algorithm import ALGORITHMS
from sim.core.engine import Engine
from sim.core.errors import InputError
from sim.core.model import Channel
from sim.core.recovery import ON_CRASH, RecoveryPlan
from sim.document.scenario import Initiation, Scenario, ScriptLine
from sim.document.validate import may_initiate
from sim.services.member import Member
from sim.services.settings import Settings

TRANSPORTS = TCP, GRPC = "tcp", "grpc"
MOST_WAITING = 16  # snapshots under way or waiting to start, unless the scenario says it
LIVE_FAULTS = ("crash", "restart", "freeze", "thaw", "sever", "mend", "join", "leave")
_TIME = re.compile(r"\b(within|heartbeat for) ([0-9.e+-]+)")  # in a sentence of the coordinator, in time units
_FOREVER = 1e9  # time units: longer than any cluster runs
# The usual times of a coordinator and a storage in a cluster, in seconds. The system design gives a snapshot 5 s. A
# snapshot of a scenario with a script, which is slow to watch, has a minute.
_TIMEOUT, _TIMEOUT_OF_SCRIPT, _HEARTBEAT, _MISSED = 5.0, 60.0, 0.5, 8


class Patience(NamedTuple):
    """The patience of a coordinator, in seconds (None: as the scenario says, or as usual).

    A node sends a heartbeat every `heartbeat` seconds. A node that misses eight is taken for gone. A snapshot that is
    not complete within `timeout` expires.
    """

    heartbeat: float | None = None
    timeout: float | None = None


USUAL = Patience()


def live(
    scenario: Scenario, unit: float, *, has_coordinator: bool = True, patience: Patience = USUAL
) -> Scenario:  # fmt: skip
    """The scenario as a cluster runs it: with a storage and, if its algorithm allows them, a coordinator and recovery.

    A time unit takes `unit` seconds. Raises InputError if a part of the scenario has no meaning in processes of an
    operating system, and for patience without a coordinator.
    """
    _refuse_what_is_not_live(scenario)
    rules = ALGORITHMS[scenario.algorithm].with_options(scenario.algorithm_parameters)
    coordinator, timeout = scenario.coordinator, _TIMEOUT_OF_SCRIPT if scenario.script else _TIMEOUT
    timeout = patience.timeout or timeout
    if coordinator is None and has_coordinator and rules.allows_coordinator:
        coordinator = {"timeout": timeout / unit, "heartbeat": _HEARTBEAT / unit, "missed": _MISSED}
    asked = {key: seconds / unit for key, seconds in patience._asdict().items() if seconds is not None}
    if asked and coordinator is None:
        raise InputError(
            f"--{next(iter(asked))}: is a setting of the coordinator, and this system has none; leave it out"
        )
    if coordinator is not None:
        coordinator = {"most_waiting": MOST_WAITING, **coordinator, **asked, "until": _FOREVER}
    recovery = RecoveryPlan(on=ON_CRASH) if rules.allows_recovery else None
    own = replace(
        scenario,
        coordinator=coordinator,
        storage={"kept": 2 * timeout / unit, **(scenario.storage or {})},
        recovery=recovery,
        expect={},
    )
    return own


def _refuse_what_is_not_live(scenario: Scenario) -> None:
    rules = ALGORITHMS[scenario.algorithm]
    is_alone = rules.one_node and len(scenario.processes) > 1
    if not rules.coordinated or is_alone:
        why = "are for one process alone" if is_alone else "make checkpoints that no snapshot joins"
        raise InputError(f"{scenario.at('algorithm.kind')}: the rules of {rules.title} {why}; use Chandy-Lamport's")
    plan = scenario.recovery
    if plan is not None and (plan.processes or not plan.channels or not plan.fence):
        what = "a cluster restores all processes and their channels, and fences off what is old"
        raise InputError(f"{scenario.at('recovery')}: {what}; leave processes, channels and fence out")
    if scenario.scheduler.kind != "timed":
        what = f"a cluster has a clock, so its scheduler is {'timed'!r}, not {scenario.scheduler.kind!r}"
        raise InputError(f"{scenario.at('scheduler.kind')}: {what}")
    if scenario.breaks:
        raise InputError(f"{scenario.at('breaks')}: a cluster breaks no rules on purpose; leave it out")
    if scenario.network.is_raw:
        what = "a cluster sends again what is lost, as a fifo layer does"
        raise InputError(f'{scenario.at("network.layer")}: {what}; use "fifo"')
    for rule, key in ((scenario.delay, "delay"), (scenario.marker_delay, "marker_delay")):
        if rule is not None and rule.kind == "listed":
            what = "listed delays go by the order of all messages, which no process of a cluster knows"
            raise InputError(f"{scenario.at(key)}: {what}; use another kind")
    if any(channel.capacity is not None for channel in scenario.channels):
        what = "the channels of a cluster are bounded by --queue; leave capacity out"
        raise InputError(f"{scenario.at('topology.capacity')}: {what}")
    if (scenario.storage or {}).get("offsets"):
        what = "a cluster keeps no log of its channels, so it stores what is in them"
        raise InputError(f"{scenario.at('storage.offsets')}: {what}; leave it out")
    if scenario.fault_rates != type(scenario.fault_rates)():
        raise InputError(
            f"{scenario.at('fault_rates')}: a cluster has its own faults at random: python -m cluster chaos"
        )
    for number, fault in enumerate(scenario.faults):
        where = fault.where or scenario.at(f"faults[{number + 1}]")
        if fault.kind not in LIVE_FAULTS or fault.after is not None:
            what = "" if fault.kind in LIVE_FAULTS else f"{fault.kind!r} works only in the simulation; "
            raise InputError(f"{where}: {what}a cluster takes {', '.join(LIVE_FAULTS)}, each at a time")
    lines: list[ScriptLine | Initiation] = [*scenario.script, *scenario.snapshots]
    for number, line in enumerate(lines):
        if line.after is not None and not _is_own(scenario, line.after, line.process):
            what = f"{line.process} cannot know when {line.after!r} happens, which is no event of its own"
            raise InputError(f"{scenario.where(number)}: {what}; let it wait for one of its own")


def _is_own(scenario: Scenario, label: str, process: str) -> bool:
    """Whether the event with a label is one of `process`."""
    for line in scenario.script:
        if label == line.label:
            return line.process == process
        if label == line.receive_label:
            return line.to == process
    return label.rpartition(".")[0] == process


class System:
    """A scenario, and its engine as the description of processes and channels. A time unit has `unit` seconds."""

    def __init__(self, scenario: Scenario, unit: float, transport: str = TCP) -> None:
        """`transport` is one of TRANSPORTS, by which the nodes talk to each other."""
        self.scenario, self.unit, self.transport_name = scenario, unit, transport
        self.engine: Engine = scenario.engine()
        self.names = self.engine.nodes  # processes, then services
        self.processes = self.engine.processes
        self.codec = Codec([*self.engine.channels, *self.control_channels])
        self.takes_back = scenario.recovery is not None

    @cached_property
    def transport(self) -> Transport:
        """The transport of frames. gRPC takes a moment to load, so it is loaded only when it is used."""
        if self.transport_name == TCP:
            return Tcp(self.codec)
        from cluster.rpc.transport import Grpc

        return Grpc(self.codec, self.names, self.processes, self.engine.channels)

    @cached_property
    def control_channels(self) -> list[Channel]:
        """The channels for control messages: one from each process or service to each other."""
        count = len(self.engine.nodes)
        pairs = ((source, target) for source in range(count) for target in range(count) if source != target)
        return [self.engine.control_channel(source, self.engine.nodes[target]) for source, target in pairs]

    @cached_property
    def channel_named(self) -> dict[str, Channel]:
        """The channels between processes, by name."""
        return {channel.name: channel for channel in self.engine.channels}

    @cached_property
    def channel_of(self) -> dict[int, Channel]:
        """All channels by number, those for control messages included."""
        return {channel.number: channel for channel in (*self.engine.channels, *self.control_channels)}

    def about(self, number: int) -> dict[str, Any]:
        """The description that a program needs to be process `number` without reading the scenario, as JSON.

        `initial` is its state at first. A channel is [number, source, target], in the order of the scenario. `outgoing`
        and `incoming` are the channels to and from other processes. `control` are the channels for control messages to
        all other processes and services.
        """

        def numbers(channels: Iterable[Channel]) -> list[list[int]]:
            return [[own.number, own.source, own.target] for own in channels]

        own = self.engine.channels
        return {
            "names": list(self.names), "processes": len(self.processes),
            "initial": self.engine.workload.initial(self.names[number]),
            "parameters": dict(self.scenario.parameters),
            "outgoing": numbers(channel for channel in own if channel.source == number),
            "incoming": numbers(channel for channel in own if channel.target == number),
            "control": numbers(channel for channel in self.control_channels if channel.source == number),
        }  # fmt: skip

    def is_control(self, channel: Channel) -> bool:
        """Whether a channel is one for control messages."""
        return channel.number >= len(self.engine.channels)

    @cached_property
    def silence(self) -> float:
        """The seconds of silence after which a node is taken for gone."""
        own = self._settings
        return self.seconds(own.silence) if own is not None and own.heartbeat else _HEARTBEAT * _MISSED

    @cached_property
    def longest_standstill(self) -> float:
        """The seconds for which a node may stand still unnoticed. It stops by itself before it is taken for gone."""
        own = self._settings
        return self.seconds(own.silence - own.lease) if own is not None and own.heartbeat else _HEARTBEAT

    @property
    def _settings(self) -> Settings | None:
        """The settings of the coordinator (None: there is none)."""
        rules = self.engine.algorithm
        return rules.settings if isinstance(rules, Member) else None

    @cached_property
    def most_waiting(self) -> int:
        """The number of snapshots that may be under way or wait to start."""
        return int((self.scenario.coordinator or {}).get("most_waiting", 0)) or MOST_WAITING

    @cached_property
    def longest_way(self) -> float:
        """The longest delay of a message or a marker by the scenario, in seconds (the mean of exponential delays)."""
        marker = self.scenario.marker_delay or self.scenario.delay
        return self.seconds(max(self.scenario.delay.high, marker.high))

    @cached_property
    def hops(self) -> int:
        """The most channels that a snapshot crosses one after the other, until it is complete.

        These are the channels to the process that is farthest from an initiator, and one more for the last marker.
        """
        graph = networkx.DiGraph((own.source, own.target) for own in self.engine.channels)
        ways = networkx.all_pairs_shortest_path_length(graph)
        return 1 + max((hops for _, found in ways for hops in found.values()), default=0)

    @property
    def initiators(self) -> list[str]:
        """The processes or services that may start a snapshot."""
        return may_initiate(self.scenario)

    def in_seconds(self, words: str) -> str:
        """A sentence of the coordinator, with its times in seconds instead of time units."""
        return _TIME.sub(lambda found: f"{found[1]} {self.seconds(float(found[2])):g} s", words)

    def seconds(self, units: float) -> float:
        """A number of time units in seconds (infinite for an infinite number)."""
        return math.inf if units == math.inf else units * self.unit
