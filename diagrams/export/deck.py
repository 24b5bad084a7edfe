"""Scene -> a PDF for a lecture: one page for each step, the diagram below the step's sentence."""

from __future__ import annotations

from io import BytesIO

import vl_convert
from pypdf import PdfReader, PdfWriter

from diagrams.export.svg import document
from diagrams.export_options import pages
from diagrams.scene import Scene
from diagrams.slides import MOST_PAGES, slides
from diagrams.view import View

TITLE = "PDF deck, a page for each step"
FOR = "For a lecture with any projector: a page for each step, with its sentence."
SUFFIX = ".pdf"
MEDIA_TYPE = "application/pdf"
PREVIEW = "gif"
ORDER = 40
OPTIONS = pages(MOST_PAGES)
IS_LONG = True


def export(scene: Scene, view: View) -> bytes:
    """A page for each step of the view's range. Raises InputError beyond slides.MOST_PAGES pages."""
    writer = PdfWriter()
    writer.add_metadata({"/Title": scene.execution.scenario.title})
    for picture in slides(scene, view):
        page = vl_convert.svg_to_pdf(document(picture, view.palette))
        writer.append(PdfReader(BytesIO(page)))
    file = BytesIO()
    writer.write(file)
    return file.getvalue()
