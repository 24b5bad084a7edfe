"""Scene -> space-time diagram: a Plotly figure as plain lists and dicts, with colours as tokens.

Each trace holds things of one look; `meta.show` says at which steps each of its elements is seen
(`meta.stride` points per element), so that stepping is a matter of masking points. "down": time runs
down the page, as Kuper draws it; "right": from left to right, as Gupta does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from diagrams.figure.arrows import arrows, halos
from diagrams.figure.canvas import Canvas, Point, plain, write
from diagrams.figure.cuts import cuts, lines_back_to, shown_line, shown_messages, shown_past, tints
from diagrams.figure.harm import harm_bands, harm_crosses
from diagrams.figure.room import SCREEN, Room
from diagrams.figure.stops import stops
from diagrams.figure.texts import texts
from diagrams.figure.tips import DECISION, DIAMOND, DOT, RING_WIDTH, ring_size
from diagrams.scene.arranged import Arranged
from diagrams.scene.arrangement import FOLDED
from diagrams.scene.composition import Scene
from diagrams.scene.elements import Dot
from diagrams.scene.positions import round_times
from diagrams.scene.timed_run import MOST_TEXTS
from diagrams.shapes import theme
from diagrams.shapes.lettering import cropped, width_of
from sim.core.model import COMMITTED, OUTPUT, RECOVERY, RESTORE

Figure = dict[str, Any]

MOMENT_SIGNS = {
    COMMITTED: "valid snapshot", RECOVERY: "recovery", RESTORE: "restored process", OUTPUT: "output",
}  # fmt: skip

NAME_SIZE, LEAST_NAME_SIZE, TICK_SIZE = 18, 12, 11
FEW_LANES = 20  # with a name each
WIDEST_NAME, WIDEST_ON_PAPER = 170, 110  # pixels to the left of a line across the page
LEAST_LETTERS = 2.6  # on paper: of a name between others, in font sizes
EVERY = (1, 2, 5, 10, 20, 50, 100)  # on paper one lane of so many has its name


def figure(scene: Scene, orientation: str, room: Room = SCREEN, *, live: bool = False) -> Figure:
    """The space-time diagram of `scene`, `orientation` "down" or "right", laid out for a room.

    `live`: of a stretch of a live run, which is drawn often.
    """
    canvas = Canvas(arranged(scene), orientation, room)
    for part in _parts_of_live(scene) if live else PARTS:
        part(canvas)
    layout = layout_of(canvas.scene, canvas.down, room)
    if room.letters:
        layout["meta"]["left_out"] = canvas.left_out
    return {"data": canvas.traces, "layout": layout}


def arranged(scene: Scene) -> Scene:
    """The scene of the lanes on show."""
    return scene if scene.layout.is_plain else Arranged(scene)


def process_lines(canvas: Canvas) -> None:
    """Solid; dotted where a process is folded."""
    low, high = canvas.scene.extent
    look = {"color": "@line", "width": 2 * max(canvas.scale, 0.4)}
    layout = canvas.scene.layout
    for folded, dash in ((False, {}), (True, {"dash": "dot"})):
        own = [number for number, lane in enumerate(layout.shown) if (lane in layout.folded) == folded]
        lines = [[(lane, low), (lane, high), None] for lane in own]
        canvas.add(lines, sign="process line", mode="lines", line={**look, **dash})


def _ghosts(canvas: Canvas) -> None:
    """Where arrows were before the edits: faint, without heads or words."""
    low, high = canvas.scene.extent
    shafts: list[list[Point | None]] = []
    for ghost in canvas.scene.ghosts:
        end = ghost.end if ghost.end is not None else min(ghost.start + (high - low) * 0.06, high)
        target = ghost.target if ghost.end is not None else ghost.source + (ghost.target - ghost.source) * 0.4
        shafts.append([(ghost.source, ghost.start), (target, end), None])
    look = {"color": "@line", "width": 1.5 * max(canvas.scale, 0.5), "dash": "dot"}
    canvas.add(shafts, sign="before the edits", mode="lines", line=look, meta={"ghost": True})


def dots(canvas: Canvas) -> None:
    """Hollow while ahead, filled once it has happened; a long run of internal events is one bar."""
    single = [dot for dot in canvas.scene.dots if dot.count == 1]
    size = (DOT - 1) * max(canvas.scale, 0.4)
    points = [[(dot.lane, dot.position)] for dot in single]
    hover: Any = {"text": [plain(dot.text) for dot in single], "hoverinfo": "text", "mode": "markers"}
    hollow = {"size": size, "color": "@paper", "line": {"color": "@faint", "width": 1.5}}
    canvas.add(points, [(0, dot.step) for dot in single], "event ahead", marker=hollow, **hover)
    filled = {"size": size + 1, "color": "@ink", "line": {"color": "@paper", "width": 1}}
    canvas.add(points, [(dot.step, dot.gone) for dot in single], "event", marker=filled, **hover)
    gone = [dot for dot in single if dot.gone is not None]
    faded = {"size": size * 0.7, "color": "@line", "line": {"color": "@paper", "width": 1}}
    hover["text"] = [plain(f"{dot.text}; abandoned") for dot in gone]
    places = [[(dot.lane, dot.position)] for dot in gone]
    canvas.add(places, [(dot.gone or 0, None) for dot in gone], "abandoned event", marker=faded, **hover)
    _bars(canvas, [dot for dot in canvas.scene.dots if dot.count > 1], size)


def _bars(canvas: Canvas, runs: Sequence[Dot], size: float) -> None:
    bars: list[list[Point | None]] = [[(run.lane, run.position), (run.lane, run.until), None] for run in runs]
    hover: Any = {
        "text": [text for run in runs for text in (plain(run.text), plain(run.text), None)],
        "hoverinfo": "text",
    }
    ahead = {"color": "@faint/0.5", "width": size * 0.8}
    canvas.add(bars, [(0, run.step) for run in runs], "internal events ahead", mode="lines", line=ahead, **hover)
    there = {"color": "@ink", "width": size * 0.8}
    canvas.add(bars, [(run.step, run.gone) for run in runs], "internal events", mode="lines", line=there, **hover)
    for bar, run in zip(bars, runs, strict=True):
        faded = {"color": "@line", "width": size * 0.5}
        show = [(run.gone, None)] if run.gone is not None else []
        canvas.add([bar] if show else [], show, "abandoned event", mode="lines", line=faded)
    middles = [(run.lane, (run.position + run.until) / 2) for run in runs]
    counts = [f"\u00a0\u00a0×{run.count}" for run in runs]
    write(canvas, middles, counts, "middle right" if canvas.down else "top center", "@ink", 13, None)


def _rings(canvas: Canvas) -> None:
    """Recorded events are ringed, by a symbol and colour of each snapshot."""
    for rank, snapshot in enumerate(canvas.scene.snapshots):
        dots = [dot for dot in canvas.scene.dots if snapshot.id in dot.recorded]
        size = ring_size(rank, canvas.scale)
        symbol = theme.RING_SYMBOLS[rank % len(theme.RING_SYMBOLS)]
        colour = theme.snapshot_colour(rank)
        ring = {"symbol": symbol, "size": size, "color": colour, "line": {"width": RING_WIDTH * max(canvas.scale, 0.5)}}
        points = [[(dot.lane, dot.position)] for dot in dots]
        show = [(dot.recorded[snapshot.id], dot.gone) for dot in dots]
        canvas.add(points, show, "recorded event", mode="markers", marker=ring, meta=canvas.of(snapshot.id))


def _recordings(canvas: Canvas) -> None:
    """Where each process records: a diamond on its line, of a shape for each snapshot."""
    for rank, snapshot in enumerate(canvas.scene.snapshots):
        recordings = canvas.scene.recordings.get(snapshot.id, ())
        points = [[(r.lane, r.position)] for r in recordings]
        outline = {"color": "@paper", "width": 1.5}
        size = DIAMOND * max(canvas.scale, 0.45)
        symbol = theme.RECORD_SYMBOLS[rank % len(theme.RECORD_SYMBOLS)]
        diamond = {"symbol": symbol, "size": size, "color": theme.snapshot_colour(rank), "line": outline}
        show = [(r.step, r.gone) for r in recordings]
        gone = [r for r in recordings if r.gone is not None]
        faded = {**diamond, "size": size * 0.7, "color": "@line"}
        spots, since = [[(r.lane, r.position)] for r in gone], [(r.gone or 0, None) for r in gone]
        canvas.add(spots, since, "abandoned recording", mode="markers", marker=faded, meta=canvas.of(snapshot.id))
        texts = [plain(r.text) for r in recordings]
        look = {"marker": diamond, "text": texts, "hoverinfo": "text", "meta": canvas.of(snapshot.id)}
        canvas.add(points, show, "recording", mode="markers", **look)


def _now(canvas: Canvas) -> None:
    """The line of now, which the browser moves with the step."""
    low, _ = canvas.scene.extent
    ends: list[Point | None] = [(-0.5, low), (len(canvas.scene.lanes) - 0.5, low)]
    look = {"color": "@faint", "width": 1.5, "dash": "3px,4px"}
    canvas.add([ends], sign="now", mode="lines", line=look, meta={"cursor": "y" if canvas.down else "x"})


def _decisions(canvas: Canvas) -> None:
    """Where a coordinator decides how a snapshot ended: a sign on its line, of a shape for each outcome."""
    outline = {"color": "@paper", "width": 1.5}
    size = DECISION * max(canvas.scale, 0.45)
    looks = dict.fromkeys((own.snapshot, own.outcome) for own in canvas.scene.decisions)
    for snapshot, outcome in looks:
        decided = [own for own in canvas.scene.decisions if (own.snapshot, own.outcome) == (snapshot, outcome)]
        colour = theme.snapshot_colour(canvas.scene.rank_of(snapshot))
        sign = {"symbol": theme.OUTCOME_SYMBOLS[outcome], "size": size, "color": colour, "line": outline}
        canvas.add(
            [[(own.lane, own.position)] for own in decided], [(own.step, None) for own in decided],
            f"{outcome} snapshot", mode="markers", marker=sign, text=[plain(own.text) for own in decided],
            hoverinfo="text", meta=canvas.of(snapshot),
        )  # fmt: skip


def _moments(canvas: Canvas) -> None:
    """What is stored and gone back to: a sign of its own for each kind, in the colour of the snapshot."""
    outline = {"color": "@paper", "width": 1.5}
    for kind, snapshot in dict.fromkeys((own.kind, own.snapshot) for own in canvas.scene.moments):
        seen = [own for own in canvas.scene.moments if (own.kind, own.snapshot) == (kind, snapshot)]
        colour = "@ink" if snapshot is None else theme.snapshot_colour(canvas.scene.rank_of(snapshot))
        size = DECISION * max(canvas.scale, 0.45)
        sign = {"symbol": theme.MOMENT_SYMBOLS[kind][not canvas.down], "size": size, "color": colour, "line": outline}
        canvas.add(
            [[(own.lane, own.position)] for own in seen], [(own.step, None) for own in seen], MOMENT_SIGNS[kind],
            mode="markers", marker=sign, text=[plain(own.text) for own in seen], hoverinfo="text",
            meta=canvas.of(snapshot),
        )  # fmt: skip


def layout_of(scene: Scene, down: bool, room: Room) -> Figure:
    """The axes, with the names of the lanes, and all that is the same for every trace."""
    low, high = scene.extent
    names, size = _lane_names(scene, down, room)
    rules = _naming(names, down, room)
    every = next(every for most, every in rules if most is None or len(names) <= most)
    escaped = list(map(plain, names))  # only once they are measured
    shown = [name if place % every == 0 else "" for place, name in enumerate(escaped)]
    beyond = scene.layout.places[-1] + room.beyond
    lanes = {
        "tickmode": "array", "tickvals": list(scene.layout.places), "ticktext": shown,
        "range": [-room.beyond, beyond], "zeroline": False, "showgrid": False, "tickfont": {"size": size},
        "color": "@ink", "fixedrange": False, "ticks": "",
    }  # fmt: skip
    times = {
        "range": [low, high], "zeroline": False, "showgrid": False, "color": "@faint", "visible": room.axis,
        "tickfont": {"size": room.letters or TICK_SIZE},
        "nticks": 8, "ticks": "outside", "ticklen": 4,
    }  # fmt: skip
    if scene.counted:
        gaps = [after - before for before, after in pairwise(round_times(low, high, whole=True))]
        times |= {"tick0": 0, "dtick": min(gaps, default=1.0)}
        times |= {"tickprefix": scene.counted, "showtickprefix": "last" if down else "first"}
    layout: Figure = {
        "margin": margins(scene, down, room),
        "paper_bgcolor": "@paper/0", "plot_bgcolor": "@paper/0", "showlegend": False, "hovermode": "closest",
        "dragmode": "pan", "uirevision": "keep", "font": {"color": "@ink"},
        "meta": {"names": escaped, "naming": rules},  # the browser names more lanes where fewer are on show
        "hoverlabel": {"bgcolor": "@paper", "bordercolor": "@line", "font": {"color": "@ink", "size": 14}},
    }  # fmt: skip
    if down:
        layout |= {"xaxis": {**lanes, "side": "top"}, "yaxis": {**times, "range": [high, low]}}
    else:
        named = {**lanes, "ticklabelstandoff": 4, "range": [beyond, -room.beyond]}
        layout |= {"xaxis": times, "yaxis": named}
    return layout


def margins(scene: Scene, down: bool, room: Room) -> dict[str, float]:
    """The pixels to the left and right of a plot, above and below it; names and times are written there."""
    found = _margins(scene, down, room)
    return {**found, "l": max(found["l"], room.left)}


def _margins(scene: Scene, down: bool, room: Room) -> dict[str, float]:
    if not room.letters:
        return {"l": 46, "r": 26, "t": 34, "b": 12} if down else {"l": _beside(scene, room), "r": 20, "t": 14, "b": 30}
    if down:
        times = [f"{time:g}" for time in round_times(*scene.extent, whole=bool(scene.counted))]
        wide = max((width_of(f"{scene.counted}{time}", room.letters) for time in times), default=0.0)
        return {"l": wide + 10 if room.axis else 4, "r": 4, "t": room.letters + 10, "b": 4}
    return {"l": _beside(scene, room), "r": 4, "t": 4, "b": room.letters + 12 if room.axis else 4}


def _lane_names(scene: Scene, down: bool, room: Room) -> tuple[list[str], float]:
    """The names of the lanes on show and the size of their letters: on a screen long ones are smaller, then cropped."""
    most = len(scene.lanes) if len(scene.lanes) <= FEW_LANES else FEW_LANES // 2
    longest = max((width_of(name, 1) for name in scene.lanes), default=0)
    if room.letters:
        wide, size = room.width / (len(scene.lanes) + 0.2) - 6 if down else WIDEST_ON_PAPER, room.letters
        wide = max(wide, LEAST_LETTERS * size)
    else:
        wide = room.width / (most + 0.2) - 6 if down else WIDEST_NAME
        size = max(LEAST_NAME_SIZE, min(NAME_SIZE, wide / max(longest, 1)))
    rooms = [wide * FOLDED if down and lane in scene.layout.folded else wide for lane in scene.layout.shown]
    return [cropped(name, size, own) for name, own in zip(scene.lanes, rooms, strict=True)], size


def _naming(names: Sequence[str], down: bool, room: Room) -> list[tuple[int | None, int]]:
    """Which lanes are named, (most, every): of up to `most` lanes on show every first, fifth or tenth."""
    if room.letters:
        widest = max((width_of(name, room.letters) + 6 for name in names), default=0)
        needed, gap = (widest, room.width) if down else (room.letters * 1.15, room.height)
        return [(None, next((n for n in EVERY if n * gap / (len(names) + 0.2) >= needed), EVERY[-1]))]
    few = FEW_LANES if len(names) <= FEW_LANES or not down else FEW_LANES // 2
    return [(few, 1), (50, 5), (None, 10)]


def _beside(scene: Scene, room: Room) -> float:
    """The width in pixels, left of the lanes, that the longest name takes."""
    names, size = _lane_names(scene, False, room)
    return max(0 if room.letters else 54, 16 + max((width_of(name, size) for name in names), default=0))


# In the order of drawing.
PARTS: tuple[Callable[[Canvas], None], ...] = (
    tints, shown_past, lines_back_to, process_lines, stops, _ghosts, halos, shown_messages, harm_bands, arrows,
    _rings, dots, cuts, harm_crosses, shown_line, _recordings, _decisions, _moments, _now, texts,
)  # fmt: skip


def _parts_of_live(scene: Scene) -> list[Callable[[Canvas], None]]:
    """No rings, for all events before a cut would have one; texts only where there are few events."""
    is_crowded = len(scene.dots) > MOST_TEXTS
    return [part for part in PARTS if part not in (_ghosts, _rings, _now) and not (is_crowded and part is texts)]
