"""Scene -> an animated GIF: one frame for each step, a page of the deck, repeated for ever."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import vl_convert
from PIL import Image

from diagrams.export.svg import document
from diagrams.export_options import pages
from diagrams.scene import Scene
from diagrams.slides import MOST_PAGES, slides
from diagrams.view import View

TITLE = "Animated GIF"
SUFFIX = ".gif"
MEDIA_TYPE = "image/gif"
ORDER = 70
OPTIONS = pages(MOST_PAGES)
IS_LONG = True

COLOURS = 256  # of a frame, which has its own
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
    """The image in its COLOURS most frequent colours, which are those of all areas, lines and letters; no dithering.

    The rest, at edges, is between two of them, and gets the nearest.
    """
    counted = image.getcolors(image.width * image.height)
    assert counted is not None  # an image has no more colours than dots
    frequent = [colour for _, colour in sorted(counted, reverse=True)[:COLOURS]]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for colour in frequent for part in colour])  # type: ignore[union-attr]
    return image.quantize(palette=palette, dither=Image.Dither.NONE)
