"""Scene -> TikZ, of any step: a complete LaTeX document that plain pdflatex compiles, the primitives as paths.

It needs LaTeX's base packages and TikZ (Debian: texlive-latex-base, texlive-pictures). A pixel is a point (bp).
Characters that TeX's own fonts lack are transliterated, or written as their numbers, such as [U+6F22].
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from diagrams.drawing import Picture
from diagrams.export_options import PICTURE
from diagrams.pictures import drawn
from diagrams.primitives import Area, Arrows, Disc, Line, Path, Primitive, Text
from diagrams.scene import Scene
from diagrams.view import View
from sim.core.errors import InputError

TITLE = "TikZ picture (LaTeX)"
FOR = "For a paper in LaTeX, whose letters it takes: text that you can change."
SUFFIX = ".tex"
MEDIA_TYPE = "application/x-tex"
PREVIEW = "text"
ORDER = 50
OPTIONS = PICTURE

HEAD = r"""\documentclass{article}
\usepackage[paperwidth=%(width)sbp,paperheight=%(height)sbp,margin=0bp,noheadfoot]{geometry}
\usepackage{fix-cm}
\usepackage{tikz}
%(colours)s
\newcommand\say[4]{\node[anchor=#1,inner sep=1bp,fill=paper,fill opacity=0.7,text opacity=1,#3] at (#2) {#4};}
\pagestyle{empty}
\begin{document}
\noindent\sffamily
\begin{tikzpicture}[x=1bp,y=-1bp,line join=round]
\fill[paper] (0,0) rectangle (%(width)s,%(height)s);
\useasboundingbox (0,0) rectangle (%(width)s,%(height)s);
"""
TAIL = r"""\end{tikzpicture}
\end{document}
"""
ANCHORS = {"start": "base west", "middle": "base", "end": "base east"}
MOST_LINES = 10_000  # pdflatex's memory, 5 million words, holds about 12,000 paths and texts
STYLES = {"": "", "bold": r"\bfseries", "italic": r"\slshape"}

_SIGNS = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\^{}", "~": r"\~{}", "<": "$<$", ">": "$>$", "|": "$|$", '"': "{''}", "'": "{'}", "`": "{`}", "-": "{-}",
    "‘": "{`}", "’": "{'}", "“": "{``}", "”": "{''}", "–": "{--}", "—": "{---}", "…": r"\ldots{}", "\u00a0": "~",
    "→": r"$\to$", "←": r"$\leftarrow$", "×": r"$\times$", "·": r"$\cdot$", "≤": r"$\leq$", "≥": r"$\geq$",
    "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ø": r"\o{}", "Ø": r"\O{}",
    "ł": r"\l{}", "Ł": r"\L{}", "ı": r"\i{}",
}  # fmt: skip
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c",
}  # fmt: skip


def export(scene: Scene, view: View) -> bytes:
    """The view's drawing after its step as a LaTeX document (ASCII).

    Raises InputError where TeX's memory would not hold the picture.
    """
    picture = drawn(scene, view).picture
    colours = "\n".join(rf"\definecolor{{{name}}}{{HTML}}{{{hue[1:].upper()}}}" for name, hue in view.palette.items())
    head = HEAD % {"width": f"{picture.width:g}", "height": f"{picture.height:g}", "colours": colours}
    lines = [*_inside(picture), *(line for part in picture.around for line in _written(part))]
    if len(lines) > MOST_LINES:
        raise InputError(
            f"TeX's memory holds a picture of at most {MOST_LINES} lines, and these are {len(lines)}: "
            "export it as pdf, or a run with fewer messages"
        )
    return (head + "\n".join(lines) + "\n" + TAIL).encode("ascii")


def _inside(picture: Picture) -> Iterator[str]:
    if picture.clip is not None:
        clip = picture.clip
        yield rf"\begin{{scope}}\clip ({clip.left:g},{clip.top:g}) rectangle ({clip.right:g},{clip.bottom:g});"
    for part in picture.inside:
        yield from _written(part)
    if picture.clip is not None:
        yield r"\end{scope}"


def _written(part: Primitive) -> Iterator[str]:
    match part:
        case Line():
            dash = "".join(f"{'off' if index % 2 else 'on'} {length:g}bp " for index, length in enumerate(part.dash))
            look = f"{_paint('draw', part.colour)},line width={part.width:.2f}bp"
            yield rf"\begin{{scope}}[{look}{f',dash pattern={dash.strip()}' if dash else ''}]"
            yield from (rf"\draw {_path(stroke, part.curved)};" for stroke in part.strokes)
            yield r"\end{scope}"
        case Arrows():
            shafts = tuple(shaft for way in part.ways if (shaft := part.shaft(way)))
            yield from _written(Line(shafts, part.colour, part.width, part.dash))
            yield from _written(Area(tuple(map(part.corners, part.ways)), part.fill, part.colour, part.outline))
        case Area():
            yield rf"\begin{{scope}}[{_filled(part)}]"
            yield from (rf"{_verb(part)} {_path(polygon, part.curved)}--cycle;" for polygon in part.polygons)
            yield r"\end{scope}"
        case Disc():
            x, y = part.centre
            yield rf"{_verb(part)}[{_filled(part)}] ({x:.1f},{y:.1f}) circle[radius={part.radius:.2f}];"
        case Text():
            font = rf"{_paint('text', part.colour)},font=\fontsize{{{part.size:.1f}bp}}{{{part.size:.1f}bp}}\selectfont"
            x, y = part.at
            letters = typeset(part.letters)
            yield rf"\say{{{ANCHORS[part.anchor]}}}{{{x:.1f},{y:.1f}}}{{{font}{STYLES[part.style]}}}{{{letters}}}"


def _path(points: Path, curved: bool = False) -> str:
    told = [f"({x:.1f},{y:.1f})" for x, y in points]
    if not curved:
        return "--".join(told)
    parts = (told[place : place + 3] for place in range(1, len(points), 3))
    return told[0] + "".join(f" .. controls {one} and {other} .. {end}" for one, other, end in parts)


def _verb(shape: Area | Disc) -> str:
    return r"\fill" if not shape.width else r"\filldraw" if shape.fill else r"\draw"


def _filled(shape: Area | Disc) -> str:
    fill = [_paint("fill", shape.fill)] if shape.fill else []
    outline = [_paint("draw", shape.outline), f"line width={shape.width:.2f}bp"] if shape.width else []
    return ",".join(fill + outline)


def _paint(use: str, token: str) -> str:
    name, _, opacity = token[1:].partition("/")
    return f"{use}={name}" + (f",{use} opacity={opacity}" if opacity else "")


def typeset(text: str) -> str:
    """`text` as LaTeX (ASCII) that compiles, whatever it is."""
    return "".join(map(_letter, unicodedata.normalize("NFC", text)))


def _letter(letter: str) -> str:
    if letter in _SIGNS:
        return _SIGNS[letter]
    if letter.isascii():
        return letter
    base, *marks = list(unicodedata.normalize("NFD", letter))
    if base.isascii() and base.isalpha() and all(mark in _ACCENTS for mark in marks):
        written = rf"\{base} " if base in "ij" else base
        for mark in marks:
            written = rf"\{_ACCENTS[mark]}{{{written}}}"
        return written
    alike = unicodedata.normalize("NFKD", letter)
    return "".join(map(_letter, alike)) if alike.isascii() else f"[U+{ord(letter):04X}]"
