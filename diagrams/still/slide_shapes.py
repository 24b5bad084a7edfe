"""Primitives and tables as the native shapes of a slide: DrawingML, the drawing language of Office Open XML (ECMA-376).

Lines and arrows are connectors, or freeforms where they bend; discs are ovals, areas freeforms; a text is a text box.
Lengths of a slide are in EMU, of which a pixel has 9525.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from diagrams.shapes.grid import PAD, Cell, Table
from diagrams.shapes.lettering import width_of
from diagrams.shapes.primitives import HALF_WIDTH, Area, Arrows, Box, Disc, Line, Path, Pixel, Primitive, Text
from diagrams.shapes.svg import HALO, Palette, escaped

EMU = 9525  # a pixel of 1/96 inch
FONT = "Arial"
NAMESPACES = (
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
)
TABLE = "http://schemas.openxmlformats.org/drawingml/2006/table"
NO_STYLE = "{2D5ABB26-0587-4C30-8999-92F81FD0307C}"  # of a table: no lines, no fill
FIRST_ID = 100  # of our shapes on a slide, whose title has a small one
ASCENT, LINE = 0.905, 1.15  # of Arial, in font sizes: from the top of a line to its base, and its height
MITER = '<a:miter lim="800000"/>'  # corners of shapes are sharp, those of lines round
SIZES = {"sm": 2, "med": 3, "lg": 5}  # of an arrow's head, in widths of its line
LEAST_WIDTH = 2 / 0.75  # pixels: thinner lines have the heads of such ones
LEFT_OF = {"start": 0.0, "middle": 0.5, "end": 1.0}  # the place of a text's point, in its widths
ALIGNED = {"start": "l", "middle": "ctr", "end": "r"}
STYLES = {"": "", "bold": ' b="1"', "italic": ' i="1"'}


class Shapes:
    """Writes the shapes of one slide in the colours of a palette; each has a number of its own."""

    def __init__(self, palette: Palette) -> None:
        self.palette = palette
        self.ids = count(FIRST_ID)

    def group(self, parts: Iterable[Primitive], box: Box, name: str, description: str) -> str:
        """All parts as one shape with a name, and a description for readers who cannot see it."""
        place, size = _place(box)
        inner = place.replace("a:off", "a:chOff") + size.replace("a:ext", "a:chExt")
        shapes = "".join(shape for part in parts for shape in self._written(part))
        return (
            f"<p:grpSp {NAMESPACES}><p:nvGrpSpPr>{self._named(name, description)}<p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>"
            f"<p:grpSpPr><a:xfrm>{place}{size}{inner}</a:xfrm></p:grpSpPr>{shapes}</p:grpSp>"
        )

    def table(self, table: Table, name: str) -> str:
        """A table that an author can edit."""
        columns = "".join(f'<a:gridCol w="{_emu(width)}"/>' for width in table.widths)
        rows = "".join(
            f'<a:tr h="{_emu(table.row)}">{"".join(self._cell(cell, table.size) for cell in row)}</a:tr>'
            for row in table.rows
        )
        place, size = _place(table.box)
        return (
            f"<p:graphicFrame {NAMESPACES}><p:nvGraphicFramePr>{self._named(name)}<p:cNvGraphicFramePr>"
            f'<a:graphicFrameLocks noGrp="1"/></p:cNvGraphicFramePr><p:nvPr/></p:nvGraphicFramePr>'
            f'<p:xfrm>{place}{size}</p:xfrm><a:graphic><a:graphicData uri="{TABLE}"><a:tbl>'
            f'<a:tblPr firstRow="1" firstCol="1"><a:tableStyleId>{NO_STYLE}</a:tableStyleId></a:tblPr>'
            f"<a:tblGrid>{columns}</a:tblGrid>{rows}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>"
        )

    def _cell(self, cell: Cell, size: float) -> str:
        rule = f'<a:lnB w="{EMU}">{self._fill("@line/0.5")}</a:lnB>'
        none = "".join(f'<a:ln{side} w="0"><a:noFill/></a:ln{side}>' for side in "LRT")
        margins = f'marL="{_emu(PAD)}" marR="0" marT="0" marB="0" anchor="ctr"'
        return (
            f"<a:tc><a:txBody><a:bodyPr/><a:lstStyle/>{self._paragraph(cell.text, size, cell.style, cell.colour)}"
            f"</a:txBody><a:tcPr {margins}>{none}{rule}{self._fill(cell.fill)}</a:tcPr></a:tc>"
        )

    def _written(self, part: Primitive) -> Iterator[str]:
        match part:
            case Line():
                outline = self._outline(part.colour, part.width, part.dash, join="<a:round/>")
                for stroke in part.strokes:
                    if len(stroke) == 2:
                        yield self._connector(stroke[0], stroke[1], outline, part.sign)
                    else:
                        yield self._freeform(stroke, part.curved, False, "<a:noFill/>" + outline, part.sign)
            case Arrows():
                outline = self._outline(part.colour, part.width, part.dash, _head(part))
                for start, tip in part.ways:
                    yield self._connector(start, tip, outline, part.sign)
            case Area():
                look = self._fill(part.fill) + self._outline(part.outline, part.width)
                for polygon in part.polygons:
                    yield self._freeform(polygon, part.curved, True, look, part.sign)
            case Disc():
                (x, y), radius = part.centre, part.radius
                look = self._fill(part.fill) + self._outline(part.outline, part.width)
                box = Box(x - radius, y - radius, x + radius, y + radius)
                yield self._shape(box, '<a:prstGeom prst="ellipse"><a:avLst/></a:prstGeom>' + look, part.sign)
            case Text():
                yield self._text(part)

    def _connector(self, start: Pixel, end: Pixel, outline: str, name: str) -> str:
        (x, y), (to_x, to_y) = start, end
        flips = (' flipH="1"' if to_x < x else "") + (' flipV="1"' if to_y < y else "")
        place, size = _place(Box(min(x, to_x), min(y, to_y), max(x, to_x), max(y, to_y)))
        return (
            f"<p:cxnSp><p:nvCxnSpPr>{self._named(name)}<p:cNvCxnSpPr/><p:nvPr/></p:nvCxnSpPr><p:spPr>"
            f'<a:xfrm{flips}>{place}{size}</a:xfrm><a:prstGeom prst="line"><a:avLst/></a:prstGeom>{outline}'
            f"</p:spPr></p:cxnSp>"
        )

    def _freeform(self, path: Path, is_curved: bool, is_closed: bool, look: str, name: str) -> str:
        box = Box(min(x for x, _ in path), min(y for _, y in path), max(x for x, _ in path), max(y for _, y in path))
        at = [f'<a:pt x="{_emu(x - box.left)}" y="{_emu(y - box.top)}"/>' for x, y in path]
        if is_curved:
            parts = ("".join(at[place : place + 3]) for place in range(1, len(at), 3))
            drawn = "".join(f"<a:cubicBezTo>{part}</a:cubicBezTo>" for part in parts)
        else:
            drawn = "".join(f"<a:lnTo>{point}</a:lnTo>" for point in at[1:])
        drawn = f"<a:moveTo>{at[0]}</a:moveTo>{drawn}{'<a:close/>' if is_closed else ''}"
        size = f'w="{_emu(box.width)}" h="{_emu(box.height)}"'
        geometry = (
            '<a:custGeom><a:avLst/><a:gdLst/><a:ahLst/><a:cxnLst/><a:rect l="0" t="0" r="r" b="b"/>'
            f"<a:pathLst><a:path {size}>{drawn}</a:path></a:pathLst></a:custGeom>"
        )
        return self._shape(box, geometry + look, name)

    def _shape(self, box: Box, look: str, name: str) -> str:
        place, size = _place(box)
        return (
            f"<p:sp><p:nvSpPr>{self._named(name)}<p:cNvSpPr/><p:nvPr/></p:nvSpPr>"
            f"<p:spPr><a:xfrm>{place}{size}</a:xfrm>{look}</p:spPr></p:sp>"
        )

    def _text(self, text: Text) -> str:
        width = width_of(text.letters, text.size)
        left, top = text.at[0] - LEFT_OF[text.anchor] * width, text.at[1] - ASCENT * text.size
        place, size = _place(Box(left, top, left + width, top + LINE * text.size))
        shape = '<a:prstGeom prst="rect"><a:avLst/></a:prstGeom><a:noFill/>'
        body = '<a:bodyPr wrap="none" lIns="0" tIns="0" rIns="0" bIns="0" anchor="t"><a:noAutofit/></a:bodyPr>'
        said = self._paragraph(text.letters, text.size, text.style, text.colour, text.anchor, text.halo)
        return (
            f'<p:sp><p:nvSpPr>{self._named(text.sign)}<p:cNvSpPr txBox="1"/><p:nvPr/></p:nvSpPr>'
            f"<p:spPr><a:xfrm>{place}{size}</a:xfrm>{shape}</p:spPr>"
            f"<p:txBody>{body}<a:lstStyle/>{said}</p:txBody></p:sp>"
        )

    def _paragraph(
        self, letters: str, size: float, style: str, colour: str, anchor: str = "start", halo: bool = False
    ) -> str:
        glow = f'<a:effectLst><a:glow rad="{_emu(HALO * size)}">{self._colour("@paper")}</a:glow></a:effectLst>'
        look = f'{self._fill(colour)}{glow if halo else ""}<a:latin typeface="{FONT}"/><a:cs typeface="{FONT}"/>'
        font = f'<a:rPr lang="en" sz="{points(size)}"{STYLES[style]} dirty="0">{look}</a:rPr>'
        return f'<a:p><a:pPr algn="{ALIGNED[anchor]}"/><a:r>{font}<a:t>{escaped(letters)}</a:t></a:r></a:p>'

    def _outline(
        self, token: str, width: float, dash: tuple[float, ...] = (), head: str = "", join: str = MITER
    ) -> str:
        if not token or not width:
            return "<a:ln><a:noFill/></a:ln>"
        pairs = zip(dash[::2], dash[1::2], strict=True)
        lengths = "".join(f'<a:ds d="{_share(on, width)}" sp="{_share(off, width)}"/>' for on, off in pairs)
        dashes = f"<a:custDash>{lengths}</a:custDash>" if dash else ""
        return f'<a:ln w="{_emu(width)}">{self._fill(token)}{dashes}{join}{head}</a:ln>'

    def _fill(self, token: str) -> str:
        return f"<a:solidFill>{self._colour(token)}</a:solidFill>" if token else "<a:noFill/>"

    def _colour(self, token: str) -> str:
        name, _, opacity = token[1:].partition("/")
        alpha = f'<a:alpha val="{round(float(opacity) * 100_000)}"/>' if opacity else ""
        return f'<a:srgbClr val="{self.palette[name][1:].upper()}">{alpha}</a:srgbClr>'

    def _named(self, name: str, description: str = "") -> str:
        number = next(self.ids)
        words = f' descr="{escaped(description)}"' if description else ""
        return f'<p:cNvPr id="{number}" name="{escaped(name or "line")}"{words}/>'


def points(size: float) -> int:
    """A size of letters in pixels as hundredths of a point."""
    return round(size * 75)


def _emu(length: float) -> int:
    return round(length * EMU)


def _place(box: Box) -> tuple[str, str]:
    """The place and the size of a box."""
    at = f'<a:off x="{_emu(box.left)}" y="{_emu(box.top)}"/>'
    return at, f'<a:ext cx="{_emu(box.width)}" cy="{_emu(box.height)}"/>'


def _share(length: float, width: float) -> int:
    """A part of a dash in thousandths of a percent of the line's width."""
    return round(length / width * 100_000)


def _head(arrows: Arrows) -> str:
    """The head at the end of an arrow, of the size that comes nearest."""
    width = max(arrows.width, LEAST_WIDTH)
    length, across = (_nearest(side / width) for side in (arrows.head, 2 * HALF_WIDTH * arrows.head))
    kind = "triangle" if arrows.fill == arrows.colour else "arrow"
    return f'<a:tailEnd type="{kind}" w="{across}" len="{length}"/>'


def _nearest(widths: float) -> str:
    return min(SIZES, key=lambda size: abs(SIZES[size] - widths))
