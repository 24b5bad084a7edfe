"""Scene -> an animated GIF: one frame for each step, a page of the deck, repeated for ever."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import numpy as np
import vl_convert
from numpy.typing import NDArray
from PIL import Image

from diagrams.export.svg import document
from diagrams.export_options import pages
from diagrams.scene import Scene
from diagrams.slides import MOST_PAGES, slides
from diagrams.view import View

TITLE = "Animated GIF"
FOR = "For web pages and chats: the run plays by itself, a second for each step."
SUFFIX = ".gif"
MEDIA_TYPE = "image/gif"
PREVIEW = "gif"
ORDER = 70
OPTIONS = pages(MOST_PAGES)
IS_LONG = True

COLOURS, EXACT = 256, 128  # of a frame, which has its own; those that are kept as they are
STEP_MS, LAST_STEP_MS = 1_000, 4_000


def export(scene: Scene, view: View) -> bytes:
    """A frame for each step of the view's range. Raises InputError beyond slides.MOST_PAGES frames."""
    frames = map(in_few_colours, images(scene, view))
    first, last = view.steps or (scene.first, scene.until)
    file = BytesIO()
    times = [STEP_MS] * (last - first) + [LAST_STEP_MS]
    next(frames).save(file, "GIF", save_all=True, append_images=frames, duration=times, loop=0)
    return file.getvalue()


def images(scene: Scene, view: View) -> Iterator[Image.Image]:
    """The frames in all their colours."""
    for slide in slides(scene, view):
        written = vl_convert.svg_to_png(document(slide.picture, view.palette))
        yield Image.open(BytesIO(written)).convert("RGB")


def in_few_colours(image: Image.Image) -> Image.Image:
    """The image in COLOURS of its own: the most frequent ones as they are, which are those of areas, lines and letters.

    The rest, which is at edges, gets the nearest colour of all that are there.
    """
    red, green, blue = np.moveaxis(np.asarray(image, np.uint32), 2, 0)
    packed, place, dots = np.unique(red << 16 | green << 8 | blue, return_inverse=True, return_counts=True)
    colours = np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=1).astype(np.uint8)
    order = np.argsort(-dots.astype(np.int64), kind="stable")
    kept = np.concatenate([colours[order[:EXACT]], _between(colours[order[EXACT:]])])
    apart = np.abs(colours[:, None].astype(np.int16) - kept).sum(axis=2)
    small = Image.fromarray(apart.argmin(axis=1).astype(np.uint8)[place].reshape(red.shape), "P")
    small.putpalette(kept.tobytes())
    return small


def _between(colours: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A few colours for many."""
    if len(colours) <= COLOURS - EXACT:
        return colours
    few = Image.fromarray(colours[None]).quantize(COLOURS - EXACT, dither=Image.Dither.NONE)
    return np.array(few.getpalette(), np.uint8).reshape(-1, 3)[: COLOURS - EXACT]
