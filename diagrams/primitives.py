"""The primitives of a drawing: lines, areas, discs and texts, in pixels, with colours as tokens of diagrams.theme."""

from __future__ import annotations

from dataclasses import dataclass

Pixel = tuple[float, float]  # (x, y) from the top left corner, y grows downwards
Path = tuple[Pixel, ...]


@dataclass(frozen=True)
class Box:
    """A rectangle of a picture, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        """From the left side to the right one."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """From the top to the bottom."""
        return self.bottom - self.top

    def meets(self, other: Box) -> bool:
        """Whether two rectangles overlap."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )

    def is_crossed(self, start: Pixel, end: Pixel) -> bool:
        """Whether a straight line from `start` to `end` passes through (Liang and Barsky's clipping)."""
        (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
        enter, leave = 0.0, 1.0
        sides = ((-dx, x - self.left), (dx, self.right - x), (-dy, y - self.top), (dy, self.bottom - y))
        for slope, distance in sides:
            if slope == 0:
                if distance < 0:
                    return False
            elif slope < 0:
                enter = max(enter, distance / slope)
            else:
                leave = min(leave, distance / slope)
        return enter < leave


@dataclass(frozen=True)
class Line:
    """Lines of one look, each through its points, `width` pixels wide.

    `dash` holds lengths on and off in pixels (none: unbroken).
    """

    strokes: tuple[Path, ...]
    colour: str
    width: float
    dash: tuple[float, ...] = ()


@dataclass(frozen=True)
class Area:
    """Filled polygons of one look with an outline `width` pixels wide (0: none); `fill` may be "" for none."""

    polygons: tuple[Path, ...]
    fill: str
    outline: str = ""
    width: float = 0.0


@dataclass(frozen=True)
class Disc:
    """A filled circle with an outline `width` pixels wide (0: none); `fill` may be "" for none."""

    centre: Pixel
    radius: float
    fill: str
    outline: str = ""
    width: float = 0.0


@dataclass(frozen=True)
class Text:
    """One line of text whose base line starts, has its middle or ends (`anchor`) at a point.

    `size` is in pixels; `style` is "", "bold" or "italic". It has a halo of the paper's colour.
    """

    at: Pixel
    letters: str
    anchor: str
    size: float
    colour: str
    style: str = ""


Primitive = Line | Area | Disc | Text
