"""Scene -> PDF of any step: the SVG picture as one page, a point for a pixel, fonts embedded."""

from __future__ import annotations

import vl_convert

from diagrams.export import svg
from diagrams.export_options import PICTURE
from diagrams.scene import Scene
from diagrams.view import View

TITLE = "PDF picture"
SUFFIX = ".pdf"
MEDIA_TYPE = "application/pdf"
ORDER = 30
OPTIONS = PICTURE


def export(scene: Scene, view: View) -> bytes:
    """The view's drawing after its step."""
    return vl_convert.svg_to_pdf(svg.export(scene, view).decode("utf-8"))
