"""A still picture: primitives inside and around a plot, and the frame that maps the points of a figure to pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any

from diagrams.drawing.sheet import Sheet
from diagrams.shapes.primitives import Box, Pixel, Primitive, moved, scaled


@dataclass(frozen=True)
class Picture:
    """A drawing: `inside`, cut off at the box `clip` (None: nowhere), then `around` on it.

    Its lengths are in `unit`: "px", or "pt" (1/72 inch) on paper. `nodes` are the points with a name
    (diagrams/panels/nodes.py).
    """

    width: float
    height: float
    clip: Box | None
    inside: tuple[Primitive, ...]
    around: tuple[Primitive, ...]
    unit: str = "px"
    nodes: Mapping[str, Pixel] = field(default_factory=dict)

    def on(self, sheet: Sheet) -> Picture:
        """The finished picture: on paper in points. Raises InputError if it is too large for paper."""
        if sheet.unit is None:
            return self
        sheet.check_size(self.width, self.height)
        return replace(self.scaled(sheet.unit), unit="pt")

    def scaled(self, by: float) -> Picture:
        """The picture with every length `by` times as long."""
        inside, around = (tuple(scaled(part, by) for part in parts) for parts in (self.inside, self.around))
        clip = self.clip and Box(*(side * by for side in astuple(self.clip)))
        nodes = {name: (x * by, y * by) for name, (x, y) in self.nodes.items()}
        return Picture(self.width * by, self.height * by, clip, inside, around, self.unit, nodes)

    def moved(self, right: float, down: float) -> Picture:
        """The picture as a part of a larger one, at this distance from its top left corner."""
        inside, around = (tuple(moved(part, right, down) for part in parts) for parts in (self.inside, self.around))
        left, top, *ends = astuple(self.clip) if self.clip else (0.0, 0.0, 0.0, 0.0)
        clip = self.clip and Box(left + right, top + down, ends[0] + right, ends[1] + down)
        nodes = {name: (x + right, y + down) for name, (x, y) in self.nodes.items()}
        return replace(self, clip=clip, inside=inside, around=around, nodes=nodes)


@dataclass(frozen=True)
class Frame:
    """A picture's size in pixels, the box of its plot, and the two ranges of the figure that map to that box.

    `down`: whether time runs down the page.
    """

    width: float
    height: float
    plot: Box
    x_range: Sequence[float]
    y_range: Sequence[float]
    down: bool = True

    def pixel(self, x: float, y: float) -> Pixel:
        """The pixel of a point of the figure."""
        across = (x - self.x_range[0]) / (self.x_range[1] - self.x_range[0])
        up = (y - self.y_range[0]) / (self.y_range[1] - self.y_range[0])
        return self.plot.left + across * self.plot.width, self.plot.top + (1 - up) * self.plot.height


def frame_of(layout: Mapping[str, Any], width: float, height: float, plot: Box, down: bool = True) -> Frame:
    """The frame of a figure with this layout."""
    return Frame(width, height, plot, layout["xaxis"]["range"], layout["yaxis"]["range"], down)
