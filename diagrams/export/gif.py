"""Scene -> an animated GIF: one frame for each step, the diagram below the step's sentence, for ever."""

from __future__ import annotations

from io import BytesIO

import vl_convert
from PIL import Image

from diagrams.export import View
from diagrams.export.svg import document
from diagrams.scene import Scene
from diagrams.slides import slides

TITLE = "Animated GIF"
SUFFIX = ".gif"
MEDIA_TYPE = "image/gif"

COLOURS = 64  # those of the last frame, which shows all there is; without dithering, for areas are even
STEP_MS, LAST_STEP_MS = 1_000, 4_000


def export(scene: Scene, view: View) -> bytes:
    """A frame for each step of the view's range. Raises ScenarioError beyond slides.MOST_PAGES frames."""
    pages = [document(picture, view.palette) for picture in slides(scene, view)]
    colours = _image(pages[-1]).quantize(COLOURS)
    frames = (_image(page).quantize(palette=colours, dither=Image.Dither.NONE) for page in pages)
    file = BytesIO()
    times = [STEP_MS] * (len(pages) - 1) + [LAST_STEP_MS]
    next(frames).save(file, "GIF", save_all=True, append_images=frames, duration=times, loop=0)
    return file.getvalue()


def _image(page: str) -> Image.Image:
    return Image.open(BytesIO(vl_convert.svg_to_png(page))).convert("RGB")
