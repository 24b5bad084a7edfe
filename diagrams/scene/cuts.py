"""A cut that somebody chose to draw: where it crosses the lines, what crosses it, and what speaks against it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from diagrams.scene.cut_space import WholeEvents
from diagrams.scene.elements import ShownCut
from sim.core.model import Event
from sim.run.execution import Execution
from sim.theory.positions import ACTS, Cut

BEYOND = 0.045  # of the run: how far a cut lies before the first event of a process, or after its last one


class Run(Protocol):
    """What is known of a whole run (diagrams/scene/composition.py)."""

    execution: Execution
    whole_events: WholeEvents
    processes: tuple[str, ...]
    positions: tuple[float, ...]

    def position(self, row: Event) -> float:
        """The position of a row on the time axis."""


def shown_cut(whole_run: Run, frontier: Sequence[int]) -> ShownCut:
    """The cut with a name (sim/theory/cut_names.py), as it is drawn."""
    history, events = whole_run.execution.history, whole_run.whole_events
    inside = dict(zip(whole_run.processes, frontier, strict=False))
    cut, chosen = events.cut(frontier), len(frontier) > len(inside)
    faults = [_faults_between(whole_run, cut, line) if cut and chosen else ((), ()) for line in range(len(inside))]
    points = tuple(
        between(whole_run, name, count, *own) for (name, count), own in zip(inside.items(), faults, strict=True)
    )
    offending = history.violations(inside)
    if cut is None:  # it divides a step
        messages = (message for own in history.in_channels(inside).values() for message in own)
        return ShownCut(points, frozenset(offending), frozenset(messages))
    crossing = (message for channel in events.order.ways for message in events.order.in_channel(channel, cut))
    told = tuple(events.names.that_matter(cut)) if chosen else ()
    return ShownCut(points, frozenset((*offending, *events.order.orphans(cut))), frozenset(crossing), told)


def _faults_between(whole_run: Run, cut: Cut, line: int) -> tuple[list[float], list[float]]:
    """Where the faults of a process lie after its last event inside and before its next one: inside, and outside."""
    own, rows = whole_run.whole_events.order.lines[line], whole_run.execution.events
    last = own[cut[line] - 1].inside if cut[line] else 0
    faults = [(number, at) for number, at in enumerate(own, 1) if at.kind != ACTS and at.inside == last]
    places = [(number <= cut[line], whole_run.position(rows[at.row])) for number, at in faults]
    inside, outside = ([place for is_in, place in places if is_in == wanted] for wanted in (True, False))
    return inside, outside


def between(
    whole_run: Run, process: str, inside: int, faults: Sequence[float] = (), others: Sequence[float] = ()
) -> float:
    """Half way from the last event inside to the first one outside; a little beyond all events of the process.

    So with `faults` inside after that event, and `others` outside. The page puts its handles there too
    (assets/explore/run/cut_stops.js).
    """
    events, positions = whole_run.execution.history.of[process], whole_run.positions[1:]
    low, high = min(positions, default=0.0), max(positions, default=1.0)
    before = max([*(whole_run.position(event) for event in events[:inside][-1:]), *faults], default=None)
    after = min([*(whole_run.position(event) for event in events[inside : inside + 1]), *others], default=None)
    if before is not None and after is not None:
        return (before + after) / 2
    room = (high - low or 1.0) * BEYOND
    return before + room if before is not None else after - room if after is not None else low
