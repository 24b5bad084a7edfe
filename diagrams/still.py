"""Scene -> a still Plotly figure for pages without the explorer: the finished diagram, one cut, and pickable events.

Texts of foreign logs are long, so events are numbered, and their texts appear on hover.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diagrams import theme
from diagrams.canvas import Canvas, plain, write
from diagrams.drawing import seen
from diagrams.scene import Scene
from diagrams.spacetime import Figure, figure
from diagrams.texts import obstacles, spots_beside
from sim.core.model import Event

PICK = 22  # pixels around an event in which a click picks it
MOST_NUMBERED = 150  # events; with more the numbers would overlap
NUMBER_SIZE = 12


def still(scene: Scene, palette: dict[str, str], numbers: Mapping[str, Sequence[int]], consistent: bool) -> Figure:
    """The diagram at the last step of `scene`, time to the right, with the first of the story's cuts.

    `numbers` are the numbers of each process's events, in their order. `consistent` is the verdict on the cut: the
    scene may be a part of a log, without the message that decides.
    The last trace holds one point for each application event, with customdata [process, its number].
    """
    drawn = figure(scene.cut_at(scene.whole_run.story_cuts[0].frontier), "right")
    position = scene.positions[scene.until]
    kept = [trace for trace in drawn["data"] if "cursor" not in trace.get("meta", {}) and trace.get("mode") != "text"]
    traces = [_still(trace, scene.until, position) for trace in kept]
    if not consistent:  # what the scene cannot know
        palette = {**palette, theme.verdict_colour(True)[1:]: palette[theme.verdict_colour(False)[1:]]}
    layout = {**drawn["layout"], "dragmode": "pan", "clickmode": "event+select"}
    named = _named(scene, numbers)
    data = [*traces, *_numbers(scene, named), _picks(scene, named)]
    resolved: Figure = theme.resolve({"data": data, "layout": layout}, palette)
    return resolved


def _still(trace: dict[str, Any], step: int, position: float) -> dict[str, Any]:
    """A trace at `step`; points that are not seen become gaps."""
    points = seen(trace, step, position)
    if not points:
        return {**trace, "visible": False}
    xs, ys = ([point and point[axis] for point in points] for axis in (0, 1))
    # Only events have hover texts, and picking one does not fade the rest.
    quiet: dict[str, Any] = {"hoverinfo": "skip"}
    if "markers" in trace.get("mode", ""):
        quiet["unselected"] = {"marker": {"opacity": 1}}
    return {key: value for key, value in trace.items() if key != "meta"} | {"x": xs, "y": ys} | quiet


def _named(scene: Scene, numbers: Mapping[str, Sequence[int]]) -> list[tuple[Event, int]]:
    return [
        (event, number)
        for process, own in scene.execution.history.of.items()
        for event, number in zip(own, numbers[process], strict=True)
    ]


def _numbers(scene: Scene, named: Sequence[tuple[Event, int]]) -> list[dict[str, Any]]:
    """The numbers beside their events, clear of arrows; none where there are too many."""
    if len(named) > MOST_NUMBERED:
        return []
    canvas = Canvas(scene, "right")
    labels, size = obstacles(canvas), canvas.letters(NUMBER_SIZE)
    places = [(scene.lanes.index(event.process), scene.whole_run.position(event)) for event, _ in named]
    found = [
        (labels.place(str(number), size, spots_beside(canvas, *place), [place]), str(number))
        for place, (_, number) in zip(places, named, strict=True)
    ]
    write(canvas, [spot.at for spot, _ in found if spot], [text for spot, text in found if spot],
          [spot.side for spot, _ in found if spot], "@faint", NUMBER_SIZE, None)  # fmt: skip
    return canvas.traces


def _picks(scene: Scene, named: Sequence[tuple[Event, int]]) -> dict[str, Any]:
    lanes = [scene.lanes.index(event.process) for event, _ in named]
    positions = [scene.whole_run.position(event) for event, _ in named]
    bare = {"marker": {"opacity": 0}}
    return {
        "type": "scatter", "mode": "markers", "x": positions, "y": lanes,
        "customdata": [[event.process, number] for event, number in named], "showlegend": False,
        "hovertext": [plain(event.label or "") for event, _ in named], "hoverinfo": "text", "cliponaxis": False,
        "marker": {"size": PICK, "opacity": 0, "color": "@ink"}, "selected": bare, "unselected": bare,
    }  # fmt: skip
