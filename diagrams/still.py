"""Scene -> a still Plotly figure for pages without the explorer: the finished diagram, one cut, and pickable events.

Texts of foreign logs are long, so events are numbered, and their texts appear on hover.
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
MOST_NUMBERED = 150  # events; with more the numbers would overlap


def still(scene: Scene, palette: dict[str, str], numbers: Mapping[str, Sequence[int]], consistent: bool) -> Figure:
    """The diagram at the last step of `scene`, time to the right, with the first of the story's cuts.

    `numbers` are the numbers of each process's events, in their order. `consistent` is the verdict on the cut: the
    scene may be a part of a log, without the message that decides.
    The last trace holds one point for each application event, with customdata [process, its number].
    """
    drawn = figure(scene, "right")
    position = scene.positions[scene.until]
    kept = [trace for trace in drawn["data"] if "cursor" not in trace.get("meta", {}) and trace.get("mode") != "text"]
    traces = [_still(trace, scene.until, position) for trace in kept]
    if not consistent:  # what the scene cannot know
        palette = {**palette, theme.verdict_colour(True)[1:]: palette[theme.verdict_colour(False)[1:]]}
    layout = {**drawn["layout"], "dragmode": "pan", "clickmode": "event+select"}
    resolved: Figure = theme.resolve({"data": [*traces, _picks(scene, numbers)], "layout": layout}, palette)
    return resolved


def _still(trace: dict[str, Any], step: int, position: float) -> dict[str, Any]:
    """A trace at `step`; points that are not seen become gaps."""
    shown = {**trace, "visible": True} if trace.get("meta", {}).get("cut") == 0 else trace
    points = seen(shown, step, position)
    if not points:
        return {**trace, "visible": False}
    xs, ys = ([point and point[axis] for point in points] for axis in (0, 1))
    # Only events have hover texts, and picking one does not fade the rest.
    quiet: dict[str, Any] = {"hoverinfo": "skip"}
    if "markers" in trace.get("mode", ""):
        quiet["unselected"] = {"marker": {"opacity": 1}}
    return {key: value for key, value in shown.items() if key != "meta"} | {"x": xs, "y": ys} | quiet


def _picks(scene: Scene, numbers: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    named = [
        (event, number)
        for process, own in scene.execution.history.of.items()
        for event, number in zip(own, numbers[process], strict=True)
    ]
    lanes = [scene.lanes.index(event.process) for event, _ in named]
    positions = [scene.whole_run.position(event) for event, _ in named]
    bare = {"marker": {"opacity": 0}, "textfont": {"color": "@faint"}}
    return {
        "type": "scatter", "mode": "markers+text" if len(named) <= MOST_NUMBERED else "markers",
        "x": positions, "y": lanes,
        "customdata": [[event.process, number] for event, number in named], "showlegend": False,
        "text": [str(number) for _, number in named], "textfont": {"size": 12, "color": "@faint"},
        "textposition": "top center",
        "hovertext": [plain(event.label or "") for event, _ in named], "hoverinfo": "text", "cliponaxis": False,
        "marker": {"size": PICK, "opacity": 0, "color": "@ink"}, "selected": bare, "unselected": bare,
    }  # fmt: skip
