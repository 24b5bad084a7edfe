"""Primitives as SVG elements: of pictures (export/svg.py) and of the legend's icons (panels/legend.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from diagrams.shapes.primitives import Area, Arrows, Disc, Line, Path, Primitive, Text

HALO = 0.22  # of the size of letters: the paper's colour around them
STYLES = {"": "", "bold": ' font-weight="bold"', "italic": ' font-style="italic"'}

Palette = Mapping[str, str]


def written(part: Primitive, palette: Palette) -> str:
    """A primitive as one element or two, in the colours of its tokens in `palette`."""
    match part:
        case Line():
            return _stroked(part, "".join(_path(stroke, part.curved) for stroke in part.strokes), palette)
        case Arrows():
            shafts = [shaft for way in part.ways if (shaft := part.shaft(way))]
            heads = Area(tuple(map(part.corners, part.ways)), part.fill, part.colour, part.outline)
            lines = _stroked(part, "".join(map(_path, shafts)), palette) if shafts else ""
            return lines + written(heads, palette)
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
    return f'<path d="{path}" fill="none" {stroke} stroke-linejoin="round"{dash}/>'


def _text(text: Text, palette: Palette) -> str:
    wide = f"{text.size * HALO:.2f}"
    halo = f' stroke="{palette["paper"]}" stroke-width="{wide}" stroke-linejoin="round" paint-order="stroke"'
    return (
        f'<text x="{text.at[0]:.1f}" y="{text.at[1]:.1f}" font-size="{text.size:.1f}" text-anchor="{text.anchor}" '
        f"{_paint('fill', text.colour, palette)}{halo if text.halo else ''}{STYLES[text.style]}>"
        f"{escaped(text.letters)}</text>"
    )


def _path(points: Path, curved: bool = False) -> str:
    told = [f"{x:.2f},{y:.2f}" for x, y in points]
    if not curved:
        return "M" + "L".join(told)
    parts = range(1, len(points), 3)
    return "M" + told[0] + "".join(_part(points[place - 1 : place + 3], told[place : place + 3]) for place in parts)


def _part(points: Path, told: Sequence[str]) -> str:
    """A cubic Bezier curve; a line if its control points are its ends."""
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


def escaped(text: str) -> str:
    """A text without control characters, with XML's own signs escaped."""
    return escape("".join(letter for letter in text if letter.isprintable()), {'"': "&quot;"})
