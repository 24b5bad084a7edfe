"""Scene -> SVG, of any step: the primitives of a picture as elements. No browser, no scripts, no links."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

from diagrams.drawing.diagram import sketch
from diagrams.drawing.frame import Picture
from diagrams.scene.composition import Scene
from diagrams.scene.export_options import PICTURE
from diagrams.scene.view import View
from diagrams.shapes.ownership import NOTE
from diagrams.shapes.svg import Palette, escaped, written
from diagrams.still.pictures import drawn

TITLE = "SVG picture"
FOR = "For web pages, slides and papers: sharp at every size, and drawing programs can change it."
SUFFIX = ".svg"
MEDIA_TYPE = "image/svg+xml"
PREVIEW = "svg"
ORDER = 10
DRAWS_ROWS = True
OPTIONS = PICTURE

FONTS = "Liberation Sans, Arial, Helvetica, sans-serif"  # the first is built into vl-convert


def export(scene: Scene, view: View) -> bytes:
    """The view's drawing after its step as an SVG document in UTF-8."""
    picture, _, description = drawn(scene, view)
    return document(picture, view.palette, scene.execution.scenario.headline, description).encode("utf-8")


def thumbnail(scene: Scene, palette: Palette) -> str:
    """A small picture of the finished diagram, without text, on no background."""
    picture = sketch(scene)
    return _element(picture, palette, _inside(picture, palette))


def document(picture: Picture, palette: Palette, title: str = "", description: str = "") -> str:
    """A picture on paper: a title and a description for readers who cannot see it, and its metadata."""
    named = (("title", title), ("desc", description), ("metadata", NOTE))
    texts = [f"<{tag}>{escaped(text)}</{tag}>" for tag, text in named if text]
    paper = f'<rect width="{picture.width:g}" height="{picture.height:g}" fill="{palette["paper"]}"/>'
    around = [written(part, palette) for part in picture.around]
    return _element(picture, palette, [*texts, paper, *_inside(picture, palette), *around])


def _element(picture: Picture, palette: Palette, lines: Iterable[str]) -> str:
    wide, high = f"{picture.width:g}", f"{picture.height:g}"
    unit = "pt" if picture.unit == "pt" else ""
    size = f'viewBox="0 0 {wide} {high}" width="{wide}{unit}" height="{high}{unit}"'
    body = "\n".join(lines)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family={quoteattr(FONTS)}>\n{body}\n</svg>\n'


def _inside(picture: Picture, palette: Palette) -> list[str]:
    """The inside of a picture, as a nested <svg> in the same coordinates, which clips it."""
    parts = [written(part, palette) for part in picture.inside]
    if picture.clip is None:
        return parts
    left, top, width, height = picture.clip.left, picture.clip.top, picture.clip.width, picture.clip.height
    place = f'x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}"'
    place += f' viewBox="{left:g} {top:g} {width:g} {height:g}"'
    return [f"<svg {place}>", *parts, "</svg>"]
