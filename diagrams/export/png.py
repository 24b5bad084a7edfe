"""Scene -> PNG, of any step: the SVG picture in dots, with no browser."""

from __future__ import annotations

import vl_convert

from diagrams.export import svg
from diagrams.export_options import PICTURE
from diagrams.scene import Scene
from diagrams.sheet import Sheet
from diagrams.view import View

TITLE = "PNG picture"
FOR = "For slides, chats and texts that take no SVG or PDF: dots, 300 to an inch on paper."
SUFFIX = ".png"
MEDIA_TYPE = "image/png"
PREVIEW = "png"
ORDER = 20
OPTIONS = PICTURE

SCALE = 2  # dots for a pixel of a screen
PER_INCH = 300  # dots on paper
POINT = 72 / 96  # vl-convert counts a pixel of the SVG, of which 96 are an inch, as a point


def export(scene: Scene, view: View) -> bytes:
    """The view's drawing after its step: twice its size on a screen, or PER_INCH dots for an inch of paper."""
    return in_dots(svg.export(scene, view).decode("utf-8"), Sheet.of(view))


def in_dots(document: str, sheet: Sheet) -> bytes:
    """An SVG document for a sheet as PNG."""
    if sheet.unit is None:
        return vl_convert.svg_to_png(document, scale=SCALE)
    return vl_convert.svg_to_png(document, scale=POINT, ppi=PER_INCH)
