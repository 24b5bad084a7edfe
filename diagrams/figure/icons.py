"""The icons of the legend: small pictures of the signs of a diagram, for the page and for still pictures."""

from __future__ import annotations

from dataclasses import dataclass

from diagrams.shapes import theme
from diagrams.shapes.marks import marks
from diagrams.shapes.primitives import Area, Arrows, Box, Disc, Line, Primitive
from diagrams.shapes.svg import written
from sim.core.model import APP, CONTROL

MESSAGE = theme.message_colour(0, APP)
MARKER = theme.message_colour(0, "marker")
CONTROL_MESSAGE = theme.message_colour(0, CONTROL)
SNAPSHOT = theme.snapshot_colour(0)

HIGH = 16.0  # pixels of an icon


class _PageColours(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return "currentColor" if name == "ink" else theme.variable(f"@{name}")


_IN_PAGE = _PageColours()


@dataclass(frozen=True)
class Icon:
    """A small picture, `width` x HIGH pixels."""

    width: float
    shapes: tuple[Primitive, ...]

    def svg(self) -> str:
        """The icon as an SVG element for the page, in the page's colours; ink is the colour of the text beside it."""
        parts = "".join(written(shape, _IN_PAGE) for shape in self.shapes)
        return f'<svg viewBox="0 0 {self.width:g} {HIGH:g}" width="{self.width:g}" aria-hidden="true">{parts}</svg>'


def icon(width: float, *shapes: Primitive) -> Icon:
    """An icon of shapes."""
    return Icon(width, shapes)


def level(width: float, token: str, thick: float, *dash: float) -> Line:
    """A line across an icon at half its height."""
    return Line((((0.0, HIGH / 2), (width, HIGH / 2)),), token, thick, dash)


def cross(left: float, token: str, thick: float) -> Line:
    """Two lines that cross."""
    ends = ((left, 3.0), (left + 10, 13.0)), ((left + 10, 3.0), (left, 13.0))
    return Line(ends, token, thick)


def diamond(x: float, radius: float, token: str) -> Area:
    """A filled diamond at half the height."""
    y = HIGH / 2
    return Area((((x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)),), token)


def square(x: float, radius: float, token: str) -> Area:
    """A filled square at half the height."""
    return Area((Box(x, HIGH / 2, x, HIGH / 2).wider(radius).corners,), token)


def disc(x: float, radius: float, token: str) -> Disc:
    """A filled circle at half the height."""
    return Disc((x, HIGH / 2), radius, token)


def ring(x: float, radius: float, token: str, thick: float) -> Disc:
    """A circle at half the height."""
    return Disc((x, HIGH / 2), radius, "", token, thick)


def outcome(name: str) -> Icon:
    """The sign of a decision, by its outcome."""
    look = {"symbol": theme.OUTCOME_SYMBOLS[name], "size": 13.0, "color": SNAPSHOT}
    return icon(18, *marks(look, [(9.0, HIGH / 2)], 1.0))


def moment(kind: str, token: str) -> Icon:
    """The symbol of storage or recovery by the kind of its row, as in a diagram whose time runs down."""
    look = {"symbol": theme.MOMENT_SYMBOLS[kind][0], "size": 13.0, "color": token}
    return icon(18, *marks(look, [(9.0, HIGH / 2)], 1.0))


def fence() -> Icon:
    """A message that is fenced off."""
    look = {"symbol": theme.FENCE, "size": 13.0, "color": "@ink", "line": {"width": 2.0, "color": "@ink"}}
    return icon(32, arrow("@line", 1.3, 6, 3, width=18), *marks(look, [(24.0, HIGH / 2)], 1.0))


def arrow(token: str, thick: float = 2, *dash: float, width: float = 29, is_open: bool = False) -> Arrows:
    """An arrow with an open head or a filled one."""
    way = ((1.0, HIGH / 2), (width, HIGH / 2))
    return Arrows((way,), token, thick, dash, min(11.0, width * 0.6), "@paper" if is_open else token, 1.4 * is_open)


CROSS = icon(16, cross(3, "@ink", 3))
