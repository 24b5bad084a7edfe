"""The splits of a run: the steps between which severed channels separate groups of processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

from sim.core.deadline import in_time
from sim.core.model import DOWN, Channel
from sim.run.execution import Execution, once
from sim.run.stops import stops_of


class Split(NamedTuple):
    """From step `first` to step `until` (None: to the end of the run) no channel joins two of the `groups`.

    `groups` are the names of the processes of each, both in the order of the processes. Within a group, channels that
    are not severed connect all processes, in one direction or the other.
    """

    groups: tuple[tuple[str, ...], ...]
    first: int
    until: int | None


@once
def splits_of(execution: Execution) -> tuple[Split, ...]:
    """All splits of a run, in order. A network is split if it has more groups than with all channels mended."""
    processes, channels = execution.scenario.processes, execution.engine.channels
    usual = len(_groups(processes, channels, frozenset()))
    found: list[Split] = []
    for step, severed in in_time(_changes(execution), every=1):
        groups = _groups(processes, channels, severed)
        if found and found[-1].until is None:
            if found[-1].groups == groups:
                continue
            found[-1] = found[-1]._replace(until=step)
        if len(groups) > usual:
            found.append(Split(groups, step, None))
    return tuple(found)


def _changes(execution: Execution) -> Iterator[tuple[int, Set[str]]]:
    """Each step at which channels are severed or mended, with the severed channels from then on."""
    at: dict[int, list[tuple[str, bool]]] = {}
    for stop in stops_of(execution):
        if stop.kind == DOWN:
            at.setdefault(stop.begin.step, []).append((stop.channel or "", True))
            if stop.end is not None:
                at.setdefault(stop.end.step, []).append((stop.channel or "", False))
    severed: set[str] = set()
    for step in sorted(at):
        for channel, is_severed in at[step]:
            (severed.add if is_severed else severed.discard)(channel)
        yield step, severed


def _groups(processes: tuple[str, ...], channels: Iterable[Channel], severed: Set[str]) -> tuple[tuple[str, ...], ...]:
    """The groups of processes that channels connect, without the `severed` ones."""
    nearest = {name: name for name in processes}  # on the way to the first process of the group

    def first_of(name: str) -> str:
        while nearest[name] != name:
            nearest[name] = nearest[nearest[name]]
            name = nearest[name]
        return name

    place = {name: number for number, name in enumerate(processes)}
    for channel in channels:
        if channel.name not in severed:
            one, other = sorted((first_of(channel.source_name), first_of(channel.target_name)), key=place.__getitem__)
            nearest[other] = one
    groups: dict[str, list[str]] = {}
    for name in processes:
        groups.setdefault(first_of(name), []).append(name)
    return tuple(tuple(group) for group in groups.values())
