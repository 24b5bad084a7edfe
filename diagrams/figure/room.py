"""The room that a figure is laid out for: the box of its plot, and the letters that are written in it.

A browser's figure is laid out for a small projector's picture. On a larger screen texts keep their size and all else
spreads out, so a text that is clear there is clear on every screen. A still picture is laid out for its own box.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from diagrams.scene.composition import Scene
from diagrams.shapes.primitives import Pixel

WIDTH, HEIGHT = 690.0, 450.0  # pixels of a small projector's plot
LEAST_LETTERS = 9.0  # pixels, on a screen
LEAST_SCALE, MOST_SCALE_ON_PAPER = 0.35, 0.8
FEW_LANES, FEW_DOTS = 9, 260  # more of them in the projector's plot are drawn smaller

Point = tuple[float, float]  # (lane, position)


@dataclass(frozen=True)
class Room:
    """A plot of width x height pixels.

    letters: the size in pixels of all letters, as on paper; None on a screen, on which each text has a size of its own,
        smaller in a crowded figure.
    axis: whether the times are written beside it.
    left: the least number of pixels to the left of the plot, so that the plots of several runs lie below each other.
    beyond: lanes before the first line and after the last one.
    """

    width: float = WIDTH
    height: float = HEIGHT
    letters: float | None = None
    axis: bool = True
    left: float = 0.0
    beyond: float = 0.6

    def size(self, width: float, height: float) -> Room:
        """The same letters in another box."""
        return replace(self, width=width, height=height)

    def pixels(self, scene: Scene, down: bool) -> Callable[[Point], Pixel]:
        """A map from the points of a scene to the pixels of the plot."""
        low, high = scene.extent
        lanes = scene.layout.places[-1] + 2 * self.beyond

        def pixel(point: Point) -> Pixel:
            across, on = (scene.layout.place(point[0]) + self.beyond) / lanes, (point[1] - low) / (high - low)
            return (across * self.width, on * self.height) if down else (on * self.width, across * self.height)

        return pixel

    def scale(self, lanes: int, dots: int, down: bool) -> float:
        """The scale of signs: 1, or less if there are many."""
        across = self.width / WIDTH if down else self.height / HEIGHT
        most = MOST_SCALE_ON_PAPER if self.letters else 1.0
        area = self.width * self.height / (WIDTH * HEIGHT)
        return max(LEAST_SCALE, min(most, FEW_LANES * across / max(lanes, 1), FEW_DOTS * area / max(dots, 1)))

    def letters_of(self, size: float, scale: float) -> float:
        """The size in pixels of letters that are `size` pixels high on a screen with room."""
        return self.letters or max(LEAST_LETTERS, size * max(scale, 0.6))


SCREEN = Room()
