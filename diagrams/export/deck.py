"""Scene -> a PDF for a lecture: one page for each step, with its sentence, the diagram and the record so far."""

from __future__ import annotations

import vl_convert

from diagrams.export.svg import document
from diagrams.scene.composition import Scene
from diagrams.scene.export_options import pages
from diagrams.scene.view import View
from diagrams.still.slides import MOST_PAGES, slides
from diagrams.still.tagged_pdf import tagged

TITLE = "PDF deck, a page for each step"
FOR = "For a lecture with any projector: a page for each step, with its sentence and the record so far."
SUFFIX = ".pdf"
MEDIA_TYPE = "application/pdf"
PREVIEW = "gif"
ORDER = 40
OPTIONS = pages(MOST_PAGES)
IS_LONG = True


def export(scene: Scene, view: View) -> bytes:
    """A page for each step of the view's range. Raises InputError beyond slides.MOST_PAGES pages."""
    pages = (
        (vl_convert.svg_to_pdf(document(slide.picture, view.palette)), slide.description)
        for slide in slides(scene, view)
    )
    return tagged(pages, scene.execution.scenario.headline)
