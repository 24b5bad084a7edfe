"""The shape of a topology: groups of nodes that are alike, their distance from the initiator, their channels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from sim.core.cost_model import Place


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
