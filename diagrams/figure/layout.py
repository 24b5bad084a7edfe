"""The axes of the space-time diagram: the names of its lanes, its times, and the margins in which they are written."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from diagrams.figure.canvas import plain
from diagrams.figure.room import Room
from diagrams.scene.arrangement import FOLDED
from diagrams.scene.composition import Scene
from diagrams.scene.positions import round_times
from diagrams.shapes.lettering import cropped, width_of

Figure = dict[str, Any]

NAME_SIZE, LEAST_NAME_SIZE, TICK_SIZE = 18, 12, 11
FEW_LANES = 20  # with a name each
WIDEST_NAME, WIDEST_ON_PAPER = 170, 110  # pixels to the left of a line across the page
LEAST_LETTERS = 2.6  # on paper: of a name between others, in font sizes
EVERY = (1, 2, 5, 10, 20, 50, 100)  # on paper one of this many lanes has its name


def layout_of(scene: Scene, down: bool, room: Room) -> Figure:
    """The axes, with the names of the lanes, and the settings of the whole figure."""
    low, high = scene.extent
    names, size = _lane_names(scene, down, room)
    rules = _naming(names, down, room)
    every = next(every for most, every in rules if most is None or len(names) <= most)
    escaped = list(map(plain, names))  # only once they are measured
    shown = [name if place % every == 0 else "" for place, name in enumerate(escaped)]
    beyond = scene.layout.places[-1] + room.beyond
    lanes = {
        "tickmode": "array", "tickvals": list(scene.layout.places), "ticktext": shown,
        "range": [-room.beyond, beyond], "zeroline": False, "showgrid": False, "tickfont": {"size": size},
        "color": "@ink", "fixedrange": False, "ticks": "",
    }  # fmt: skip
    times = {
        "range": [low, high], "zeroline": False, "showgrid": False, "color": "@faint", "visible": room.axis,
        "tickfont": {"size": room.letters or TICK_SIZE},
        "nticks": 8, "ticks": "outside", "ticklen": 4,
    }  # fmt: skip
    if scene.counted:
        gaps = [after - before for before, after in pairwise(round_times(low, high, whole=True))]
        times |= {"tick0": 0, "dtick": min(gaps, default=1.0)}
        times |= {"tickprefix": scene.counted, "showtickprefix": "last" if down else "first"}
    layout: Figure = {
        "margin": margins(scene, down, room),
        "paper_bgcolor": "@paper/0", "plot_bgcolor": "@paper/0", "showlegend": False, "hovermode": "closest",
        "dragmode": "pan", "uirevision": "keep", "font": {"color": "@ink"},
        "meta": {"names": escaped, "naming": rules},  # the browser names more lanes if fewer are on show
        "hoverlabel": {"bgcolor": "@paper", "bordercolor": "@line", "font": {"color": "@ink", "size": 14}},
    }  # fmt: skip
    if down:
        layout |= {"xaxis": {**lanes, "side": "top"}, "yaxis": {**times, "range": [high, low]}}
    else:
        named = {**lanes, "ticklabelstandoff": 4, "range": [beyond, -room.beyond]}
        layout |= {"xaxis": times, "yaxis": named}
    return layout


def margins(scene: Scene, down: bool, room: Room) -> dict[str, float]:
    """The pixels to the left and right of a plot, above and below it; names and times are written there."""
    found = _margins(scene, down, room)
    return {**found, "l": max(found["l"], room.left)}


def _margins(scene: Scene, down: bool, room: Room) -> dict[str, float]:
    if not room.letters:
        return {"l": 46, "r": 26, "t": 34, "b": 12} if down else {"l": _beside(scene, room), "r": 20, "t": 14, "b": 30}
    if down:
        times = [f"{time:g}" for time in round_times(*scene.extent, whole=bool(scene.counted))]
        wide = max((width_of(f"{scene.counted}{time}", room.letters) for time in times), default=0.0)
        return {"l": wide + 10 if room.axis else 4, "r": 4, "t": room.letters + 10, "b": 4}
    return {"l": _beside(scene, room), "r": 4, "t": 4, "b": room.letters + 12 if room.axis else 4}


def _lane_names(scene: Scene, down: bool, room: Room) -> tuple[list[str], float]:
    """The names of the lanes on show and the size of their letters: on a screen long ones are smaller, then cropped."""
    most = len(scene.lanes) if len(scene.lanes) <= FEW_LANES else FEW_LANES // 2
    longest = max((width_of(name, 1) for name in scene.lanes), default=0)
    if room.letters:
        wide, size = room.width / (len(scene.lanes) + 0.2) - 6 if down else WIDEST_ON_PAPER, room.letters
        wide = max(wide, LEAST_LETTERS * size)
    else:
        wide = room.width / (most + 0.2) - 6 if down else WIDEST_NAME
        size = max(LEAST_NAME_SIZE, min(NAME_SIZE, wide / max(longest, 1)))
    rooms = [wide * FOLDED if down and lane in scene.layout.folded else wide for lane in scene.layout.shown]
    return [cropped(name, size, own) for name, own in zip(scene.lanes, rooms, strict=True)], size


def _naming(names: Sequence[str], down: bool, room: Room) -> list[tuple[int | None, int]]:
    """The rules for naming lanes, (most, every): of up to `most` lanes on show every first, fifth or tenth."""
    if room.letters:
        widest = max((width_of(name, room.letters) + 6 for name in names), default=0)
        needed, gap = (widest, room.width) if down else (room.letters * 1.15, room.height)
        return [(None, next((n for n in EVERY if n * gap / (len(names) + 0.2) >= needed), EVERY[-1]))]
    few = FEW_LANES if len(names) <= FEW_LANES or not down else FEW_LANES // 2
    return [(few, 1), (50, 5), (None, 10)]


def _beside(scene: Scene, room: Room) -> float:
    """The width in pixels, left of the lanes, that the longest name takes."""
    names, size = _lane_names(scene, False, room)
    return max(0 if room.letters else 54, 16 + max((width_of(name, size) for name in names), default=0))
