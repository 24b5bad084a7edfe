"""Directed graphs of processes: complete, ring, line, star, dag, random, or listed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from sim.core import randomness
from sim.core.deadline import in_time

KINDS = ("complete", "ring", "line", "star", "dag", "random", "listed")
EVERY_CHANNEL = "all"  # instead of the name of a channel
Edge = tuple[str, str]


@dataclass(frozen=True)
class Topology:
    """The shape of the graph.

    complete: a channel for every ordered pair. ring: from each process to the next, one way. line, and star (with the
    first process in the middle): both ways. dag: from each process to every later one, so there is no circle. random: a
    ring in random order, which makes the graph strongly connected, and `extra` more channels. listed: exactly
    `channels`. `capacity` says how many messages a channel holds, by its name, P1->P2, or for every one (EVERY_CHANNEL)
    that it does not name.
    """

    kind: str = "complete"
    extra: int = 0
    channels: tuple[Edge, ...] = ()
    capacity: tuple[tuple[str, int], ...] = ()

    def capacity_of(self, channel: str) -> int | None:
        """The number of application messages that the channel named `channel` holds (None: any number)."""
        given = dict(self.capacity)
        return given.get(channel, given.get(EVERY_CHANNEL))

    def most_edges(self, count: int) -> int:
        """The number of channels that join `count` processes, before they are drawn; at most this many are random."""
        if self.kind == "listed":
            return len(self.channels)
        every = count * (count - 1)
        most = {"complete": every, "dag": every // 2, "random": min(count + self.extra, every)}
        return most.get(self.kind, 2 * count)

    def edges(self, processes: Sequence[str], seed: int) -> list[Edge]:
        """The channels as (source, target). Their order breaks ties between deliveries at the same time."""
        if self.kind == "listed":
            return list(self.channels)
        if self.kind == "random":
            return _random_edges(processes, self.extra, seed)
        return [(processes[a], processes[b]) for a, b in sorted(_shape(self.kind, len(processes)))]


def _shape(kind: str, count: int) -> list[tuple[int, int]]:
    if kind == "ring":
        return [(i, (i + 1) % count) for i in range(count)] if count > 1 else []
    if kind == "complete":
        return list(permutations(range(count), 2))
    if kind == "dag":
        return list(combinations(range(count), 2))
    there = [(i - 1 if kind == "line" else 0, i) for i in range(1, count)]
    return there + [(b, a) for a, b in there]


def _random_edges(processes: Sequence[str], extra: int, seed: int) -> list[Edge]:
    key = randomness.key(seed, "topology")
    order = sorted(range(len(processes)), key=lambda i: randomness.bits(key, i))
    ring = [(order[i - 1], order[i]) for i in range(len(order))]
    chosen = set(ring if len(processes) > 1 else ())
    spare = [
        (a, b) for a in in_time(range(len(processes))) for b in range(len(processes)) if a != b and (a, b) not in chosen
    ]
    spare.sort(key=lambda edge: randomness.bits(key, len(processes) * (edge[0] + 1) + edge[1]))
    chosen.update(spare[:extra])
    return [(processes[a], processes[b]) for a, b in sorted(chosen)]


def unreachable(processes: Sequence[str], edges: Sequence[Edge], sources: Sequence[str]) -> list[str]:
    """The processes that no path from any of `sources` reaches, in their listed order."""
    targets: defaultdict[str, list[str]] = defaultdict(list)
    for source, target in edges:
        targets[source].append(target)
    reached, waiting = set(sources), list(sources)
    while waiting:
        new = set(targets[waiting.pop()]) - reached
        reached |= new
        waiting += new
    return [process for process in processes if process not in reached]
