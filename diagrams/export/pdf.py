"""Scene -> PDF of any step: the SVG picture as one page, fonts embedded; on a screen a point for a pixel.

It is tagged: an alternative text describes the picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import vl_convert

from diagrams.drawing.frame import Picture
from diagrams.export import svg
from diagrams.scene.composition import Scene
from diagrams.scene.export_options import PICTURE
from diagrams.scene.view import View
from diagrams.still.pictures import drawn
from diagrams.still.tagged_pdf import tagged

TITLE = "PDF picture"
FOR = "For LaTeX, with \\includegraphics, and for printing: a page as large as the figure, with its fonts."
SUFFIX = ".pdf"
MEDIA_TYPE = "application/pdf"
PREVIEW = "svg"  # SVG has no limit of dots
ORDER = 30
DRAWS_ROWS = True
OPTIONS = PICTURE


def export(scene: Scene, view: View) -> bytes:
    """The view's drawing after its step."""
    picture, _, description = drawn(scene, view)
    return document(picture, view.palette, scene.execution.scenario.headline, description)


def document(picture: Picture, palette: Mapping[str, str], title: str, description: str) -> bytes:
    """A picture as a page, with a title, and a description for readers who cannot see it."""
    in_points = replace(picture, unit="px")  # vl-convert makes a point of a pixel
    return tagged([(vl_convert.svg_to_pdf(svg.document(in_points, palette)), description)], title)
