"""Scene -> the caption of its picture, as plain text in UTF-8 or for LaTeX."""

from __future__ import annotations

from diagrams.scene.composition import Scene
from diagrams.scene.export_options import (
    CROP,
    CUT,
    DRAWING,
    PREDICATE,
    PROCESSES,
    PROOF_SNAPSHOT,
    STEP,
    SWAPS,
    menu,
)
from diagrams.scene.view import View
from diagrams.still.latex import latex_caption
from diagrams.still.pictures import caption

TITLE = "Caption, the picture in words"
FOR = "For the text below a figure, and for readers who cannot see it."
SUFFIX = ".txt"
MEDIA_TYPE = "text/plain; charset=utf-8"
PREVIEW = "text"
ORDER = 55
DRAWS_ROWS = True

PLAIN, LATEX = "plain", "latex"
MARKUP = menu("markup", "Written as", ((PLAIN, "plain text"), (LATEX, "LaTeX")), PLAIN)
OPTIONS = (DRAWING, STEP, CROP, CUT, PREDICATE, PROOF_SNAPSHOT, SWAPS, PROCESSES, MARKUP)


def export(scene: Scene, view: View) -> bytes:
    """The caption of the view's picture, a line."""
    told = caption(scene, view)
    return f"{latex_caption(told) if MARKUP.of(view) == LATEX else told}\n".encode()
