"""What a still picture is made for, a screen or a paper: the only place that knows width, letters, axis and legend.

Every drawing is laid out in pixels of its own, in which letters on paper are LETTERS high and all signs have the size
they have on a screen. On paper the finished picture is then scaled to points (1/72 inch), so that these letters
have the size that was asked for: labels are placed for it, and nothing shrinks with the width.
"""

from __future__ import annotations

from dataclasses import dataclass

from diagrams.figure.room import Room
from diagrams.scene.export_options import FONT_SIZE, LEGEND, NO_AXIS, POINTS, WIDTH, points_in
from diagrams.scene.view import View
from sim.core.errors import InputError

SCREEN_WIDTH, SCREEN_HEIGHT = 900, 640  # pixels
LETTERS = 17.0  # pixels of a drawing for paper: its letters, and those of events on a screen
FONT_POINTS = 8.0  # where a paper says nothing of its letters
PAPER_MM = 170.0  # where it says nothing of its width
MOST_SIDE = 4_800.0  # points on paper, the height of two sheets of A0: a thousand lines with letters of 8pt need 3,400
NARROWEST = 12.0  # letters beside each other: a narrower picture has no room for a diagram


@dataclass(frozen=True)
class Sheet:
    """What a picture is made for.

    width: pixels of the drawing; height: the same, or None: as much as it needs.
    unit: the points of one such pixel on paper; None for a screen, whose unit is the pixel.
    axis: whether the times are written beside it; legend: whether one is drawn below it.
    left: pixels to the left of a plot at least.
    """

    width: float = SCREEN_WIDTH
    height: float | None = SCREEN_HEIGHT
    unit: float | None = None
    axis: bool = True
    legend: bool = False
    left: float = 0.0

    @classmethod
    def of(cls, view: View) -> Sheet:
        """The sheet that a view asks for. Raises InputError where letters are too large for the width."""
        asked, font = WIDTH.of(view), FONT_SIZE.of(view)
        axis, legend = not NO_AXIS.of(view), bool(LEGEND.of(view))
        if asked is None and font is None:
            return cls(axis=axis, legend=legend)
        width = points_in(asked or "") or PAPER_MM * POINTS["mm"]
        unit = (points_in(font or "") or FONT_POINTS) / LETTERS
        if width / unit < NARROWEST * LETTERS:
            raise InputError(
                f"a picture {width:.0f}pt wide is too narrow for letters of {unit * LETTERS:g}pt; make it at least "
                f"{NARROWEST * LETTERS * unit:.0f}pt wide (--{WIDTH.name}), or its letters smaller (--{FONT_SIZE.name})"
            )
        return cls(width / unit, None, unit, axis, legend)

    def check_size(self, width: float, height: float) -> None:
        """Raises InputError where a picture of so many pixels is larger on paper than MOST_SIDE."""
        longest = max(width, height) * (self.unit or 0.0)
        if longest > MOST_SIDE:
            raise InputError(
                f"a picture on paper has sides of at most {MOST_SIDE:.0f}pt, and this one would have {longest:.0f}pt; "
                f"make its letters smaller (--{FONT_SIZE.name}), or show fewer processes"
            )

    @property
    def letters(self) -> float | None:
        """The size in pixels of all letters of the drawing; None on a screen, where each text has its own."""
        return LETTERS if self.unit else None

    @property
    def is_page(self) -> bool:
        """Whether both sides have a given length, with letters of a given size."""
        return self.unit is not None and self.height is not None

    @property
    def room(self) -> Room:
        """The letters of a figure on this sheet; its box is still open."""
        return Room(letters=self.letters, axis=self.axis, left=self.left)


SCREEN = Sheet()
