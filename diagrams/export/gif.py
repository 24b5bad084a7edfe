"""Scene -> an animated GIF: one frame for each step, a page of the deck, repeated for ever."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import numpy as np
import vl_convert
from numpy.typing import NDArray
from PIL import Image

from diagrams.export.svg import document
from diagrams.scene.composition import Scene
from diagrams.scene.export_options import pages
from diagrams.scene.view import View
from diagrams.shapes.ownership import NOTE
from diagrams.still.slides import MOST_PAGES, slides, steps_of

TITLE = "Animated GIF"
FOR = "For web pages and chats: the run plays by itself, a second for each step."
SUFFIX = ".gif"
MEDIA_TYPE = "image/gif"
PREVIEW = "gif"
ORDER = 70
OPTIONS = pages(MOST_PAGES)
IS_LONG = True

COLOURS, EXACT = 256, 128  # of a frame; those that are kept exactly
COARSE = 0b11111100  # the relevant bits of the other colours
PACKING = np.array([1 << 16, 1 << 8, 1], np.uint32)  # of red, green and blue into one number

Colours = NDArray[np.uint8]
STEP_MS, LAST_STEP_MS = 1_000, 4_000


def export(scene: Scene, view: View) -> bytes:
    """A frame for each step of the view's range. Raises InputError beyond slides.MOST_PAGES frames."""
    frames = map(FewColours().of, images(scene, view))
    times = [STEP_MS] * (len(steps_of(scene, view)) - 1) + [LAST_STEP_MS]
    file = BytesIO()
    next(frames).save(file, "GIF", save_all=True, append_images=frames, duration=times, loop=0, comment=NOTE)
    return file.getvalue()


def images(scene: Scene, view: View) -> Iterator[Image.Image]:
    """The frames in all their colours."""
    for slide in slides(scene, view):
        written = vl_convert.svg_to_png(document(slide.picture, view.palette))
        yield Image.open(BytesIO(written)).convert("RGB")


class FewColours:
    """A converter of images to COLOURS colours each: the most frequent ones exactly, as in areas, lines and letters.

    The others, which are at edges, get the nearest colour that is kept.
    """

    def __init__(self) -> None:
        self.number = np.zeros(1 << 24, np.uint8)  # of each colour of an image among those that are kept

    def of(self, image: Image.Image) -> Image.Image:
        """The image with a palette."""
        counted = image.getcolors(image.width * image.height) or []
        colours = np.array([colour for _, colour in sorted(counted, reverse=True)], np.uint8)
        exact, rare = colours[:EXACT], colours[EXACT:]
        cells, cell = np.unique(rare & COARSE, axis=0, return_inverse=True)
        kept = np.concatenate([exact, _fewer(cells)])
        self.number[_packed(exact)] = np.arange(len(exact))
        self.number[_packed(rare)] = _nearest(cells, kept)[cell.ravel()]
        small = Image.fromarray(self.number[_packed(np.asarray(image))], "P")
        small.putpalette(kept.tobytes())
        return small


def _packed(colours: Colours) -> NDArray[np.uint32]:
    """Colours (n x 3, or an image) as one number each."""
    packed: NDArray[np.uint32] = colours.astype(np.uint32) @ PACKING
    return packed


def _fewer(colours: Colours) -> Colours:
    """Colours, reduced to as many as have room."""
    if len(colours) <= COLOURS - EXACT:
        return colours
    few = Image.fromarray(colours[None]).quantize(COLOURS - EXACT, dither=Image.Dither.NONE)
    return np.array(few.getpalette(), np.uint8).reshape(-1, 3)[: COLOURS - EXACT]


def _nearest(colours: Colours, kept: Colours) -> NDArray[np.uint8]:
    """For each colour the number of the nearest one that is kept."""
    here, there = colours.astype(np.float32), kept.astype(np.float32)
    squares = (there**2).sum(axis=1) - 2 * here @ there.T  # of the distances, but for what is the same for all
    nearest: NDArray[np.uint8] = squares.argmin(axis=1).astype(np.uint8)
    return nearest
