"""Scene -> PNG, of any step: the SVG picture in dots, with no browser."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import vl_convert

from diagrams.drawing.frame import Picture
from diagrams.export import svg
from diagrams.scene.composition import Scene
from diagrams.scene.export_options import PICTURE, POINTS
from diagrams.scene.view import View
from diagrams.shapes.ownership import MADE_WITH, OWNERSHIP
from diagrams.still.pictures import drawn
from sim.core.errors import InputError

TITLE = "PNG picture"
FOR = "For slides, chats and texts that accept no SVG or PDF: dots, 300 to an inch on paper."
SUFFIX = ".png"
MEDIA_TYPE = "image/png"
PREVIEW = "png"
ORDER = 20
DRAWS_ROWS = True
OPTIONS = PICTURE

SCALE = 2  # dots for a pixel of a screen
PER_INCH = 300  # dots on paper
MOST_DOTS = 20_000_000  # of a picture: memory and time grow with them, and nothing ends the work of vl-convert
HEADER = 8 + 25  # bytes: the signature and the first chunk, IHDR
POINT = 72 / 96  # vl-convert counts a pixel of the SVG, of which 96 are an inch, as a point


def export(scene: Scene, view: View) -> bytes:
    """The view's drawing after its step: twice its size on a screen, or PER_INCH dots for an inch of paper."""
    picture, _, description = drawn(scene, view)
    return document(picture, view.palette, scene.execution.scenario.headline, description)


def document(picture: Picture, palette: Mapping[str, str], title: str, description: str) -> bytes:
    """A picture as PNG. Raises InputError beyond MOST_DOTS."""
    check_dots(picture)
    written = svg.document(picture, palette, title, description)
    if picture.unit == "px":
        return _noted(vl_convert.svg_to_png(written, scale=SCALE))
    return _noted(vl_convert.svg_to_png(written, scale=POINT, ppi=PER_INCH))


def _noted(png: bytes) -> bytes:
    """The PNG with its metadata: a tEXt chunk for each text (ISO/IEC 15948, 11.3.4.3), behind the header."""
    texts = {"Software": MADE_WITH, "Copyright": OWNERSHIP}
    chunks = [b"tEXt" + f"{key}\0{text}".encode("latin-1") for key, text in texts.items()]
    framed = [(len(own) - 4).to_bytes(4) + own + zlib.crc32(own).to_bytes(4) for own in chunks]
    return png[:HEADER] + b"".join(framed) + png[HEADER:]


def check_dots(picture: Picture) -> None:
    """Raises InputError if a picture has more dots than MOST_DOTS."""
    dots = SCALE if picture.unit == "px" else PER_INCH / POINTS["in"]
    wide, high = round(picture.width * dots), round(picture.height * dots)
    if wide * high > MOST_DOTS:
        raise InputError(
            f"a PNG holds at most {MOST_DOTS:,} dots, and this picture has {wide:,} x {high:,} dots; "
            "make it narrower or its letters smaller, or use SVG or PDF"
        )
