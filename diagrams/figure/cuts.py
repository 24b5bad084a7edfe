"""The cuts of the space-time diagram: a snapshot's line with its past and future, and the cut that the user has chosen.

The page itself draws the user's cut over the diagram, since it moves (assets/explore/cut/).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import groupby, pairwise

from diagrams.figure import icons
from diagrams.figure.canvas import Canvas, Point, Trace, plain, write
from diagrams.figure.labels import Spot
from diagrams.figure.shafts import shaft
from diagrams.figure.sign import Sign, has
from diagrams.scene.composition import Scene
from diagrams.scene.elements import Cut, Span
from diagrams.shapes import theme
from diagrams.shapes.lettering import width_of
from sim.core.model import APP, RESTORE

CURVE = 24  # points of a cut's line between two lanes
MOST_CURVED = 30  # lanes at most: a cut between them is a curve
TINT, TINT_OF_SEVERAL = 0.13, 0.09  # opacities of a past
MOST_CROSSES = 12  # on orphan messages
OUTER, INNER = 13.0, 9.0  # pixels: how wide a double line is, and its inside
OFF_DOUBLE = 0.014  # of the time on show: how far before a double line its name is
NAME_SIZE = 16  # of the letters at the end of a cut
LEFT_OR_RIGHT = ("right", "left")
FILL: Trace = {"fill": "toself", "mode": "none"}


def line_of(scene: Scene, cut: Cut) -> list[Point] | None:
    """The line of a cut; None if it has no position on some lane."""
    positions = complete(cut)
    return None if positions is None else _line_through(scene, positions)


def _line_through(scene: Scene, positions: Sequence[float]) -> list[Point]:
    return curve(positions, straight=straight_at(scene, positions))


def bends(line: Sequence[Point]) -> list[int]:
    """The number of points in each curve or straight part of a cut's line, one after the other.

    A part ends where the next one begins. Between two lanes the line is a cubic Bezier curve (`_between`). Its control
    points lie a third and two thirds of the way across, beside its ends.
    """
    whole = [place for place, (lane, _) in enumerate(line) if lane == int(lane) or place in (0, len(line) - 1)]
    return [after - before for before, after in pairwise(whole)]


def curve(positions: Sequence[float], parts: int = CURVE, straight: Container[int] = ()) -> list[Point]:
    """A smooth line through one position per lane, half a lane beyond both ends; it never overshoots a position.

    From the lanes in `straight` to the next it is a straight line.
    """
    points: list[Point] = [(-0.5, positions[0])]
    parts = parts if len(positions) <= MOST_CURVED else 1
    for lane, (here, there) in enumerate(pairwise(positions)):
        for part in range(1 if lane in straight else parts):
            points.append((lane + part / parts, _between(here, there, part / parts)))
    return [*points, (float(len(positions) - 1), positions[-1]), (len(positions) - 0.5, positions[-1])]


def _between(here: float, there: float, share: float) -> float:
    """The curve's position at a share (0 to 1) of the way from one lane to the next."""
    return here + (there - here) * share * share * (3 - 2 * share)


def straight_at(scene: Scene, positions: Sequence[float]) -> set[int]:
    """The lanes from which a cut goes straight to the next lane.

    A curve would cross a message there whose two ends are on the same side of the cut.
    """
    found: set[int] = set()
    if len(positions) > MOST_CURVED:
        return found
    for arrow in scene.arrows:
        lane = min(arrow.source, arrow.target)
        is_near = abs(arrow.source - arrow.target) == 1 and lane + 1 < len(positions) and not arrow.stub
        if arrow.kind != APP or arrow.end is None or not is_near or lane in found:
            continue
        ends = (arrow.start, arrow.end) if arrow.source == lane else (arrow.end, arrow.start)
        side, other = ends[0] - positions[lane], ends[1] - positions[lane + 1]
        shares = (part / CURVE for part in range(1, CURVE))
        if side * other > 0 and any(
            (ends[0] + (ends[1] - ends[0]) * share - _between(positions[lane], positions[lane + 1], share)) * side < 0
            for share in shares
        ):
            found.add(lane)
    return found


def complete(cut: Cut) -> list[float] | None:
    """The positions of a cut; None if it has none on some lane."""
    positions = [position for position in cut.positions if position is not None]
    return positions if len(positions) == len(cut.positions) and cut.known is not None else None


def tints(canvas: Canvas) -> None:
    """The past and the future of a snapshot's cut; with several snapshots only their pasts, in their colours.

    They give way (`meta.unless_cut`) to a cut that the user holds: only one cut is tinted.
    """
    _, high = canvas.scene.extent
    own = () if canvas.scene.shown_cut else canvas.scene.cuts
    for cut in own:
        line = line_of(canvas.scene, cut)
        if line is None:
            continue
        show = [(cut.known or 0, cut.gone)]
        meta = {**canvas.of(cut.snapshot), "unless_cut": True}
        opacity = TINT if len(own) == 1 else TINT_OF_SEVERAL
        parts = bends(line)
        outline = {**meta, "bends": [1, *parts, 1]}
        tint = f"{theme.snapshot_colour(cut.rank)}/{opacity}"
        canvas.add([_past(canvas, line)], show, "past", fillcolor=tint, meta=outline, **FILL)
        if len(own) == 1:
            future = [(line[0][0], high), *line, (line[-1][0], high)]
            canvas.add([future], show, "future", fillcolor="@line/0.09", meta=outline, **FILL)
            back = [other.step for other in canvas.scene.back_to if other.snapshot == cut.snapshot]
            named: list[Span] = [(cut.known or 0, min(back, default=cut.gone))]
            found = names(canvas, cut, line)
            points, sides = [spot.at for spot, _ in found], [spot.side for spot, _ in found]
            texts = [f"<i>{word}</i>" for _, word in found]
            write(canvas, points, texts, sides, "@ink", NAME_SIZE, named * len(points), meta=meta)


def shown_past(canvas: Canvas) -> None:
    """The past of the cut that the user has chosen."""
    cut = canvas.scene.shown_cut
    if cut:
        tint = f"{theme.verdict_colour(cut.consistent)}/{TINT}"
        line = _line_through(canvas.scene, cut.positions)
        meta = {"bends": [1, *bends(line), 1]}
        canvas.add([_past(canvas, line)], sign="past", fillcolor=tint, meta=meta, **FILL)


def shown_messages(canvas: Canvas) -> None:
    """The messages in the channels at that cut, on the band of a recorded message, and the orphan messages, in red."""
    cut = canvas.scene.shown_cut
    if not cut:
        return
    for ids, sign, colour, width in (
        (cut.crossing, "band", "@band", 15), (cut.offending, "offending message", "@bad/0.6", 9)
    ):  # fmt: skip
        shafts = [shaft(canvas.scene, arrow) for arrow in canvas.scene.arrows if arrow.id in ids]
        canvas.add(shafts, sign=sign, mode="lines", line={"color": colour, "width": width * max(canvas.scale, 0.4)})


def shown_line(canvas: Canvas) -> None:
    """The line of that cut, and a cross on each orphan message."""
    cut = canvas.scene.shown_cut
    if not cut:
        return
    look = {"color": theme.verdict_colour(cut.consistent), "width": 4 * max(canvas.scale, 0.4)}
    if not cut.consistent:
        look["dash"] = "dash"
    line = _line_through(canvas.scene, cut.positions)
    canvas.add([line], sign="held cut", mode="lines", line=look, meta={"bends": bends(line)})
    ends = [shaft(canvas.scene, arrow) for arrow in canvas.scene.arrows if arrow.id in cut.offending]
    middles = [[((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)] for a, b, *_ in ends if a and b][:MOST_CROSSES]
    cross = {"symbol": "x-thin", "size": 14, "color": "@ink", "line": {"width": 4, "color": "@ink"}}
    canvas.add(middles, sign="offending message", mode="markers", marker=cross)


def lines_back_to(canvas: Canvas) -> None:
    """The line that each recovery goes back to: a double one, in which the dashed line of the snapshot lies.

    It joins the processes that are restored, and gives way to a cut that the user holds.
    """
    for own in () if canvas.scene.shown_cut else canvas.scene.back_to:
        colour = "@ink" if own.snapshot is None else theme.snapshot_colour(canvas.scene.rank_of(own.snapshot))
        later = [other.step for other in canvas.scene.back_to if other.step > own.step]
        show: list[Span] = [(own.step, min(later, default=None))]
        meta = {**canvas.of(own.snapshot), "unless_cut": True}
        for line in parts_of(canvas.scene, own.positions):
            for token, width in ((colour, OUTER), ("@paper", INNER)):
                look = {"color": token, "width": width, "simplify": False}
                bent = {**meta, "bends": bends(line)}
                canvas.add([line], show, "line gone back to", mode="lines", line=look, meta=bent)


def parts_of(scene: Scene, positions: Sequence[float | None]) -> Iterator[list[Point]]:
    """The lines through neighbours that all have a position."""
    lanes = list(range(len(positions)))
    for is_there, group in groupby(lanes, key=lambda lane: positions[lane] is not None):
        own = list(group)
        if is_there:
            points = [position for position in positions[own[0] : own[-1] + 1] if position is not None]
            straight = straight_at(scene, points) if len(points) == len(positions) else ()
            yield [(lane + own[0], position) for lane, position in curve(points, straight=straight)]


def _past(canvas: Canvas, line: Sequence[Point]) -> list[Point]:
    """The outline of the past of a cut."""
    low, _ = canvas.scene.extent
    return [(line[0][0], low), *line, (line[-1][0], low)]


def names(canvas: Canvas, cut: Cut, line: Sequence[Point]) -> list[tuple[Spot, str]]:
    """The names at the end of a snapshot's cut: of its two sides, or of several snapshots its own, on the past's side.

    A recovery line always has its own name. At an edge of the plot, a side without room has no name, and the cut's own
    name is on the other side.
    """
    scene, down = canvas.scene, canvas.down
    low, high = scene.extent
    size = canvas.letters(NAME_SIZE)

    def takes(name: str) -> float:
        """The time that a name at the end of a cut covers."""
        share = size / canvas.room.height if down else width_of(name, size) / canvas.room.width
        return share * (high - low)

    lane, position = line[-1]
    if len(scene.snapshots) > 1 or cut.name != cut.snapshot:
        is_double = any(own.snapshot == cut.snapshot for own in scene.back_to)
        off = (high - low) * OFF_DOUBLE * is_double
        has_room = down or position - off - takes(cut.name) >= low
        return [
            (Spot((lane, position - off if has_room else position + off), f"top {LEFT_OR_RIGHT[has_room]}"), cut.name)
        ]
    room = (high - low) * 0.035
    sides = ("middle left", "middle left") if down else ("top left", "top right")
    found = []
    if position - room - takes("past") >= low:
        found.append((Spot((lane, position - room), sides[0]), "past"))
    if position + room + takes("future") <= high:
        found.append((Spot((lane, position + room), sides[1]), "future"))
    return found


def cuts(canvas: Canvas) -> None:
    """The cut of each snapshot as a dashed line, once every process has recorded.

    It gives way (`meta.unless_cut`) to a cut that the user holds: only one cut is on show.
    """
    for cut in () if canvas.scene.shown_cut else canvas.scene.cuts:
        line = line_of(canvas.scene, cut)
        if line is None:
            continue
        colour, dash = theme.cut_look(cut.rank, cut.consistent)
        look = {"color": colour, "width": 3.5 * max(canvas.scale, 0.4), "dash": dash}
        meta = {**canvas.of(cut.snapshot), "unless_cut": True}
        own = {**meta, "bends": bends(line)}
        show = [(cut.known or 0, cut.gone)]
        canvas.add([line], show, "cut", mode="lines", line=look, meta=own)
        if len(canvas.scene.snapshots) > 1:
            ((spot, name),) = names(canvas, cut, line)
            text = f"<b>{plain(name)}</b>" if canvas.down else f"<b>{plain(name)}</b>\u00a0"
            write(canvas, [spot.at], [text], spot.side, "@ink", NAME_SIZE, show, meta=meta)


BACK_TO_SIGNS = (
    Sign(
        "back-to", "restored state",
        "A double line joins the states to which the processes go back. All later events are abandoned.",
        icons.icon(28, icons.level(28, icons.SNAPSHOT, 12), icons.level(28, "@paper", 8)),
        as_drawn=True, is_in=has(RESTORE),
        explains=("line gone back to",),
    ),
)  # fmt: skip

CUT_SIGNS = (
    Sign(
        "cut", "cut",
        "The bold dashed line is the cut of the snapshot. The tinted side is recorded; the other side is its future.",
        icons.icon(28, icons.level(28, icons.SNAPSHOT, 3.4, 8, 4)), of_snapshots=True,
        as_drawn=True, is_in=lambda scene: scene.whole_run.words.algorithm.coordinated, explains=("cut",),
    ),
    Sign(
        "recovery-line", "recovery line",
        "The bold dashed line is the recovery line: the latest consistent set of checkpoints. Beyond all events of "
        "a process it means: the process keeps its present state.",
        icons.icon(28, icons.level(28, icons.SNAPSHOT, 3.4, 8, 4)), of_snapshots=True,
        as_drawn=True, is_in=lambda scene: not scene.whole_run.words.algorithm.coordinated, explains=("cut",),
    ),
)  # fmt: skip

SHOWN_CUT_SIGNS = (
    Sign(
        "held-cut", "chosen cut",
        "The line with handles is the cut that you hold. Its tinted side is inside. A dashed line is not consistent.",
        icons.icon(28, icons.level(28, "@good", 3.4), icons.disc(14, 5, "@good")),
        explains=("held cut",),
    ),
)  # fmt: skip
