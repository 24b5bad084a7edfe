"""Scene -> a still Plotly figure: the finished diagram with one cut of the story, and its events to be picked.

For pages that show a diagram without the explorer. Nothing moves, and what is not seen at the last step is left out.
Texts of foreign logs are long, so events are numbered, and their texts appear where one points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diagrams import theme
from diagrams.canvas import plain
from diagrams.drawing import seen
from diagrams.scene import Scene
from diagrams.spacetime import Figure, figure

PICK = 22  # pixels around an event in which a click picks it
MOST_NUMBERED = 150  # events whose numbers can be told apart


def still(
    scene: Scene,
    orientation: str,
    palette: dict[str, str],
    numbers: Mapping[str, Sequence[int]],
    cut: int | None = None,
    consistent: bool = True,
) -> Figure:
    """The diagram at the last step of `scene`, with its story cut number `cut` (None: none).

    `numbers` says how the events of each process are numbered, in their order.

    A scene of a part of a log may not show the message that decides against a cut, so `consistent` says whether it is.
    The last trace holds one point for each application event, with customdata [process, its number].
    """
    drawn = figure(scene, orientation)
    position = scene.positions[scene.until]
    kept = [trace for trace in drawn["data"] if "cursor" not in trace.get("meta", {}) and trace.get("mode") != "text"]
    traces = [_still(trace, scene.until, position, cut) for trace in kept]
    for trace in traces:
        if not consistent and trace.get("line", {}).get("color") == theme.verdict_colour(True):
            trace["line"] = {**trace["line"], "color": theme.verdict_colour(False)}
    layout = {**drawn["layout"], "dragmode": "pan", "clickmode": "event+select"}
    resolved: Figure = theme.resolve(
        {"data": [*traces, _picks(scene, orientation, numbers)], "layout": layout}, palette
    )
    return resolved


def _still(trace: dict[str, Any], step: int, position: float, cut: int | None) -> dict[str, Any]:
    """A trace as it is at `step`; where nothing of it is seen, its points are gaps."""
    meta = trace.get("meta", {})
    shown = {**trace, "visible": True} if cut is not None and meta.get("cut") == cut else trace
    points = seen(shown, step, position)
    if not points:
        return {**trace, "visible": False}
    xs, ys = ([point and point[axis] for point in points] for axis in (0, 1))
    # Only events can be pointed at, and picking one fades nothing.
    quiet: dict[str, Any] = {"hoverinfo": "skip"}
    if "markers" in trace.get("mode", ""):
        quiet["unselected"] = {"marker": {"opacity": 1}}
    return {key: value for key, value in shown.items() if key != "meta"} | {"x": xs, "y": ys} | quiet


def _picks(scene: Scene, orientation: str, numbers: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    named = [
        (event, number)
        for process, own in scene.execution.history.of.items()
        for event, number in zip(own, numbers[process], strict=True)
    ]
    lanes = [scene.lanes.index(event.process) for event, _ in named]
    positions = [scene.whole_run.position(event) for event, _ in named]
    x, y = (lanes, positions) if orientation == "down" else (positions, lanes)
    bare = {"marker": {"opacity": 0}, "textfont": {"color": "@faint"}}
    return {
        "type": "scatter", "mode": "markers+text" if len(named) <= MOST_NUMBERED else "markers", "x": x, "y": y,
        "customdata": [[event.process, number] for event, number in named], "showlegend": False,
        "text": [str(number) for _, number in named], "textfont": {"size": 12, "color": "@faint"},
        "textposition": "middle right" if orientation == "down" else "top center",
        "hovertext": [plain(event.label or "") for event, _ in named], "hoverinfo": "text", "cliponaxis": False,
        "marker": {"size": PICK, "opacity": 0, "color": "@ink"}, "selected": bare, "unselected": bare,
    }  # fmt: skip
