"""Scene -> TikZ, of any step: a tikzpicture for a paper to input, as wide as it says, or a document of its own.

It needs LaTeX's base packages and TikZ with arrows.meta (Debian: texlive-latex-base, texlive-pictures); plain pdflatex
compiles it. Every named point (panels/nodes.py) is a node of that name. All signs at that point refer to it, so an
author who moves a node moves its arrows. Every look is a style; an author's own style for the same sign, such as
cut/message, comes after it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from diagrams.drawing.frame import Picture
from diagrams.panels.nodes import START, node_name
from diagrams.scene.composition import Scene
from diagrams.scene.export_options import FONT_SIZE, PICTURE, WIDTH, Option
from diagrams.scene.view import View
from diagrams.shapes.clipping import clipped
from diagrams.shapes.ownership import NOTE
from diagrams.shapes.primitives import HALF_WIDTH, Area, Arrows, Disc, Line, Path, Pixel, Primitive, Text
from diagrams.still.latex import latex_caption, typeset
from diagrams.still.pictures import drawn
from sim.core.errors import InputError

TITLE = "TikZ picture (LaTeX)"
FOR = "For a paper in LaTeX: \\input it; it has the paper's own fonts, and every part of it can be changed."
SUFFIX = ".tex"
MEDIA_TYPE = "application/x-tex"
PREVIEW = "svg text"
ORDER = 50
DRAWS_ROWS = True

COLUMN = "80mm"  # the default width; a column of LaTeX's own article is 80.6 mm wide, and its page 165 mm
_OWN = {
    WIDTH: replace(
        WIDTH, default=COLUMN, help=f"{WIDTH.help.partition(' (')[0]} (default: {COLUMN})",
        choices=((COLUMN, "one column"), ("84mm", "a wider one"), ("165mm", "two columns")),
    ),
    FONT_SIZE: replace(FONT_SIZE, help=FONT_SIZE.help.replace("170mm", COLUMN)),
}  # fmt: skip
STANDALONE = Option(
    "standalone", "As a document of its own", "a complete document, not a tikzpicture to input", "flag", default=False
)  # fmt: skip
CAPTION = Option("caption", "With a caption", "the picture in words, as a caption below it", "flag", default=False)
OPTIONS = (*(_OWN.get(option, option) for option in PICTURE), STANDALONE, CAPTION)

MOST_LINES = 8_000  # pdflatex's memory, 5 million words, holds 8,100 and not 10,800
BEYOND = 200.0  # points beyond a clipped picture in which something is drawn: TeX's dimensions end at 16,383
NEAR = 40.0  # points at most from an event to its name
ANCHORS = {"start": "base west", "middle": "base", "end": "base east"}
FONTS = {"": "", "bold": r"\bfseries", "italic": r"\slshape"}

ABOUT = r"""%% %(title)s
%% %(note)s
%% %(width)s mm wide; for another width export it again, with --width 165mm or on the page.
%% In the preamble: \usepackage{tikz} \usetikzlibrary{arrows.meta}
%% Before it, \tikzset{cut/message/.style={blue}} changes all messages, and so it is for each sign below;
%% \definecolor{cutband}{HTML}{CCCCCC} changes a colour, \tikzset{cut/picture/.style={node font=\rmfamily}} the font.
"""
HEAD = r"""\documentclass{article}
\usepackage[paperwidth=%(width)sbp,paperheight=%(height)sbp,margin=0bp,noheadfoot]{geometry}
\usepackage{fix-cm}
\usepackage{tikz}
\usetikzlibrary{arrows.meta}
\pagestyle{empty}
\begin{document}
\noindent
"""
TAIL = "\\end{document}\n"
BEGIN = r"\begin{tikzpicture}[x=1bp,y=-1bp,line join=round,node font=\sffamily,cut/picture/.try]"
END = r"\end{tikzpicture}%"


def export(scene: Scene, view: View) -> bytes:
    """The view's drawing after its step (ASCII).

    Raises InputError if TeX's memory would not hold the picture, and for a caption in a document of its own.
    """
    if STANDALONE.of(view) and CAPTION.of(view):
        raise InputError("--caption belongs to a picture in a paper; leave out --standalone, or give it no caption")
    picture, caption, _ = drawn(scene, replace(view, options={WIDTH.name: COLUMN, **view.options}))
    lines = list(_Writer(picture, view.palette).written())
    if len(lines) > MOST_LINES:
        raise InputError(
            f"TeX's memory holds a picture of at most {MOST_LINES} lines, and these are {len(lines)}; "
            "export it as pdf, or a run with fewer messages"
        )
    if CAPTION.of(view):
        lines.append(latex_caption(caption))
    title = " ".join(scene.execution.scenario.headline.encode("ascii", "replace").decode().split())
    size = {"width": _number(picture.width), "height": _number(picture.height)}
    whole = (
        ABOUT % {"title": title, "note": NOTE, "width": _number(picture.width / 72 * 25.4)} + "\n".join(lines) + "\n"
    )
    return (HEAD % size + whole + TAIL if STANDALONE.of(view) else whole).encode("ascii")


class _Writer:
    """A writer of a picture: the colours, looks and nodes that its shapes need, and then the shapes."""

    def __init__(self, picture: Picture, palette: Mapping[str, str]) -> None:
        self.picture, self.palette = picture, palette
        self.name_at = {_rounded(at): name for name, at in reversed(list(picture.nodes.items()))}
        self.drawn: dict[str, Pixel] = {}  # nodes to which a shape refers
        self.bordered: set[str] = set()  # nodes with a shape so far
        self.looks: dict[tuple[str, str], str] = {}  # names of looks, by sign and style
        self.styles: list[str] = []
        self.colours = {"paper"}

    def written(self) -> Iterator[str]:
        """Yield the lines of the tikzpicture, which defines everything locally."""
        shapes = [*self._inside(), *(line for part in self.picture.around for line in self._shape(part))]
        box = f"(0,0) rectangle ({_number(self.picture.width)},{_number(self.picture.height)})"
        yield BEGIN
        for name in sorted(self.colours):
            yield rf"\providecolor{{cut{name}}}{{HTML}}{{{self.palette[name][1:].upper()}}}"
        yield from (r"\tikzset{", *self.styles, "}")
        yield rf"\path[fill=cutpaper,cut/paper/.try] {box};"
        yield rf"\useasboundingbox {box};"
        yield from (rf"\coordinate ({name}) at {_at(point)};" for name, point in self.drawn.items())
        yield from shapes
        yield END

    def _inside(self) -> Iterator[str]:
        clip = self.picture.clip
        if clip is not None:
            yield r"\begin{scope}"
            yield rf"\clip {_at((clip.left, clip.top))} rectangle {_at((clip.right, clip.bottom))};"
        for part in self.picture.inside:
            for near in clipped(part, clip.wider(BEYOND)) if clip else [part]:
                yield from self._shape(near)
        if clip is not None:
            yield r"\end{scope}"

    def _shape(self, part: Primitive) -> Iterator[str]:
        match part:
            case Line():
                look = self._look(part.sign or "line", _rank(part.colour), self._stroked(part))
                yield from (rf"\draw[{look}] {self._path(stroke, part.curved)};" for stroke in part.strokes)
            case Arrows():
                ends = part.ends or [tip for _, tip in part.ways]
                yield from (self._arrow(part, way, end) for way, end in zip(part.ways, ends, strict=True))
            case Area():
                look = self._look(part.sign or "area", _rank(part.fill or part.outline), self._filled(part))
                yield from (rf"\path[{look}{self._polygon(polygon, part.curved)};" for polygon in part.polygons)
            case Disc():
                yield self._disc(part)
            case Text():
                yield self._text(part)

    def _arrow(self, part: Arrows, way: tuple[Pixel, Pixel], end: Pixel) -> str:
        """An arrow to the node at its end, which it does not touch; an arrow without a shaft is a triangle."""
        start, tip = way
        if part.shaft(way) is None:
            alone = Area((part.corners(way),), part.fill, part.colour, part.outline, sign=f"{part.sign} head")
            return next(self._shape(alone))
        long, wide = part.head + part.outline, 2 * HALF_WIDTH * part.head + part.outline  # half of it lies outside
        size = f"length={_number(long)}bp,width={_number(wide)}bp,line width={_number(part.outline)}bp"
        fill = f",{self._paint('fill', part.fill)}" if part.fill != part.colour else ""
        head = f"-{{Triangle[{size}{fill}]}}"
        look = self._look(part.sign or "arrow", _rank(part.colour), f"{self._stroked(part)},{head}")
        if _rounded(end) not in self.name_at:
            return rf"\draw[{look}] {self._place(start)} -- {_at(tip)};"
        short = f",shorten >={_number(math.dist(tip, end))}bp" if tip != end else ""
        return rf"\draw[{look}{short}] {self._place(start)} -- {self._place(end)};"

    def _disc(self, disc: Disc) -> str:
        """A disc as a node, which gets its name unless it is a ring or has been drawn before."""
        size = f"circle,inner sep=0bp,outer sep=0bp,minimum size={_number(2 * disc.radius)}bp"
        look = self._look(disc.sign or "disc", _rank(disc.fill or disc.outline), f"{size},{self._filled(disc)}")
        place, name = self._place(disc.centre), self.name_at.get(_rounded(disc.centre), "")
        if not name or not disc.fill or name in self.bordered:
            return rf"\node[{look}] at {place} {{}};"
        self.bordered.add(name)
        return rf"\node[{look}] ({name}) at {place} {{}};"

    def _text(self, text: Text) -> str:
        size = _number(text.size)
        font = rf"font=\fontsize{{{size}pt}}{{{size}pt}}\selectfont{FONTS[text.style]}"
        ground = "inner sep=0.6bp,fill=cutpaper,fill opacity=0.7,text opacity=1"
        sign = text.sign if text.sign in ("label", "process") else f"{text.sign} label".strip()
        look = self._look(sign, text.style, f"{self._paint('text', text.colour)},{font},{ground}")
        return rf"\node[{look},anchor={ANCHORS[text.anchor]}] at {self._beside(text)} {{{typeset(text.letters)}}};"

    def _beside(self, text: Text) -> str:
        """The place of a text; the name of an event or a process is beside its node."""
        name = node_name(text.letters) + (f"-{START}" if text.sign == "process" else "")
        node = self.picture.nodes.get(name) if text.sign in ("label", "process") else None
        if node is None or math.dist(node, text.at) > NEAR:
            return _at(text.at)
        self.drawn[name] = node
        return f"([shift={{{_at((text.at[0] - node[0], text.at[1] - node[1]))}}}]{name})"

    def _path(self, points: Path, curved: bool = False) -> str:
        if not curved:
            return " -- ".join(map(self._place, points))
        told = self._place(points[0])
        for place in range(1, len(points), 3):
            start, one, other, end = points[place - 1 : place + 3]
            is_straight = start == one and other == end
            bend = f"controls +{_at(_from(start, one))} and +{_at(_from(end, other))}"
            told += f" {'--' if is_straight else f'.. {bend} ..'} {self._place(end)}"
        return told

    def _polygon(self, polygon: Path, curved: bool) -> str:
        """The end of the options of a polygon, and its path; the polygon of a symbol is relative to its node."""
        middle = tuple((min(side) + max(side)) / 2 for side in zip(*polygon, strict=True))
        name = self.name_at.get(_rounded((middle[0], middle[1])))
        if name is None or curved:
            return f"] {self._path(polygon, curved)} -- cycle"
        self.drawn[name] = (middle[0], middle[1])
        corners = " -- ".join(_at(_from(self.drawn[name], corner)) for corner in polygon)
        return f",shift={{({name})}}] {corners} -- cycle"

    def _place(self, point: Pixel) -> str:
        """A point of a path: its node, else its numbers."""
        name = self.name_at.get(_rounded(point))
        if name is None:
            return _at(point)
        self.drawn[name] = point
        return f"({name}.center)" if name in self.bordered else f"({name})"

    def _look(self, sign: str, kind: str, style: str) -> str:
        """The name of a look. An author's styles come after it: those for the sign, and for this kind of it."""
        if (sign, style) not in self.looks:
            own = [sign, f"{sign} {kind}"] if kind else [sign]
            count = sum(known == own[-1] or known.startswith(f"{own[-1]} look ") for known in self.looks.values())
            name = f"{own[-1]} look {count + 1}" if count else own[-1]
            self.looks[sign, style] = name
            self.styles.append(f"  look/{name}/.style={{{style},{','.join(f'cut/{hook}/.try' for hook in own)}}},")
        return f"look/{self.looks[sign, style]}"

    def _stroked(self, part: Line | Arrows) -> str:
        dash = " ".join(f"{'off' if index % 2 else 'on'} {_number(on)}bp" for index, on in enumerate(part.dash))
        pattern = f",dash pattern={dash}" if dash else ""
        return f"{self._paint('draw', part.colour)},line width={_number(part.width)}bp{pattern}"

    def _filled(self, shape: Area | Disc) -> str:
        fill = [self._paint("fill", shape.fill)] if shape.fill else []
        outline = [self._paint("draw", shape.outline), f"line width={_number(shape.width)}bp"] if shape.width else []
        return ",".join(fill + outline)

    def _paint(self, use: str, token: str) -> str:
        name, _, opacity = token[1:].partition("/")
        self.colours.add(name)
        return f"{use}=cut{name}" + (f",{use} opacity={opacity}" if opacity else "")


def _rank(token: str) -> str:
    """The name of the colour of a process (p0) or a snapshot (s0); "" for another colour."""
    name = token[1:].partition("/")[0]
    return name if re.fullmatch("[ps][0-9]", name) else ""


def _rounded(point: Pixel) -> Pixel:
    return round(point[0], 2), round(point[1], 2)


def _from(start: Pixel, end: Pixel) -> Pixel:
    """The way from one point to another."""
    return end[0] - start[0], end[1] - start[1]


def _at(point: Pixel) -> str:
    return f"({_number(point[0])},{_number(point[1])})"


def _number(value: float) -> str:
    """A length, to a hundredth."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")
