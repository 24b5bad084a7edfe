"""The legend of a still picture: the signs on show with their words, in rows below it.

A sign may have another look for each snapshot. Its entry then has the looks on show side by side, and the names of
their snapshots in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from diagrams.drawing.frame import Picture
from diagrams.drawing.sheet import Sheet
from diagrams.drawing.trace_shapes import dash_of
from diagrams.figure.icons import HIGH, arrow, disc, icon, level
from diagrams.figure.sign import ALWAYS, PROOF, RUN, Sign
from diagrams.panels.legend import signs_in
from diagrams.scene.composition import Scene
from diagrams.shapes import theme
from diagrams.shapes.lettering import cropped, width_of
from diagrams.shapes.primitives import Area, Arrows, Disc, Line, Primitive, Text, moved, scaled

LETTERS = 14.0  # pixels, on a screen
BESIDE = 0.4  # of the size of letters: between an icon and its word
APART = 1.3  # of the same: between two signs
ROW = 1.6  # of the same: the height of a row
MARGIN = 0.5  # of the same: around the legend
GAP = 5.0  # pixels of an icon: between the looks of two snapshots
RADIUS, DOT = 6.5, 3.0  # the same: of a symbol, and of the event or the cut in a ring
SHORTER = 0.6  # of the dashes of an arrow, in its icon
DASHES = tuple(map(dash_of, theme.SNAPSHOT_DASHES))
NOT_CONSISTENT = theme.SNAPSHOT_COLOURS  # the rank of the look of an inconsistent cut of any snapshot


def with_legend(picture: Picture, scenes: Sequence[Scene], drawn: str, sheet: Sheet) -> Picture:
    """The picture of one scene, or of several, with a legend below it. `drawn` is the kind of drawing, as Sign says."""
    kinds = (RUN, ALWAYS) if drawn == RUN else (drawn,)
    known = {tuple(snapshot.id for snapshot in scene.snapshots) for scene in scenes}
    names = [] if drawn == PROOF or len(known) > 1 or len(min(known)) < 2 else [*min(known)]
    parts = [part for part in (*picture.inside, *picture.around) if not isinstance(part, Text)]
    seen = {part.sign for part in parts}
    signs = [sign for sign in _signs(scenes) if sign.drawn in kinds and seen.intersection(sign.explains)]
    size = sheet.letters or LETTERS
    margin = MARGIN * size
    own = [_fitted(_as_seen(sign, parts, names), size, picture.width - 2 * margin) for sign in signs]
    rows = list(_rows(own, size, picture.width))
    top = picture.height + margin
    around = [part for number, row in enumerate(rows) for part in _row(row, size, top + ROW * size * number)]
    height = top + ROW * size * len(rows) + margin
    return replace(picture, height=height, around=(*picture.around, *around))


def _signs(scenes: Sequence[Scene]) -> Iterator[Sign]:
    """The signs of all scenes, each once; with the words of each algorithm if they differ."""
    found: dict[str, list[Sign]] = {}
    for scene in scenes:
        for sign in signs_in(scene):
            found.setdefault(sign.key, []).append(sign)
    for own in found.values():
        yield replace(own[0], label=" or ".join(dict.fromkeys(sign.label for sign in own)))


def _as_seen(sign: Sign, parts: Sequence[Primitive], names: Sequence[str]) -> Sign:
    """A sign with its looks in a picture and with the `names` of their snapshots (none: there is one at most)."""
    looks: dict[int, dict[type[Primitive], Primitive]] = {}
    for part in parts if sign.as_drawn else ():
        if part.sign in sign.explains:
            looks.setdefault(_rank(part), {}).setdefault(type(part), part)
    if not looks:
        return sign
    shapes: list[Primitive] = []
    width = sign.icon.width
    for number, (_, own) in enumerate(sorted(looks.items())):
        left = (width + GAP) * number
        shapes += [moved(shape, left, 0) for part in own.values() for shape in _look(part, width)]
    whole = icon((width + GAP) * len(looks) - GAP, *shapes)
    told = ", ".join(_name(rank, names) for rank in sorted(looks)) if names and max(looks) >= 0 else ""
    return replace(sign, icon=whole, label=f"{sign.label} ({told})" if told else sign.label)


def _rank(part: Primitive) -> int:
    """The rank of the snapshot of a primitive, by its dash or colour; -1 if it has none."""
    if isinstance(part, Arrows):
        return DASHES.index(part.dash) if part.dash in DASHES else -1
    token = part.fill or part.outline if isinstance(part, Area | Disc) else part.colour
    if token == theme.verdict_colour(False):
        return NOT_CONSISTENT
    ranks = [theme.snapshot_colour(rank) for rank in range(theme.SNAPSHOT_COLOURS)]
    return ranks.index(token) if token in ranks else -1


def _name(rank: int, names: Sequence[str]) -> str:
    """The name of the snapshot with a look; of several the first one."""
    if rank == NOT_CONSISTENT:
        return "not consistent"
    own = names[rank :: theme.SNAPSHOT_COLOURS]
    return own[0] + "…" * (len(own) > 1)


def _look(part: Primitive, width: float) -> Iterator[Primitive]:
    """A primitive as an icon of this width; a ring has a dot inside."""
    middle = (width / 2, HIGH / 2)
    match part:
        case Line():
            yield level(width, part.colour, part.width, *part.dash)
        case Arrows():
            yield arrow(part.colour, max(part.width, 2.0), *(length * SHORTER for length in part.dash), width=width - 1)
        case Disc():
            yield replace(part, centre=middle, radius=RADIUS)
        case Area():
            corners = part.polygons[0]
            x, y = ((min(side) + max(side)) / 2 for side in zip(*corners, strict=True))
            by = RADIUS / max(max(abs(across - x), abs(down - y)) for across, down in corners)
            at = tuple((middle[0] + (across - x) * by, middle[1] + (down - y) * by) for across, down in corners)
            yield replace(part, polygons=(at,))
    if isinstance(part, Area | Disc) and not part.fill:
        yield disc(middle[0], DOT, "@ink")


def _fitted(sign: Sign, size: float, room: float) -> Sign:
    """A sign whose word is cut to the room that a row has."""
    beside = sign.icon.width * size / HIGH + BESIDE * size
    return replace(sign, label=cropped(sign.label, size, room - beside))


def _width(sign: Sign, size: float) -> float:
    """The width of a sign with its word, and of the gap after it."""
    return sign.icon.width * size / HIGH + (BESIDE + APART) * size + width_of(sign.label, size)


def _rows(signs: Sequence[Sign], size: float, width: float) -> Iterator[list[Sign]]:
    """The signs in rows that are no wider than the picture."""
    row: list[Sign] = []
    for sign in signs:
        if row and sum(_width(own, size) for own in (*row, sign)) - APART * size > width - 2 * MARGIN * size:
            yield row
            row = []
        row.append(sign)
    if row:
        yield row


def _row(signs: Sequence[Sign], size: float, top: float) -> Iterator[Primitive]:
    """The icons and words of a row whose upper side is at `top`."""
    left, by = MARGIN * size, size / HIGH
    for sign in signs:
        for shape in sign.icon.shapes:
            yield replace(moved(scaled(shape, by), left, top + (ROW - 1) * size / 2), sign="legend")
        at = (left + sign.icon.width * by + BESIDE * size, top + ROW * size / 2 + 0.35 * size)
        yield Text(at, sign.label, "start", size, "@ink", sign="legend")
        left += _width(sign, size)
