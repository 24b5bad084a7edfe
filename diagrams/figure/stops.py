"""The stops of the space-time diagram: stripes beside a line for a channel, on a line for a process.

The stripes of a blocked channel lie beside the line of its receiver, on the side of its sender. Those of a full channel
lie beside the line of its sender, which stands still, on the side of its receiver. Stripes grow with the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from diagrams.figure import icons
from diagrams.figure.canvas import Canvas, Point, plain
from diagrams.figure.labels import Labels, Spot
from diagrams.figure.sign import ALWAYS, Sign
from diagrams.scene.composition import Scene
from diagrams.scene.elements import Interval, Span
from diagrams.shapes import theme
from sim.core.model import BLOCKED, CRASH, DOWN, FROZEN, FULL, LEAVE, PAUSED, SLOW

BESIDE, APART = 0.15, 0.1  # lanes from a line to the first stripes beside it, and to the next ones on that side
MOST_BESIDE = 4  # stripes on one side of a line; more lie on each other
LETTERS = 12
SHARES = (0.5, 0.3, 0.7, 0.15, 0.85)  # of an interval: the places at which its duration may be written
ON_A_LINE = 6  # the cost of a small text that a process line strikes through, besides that of any text
MOST_LISTED = 12  # intervals with their durations beside them
CHANNEL, PROCESS, FILLED = "blocked channel", "paused process", "full channel"
CRASHED, SEVERED, ABSENT = "process that is down", "severed channel", "process that is not there"
SLOWED, ICED = "slow process", "frozen process"


class Look(NamedTuple):
    """The look of stripes: their width in pixels, their opacity, and the lengths of a stripe and of a gap."""

    width: float
    opacity: float
    stripes: str


STRIPES = "2px,2px"
# By kind of stop, its sign and its look: beside a line, or on it, where arrows end.
LOOKS = {
    BLOCKED: (CHANNEL, Look(7, 0.8, STRIPES)),
    PAUSED: (PROCESS, Look(13, 0.3, STRIPES)),
    FULL: (FILLED, Look(7, 0.8, "6px,3px")),
    CRASH: (CRASHED, Look(5, 1.0, "7px,5px")),
    LEAVE: (ABSENT, Look(5, 1.0, "16px,3px")),
    FROZEN: (ICED, Look(13, 0.3, "13px,3px")),
    SLOW: (SLOWED, Look(9, 0.35, "1px,5px")),
    DOWN: (SEVERED, Look(4, 0.9, "2px,6px")),
}
GAP = "@paper"  # the colour of the gaps in a broken line


class Bar(NamedTuple):
    """The stripes of an interval, from one point to another."""

    interval: Interval
    start: Point
    end: Point

    @property
    def points(self) -> list[Point | None]:
        """The ends, and a gap."""
        return [self.start, self.end, None]


def bars(canvas: Canvas) -> list[Bar]:
    """The stripes of all intervals on show."""
    low, high = canvas.scene.extent
    found: list[Bar] = []
    ends: dict[tuple[int, bool], list[float]] = {}  # by line and side, the ends of the stripes in each place
    for own in canvas.scene.intervals:
        lane: float = own.lane
        start, end = max(own.start, low), min(high if own.end is None else own.end, high)
        if own.beside is not None:
            is_before = own.beside < own.lane
            places = ends.setdefault((own.lane, is_before), [])
            place = next((number for number, until in enumerate(places) if until <= start), len(places))
            places[place : place + 1] = [end]
            aside = BESIDE + APART * (place % MOST_BESIDE)
            lane += -aside if is_before else aside
        if start < end:
            found.append(Bar(own, (lane, start), (lane, end)))
    return found


def stops(canvas: Canvas) -> None:
    """Draw the stripes of all intervals."""
    for rank, snapshot in _snapshots(canvas):
        for kind, (sign, look) in LOOKS.items():
            own = [bar for bar in bars(canvas) if (bar.interval.snapshot, bar.interval.kind) == (snapshot, kind)]
            colour = GAP if kind in (CRASH, LEAVE) else _colour(rank, snapshot)
            _draw(canvas, own, sign, look, colour, canvas.of(snapshot))


def _colour(rank: int, snapshot: str | None) -> str:
    """The colour of a stop for a snapshot; a stop for no snapshot, as at a full channel, is in ink."""
    return "@ink" if snapshot is None else theme.snapshot_colour(rank)


def _snapshots(canvas: Canvas) -> Iterator[tuple[int, str | None]]:
    for name in dict.fromkeys(own.snapshot for own in canvas.scene.intervals):
        yield canvas.scene.rank_of(name), name


def _draw(canvas: Canvas, own: Sequence[Bar], sign: str, look: Look, colour: str, meta: dict[str, Any]) -> None:
    """Draw the bars of one look: growing while their intervals last, of full length afterwards."""
    width = look.width * max(canvas.scale, 0.5)
    line = {"color": f"{colour}/{look.opacity:g}", "width": width, "dash": look.stripes}
    growing: list[Span] = [(bar.interval.step, bar.interval.until) for bar in own]
    ways = [[bar.start[1], bar.end[1], 0.0] for bar in own]
    canvas.add([bar.points for bar in own], growing, sign, mode="lines", line=line, meta={**meta, "grow": ways})
    ended = [bar for bar in own if bar.interval.until is not None]
    texts = [text for bar in ended for text in (plain(bar.interval.text), plain(bar.interval.text), None)]
    there: list[Span] = [(bar.interval.until or 0, None) for bar in ended]
    hover: dict[str, Any] = {"text": texts, "hoverinfo": "text"}
    canvas.add([bar.points for bar in ended], there, sign, mode="lines", line=line, meta=meta, **hover)


def avoid_stops(canvas: Canvas, labels: Labels) -> None:
    """Keep texts off the stripes."""
    for bar in bars(canvas):
        labels.avoid_line([bar.start, bar.end], 6)


def durations(canvas: Canvas, labels: Labels) -> None:
    """Write the duration of each interval beside it, once it has ended."""
    ended = [bar for bar in bars(canvas) if bar.interval.until is not None and bar.interval.lasting]
    for lane in range(len(canvas.scene.lanes)):
        labels.avoid_line([(lane, edge) for edge in canvas.scene.extent], ON_A_LINE)
    size = canvas.letters(LETTERS)
    for rank, snapshot in _snapshots(canvas) if len(ended) <= MOST_LISTED else ():
        own = [bar for bar in ended if bar.interval.snapshot == snapshot]
        placed = [
            (bar, labels.place(bar.interval.lasting, size, _spots(canvas, bar), [], is_spare=True)) for bar in own
        ]
        seen = [(bar, spot) for bar, spot in placed if spot is not None]
        font = {"color": _colour(rank, snapshot), "size": size}
        hover = [plain(bar.interval.text) for bar, _ in seen]
        canvas.add(
            [[spot.at] for _, spot in seen], [(bar.interval.until or 0, None) for bar, _ in seen], "label", mode="text",
            text=[plain(bar.interval.lasting) for bar, _ in seen], textposition=[spot.side for _, spot in seen],
            textfont=font, hovertext=hover, hoverinfo="text", cliponaxis=not canvas.scene.is_whole,
            meta=canvas.of(snapshot),
        )  # fmt: skip


def _spots(canvas: Canvas, bar: Bar) -> list[Spot]:
    """The spots along the stripes, on the side away from their line first."""
    outer, inner = ("left", "right") if canvas.down else ("top", "bottom")
    if bar.interval.beside is not None and bar.interval.beside > bar.interval.lane:
        outer, inner = inner, outer
    lanes = canvas.scene.layout.places[-1] + 2 * canvas.room.beyond
    _, look = LOOKS[bar.interval.kind]
    off = look.width / 2 * lanes / (canvas.room.width if canvas.down else canvas.room.height)  # in lanes
    spots = []
    for side in (outer, inner):
        lane = bar.start[0] + (-off if side in ("left", "top") else off)
        name = f"middle {side}" if canvas.down else f"{side} center"
        spots += [Spot((lane, bar.start[1] + (bar.end[1] - bar.start[1]) * share), name) for share in SHARES]
    return spots


def stands_still(kind: str) -> Callable[[Scene], bool]:
    """A test whether a run has a stop of this kind."""
    return lambda scene: any(own.kind == kind for own in scene.whole_run.intervals)


STOP_SIGNS = (
    Sign(
        "blocked", "blocked channel",
        "Stripes beside a line: the process takes nothing from the channel on that side. Messages on it wait.",
        icons.icon(28, icons.level(28, f"{icons.SNAPSHOT}/0.8", 7, 2, 2)), of_snapshots=True, as_drawn=True,
        is_in=stands_still(BLOCKED), explains=(CHANNEL,),
    ),
    Sign(
        "paused", "paused process",
        "Stripes on a line: the process pauses. Until it goes on, it only takes in messages.",
        icons.icon(28, icons.level(28, "@line", 2), icons.level(28, f"{icons.SNAPSHOT}/0.4", 13, 2, 2)),
        of_snapshots=True,
        is_in=stands_still(PAUSED), explains=(PROCESS,),
    ),
    Sign(
        "full", "full channel",
        "Long stripes beside a line: the channel on that side is full. The process stands still until it has room.",
        icons.icon(28, icons.level(28, "@ink/0.8", 7, 6, 3)), as_drawn=True, drawn=ALWAYS,
        is_in=stands_still(FULL), explains=(FILLED,),
    ),
    Sign(
        "down", "process down",
        "A broken line: the process is down. It does nothing, and messages to it are lost.",
        icons.icon(28, icons.level(28, "@line", 2), icons.level(28, "@paper", 5, 7, 5)), drawn=ALWAYS,
        is_in=stands_still(CRASH), explains=(CRASHED,),
    ),
    Sign(
        "frozen", "frozen process",
        "Long blocks on a line: the process is frozen. It does nothing and loses nothing; messages to it wait.",
        icons.icon(28, icons.level(28, "@line", 2), icons.level(28, "@ink/0.3", 13, 7, 3)), drawn=ALWAYS,
        is_in=stands_still(FROZEN), explains=(ICED,),
    ),
    Sign(
        "absent", "absent process",
        "A line with long gaps: the process is not in the system. Messages to it are lost.",
        icons.icon(28, icons.level(28, "@line", 2), icons.level(28, "@paper", 5, 16, 3)), drawn=ALWAYS,
        is_in=stands_still(LEAVE), explains=(ABSENT,),
    ),
    Sign(
        "slow", "slow process",
        "Fine strokes across a line: the process is slow. Its messages and its turns take longer.",
        icons.icon(28, icons.level(28, "@line", 2), icons.level(28, "@ink/0.35", 9, 1, 5)), drawn=ALWAYS,
        is_in=stands_still(SLOW), explains=(SLOWED,),
    ),
    Sign(
        "severed", "severed channel",
        "Dots beside a line: the channel on that side is severed. Messages on it wait until it is mended.",
        icons.icon(28, icons.level(28, "@ink/0.9", 4, 2, 6)), as_drawn=True, drawn=ALWAYS,
        is_in=stands_still(DOWN), explains=(SEVERED,),
    ),
)  # fmt: skip
