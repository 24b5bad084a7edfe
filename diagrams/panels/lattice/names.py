"""The places of the names in a lattice: no name lies on a cut, nor on another name.

A name is beside its cut if there is room. Else it is at the side of the lattice, with a thin line to its cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from diagrams.figure.canvas import Point
from diagrams.figure.labels import OFF, Labels, Spot
from diagrams.figure.room import Room
from diagrams.shapes.primitives import Box, Pixel

NEAR = ("top center", "middle right", "middle left", "bottom center", "top right", "top left", "bottom right",
        "bottom left")  # fmt: skip
BESIDE = ("middle right", "middle left", "top center", "bottom center")  # if all cuts have their names beside them
EDGE, OWN_WAY = 3, 8  # the costs of hiding them
LOOKED_AT = 16  # of the nearest places at the sides
CROSSED = 12.0  # pixels by which a line may be longer that crosses one cut less


class Named(NamedTuple):
    """A name at its spot; `leads_to` is the cut at the end of its line, None if the name is beside its cut."""

    text: str
    spot: Spot
    leads_to: Point | None = None


class Names:
    """A finder of places for one name after the other. Lengths are pixels of the plot of the lattice."""

    def __init__(self, corner: Point, scale: tuple[float, float], room: Room, letters: float) -> None:
        """`corner`: the point of the lattice at the top left of the plot; `scale`: pixels of its two units."""
        self.corner, self.scale, self.letters = corner, scale, letters
        self.labels = Labels(self.pixel, replace(room, letters=letters))  # also on a screen none reaches out
        self.cuts: list[tuple[Pixel, Box]] = []
        self.ends: list[tuple[float, float, float]] = []  # of each level: its left end, its right end, its height

    def pixel(self, point: Point) -> Pixel:
        """The pixel of a point of the lattice."""
        return (point[0] - self.corner[0]) * self.scale[0], (self.corner[1] - point[1]) * self.scale[1]

    def avoid_cuts(self, places: Mapping[Point, float]) -> None:
        """Keep names off the cuts at these places, with their radii."""
        for place, radius in places.items():
            x, y = self.pixel(place)
            box = Box(x - radius, y - radius, x + radius, y + radius)
            self.cuts.append(((x, y), box))
            self.labels.texts.append(box)
        for height, level in groupby(sorted(places, key=lambda place: place[1]), key=lambda place: place[1]):
            across = [x for x, _ in level]
            self.ends.append((min(across), max(across), height))

    def avoid_ways(self, edges: Iterable[Sequence[Point]], own: Sequence[Point]) -> None:
        """If possible, keep names off the edges, and off the way of the run."""
        for edge in edges:
            self.labels.avoid_line(edge, EDGE)
        self.labels.avoid_line(own, OWN_WAY)

    def place(self, text: str, cut: Point, radius: float, sides: Sequence[str]) -> Named | None:
        """The place of the name of a cut with this radius; None if there is none."""
        beside = [Spot(self._aside(cut, side, radius), side) for side in sides]
        spot = self.labels.place(text, self.letters, beside, [cut])
        if spot:
            return Named(text, spot)
        spot = self.labels.place(text, self.letters, self._at_the_sides(cut), [cut])
        return Named(text, spot, cut) if spot else None

    def _aside(self, cut: Point, side: str, radius: float) -> Point:
        """The point of a text that lies on this side of a cut, clear of it."""
        vertical, horizontal = side.split()
        off = max(0.0, radius - OFF + 2) * (0.8 if vertical != "middle" and horizontal != "center" else 1.0)
        right = {"left": -off, "center": 0.0, "right": off}[horizontal]
        up = {"top": off, "middle": 0.0, "bottom": -off}[vertical]
        return cut[0] + right / self.scale[0], cut[1] + up / self.scale[1]

    def _at_the_sides(self, cut: Point) -> list[Spot]:
        """Places at both ends of all levels, the best first: a line from there is short and crosses few other cuts."""
        at, off = self.pixel(cut), self.letters / self.scale[0]
        ends = [
            Spot((across, height), side)
            for left, right, height in self.ends
            for across, side in ((left - off, "middle left"), (right + off, "middle right"))
        ]

        def length(spot: Spot) -> float:
            return math.dist(at, self.pixel(spot.at))

        near, far = (part := sorted(ends, key=length))[:LOOKED_AT], part[LOOKED_AT:]
        return [*sorted(near, key=lambda spot: length(spot) + CROSSED * self._crossed(cut, spot.at)), *far]

    def _crossed(self, cut: Point, other: Point) -> int:
        """The number of other cuts on a straight line."""
        start, end = self.pixel(cut), self.pixel(other)
        return sum(box.is_crossed(start, end) for centre, box in self.cuts if centre != start)
