"""The sheet of a still picture, a screen or a paper: its width, letters, axis and legend are decided only here.

Every drawing is laid out in pixels of its own: letters on paper are LETTERS high, and signs have their size on a
screen. On paper the finished picture is then scaled to points (1/72 inch). So its letters have the size that the user
wants, labels are placed for this size, and nothing shrinks with the width.
"""

from __future__ import annotations

from dataclasses import dataclass

from diagrams.figure.room import Room
from diagrams.scene.export_options import FONT_SIZE, LEGEND, NO_AXIS, POINTS, WIDTH, points_in
from diagrams.scene.view import View
from sim.core.errors import InputError

SCREEN_WIDTH, SCREEN_HEIGHT = 900, 640  # pixels
LETTERS = 17.0  # pixels of a drawing for paper: its letters, and those of events on a screen
FONT_POINTS = 8.0  # the default on paper
PAPER_MM = 170.0  # the default width of paper
MOST_SIDE = 4_800.0  # points on paper, the height of two sheets of A0: a thousand lines with letters of 8pt need 3,400
NARROWEST = 12.0  # letters side by side: a narrower picture has no room for a diagram


@dataclass(frozen=True)
class Sheet:
    """The sheet of a picture.

    width, height: in pixels of the drawing; a height of None is as much as the drawing needs.
    unit: the points of one such pixel on paper; None for a screen, whose unit is the pixel.
    axis: whether the times are written beside the plot. legend: whether one is drawn below it.
    left: the least number of pixels to the left of a plot.
    """

    width: float = SCREEN_WIDTH
    height: float | None = SCREEN_HEIGHT
    unit: float | None = None
    axis: bool = True
    legend: bool = False
    left: float = 0.0

    @classmethod
    def of(cls, view: View) -> Sheet:
        """The sheet that a view asks for. Raises InputError if the letters are too large for the width."""
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
        """Raises InputError if a picture of so many pixels is larger on paper than MOST_SIDE."""
        longest = max(width, height) * (self.unit or 0.0)
        if longest > MOST_SIDE:
            raise InputError(
                f"a picture on paper has sides of at most {MOST_SIDE:.0f}pt, and this one would have {longest:.0f}pt; "
                f"make its letters smaller (--{FONT_SIZE.name}), or show fewer processes"
            )

    @property
    def letters(self) -> float | None:
        """The size in pixels of all letters of the drawing; None on a screen, on which each text has its own size."""
        return LETTERS if self.unit else None

    @property
    def is_page(self) -> bool:
        """Whether both sides have a given length, with letters of a given size."""
        return self.unit is not None and self.height is not None

    @property
    def room(self) -> Room:
        """The room of a figure on this sheet, with a box of default size."""
        return Room(letters=self.letters, axis=self.axis, left=self.left)


SCREEN = Sheet()
