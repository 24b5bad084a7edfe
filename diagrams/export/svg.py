"""Scene -> SVG, of any step: the primitives of a picture as elements. No browser, no scripts, no links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

from diagrams.drawing import Picture, sketch
from diagrams.export_options import PICTURE
from diagrams.pictures import drawn
from diagrams.primitives import Area, Arrows, Disc, Line, Path, Primitive, Text
from diagrams.scene import Scene
from diagrams.view import View

TITLE = "SVG picture"
FOR = "For web pages, slides and papers: sharp at every size, and drawing programs can change it."
SUFFIX = ".svg"
MEDIA_TYPE = "image/svg+xml"
PREVIEW = "svg"
ORDER = 10
OPTIONS = PICTURE

FONTS = "Liberation Sans, Arial, Helvetica, sans-serif"  # the first is built into vl-convert
HALO = 0.22  # of the size of letters: the paper's colour around them
STYLES = {"": "", "bold": ' font-weight="bold"', "italic": ' font-style="italic"'}

Palette = dict[str, str]


def export(scene: Scene, view: View) -> bytes:
    """The view's drawing after its step as an SVG document in UTF-8."""
    picture, told = drawn(scene, view)
    return document(picture, view.palette, scene.execution.scenario.title, told).encode("utf-8")


def thumbnail(scene: Scene, palette: Palette) -> str:
    """A small picture of the finished diagram, without text, on no background."""
    picture = sketch(scene)
    return _element(picture, palette, _inside(picture, palette))


def document(picture: Picture, palette: Palette, title: str = "", description: str = "") -> str:
    """A picture on paper, with a title and a description for those who cannot see it."""
    told = [f"<{tag}>{_escaped(text)}</{tag}>" for tag, text in (("title", title), ("desc", description)) if text]
    paper = f'<rect width="{picture.width:g}" height="{picture.height:g}" fill="{palette["paper"]}"/>'
    around = [_written(part, palette) for part in picture.around]
    return _element(picture, palette, [*told, paper, *_inside(picture, palette), *around])


def _element(picture: Picture, palette: Palette, lines: Iterable[str]) -> str:
    wide, high = f"{picture.width:g}", f"{picture.height:g}"
    unit = "pt" if picture.unit == "pt" else ""
    size = f'viewBox="0 0 {wide} {high}" width="{wide}{unit}" height="{high}{unit}"'
    body = "\n".join(lines)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family={quoteattr(FONTS)}>\n{body}\n</svg>\n'


def _inside(picture: Picture, palette: Palette) -> list[str]:
    """The inside of a picture, as a nested <svg> in the same coordinates, which clips it."""
    parts = [_written(part, palette) for part in picture.inside]
    if picture.clip is None:
        return parts
    left, top, width, height = picture.clip.left, picture.clip.top, picture.clip.width, picture.clip.height
    place = f'x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}"'
    place += f' viewBox="{left:g} {top:g} {width:g} {height:g}"'
    return [f"<svg {place}>", *parts, "</svg>"]


def _written(part: Primitive, palette: Palette) -> str:
    match part:
        case Line():
            return _stroked(part, "".join(_path(stroke, part.curved) for stroke in part.strokes), palette)
        case Arrows():
            shafts = [shaft for way in part.ways if (shaft := part.shaft(way))]
            heads = Area(tuple(map(part.corners, part.ways)), part.fill, part.colour, part.outline)
            lines = _stroked(part, "".join(map(_path, shafts)), palette) if shafts else ""
            return lines + _written(heads, palette)
        case Area():
            outline = "".join(f"{_path(polygon, part.curved)}Z" for polygon in part.polygons)
            return f'<path d="{outline}" {_filled(part, palette)}/>'
        case Disc():
            (x, y), radius = part.centre, part.radius
            return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.2f}" {_filled(part, palette)}/>'
        case Text():
            return _text(part, palette)


def _stroked(part: Line | Arrows, path: str, palette: Palette) -> str:
    dash = f' stroke-dasharray="{" ".join(f"{length:g}" for length in part.dash)}"' if part.dash else ""
    stroke = f'{_paint("stroke", part.colour, palette)} stroke-width="{part.width:.2f}"'
    return f'<path d="{path}" fill="none" {stroke}{dash}/>'


def _text(text: Text, palette: Palette) -> str:
    wide = f"{text.size * HALO:.2f}"
    halo = f'stroke="{palette["paper"]}" stroke-width="{wide}" stroke-linejoin="round" paint-order="stroke"'
    return (
        f'<text x="{text.at[0]:.1f}" y="{text.at[1]:.1f}" font-size="{text.size:.1f}" text-anchor="{text.anchor}" '
        f"{_paint('fill', text.colour, palette)} {halo}{STYLES[text.style]}>{_escaped(text.letters)}</text>"
    )


def _path(points: Path, curved: bool = False) -> str:
    told = [f"{x:.2f},{y:.2f}" for x, y in points]
    if not curved:
        return "M" + "L".join(told)
    parts = range(1, len(points), 3)
    return "M" + told[0] + "".join(_part(points[place - 1 : place + 3], told[place : place + 3]) for place in parts)


def _part(points: Path, told: Sequence[str]) -> str:
    """A cubic Bezier curve; a line where its control points are its ends."""
    return f"L{told[2]}" if points[0] == points[1] and points[2] == points[3] else f"C{' '.join(told)}"


def _filled(shape: Area | Disc, palette: Palette) -> str:
    outline = f" {_paint('stroke', shape.outline, palette)} stroke-width={quoteattr(f'{shape.width:.2f}')}"
    return _paint("fill", shape.fill, palette) + (outline if shape.width else "")


def _paint(use: str, token: str, palette: Palette) -> str:
    """A colour as attributes, opacity apart: some programs do not know rgba()."""
    if not token:
        return f'{use}="none"'
    name, _, opacity = token[1:].partition("/")
    return f'{use}="{palette[name]}"' + (f' {use}-opacity="{opacity}"' if opacity else "")


def _escaped(text: str) -> str:
    return escape("".join(letter for letter in text if letter.isprintable()), {'"': "&quot;"})
