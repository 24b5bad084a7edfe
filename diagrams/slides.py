"""The pages of a deck and the frames of an animation: the diagram at each step, below the step's sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from diagrams import lettering
from diagrams.drawing import Drawing, Picture
from diagrams.primitives import Text
from diagrams.scene import Scene
from diagrams.sheet import Sheet
from diagrams.view import View
from diagrams.window import on_show
from sim.core.deadline import in_time
from sim.core.errors import InputError

WIDTH, HEIGHT = 960, 720
MOST_PAGES = 300
MOST_LINES = 4  # of a sentence
SIDE = 24.0  # pixels left and right of the caption
SIZE, LEADING = 18.0, 24.0


def slides(scene: Scene, view: View) -> Iterator[Picture]:
    """A picture for each step of the view's range (None: of all steps), the diagram in the same place on each.

    Raises InputError, before the first picture, when there are more than MOST_PAGES.
    """
    first, last = view.steps or (scene.first, scene.until)
    if last - first >= MOST_PAGES:
        raise InputError(
            f"a deck or an animation has at most {MOST_PAGES} steps, and these are {last - first + 1}: "
            f"give a range of steps, such as {first}-{first + MOST_PAGES - 1} (--steps)"
        )
    return _drawn(on_show(scene, view), view.orientation, range(first, last + 1))


def _drawn(scene: Scene, orientation: str, steps: range) -> Iterator[Picture]:
    captions = {step: _caption(scene, step) for step in steps}
    headroom = LEADING * (max(map(len, captions.values())) + 0.5)
    drawing = Drawing(scene, orientation, Sheet(WIDTH, HEIGHT), headroom)
    for step in in_time(steps, every=1):
        picture = drawing.at(step)
        yield replace(picture, around=(*picture.around, *captions[step]))


def _caption(scene: Scene, step: int) -> list[Text]:
    """The number of the step with its rule, and its sentence in as many lines as it takes."""
    told = scene.steps[step]
    head = f"Step {step} of {scene.last}" + (f": {told.badge}" if told.badge else "")
    room = WIDTH - 2 * SIDE
    lines = [lettering.cropped(head, SIZE, room), *lettering.wrapped(told.sentence, SIZE, room, MOST_LINES)]
    return [
        Text((SIDE, LEADING * (number + 1.2)), line, "start", SIZE, "@ink", "" if number else "bold")
        for number, line in enumerate(lines)
    ]
