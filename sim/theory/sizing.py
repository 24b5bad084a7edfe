"""The arithmetic of sizing: what a snapshot holds in the channels of a system, what it stores, what a recovery takes.

Two things are kept apart.

(a) The documents' arithmetic, `documents_bound`: every channel buffers rate × marker delay, as if every marker came
    late, and every sender recorded late. What comes of it for one node is right for the initiator; for the cluster it
    is what is found if messages are as late as markers (d = S).
(b) The law of an algorithm, `sizes`: a message is in the state of its channel if its sender sends it before it records,
    and its receiver gets it after it records. So channel i → j holds rate × max(0, recᵢ + d − recⱼ). When a process
    records, the algorithm says (`law`). With one initiator and late markers (S much more than d) only those buffer who
    record before their senders: in a complete graph the initiator, (N − 1) × rate × (S + d), and all others rate × d a
    channel.

Units: messages per second, bytes, seconds; of a state and a bandwidth MB, a million bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from sim.core.algorithm import ALGORITHMS, SOURCES
from sim.core.cost_model import Formula, Law, Load, Place
from sim.core.errors import InputError, brief, nearest

TOPOLOGIES = ("complete", "ring", "line", "star", "dag")  # those in which distances follow from the number of nodes
_CALLED = {"complete": "a complete graph", **{name: f"a {name}" for name in TOPOLOGIES[1:]}}
MOST_NODES = 100_000
MOST_IN_A_DAG = 400  # nodes: there no two channels are alike
MOST = 1e18  # of any number
EVERY_DAY = 86_400  # seconds
MB = 1e6  # bytes

# The documents, as formulas name their sources.
LESSON = "“Sizing and Capacity Math”"
SCALING = "“High Channel Ingestion Rate and Buffering Outages”"
STORAGE = "“Checkpoint Storage Write Saturation”"


class Input(NamedTuple):
    """A number that is asked for: its label, its help with the unit, the first value, the least and the most."""

    label: str
    help: str
    first: float
    least: float = 0.0
    most: float = MOST
    is_whole: bool = False


# The numbers by their names in addresses and (with --) on the command line. The first four are the documents'.
INPUTS: Mapping[str, Input] = {
    "nodes": Input("Nodes", "processes of the cluster", 100, 1, MOST_NODES, is_whole=True),
    "rate": Input("Messages a second", "on each channel", 50_000, most=1e12),
    "size": Input("Bytes of a message", "the mean", 200, most=1e12),
    "delay": Input("Marker delay (s)", "seconds that a marker, a barrier or a control message takes: S", 2, most=1e9),
    "message_delay": Input("Message delay (s)", "seconds that a message takes: d", 0.01, most=1e9),
    "capacity": Input("Channel capacity", "messages that a channel holds (0: any number)", 0, most=1e15, is_whole=True),
    "state": Input("State of a node (MB)", "million bytes that a process records of itself", 1000),
    "share": Input("Incremental share", "part of the state that is stored, from 0 to 1", 0.1, most=1),
    "bandwidth": Input(
        "Bandwidth of the storage (MB/s)", "million bytes a second, shared by all nodes", 1000, least=1e-6
    ),
    "detection": Input("Detection time (s)", "seconds until a crash is found out", 5, most=1e9),
    "interval": Input("Checkpoint interval (s)", "seconds from one checkpoint to the next", 60, most=1e9),
}  # fmt: skip
# What else is asked for, by name: what may be chosen, the first value first.
CHOICES: Mapping[str, tuple[str, ...]] = {
    "topology": TOPOLOGIES,
    "algorithm": ("chandy_lamport", *(name for name in ALGORITHMS if name != "chandy_lamport")),
}


@dataclass(frozen=True)
class System:
    """What is to be sized: the numbers of INPUTS, the topology and the algorithm. The first process (P1) initiates."""

    nodes: int = 100
    rate: Fraction = Fraction(50_000)
    size: Fraction = Fraction(200)
    delay: Fraction = Fraction(2)
    message_delay: Fraction = Fraction("0.01")
    capacity: int = 0
    state: Fraction = Fraction(1000)
    share: Fraction = Fraction("0.1")
    bandwidth: Fraction = Fraction(1000)
    detection: Fraction = Fraction(5)
    interval: Fraction = Fraction(60)
    topology: str = TOPOLOGIES[0]
    algorithm: str = "chandy_lamport"

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> System:
        """The system from texts or numbers by name; what is not given is as first. Raises InputError."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise InputError(f"{_flag(name)}: is nothing that is asked for; {nearest(name, known)}")
        found: dict[str, Any] = {name: _number(name, given[name]) for name in INPUTS if name in given}
        for name, choices in CHOICES.items():
            if name in given and given[name] not in choices:
                raise InputError(f"{_flag(name)}: expected one of {', '.join(choices)}, not {brief(given[name])}")
        found |= {name: given[name] for name in CHOICES if name in given}
        system = cls(**found)
        if system.topology == "dag" and system.nodes > MOST_IN_A_DAG:
            raise InputError(f"--nodes: in a dag no two channels are alike; use at most {MOST_IN_A_DAG}")
        return system

    @property
    def load(self) -> Load:
        """What every channel carries."""
        return Load(float(self.rate), float(self.message_delay), float(self.delay))


def _flag(name: str) -> str:
    """A number or a choice as on the command line; errors name it so."""
    return f"--{name.replace('_', '-')}"


def _number(name: str, given: Any) -> Any:
    """A number of INPUTS, exactly as its decimals say. Raises InputError."""
    wanted = INPUTS[name]
    kind = "whole number" if wanted.is_whole else "number"
    try:
        value = float(given)
    except (ValueError, TypeError, OverflowError):
        raise InputError(f"{_flag(name)}: expected a {kind}, not {brief(given)}") from None
    is_right = math.isfinite(value) and wanted.least <= value <= wanted.most
    if not is_right or (wanted.is_whole and value != int(value)):
        raise InputError(
            f"{_flag(name)}: expected a {kind} from {wanted.least:,.10g} to {wanted.most:,.10g}, not {brief(given)}"
        )
    return int(value) if wanted.is_whole else Fraction(repr(value))


# ------------------------------------------------------------------ the shape of a system


class Nodes(NamedTuple):
    """Nodes that are alike: their place, their number, and the channels to each, counted by the sender's place."""

    place: Place
    number: int
    incoming: tuple[tuple[Place, int], ...]

    @property
    def channels(self) -> int:
        """The number of channels to one of them."""
        return sum(count for _, count in self.incoming)


@lru_cache(maxsize=32)
def shape(topology: str, nodes: int) -> tuple[Nodes, ...]:
    """The nodes of a topology (sim/core/topology.py) as seen from its first one, in the order of their distance."""
    return tuple(_SHAPES[topology](nodes))


def _at(distance: int) -> Place:
    return Place(distance, distance)


def _complete(nodes: int) -> Iterator[Nodes]:
    yield Nodes(_at(0), 1, ((_at(1), nodes - 1),) if nodes > 1 else ())
    if nodes > 1:
        yield Nodes(_at(1), nodes - 1, ((_at(0), 1), *(((_at(1), nodes - 2),) if nodes > 2 else ())))


def _ring(nodes: int) -> Iterator[Nodes]:
    for number in range(nodes):
        yield Nodes(_at(number), 1, ((_at((number - 1) % nodes), 1),) if nodes > 1 else ())


def _line(nodes: int) -> Iterator[Nodes]:
    for number in range(nodes):
        yield Nodes(_at(number), 1, tuple((_at(own), 1) for own in (number - 1, number + 1) if 0 <= own < nodes))


def _star(nodes: int) -> Iterator[Nodes]:
    yield Nodes(_at(0), 1, ((_at(1), nodes - 1),) if nodes > 1 else ())
    if nodes > 1:
        yield Nodes(_at(1), nodes - 1, ((_at(0), 1),))


def _dag(nodes: int) -> Iterator[Nodes]:
    places = [Place(min(number, 1), number) for number in range(nodes)]
    for number, place in enumerate(places):
        yield Nodes(place, 1, tuple((own, 1) for own in places[:number]))


_SHAPES = {"complete": _complete, "ring": _ring, "line": _line, "star": _star, "dag": _dag}


# ------------------------------------------------------------------ (a) the documents' arithmetic


def documents_bound(system: System) -> dict[str, int | float]:
    """The documents' figures, by the keys of `python -m sim sizing --json`: whole numbers where they are whole.

    Of nodes that differ, the one with the most incoming channels counts.
    """
    kinds = shape(system.topology, system.nodes)
    channels, most = sum(own.number * own.channels for own in kinds), max(own.channels for own in kinds)
    messages = system.rate * system.delay
    each = messages * system.size
    found = {
        "channels": Fraction(channels), "messages_per_channel": messages, "bytes_per_channel": each,
        "bytes_per_node": most * each, "bytes_total": channels * each,
        "messages_per_node_per_second": most * system.rate,
    }  # fmt: skip
    return {name: int(value) if value.denominator == 1 else float(value) for name, value in found.items()}


# ------------------------------------------------------------------ (b) the law


class Sizes(NamedTuple):
    """What the law of an algorithm says of a system. Messages, bytes, seconds.

    recorded: messages in all channels; on_one_channel, at_initiator, at_another: on the channel with the most, at P1,
    at the other node with the most. latency: from the first recording to the last channel that is closed (None: the law
    does not say). blocked: the longest time that a channel is blocked; waiting: the messages that wait behind barriers
    when it ends, in all channels, on_blocked on the one with the most. sender_stops: the longest time that a sender
    stands still, since such a channel is full. stands_still: every process does, so long. not_sent: messages that are
    sent later therefore, in all channels.
    """

    recorded: float
    on_one_channel: float
    at_initiator: float
    at_another: float
    latency: float | None
    blocked: float = 0.0
    waiting: float = 0.0
    on_blocked: float = 0.0
    sender_stops: float = 0.0
    stands_still: float = 0.0
    not_sent: float = 0.0


def law_of(system: System) -> Law | None:
    """The law of the system's algorithm (None: it has none). Raises InputError if it cannot start there."""
    algorithm = ALGORITHMS[system.algorithm]
    law = algorithm.law(system.load)
    if law is not None and algorithm.initiators == SOURCES and system.topology != "dag" and system.nodes > 1:
        where = _CALLED[system.topology]
        raise InputError(
            f"--topology: {algorithm.title} start at sources, and {where} has none; use dag, or another algorithm"
        )
    return law


def sizes(system: System) -> Sizes | None:
    """What the law says of `system` (None: its algorithm has none). Raises InputError as `law_of` does."""
    law = law_of(system)
    return None if law is None else _sizes(system, law)


def _sizes(system: System, law: Law) -> Sizes:
    load, kinds = system.load, shape(system.topology, system.nodes)
    total = most = blocked = waiting = on_blocked = stops = 0.0
    times, ends, at_node = [], [0.0], []
    for own in kinds:
        receiver, held = law.records_at(own.place), 0.0
        times.append(receiver)
        for place, count in own.incoming:
            sender = law.records_at(place)
            is_empty = not law.keeps or (law.first_is_empty and own.place.nearest == place.nearest + 1)
            here = 0.0 if is_empty else load.rate * max(0.0, sender - receiver + load.delay)
            held += count * here
            most = max(most, here)
            ends.append(max(sender + (law.closes_after or 0.0), receiver))
            if law.blocks_after is not None:
                behind = load.rate * max(0.0, receiver - sender - load.delay)
                behind = min(behind, float(system.capacity)) if system.capacity else behind
                waiting, on_blocked = waiting + own.number * count * behind, max(on_blocked, behind)
                blocked = max(blocked, receiver - sender - law.blocks_after)
                stops = max(stops, _stops(system, receiver - sender))
        at_node.append(held)
        total += own.number * held
    channels = sum(own.number * own.channels for own in kinds)
    latency = None if law.closes_after is None else max([*ends, *times]) - min(times)
    return Sizes(
        total, most, at_node[0], max(at_node[1:], default=0.0), latency, blocked, waiting, on_blocked, stops,
        law.stands_still, channels * load.rate * law.stands_still,
    )  # fmt: skip


def _stops(system: System, apart: float) -> float:
    """How long a sender stands still whose receiver records `apart` later: its channel takes nothing out meanwhile."""
    if not system.capacity or not system.rate:
        return 0.0
    return max(0.0, apart - system.capacity / float(system.rate))


# ------------------------------------------------------------------ (c) what is stored, and coming back


class Costs(NamedTuple):
    """What a checkpoint stores and a recovery takes. Bytes and seconds.

    checkpoint: bytes that are uploaded; whole: bytes that a recovery fetches. age: of the last valid checkpoint at a
    crash, in the mean. redone: messages of all nodes that are done again.
    """

    checkpoint: float
    upload: float
    whole: float
    download: float
    age: float
    redone: float
    recovery: float


def costs(system: System, found: Sizes) -> Costs:
    """What `system` stores and how long it takes to come back, with these messages in its channels.

    What is done again is done as fast as it was done the first time.
    """
    bandwidth, channels = float(system.bandwidth) * MB, found.recorded * float(system.size)
    state = system.nodes * float(system.state) * MB
    checkpoint, whole = state * float(system.share) + channels, state + channels
    upload, download = checkpoint / bandwidth, whole / bandwidth
    age = float(system.interval) / 2 + (found.latency or 0.0) + upload
    links = sum(own.number * own.channels for own in shape(system.topology, system.nodes))
    redone = links * float(system.rate) * age
    return Costs(checkpoint, upload, whole, download, age, redone, float(system.detection) + download + age)


# ------------------------------------------------------------------ the formulas

THE_DOCUMENTS = (
    Formula("Channels", "N × (N − 1)", f"{LESSON}: “Total Channels”; other topologies have fewer"),
    Formula("Buffered messages, a channel", "rate × S", f"{LESSON}: “Buffered Messages/Channel”"),
    Formula("Bytes, a channel", "rate × S × size", f"{LESSON}: “RAM Cost/Channel”"),
    Formula("Bytes, a node", "(N − 1) × rate × S × size", f"{LESSON}: “Total Node Memory Overhead”"),
    Formula("Bytes, the cluster", "N × (N − 1) × rate × S × size", "the same, for all nodes; not in the documents"),
    Formula("Messages a second, a node", "(N − 1) × rate", f"{LESSON}: 99 channels and the rate of each"),
)
BACK_PRESSURE = (
    Formula(
        "Waits in a blocked channel i → j",
        "min(capacity, rate × max(0, recⱼ − recᵢ − d))",
        "derived here: what i sends after its barrier and j may not take before it records",
    ),
    Formula(
        "A sender i stands still for",
        "max(0, recⱼ − recᵢ − capacity / rate)",
        "derived here: the channel takes nothing out, so it is full so long after the barrier",
    ),
)
COMING_BACK = (
    Formula(
        "Checkpoint", "N × state × share + recorded bytes", f"{STORAGE}: “only upload … files that have changed”"
    ),
    Formula(
        "Upload", "checkpoint / bandwidth", "derived here: a shared storage takes uploads one after another"
    ),
    Formula("Age of the last checkpoint", "interval / 2 + snapshot + upload", "measured in docs/performance.md"),
    Formula(
        "Recovery",
        "detection + (N × state + recorded bytes) / bandwidth + age",
        "measured in docs/performance.md: find the crash out, fetch all parts one after another; then do again what "
        "was done since the checkpoint, as fast as the first time",
    ),
)  # fmt: skip


def formulas(system: System) -> tuple[Formula, ...]:
    """All formulas that are used for `system`, in the order of its figures. Raises InputError as `law_of` does."""
    law = law_of(system)
    own = law.formulas if law else ()
    barriers = BACK_PRESSURE if law and law.blocks_after is not None else ()
    return (*THE_DOCUMENTS, *own, *barriers, *COMING_BACK)
