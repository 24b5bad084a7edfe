"""The arithmetic of sizing: messages in channels at a snapshot, bytes in storage, seconds of a recovery.

The module keeps two results apart.

(a) `usual_estimate` is the usual back-of-the-envelope estimate. Every channel buffers rate × marker delay, as if every
    marker came late and every sender recorded late. For one node that is right for the initiator. For the cluster it is
    right if messages are as late as markers (d = S).
(b) `sizes` is the cost model of an algorithm. A message belongs to the state of its channel if it is sent before its
    sender records and received after its receiver records. So channel i → j holds rate × max(0, recᵢ + d − recⱼ). The
    algorithm says when a process records (`cost_model`). With one initiator and late markers (S much more than d) a
    node buffers only if it records before its senders. In a complete graph the initiator buffers (N − 1) × rate × (S +
    d), and every other node rate × d a channel.

Units: messages per second, bytes, seconds; of a state and a bandwidth MB, a million bytes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from sim.core.algorithm import ALGORITHMS, SOURCES
from sim.core.cost_model import CostModel
from sim.core.errors import InputError
from sim.theory.sizing_inputs import TOPOLOGIES, System
from sim.theory.topology_shape import shape

MB = 1e6  # bytes
EVERY_DAY = 86_400  # seconds
_CALLED = {"complete": "a complete graph", **{name: f"a {name}" for name in TOPOLOGIES[1:]}}


# ------------------------------------------------------------------ (a) the usual estimate


def usual_estimate(system: System) -> dict[str, int | float]:
    """Return the estimate's figures, by the keys of `python -m sim sizing --json`, as int where they are whole.

    If nodes differ, the one with the most incoming channels counts.
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


# ------------------------------------------------------------------ (b) the cost model


class Sizes(NamedTuple):
    """The costs of one snapshot by an algorithm's cost model. Messages, bytes, seconds.

    recorded: messages in all channels; on_one_channel: in the fullest channel; at_initiator: in the channels to P1;
    at_another: in those to the other node with the most. latency: from the first recording to the closing of the last
    channel (None: the model does not say). blocked: the longest time that a channel is blocked. waiting: messages
    behind barriers in all channels when the block ends; on_blocked: in the channel with the most. sender_stops: the
    longest time that a sender stands still because such a channel is full. stands_still: the time that every process
    stands still; not_sent: messages in all channels that are sent later because of that.
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


def cost_model_of(system: System) -> CostModel | None:
    """Return the cost model of the system's algorithm, or None. Raises InputError if it cannot start there."""
    algorithm = ALGORITHMS[system.algorithm]
    model = algorithm.cost_model(system.load)
    if model is not None and algorithm.initiators == SOURCES and system.topology != "dag" and system.nodes > 1:
        where = _CALLED[system.topology]
        raise InputError(
            f"--topology: {algorithm.title} start at sources, and {where} has none; use dag, or another algorithm"
        )
    return model


def sizes(system: System) -> Sizes | None:
    """Return the costs of a snapshot of `system` (None: no cost model). Raises InputError as `cost_model_of` does."""
    model = cost_model_of(system)
    return None if model is None else _sizes(system, model)


def _sizes(system: System, model: CostModel) -> Sizes:
    load, kinds = system.load, shape(system.topology, system.nodes)
    total = most = blocked = waiting = on_blocked = stops = 0.0
    times, ends, at_node = [], [0.0], []
    for own in kinds:
        receiver, held = model.records_at(own.place), 0.0
        times.append(receiver)
        for place, count in own.incoming:
            sender = model.records_at(place)
            is_empty = not model.keeps or (model.first_is_empty and own.place.nearest == place.nearest + 1)
            here = 0.0 if is_empty else load.rate * max(0.0, sender - receiver + load.delay)
            held += count * here
            most = max(most, here)
            ends.append(max(sender + (model.closes_after or 0.0), receiver))
            if model.blocks_after is not None:
                behind = load.rate * max(0.0, receiver - sender - load.delay)
                behind = min(behind, float(system.capacity)) if system.capacity else behind
                waiting, on_blocked = waiting + own.number * count * behind, max(on_blocked, behind)
                blocked = max(blocked, receiver - sender - model.blocks_after)
                stops = max(stops, _stops(system, receiver - sender))
        at_node.append(held)
        total += own.number * held
    channels = sum(own.number * own.channels for own in kinds)
    latency = None if model.closes_after is None else max([*ends, *times]) - min(times)
    return Sizes(
        total, most, at_node[0], max(at_node[1:], default=0.0), latency, blocked, waiting, on_blocked, stops,
        model.stands_still, channels * load.rate * model.stands_still,
    )  # fmt: skip


def _stops(system: System, apart: float) -> float:
    """Return the seconds that a sender stands still if its receiver records `apart` later and takes nothing before."""
    if not system.capacity or not system.rate:
        return 0.0
    return max(0.0, apart - system.capacity / float(system.rate))


# ------------------------------------------------------------------ (c) storage and recovery


class Costs(NamedTuple):
    """The costs of a checkpoint and of a recovery. Bytes and seconds.

    checkpoint: bytes that are uploaded; complete: bytes that a recovery fetches. age: mean age of the last valid
    checkpoint at a crash. redone: messages that all nodes process again.
    """

    checkpoint: float
    upload: float
    complete: float
    download: float
    age: float
    redone: float
    recovery: float


def costs(system: System, found: Sizes) -> Costs:
    """Return the bytes that `system` stores and the seconds of its recovery.

    `found` are the messages in its channels. Lost work is repeated as fast as it was done the first time.
    """
    bandwidth, channels = float(system.bandwidth) * MB, found.recorded * float(system.size)
    state = system.nodes * float(system.state) * MB
    checkpoint, complete = state * float(system.share) + channels, state + channels
    upload, download = checkpoint / bandwidth, complete / bandwidth
    age = float(system.interval) / 2 + (found.latency or 0.0) + upload
    links = sum(own.number * own.channels for own in shape(system.topology, system.nodes))
    redone = links * float(system.rate) * age
    return Costs(checkpoint, upload, complete, download, age, redone, float(system.detection) + download + age)
