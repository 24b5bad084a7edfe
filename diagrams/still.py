"""Scene -> a still Plotly figure: the finished diagram with one cut of the story, and its events to be picked.

For pages that show a diagram without the explorer. Nothing moves: what is not seen at the last step is left out.
"""

from __future__ import annotations

from typing import Any

from diagrams import theme
from diagrams.drawing import seen
from diagrams.scene import Scene
from diagrams.spacetime import Figure, figure

PICK = 22  # pixels around an event in which a click picks it


def still(scene: Scene, orientation: str, palette: dict[str, str], cut: int | None = None, height: int = 520) -> Figure:
    """The diagram at the last step of `scene`, with its story cut number `cut` (None: none).

    The last trace holds one invisible point for each application event, with customdata [process, its index].
    """
    drawn = figure(scene, orientation)
    place = scene.places[scene.until]
    kept = [trace for trace in drawn["data"] if "cursor" not in trace.get("meta", {})]
    traces = [_still(trace, scene.until, place, cut) for trace in kept]
    layout = {**drawn["layout"], "height": height, "dragmode": "pan", "clickmode": "event+select"}
    resolved: Figure = theme.resolve({"data": [*traces, _picks(scene, orientation)], "layout": layout}, palette)
    return resolved


def _still(trace: dict[str, Any], step: int, place: float, cut: int | None) -> dict[str, Any]:
    """A trace as it is at `step`; where nothing of it is seen, its points are gaps."""
    meta = trace.get("meta", {})
    shown = {**trace, "visible": True} if cut is not None and meta.get("cut") == cut else trace
    points = seen(shown, step, place)
    if not points:
        return {**trace, "visible": False}
    xs, ys = ([point and point[axis] for point in points] for axis in (0, 1))
    return {key: value for key, value in shown.items() if key != "meta"} | {"x": xs, "y": ys}


def _picks(scene: Scene, orientation: str) -> dict[str, Any]:
    first, last = scene.first, scene.until
    events = [event for own in scene.execution.history.of.values() for event in own if first <= event.step <= last]
    lanes = [scene.lanes.index(event.process) for event in events]
    places = [scene.places[event.step] for event in events]
    x, y = (lanes, places) if orientation == "down" else (places, lanes)
    texts = [f"the cut after {event.label}" for event in events]
    bare = {"marker": {"opacity": 0}}
    return {
        "type": "scatter", "mode": "markers", "x": x, "y": y, "showlegend": False,
        "customdata": [[event.process, event.index] for event in events], "text": texts, "hoverinfo": "text",
        "marker": {"size": PICK, "opacity": 0, "color": "@ink"}, "selected": bare, "unselected": bare,
    }  # fmt: skip
