"""The dataflow graph: its back edges are given, or found by a depth-first search from the sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.model import Channel


class OnDataflow(SnapshotAlgorithm):
    """An algorithm on a dataflow. Without its back edges the graph has no cycle."""

    back_edges: Sequence[str]

    def problems(self) -> Iterator[tuple[str, str]]:
        """Back edges are channels, and without them the graph has no cycle."""
        names = {channel.name for channel in self.graph.channels}
        for name in self.back_edges:
            if name not in names:
                yield "back_edges", f"{name!r} is no channel of this topology; write it as P1->P2"
        targets = {channel.target_name for channel in self.graph.channels}
        waited_for = {channel.target_name for channel in self.forward}
        for process in self.graph.processes if self.back_edges else ():
            if process in targets and process not in waited_for:
                yield "back_edges", f"only back edges lead to {process}, so it would wait for nothing; leave one out"
        order = TopologicalSorter({name: self._sources_of(name) for name in self.graph.processes})
        try:
            order.prepare()
        except CycleError as found:
            cycle = "->".join(found.args[1])
            yield "back_edges", f"{cycle} is a cycle without a back edge; list one of its channels as well"

    def _sources_of(self, process: str) -> list[str]:
        return [channel.source_name for channel in self.forward if channel.target_name == process]

    @property
    def forward(self) -> list[Channel]:
        """The channels that are no back edges."""
        return [channel for channel in self.graph.channels if channel.name not in self.back]

    @cached_property
    def back(self) -> frozenset[str]:
        """The names of the back edges: those given, or those that a depth-first search from the sources finds."""
        return frozenset(self.back_edges or back_edges_of(self.graph.processes, self.graph.channels))


def back_edges_of(processes: Sequence[str], channels: Sequence[Channel]) -> Iterator[str]:
    """Yield the channels that close a cycle in a depth-first search, from the sources first, then from the rest."""
    after: dict[str, list[Channel]] = {name: [] for name in processes}
    for channel in channels:
        after[channel.source_name].append(channel)
    targets = {channel.target_name for channel in channels}
    seen: set[str] = set()
    for first in sorted(processes, key=lambda name: name in targets):
        if first not in seen:
            yield from _search(first, after, seen)


def _search(first: str, after: Mapping[str, Iterable[Channel]], seen: set[str]) -> Iterator[str]:
    """Yield the channels reachable from `first` that lead back to a process on the way to them."""
    seen.add(first)
    way = {first: iter(after[first])}  # the processes on the way, each with the channels it has still to try
    while way:
        process, rest = next(reversed(way.items()))
        channel = next(rest, None)
        if channel is None:
            del way[process]
        elif channel.target_name in way:
            yield channel.name
        elif channel.target_name not in seen:
            seen.add(channel.target_name)
            way[channel.target_name] = iter(after[channel.target_name])
