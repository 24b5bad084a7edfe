"""The sizing of a system in words: numbers with units, the figures in lines, and the usual estimate beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sim.core.algorithm import ALGORITHMS
from sim.theory.sizing import EVERY_DAY, MB, Sizes, cost_model_of, costs, sizes, usual_estimate
from sim.theory.sizing_formulas import LESSON, SCALING, STORAGE, formulas
from sim.theory.sizing_inputs import System

_POWERS = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
BOUND, LAW, COSTS = "The usual estimate", "The algorithm's cost model", "Storage and recovery"


# ------------------------------------------------------------------ numbers


def digits(value: float) -> str:
    """A number with three significant digits, whole ones below 10,000 as they are."""
    if value == int(value) and abs(value) < 10_000:
        return f"{int(value):,}"
    return f"{float(f'{value:.3g}'):,.10g}"


def in_bytes(value: float) -> str:
    """`1.98 GB`: powers of ten."""
    for power, letter in _POWERS:
        if value >= 0.9995 * power:
            return f"{digits(value / power)} {letter}B"
    return f"{digits(value)} {'byte' if value == 1 else 'bytes'}"


def in_messages(value: float) -> str:
    """`100,000 messages`, `4.95 million messages`."""
    for power, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if value >= 0.9995 * power:
            return f"{digits(value / power)} {word} messages"
    return f"{value:,.0f} message{'' if round(value) == 1 else 's'}" if value >= 10 else f"{digits(value)} messages"


def in_time(seconds: float) -> str:
    """`20 ms`, `2 s`, `2 min 35 s`, `1 h 12 min`."""
    if 0 < seconds < 0.9995:
        return f"{digits(seconds * 1000)} ms" if seconds >= 1e-3 else f"{digits(seconds * 1e6)} µs"
    if seconds < 119.5:
        return f"{digits(seconds)} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 120:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours = round(minutes / 60) if minutes >= 6000 else minutes // 60
    return f"{hours:,} h" if minutes >= 6000 or minutes % 60 == 0 else f"{hours} h {minutes % 60} min"


# ------------------------------------------------------------------ figures


class Figure(NamedTuple):
    """One figure: the part that it belongs to, its name, its value in words, a remark, and the usual estimate."""

    part: str
    name: str
    value: str
    remark: str = ""
    documents: str = ""


def figures(system: System) -> list[Figure]:
    """The figures of a system, in their order. Raises InputError if its algorithm cannot start."""
    return [*_of_the_bound(system), *_of_the_law(system), *_of_the_costs(system)]


# The usual estimate of the example system, by the name of the figure.
_DOCUMENTS = {
    "Channels": "9,900", "Buffered, a channel": "100,000 messages", "Bytes, a channel": "20 MB",
    "Bytes, a node": "1.98 GB", "Through a node": "500,000 events/second: refuted",
}  # fmt: skip


def is_of_the_documents(system: System) -> bool:
    """Whether nodes, topology, rate, size and marker delay are those of the example system."""
    first = System()
    names = ("nodes", "topology", "rate", "size", "delay")
    return all(getattr(system, name) == getattr(first, name) for name in names)


def _of_the_bound(system: System) -> Iterator[Figure]:
    bound, is_theirs = usual_estimate(system), is_of_the_documents(system)
    for name, value, remark in (
        ("Channels", f"{bound['channels']:,}", ""),
        ("Buffered, a channel", in_messages(bound["messages_per_channel"]), "rate × marker delay"),
        ("Bytes, a channel", in_bytes(bound["bytes_per_channel"]), ""),
        ("Bytes, a node", in_bytes(bound["bytes_per_node"]), "as if every sender recorded late"),
        ("Bytes, the cluster", in_bytes(bound["bytes_total"]), "a bound: right if messages are as late (d = S)"),
        ("Through a node", f"{in_messages(bound['messages_per_node_per_second'])}/s", "on all channels to it"),
    ):
        yield Figure(BOUND, name, value, remark, _DOCUMENTS.get(name, "") if is_theirs else "")


def _of_the_law(system: System) -> Iterator[Figure]:
    found, model, algorithm = sizes(system), cost_model_of(system), ALGORITHMS[system.algorithm]
    part = f"{LAW}: {algorithm.title}"
    if found is None or model is None:
        yield Figure(part, "No cost model", "none", f"There is no closed form for it: {algorithm.no_cost_model}.")
        return
    size = float(system.size)
    if model.keeps:
        yield Figure(part, "Recorded, the fullest channel", in_bytes(found.on_one_channel * size))
        yield Figure(part, "Recorded, the initiator (P1)", in_bytes(found.at_initiator * size))
        yield Figure(part, "Recorded, the fullest other node", in_bytes(found.at_another * size))
        yield Figure(part, "Recorded, the cluster", in_bytes(found.recorded * size), in_messages(found.recorded))
    else:
        yield Figure(part, "Recorded in channels", "nothing", "every earlier message has arrived")
    if model.blocks_after is not None:
        yield Figure(part, "Longest block of a channel", in_time(found.blocked), "no process reads from it meanwhile")
        yield Figure(part, "Waiting, the fullest channel", in_bytes(found.on_blocked * size))
        yield Figure(part, "Waiting, the cluster", in_bytes(found.waiting * size), in_messages(found.waiting))
        why = "back-pressure: its channel is full" if system.capacity else "channels hold any number of messages"
        yield Figure(part, "Longest stop of a sender", in_time(found.sender_stops), why)
    if found.stands_still:
        yield Figure(part, "Every process stands still", in_time(found.stands_still), "orders, reports, and the drain")
        yield Figure(part, "Not sent meanwhile", in_messages(found.not_sent), "in all channels")
    if found.latency is not None:
        yield Figure(part, "Time from first to last", in_time(found.latency), "first recording to last channel closed")


def _of_the_costs(system: System) -> Iterator[Figure]:
    found = sizes(system)
    if found is None:
        return
    own = costs(system, found)
    yield Figure(COSTS, "Checkpoint", in_bytes(own.checkpoint), f"{float(system.share):.3g} of the state, and channels")
    yield Figure(COSTS, "Upload", in_time(own.upload), "all nodes share the storage")
    if own.upload > system.interval:
        yield Figure(COSTS, "Too slow", "the next one comes first", "the upload takes longer than the interval")
    yield Figure(COSTS, "Fetched by a recovery", in_bytes(own.complete), f"takes {in_time(own.download)}")
    yield Figure(COSTS, "Age of the last checkpoint", in_time(own.age), "on average, at a crash")
    yield Figure(COSTS, "Done again", in_messages(own.redone), "all nodes")
    yield Figure(COSTS, "Recovery", in_time(own.recovery), "until all is as before the crash")


def sizing_in_words(system: System) -> list[str]:
    """The lines of `python -m sim sizing`. Raises InputError if the algorithm cannot start."""
    lines: list[str] = []
    part = ""
    for own in figures(system):
        if own.part != part:
            part = own.part
            lines += ["", part] if lines else [part]
        remarks = [own.remark, *([f"(usual estimate: {own.documents})"] if own.documents else [])]
        lines.append(f"  {own.name:34} {own.value:24} {' '.join(remarks)}".rstrip())
    lines += ["", "Formulas (N nodes, S marker delay, d message delay)"]
    for formula in formulas(system):
        lines += [f"  {formula.name}: {formula.text}", f"      {formula.source}"]
    return lines


# ------------------------------------------------------------------ the usual figures


REPRODUCED, BOUND_ONLY, REFUTED = "reproduced", "only a bound", "refuted"


class Claim(NamedTuple):
    """A usual claim with a figure: its source, the computed figure, and the verdict."""

    says: str
    where: str
    computed: str
    verdict: str


def claims() -> list[Claim]:
    """The usual claims, each with the figure computed from its own inputs."""
    return [*_claims_on_memory(), *_claims_on_load(), *_claims_on_time_and_storage()]


def _sizes(**inputs: object) -> Sizes:
    """The sizes of the example system with some other inputs."""
    found = sizes(System.read(inputs))
    assert found is not None
    return found


def _per_node() -> float:
    """The messages a second through a node of the example system."""
    return float(usual_estimate(System())["messages_per_node_per_second"])


def _claims_on_memory() -> list[Claim]:
    bound, size = usual_estimate(System()), float(System().size)
    found, as_late = _sizes(message_delay=0), _sizes(message_delay=2)
    return [
        Claim("each node has 99 uni-directional input/output channels", LESSON, "99 in and 99 out", REPRODUCED),
        Claim("Total Channels = 9,900", LESSON, f"{bound['channels']:,}", REPRODUCED),
        Claim(
            "Buffered Messages/Channel = 100,000 messages", LESSON, f"{bound['messages_per_channel']:,} of a channel "
            "whose sender records 2 s after its receiver", REPRODUCED,
        ),
        Claim("RAM Cost/Channel = 20 MB", LESSON, in_bytes(bound["bytes_per_channel"]), REPRODUCED),
        Claim(
            "Total Node Memory Overhead ≈ 1.98 GB", LESSON,
            f"{in_bytes(found.at_initiator * size)} at the initiator; {in_bytes(found.at_another * size)} at every "
            "other node, if only markers are late", REPRODUCED,
        ),
        Claim(
            "198 GB in the cluster: 1.98 GB at every node (it follows from the lesson)", LESSON,
            f"{in_bytes(as_late.recorded * size)} if messages are as late as markers; "
            f"{in_bytes(found.recorded * size)} if only markers are late", BOUND_ONLY,
        ),
    ]  # fmt: skip


def _claims_on_load() -> list[Claim]:
    per_node, size = _per_node(), float(System().size)
    late, aligned = usual_estimate(System.read({"delay": 10})), _sizes(topology="dag", algorithm="aligned_barriers")
    return [
        Claim(
            "a peak workload of 500,000 events/second", SCALING,
            f"{in_messages(per_node)}/s through a node, {per_node / 5e5:.3g} times as much: 99 channels of 50,000/s",
            REFUTED,
        ),
        Claim(
            "delays a Marker's arrival by just 10 seconds, the node will accumulate millions of buffered events",
            SCALING,
            f"{in_messages(5e5 * 10)} at 500,000/s; {in_messages(per_node * 10)} and "
            f"{in_bytes(late['bytes_per_node'])} at the rate of the same lesson", REPRODUCED,
        ),
        Claim(
            "completely eliminating the need to buffer in-flight messages (aligned barriers)", SCALING,
            f"nothing is recorded, but {in_bytes(aligned.on_blocked * size)} wait in the fullest blocked channel of a "
            "chain of 100 where each node feeds all later ones, unless its capacity stops the sender", REFUTED,
        ),
        Claim(
            "Asynchronous Barrier (Flink ABS): Low (Zero-Pause)", "“Technical Trade-offs”",
            f"a channel there is blocked for up to {in_time(aligned.blocked)}", REFUTED,
        ),
    ]  # fmt: skip


def _claims_on_time_and_storage() -> list[Claim]:
    per_node, found, slow = _per_node(), _sizes(message_delay=0), _sizes(delay=10)
    whole, tenth = (sum_of_states(System.read({"share": share})) for share in (1, 0.1))
    return [
        Claim(
            "within the TTL (e.g. 5 seconds)", "“Epoch-Based Snapshot Expirations”",
            f"a snapshot takes {in_time(found.latency or 0)} with markers 2 s late, {in_time(slow.latency or 0)} with "
            "markers 10 s late: then every one is aborted", REPRODUCED,
        ),
        Claim(
            "reducing S3 write volume by up to 90%", STORAGE,
            f"{in_bytes(tenth)} instead of {in_bytes(whole)}, if a tenth of the state has changed", REPRODUCED,
        ),
        Claim(
            "micro-jitters (random delays between 0-500ms), smoothing the peak bandwidth pressure", STORAGE,
            f"100 nodes that upload {in_bytes(tenth)} at 1 GB/s need {in_time(tenth / 1e9)}: half a second spreads "
            f"{0.5 / (tenth / 1e9):.0%} of it", REFUTED,
        ),
        Claim(
            "duration_ms 1120 and total_size_bytes 10737418240, 100 nodes", "“Fetch Snapshot Metadata”",
            f"{in_bytes(10737418240 / 100)} a node; to store that in 1.12 s takes {in_bytes(10737418240 / 1.12)}/s",
            REPRODUCED,
        ),
        Claim(
            "bytes state_data: the state of a channel in one message (gRPC takes 4,194,304 bytes)",
            "“Internal gRPC Protocol”",
            f"20 MB a channel are {-(-20_000_000 // 4_194_304)} messages of that size", REFUTED,
        ),
        Claim(
            "billions of updates daily", "“Mock Interview Dialogue”",
            f"{50_000 * EVERY_DAY / 1e9:.3g} billion a day on one channel of 50,000/s, "
            f"{per_node * EVERY_DAY / 1e9:.0f} billion through a node", REPRODUCED,
        ),
    ]  # fmt: skip


def sum_of_states(system: System) -> float:
    """The bytes of all states that a checkpoint stores."""
    return system.nodes * float(system.state) * float(system.share) * MB
