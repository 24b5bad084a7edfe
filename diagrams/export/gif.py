"""Scene -> an animated GIF: one frame for each step, the diagram below the step's sentence, repeated for ever."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO

import vl_convert
from PIL import Image

from diagrams.drawing import Picture
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

COLOURS = 64  # of the last frame, which has all colours; no dithering, as areas are even
STEP_MS, LAST_STEP_MS = 1_000, 4_000


def export(scene: Scene, view: View) -> bytes:
    """A frame for each step of the view's range. Raises InputError beyond slides.MOST_PAGES frames."""
    pictures = slides(scene, view)
    first, last = view.steps or (scene.first, scene.until)
    (final,) = slides(scene, replace(view, steps=(last, last)))
    colours = _image(final, view).quantize(COLOURS)
    frames = (_image(picture, view).quantize(palette=colours, dither=Image.Dither.NONE) for picture in pictures)
    file = BytesIO()
    times = [STEP_MS] * (last - first) + [LAST_STEP_MS]
    next(frames).save(file, "GIF", save_all=True, append_images=frames, duration=times, loop=0)
    return file.getvalue()


def _image(picture: Picture, view: View) -> Image.Image:
    return Image.open(BytesIO(vl_convert.svg_to_png(document(picture, view.palette)))).convert("RGB")
