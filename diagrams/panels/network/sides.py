"""The groups of a split network in its picture: a dashed boundary round each, or a letter at each of its processes.

Groups that lie apart have boundaries. If boundaries would cross, letters name the group of each process.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sim.explain.words import listing
from sim.run.splits import Split

Place = tuple[float, float]

AROUND = 0.11  # from the rim of a process to the boundary of its group
CORNERS = 16  # of the circle round a process, of which the boundary takes those that are outermost
ASIDE = 0.12  # from the rim of a process to the middle of its letter
SIGN = {"color": "@bad", "size": 16}


def in_words(split: Split) -> str:
    """`The network has been split into P1 and P2 | P3`."""
    return f"The network has been split into {' | '.join(listing(group) for group in split.groups)}"


def boundaries(splits: Sequence[Split], nodes: Sequence[dict[str, Any]], rim: float) -> list[dict[str, Any]]:
    """Two Plotly traces, boundaries and letters, each seen while its split lasts. `rim`: the radius of a process."""
    place = {node["name"]: (node["x"], node["y"]) for node in nodes}
    lines: list[tuple[Split, list[Place]]] = []
    letters: list[tuple[Split, str, Place]] = []
    for split in splits:
        outlines = [outline([place[name] for name in group], rim + AROUND) for group in split.groups]
        if all(is_apart(one, other) for number, one in enumerate(outlines) for other in outlines[:number]):
            lines += [(split, line) for line in outlines]
        else:
            letters += [
                (split, _letter(number), _outside(place[name], rim + ASIDE))
                for number, group in enumerate(split.groups)
                for name in group
            ]
    return [_drawn(lines), _written(letters)]


def _letter(number: int) -> str:
    """A, B, ...; after Z numbers."""
    return chr(ord("A") + number) if number < 26 else str(number + 1)


def _outside(place: Place, away: float) -> Place:
    """A point beside a process, on the outer side of the circle and a little on, clear of channels and bars."""
    x, y = place
    turn = math.atan2(y, x) - 0.6
    return round(x + away * math.cos(turn), 4), round(y + away * math.sin(turn), 4)


def outline(places: Sequence[Place], away: float) -> list[Place]:
    """The corners of the convex line round all points that lie no further than `away` from one of `places`."""
    turns = [2 * math.pi * corner / CORNERS for corner in range(CORNERS)]
    points = sorted({(x + away * math.cos(turn), y + away * math.sin(turn)) for x, y in places for turn in turns})
    lower, upper = _half(points), _half(points[::-1])
    return lower[:-1] + upper[:-1]


def _half(points: Sequence[Place]) -> list[Place]:
    """One side of the convex line round points that are sorted."""
    found: list[Place] = []
    for point in points:
        while len(found) > 1 and _turn(found[-2], found[-1], point) <= 0:
            found.pop()
        found.append(point)
    return found


def _turn(start: Place, corner: Place, end: Place) -> float:
    """Above 0 if the way turns left at the corner."""
    return (corner[0] - start[0]) * (end[1] - start[1]) - (corner[1] - start[1]) * (end[0] - start[0])


def is_apart(one: Sequence[Place], other: Sequence[Place]) -> bool:
    """Whether two convex lines, both counter-clockwise, share no point: all of one lies beyond a side of the other."""
    return any(
        all(_turn(start, end, point) < 0 for point in beyond)
        for line, beyond in ((one, other), (other, one))
        for start, end in pairwise([*line, line[0]])
    )


def _drawn(lines: Sequence[tuple[Split, list[Place]]]) -> dict[str, Any]:
    """Closed lines; all elements have as many points as the longest."""
    stride = max((len(line) for _, line in lines), default=0) + 2
    padded = [[*line, line[0], *[None] * (stride - len(line) - 1)] for _, line in lines]
    return {
        "type": "scatter", "mode": "lines", "hoverinfo": "skip",
        "x": [point and round(point[0], 4) for line in padded for point in line],
        "y": [point and round(point[1], 4) for line in padded for point in line],
        "line": {"color": "@bad", "width": 2.5, "dash": "9px,6px"},
        "meta": {"stride": stride, "show": [[split.first, split.until] for split, _ in lines]},
    }  # fmt: skip


def _written(letters: Sequence[tuple[Split, str, Place]]) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "text", "hoverinfo": "skip",
        "x": [place[0] for _, _, place in letters], "y": [place[1] for _, _, place in letters],
        "text": [f"<b>{letter}</b>" for _, letter, _ in letters], "textfont": SIGN,
        "meta": {"stride": 1, "show": [[split.first, split.until] for split, _, _ in letters]},
    }  # fmt: skip
