"""Scene -> PNG, of any step: the SVG picture at twice its size, with no browser."""

from __future__ import annotations

import vl_convert

from diagrams.export import svg
from diagrams.export_options import PICTURE
from diagrams.scene import Scene
from diagrams.view import View

TITLE = "PNG picture"
SUFFIX = ".png"
MEDIA_TYPE = "image/png"
ORDER = 20
OPTIONS = PICTURE

SCALE = 2


def export(scene: Scene, view: View) -> bytes:
    """The view's drawing after its step, SCALE pixels for each of the SVG picture."""
    return vl_convert.svg_to_png(svg.export(scene, view).decode("utf-8"), scale=SCALE)
