"""Scene -> space-time diagram: a Plotly figure as plain lists and dicts, with colours as tokens.

Each trace holds things of one look; `meta.show` says at which steps each of its elements is seen
(`meta.stride` points per element), so that stepping is a matter of masking points. "down": time runs
down the page, as Kuper draws it; "right": from left to right, as Gupta does.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from diagrams import theme
from diagrams.scene import Arrow, Cut, Scene, Span

Trace = dict[str, Any]
Figure = dict[str, Any]
Point = tuple[float, float]  # (lane, place)

CURVE = 12  # points of a cut's line between two lanes
MOST_NAMED = 160  # events with a letter beside them
MOST_BODIES = 60  # messages with their body beside them
MOST_KEPT = 12  # recorded messages with their channel beside them
MOST_CURVED = 30  # lanes between which a cut is drawn as a curve


class Canvas:
    """Knows which way time runs, and collects traces."""

    def __init__(self, scene: Scene, orientation: str) -> None:
        self.scene = scene
        self.down = orientation == "down"
        self.traces: list[Trace] = []
        self.scale = max(0.35, min(1.0, 9 / max(len(scene.lanes), 1), 260 / max(len(scene.dots), 1)))

    def add(
        self, points: Sequence[Sequence[Point | None]], show: Sequence[Span] | None = None, **look: Any
    ) -> Trace | None:
        """A trace of elements, each a list of points (None: a gap); nothing where there is no element."""
        if not points:
            return None
        flat = [point for element in points for point in element]
        lanes = [point[0] if point else None for point in flat]
        places = [round(point[1], 4) if point else None for point in flat]
        trace: Trace = {"type": "scatter", "showlegend": False, "hoverinfo": "skip"}
        trace |= {"x": lanes, "y": places} if self.down else {"x": places, "y": lanes}
        trace |= look
        if show is not None:
            trace["meta"] = {"stride": len(points[0]), "show": [list(span) for span in show], **trace.pop("meta", {})}
        self.traces.append(trace)
        return trace


def figure(scene: Scene, orientation: str) -> Figure:
    """The space-time diagram of `scene`, `orientation` "down" or "right"."""
    canvas = Canvas(scene, orientation)
    _tints(canvas)
    _process_lines(canvas)
    _halos(canvas)
    _messages(canvas)
    _markers(canvas)
    _held(canvas)
    _rings(canvas)
    _dots(canvas)
    _cuts(canvas)
    _story_cuts(canvas)
    _recordings(canvas)
    _letters(canvas)
    _bodies(canvas)
    _now(canvas)
    return {"data": canvas.traces, "layout": _layout(scene, canvas.down)}


# ---------------------------------------------------------------------- arrows


def _shaft(scene: Scene, arrow: Arrow) -> list[Point | None]:
    """Start, end and a gap; a message that never arrives ends on its way."""
    if arrow.end is not None:
        return [(arrow.source, arrow.start), (arrow.target, arrow.end), None]
    low, high = scene.extent
    stop = min(arrow.start + (high - low) * 0.06, high)
    return [(arrow.source, arrow.start), (arrow.source + (arrow.target - arrow.source) * 0.4, stop), None]


def _arrows(
    canvas: Canvas, arrows: Sequence[Arrow], show: Sequence[Span], look: Trace, head: float = 0.0, grow: bool = False
) -> None:
    """Shafts, with a filled head of `head` pixels at the end of each; those that grow end where the message is."""
    heads = [0, head * max(canvas.scale, 0.55), 0] * len(arrows)
    marker = {
        "symbol": "arrow", "angleref": "previous", "size": heads, "opacity": 1, "line": {"width": 0},
        "color": look["line"]["color"], "standoff": [0, 0 if grow else 6 * canvas.scale, 0] * len(arrows),
    }  # fmt: skip
    ids: Trace = {"messages": [arrow.id for arrow in arrows]}
    if grow:
        ids["grow"] = [[arrow.start, arrow.end] for arrow in arrows]
    hover = [text for arrow in arrows for text in (arrow.text, arrow.text, None)]
    mode = {"mode": "lines+markers", "marker": marker} if head else {"mode": "lines"}
    shafts = [_shaft(canvas.scene, arrow) for arrow in arrows]
    canvas.add(shafts, show, **{**look, "hoverinfo": "text", "text": hover, "meta": ids, **mode})


def _messages(canvas: Canvas) -> None:
    """Application messages: thin before they are received, bold on their way, solid afterwards."""
    arrows = [arrow for arrow in canvas.scene.arrows if arrow.snapshot is None]
    arrived = [arrow for arrow in arrows if arrow.received is not None]
    ahead = {"line": {"color": "@line/0.75", "width": 1.2}}
    _arrows(canvas, arrived, [(0, arrow.sent) for arrow in arrived], ahead, head=9)
    flying = {"line": {"color": "@ink", "width": 3.4 * max(canvas.scale, 0.5)}}
    on_their_way = [(arrow.sent, arrow.received) for arrow in arrived]
    _arrows(canvas, arrived, on_their_way, ahead, head=9)
    _arrows(canvas, arrived, on_their_way, flying, head=15, grow=True)
    there = {"line": {"color": "@ink/0.85", "width": 1.8 * max(canvas.scale, 0.5)}}
    _arrows(canvas, arrived, [(arrow.received or 0, None) for arrow in arrived], there, head=13)


def _markers(canvas: Canvas) -> None:
    """Markers: dashed, in the colour of the process that sent them; the dash tells the snapshot."""
    groups: dict[tuple[int, int], list[Arrow]] = {}
    for arrow in canvas.scene.arrows:
        if arrow.snapshot is not None and arrow.received is not None:
            key = (arrow.source % theme.PROCESS_COLOURS, canvas.scene.rank_of(arrow.snapshot))
            groups.setdefault(key, []).append(arrow)
    for (colour, snapshot), arrows in groups.items():
        dash = theme.MARKER_DASHES[snapshot % len(theme.MARKER_DASHES)]
        line = {"color": theme.process_colour(colour), "dash": dash}
        bold = {"line": {**line, "width": 3.2 * max(canvas.scale, 0.4)}}
        on_their_way = [(arrow.sent, arrow.received) for arrow in arrows]
        _arrows(canvas, arrows, on_their_way, {"line": {**line, "width": 1}}, head=7)
        _arrows(canvas, arrows, on_their_way, bold, head=14, grow=True)
        plain = {"line": {**line, "width": 1.9 * max(canvas.scale, 0.4)}}
        _arrows(canvas, arrows, [(arrow.received or 0, None) for arrow in arrows], plain, head=12)


def _held(canvas: Canvas) -> None:
    """Messages that never arrive: a dotted stub that ends in a bar."""
    arrows = [arrow for arrow in canvas.scene.arrows if arrow.received is None]
    for markers in (False, True):
        own = [arrow for arrow in arrows if (arrow.snapshot is not None) == markers]
        colour = "@s0" if markers else "@ink"
        look = {"line": {"color": colour, "width": 2, "dash": "dot"}}
        _arrows(canvas, own, [(arrow.sent, None) for arrow in own], look)
        stops = [[_shaft(canvas.scene, arrow)[1]] for arrow in own]
        symbol = {"symbol": "x-open", "size": 11, "color": colour, "line": {"width": 2.5}}
        canvas.add(stops, [(arrow.sent, None) for arrow in own], mode="markers", marker=symbol)


def _halos(canvas: Canvas) -> None:
    """What a snapshot found in a channel: a broad highlight under the arrow, with the channel's name."""
    kept = [(arrow, step) for arrow in canvas.scene.arrows for step in arrow.kept.values()]
    seen = {arrow.id: (arrow, step) for arrow, step in reversed(kept)}
    arrows = [arrow for arrow, _ in seen.values()]
    look = {"line": {"color": "@mark/0.75", "width": 15 * max(canvas.scale, 0.4)}}
    _arrows(canvas, arrows, [(step, None) for _, step in seen.values()], look)


# ---------------------------------------------------------------------- events


def _process_lines(canvas: Canvas) -> None:
    low, high = canvas.scene.extent
    lines = [[(lane, low), (lane, high), None] for lane in range(len(canvas.scene.lanes))]
    canvas.add(lines, mode="lines", line={"color": "@line", "width": 2 * max(canvas.scale, 0.4)})


def _dots(canvas: Canvas) -> None:
    """Hollow while ahead, filled once it has happened."""
    dots = canvas.scene.dots
    size = 11 * max(canvas.scale, 0.4)
    points = [[(dot.lane, dot.place)] for dot in dots]
    hover = {"text": [dot.text for dot in dots], "hoverinfo": "text", "mode": "markers"}
    hollow = {"size": size, "color": "@paper", "line": {"color": "@faint", "width": 1.5}}
    canvas.add(points, [(0, dot.step) for dot in dots], marker=hollow, **hover)
    filled = {"size": size + 1, "color": "@ink", "line": {"color": "@paper", "width": 1}}
    canvas.add(points, [(dot.step, None) for dot in dots], marker=filled, **hover)


def _rings(canvas: Canvas) -> None:
    """Recorded events are ringed, by a symbol and colour of each snapshot."""
    for rank, snapshot in enumerate(canvas.scene.snapshots):
        dots = [dot for dot in canvas.scene.dots if snapshot.id in dot.recorded]
        size = (23 + 7 * (rank % 3)) * canvas.scale
        symbol = theme.RING_SYMBOLS[rank % len(theme.RING_SYMBOLS)]
        colour = theme.snapshot_colour(rank)
        ring = {"symbol": symbol, "size": size, "color": colour, "line": {"width": 3 * max(canvas.scale, 0.5)}}
        points = [[(dot.lane, dot.place)] for dot in dots]
        canvas.add(points, [(dot.recorded[snapshot.id], None) for dot in dots], mode="markers", marker=ring)


def _recordings(canvas: Canvas) -> None:
    """Where each process records: a diamond on its line."""
    for rank, snapshot in enumerate(canvas.scene.snapshots):
        recordings = canvas.scene.recordings.get(snapshot.id, ())
        points = [[(r.lane, r.place)] for r in recordings]
        outline = {"color": "@paper", "width": 1.5}
        size = 14 * max(canvas.scale, 0.45)
        diamond = {"symbol": "diamond", "size": size, "color": theme.snapshot_colour(rank), "line": outline}
        show = [(r.step, None) for r in recordings]
        texts = [r.text for r in recordings]
        canvas.add(points, show, mode="markers", marker=diamond, text=texts, hoverinfo="text")


def _letters(canvas: Canvas) -> None:
    """The names of events, beside their line so that rings and arrows leave them legible."""
    dots = [dot for dot in canvas.scene.dots if dot.named]
    if len(dots) > MOST_NAMED:
        return
    if canvas.down:
        points = [(float(dot.lane), dot.place) for dot in dots]
        position = ["middle left" if dot.lane == 0 else "middle right" for dot in dots]
        _text(canvas, points, [f"    {dot.label}    " for dot in dots], position, "@ink", 17, None)
        return
    last = len(canvas.scene.lanes) - 1
    aside = 0.026 * len(canvas.scene.lanes)  # of a lane: about as far at any number of them
    below = [dot.lane == last and last > 0 for dot in dots]
    points = [(dot.lane + (aside if low else -aside), dot.place) for dot, low in zip(dots, below, strict=True)]
    position = ["bottom center" if low else "top center" for low in below]
    _text(canvas, points, [dot.label for dot in dots], position, "@ink", 17, None)


def _bodies(canvas: Canvas) -> None:
    """What messages carry, where that is more than their name; in which channel a message was recorded."""
    shown = [
        arrow
        for arrow in canvas.scene.arrows
        if arrow.snapshot is None and "->" not in arrow.name and "." not in arrow.name and arrow.end is not None
    ]
    if shown and len(shown) <= MOST_BODIES:
        texts = [arrow.name if len(arrow.name) <= 18 else arrow.name[:17] + "…" for arrow in shown]
        until_kept = [(0, min(arrow.kept.values(), default=None)) for arrow in shown]
        _beside(canvas, shown, texts, 14, until_kept)
    kept = [arrow for arrow in canvas.scene.arrows if arrow.kept and arrow.end is not None]
    if len(kept) <= MOST_KEPT:
        texts = [f"<b>{_where_kept(canvas.scene, arrow)}</b>" for arrow in kept]
        _beside(canvas, kept, texts, 14, [(min(arrow.kept.values()), None) for arrow in kept])


def _beside(canvas: Canvas, arrows: Sequence[Arrow], texts: Sequence[str], size: int, show: Sequence[Span]) -> None:
    """Texts next to their arrows: above those that fall to the right, below those that rise."""
    position = ["top right" if arrow.target > arrow.source else "bottom right" for arrow in arrows]
    _text(canvas, [_along(arrow) for arrow in arrows], texts, position, "@ink", size, show)


def _where_kept(scene: Scene, arrow: Arrow) -> str:
    """The channel in whose recorded state a message is, and of which snapshots where there are several."""
    caption = scene.captions[f"{scene.lanes[arrow.source]}->{scene.lanes[arrow.target]}"]
    place = f"in {caption}" if len(scene.snapshots) == 1 else f"in {caption} of {', '.join(arrow.kept)}"
    return place if "->" in arrow.name or len(arrow.name) > 10 else f"{arrow.name} {place}"


def _along(arrow: Arrow) -> Point:
    """A point on the arrow; neighbouring messages use different ones, so that their texts do not meet."""
    share = (0.3, 0.42, 0.54)[arrow.id % 3]
    end = arrow.end if arrow.end is not None else arrow.start
    return arrow.source + (arrow.target - arrow.source) * share, arrow.start + (end - arrow.start) * share


def _text(
    canvas: Canvas, points: Sequence[Point], texts: Sequence[str], position: str | list[str], colour: str, size: int,
    show: Sequence[Span] | None,
) -> None:  # fmt: skip
    font = {"color": colour, "size": max(9, size * max(canvas.scale, 0.6))}
    spans = show if show is not None else [(0, None)] * len(points)
    canvas.add(
        [[point] for point in points], spans, mode="text", text=list(texts), textposition=position, textfont=font,
        cliponaxis=False,
    )  # fmt: skip


# ---------------------------------------------------------------------- cuts


def curve(places: Sequence[float]) -> list[Point]:
    """A smooth line through one place per lane, half a lane beyond both ends; it never overshoots a place."""
    points: list[Point] = [(-0.5, places[0])]
    parts = CURVE if len(places) <= MOST_CURVED else 1
    for lane, (here, there) in enumerate(pairwise(places)):
        for part in range(parts):
            share = part / parts
            points.append((lane + share, here + (there - here) * share * share * (3 - 2 * share)))
    return [*points, (float(len(places) - 1), places[-1]), (len(places) - 0.5, places[-1])]


def _complete(cut: Cut) -> list[float] | None:
    places = [place for place in cut.places if place is not None]
    return places if len(places) == len(cut.places) and cut.known is not None else None


def _tints(canvas: Canvas) -> None:
    """Past and future of a snapshot's cut; with several snapshots only their pasts, in their colours."""
    low, high = canvas.scene.extent
    own = [cut for cut in canvas.scene.cuts if cut.snapshot is not None]
    for cut in own:
        places = _complete(cut)
        if places is None:
            continue
        line = curve(places)
        past = [(line[0][0], low), *line, (line[-1][0], low)]
        future = [(line[0][0], high), *line, (line[-1][0], high)]
        show = [(cut.known or 0, None)]
        colour = theme.snapshot_colour(cut.rank)
        fill = {"fill": "toself", "mode": "none"}
        canvas.add([past], show, fillcolor=f"{colour}/{0.13 if len(own) == 1 else 0.09}", **fill)
        if len(own) == 1:
            canvas.add([future], show, fillcolor="@line/0.09", **fill)
            _side_names(canvas, line, show)


def _side_names(canvas: Canvas, line: Sequence[Point], show: Sequence[Span]) -> None:
    low, high = canvas.scene.extent
    lane, place = line[-1]
    room = (high - low) * 0.035
    points = [(lane, place - room), (lane, place + room)]
    position = ["middle left", "middle left"] if canvas.down else ["top left", "top right"]
    _text(canvas, points, ["<i>past</i>", "<i>future</i>"], position, "@faint", 15, [*show, *show])


def _cuts(canvas: Canvas) -> None:
    """The cut as a dashed line, growing from recording to recording; solid once every process has recorded."""
    for cut in canvas.scene.cuts:
        if cut.snapshot is None:
            continue
        colour = theme.snapshot_colour(cut.rank)
        dash = "dash" if cut.consistent else "dot"
        places = _complete(cut)
        if places is not None:
            look = {"color": colour if cut.consistent else "@bad", "width": 3.5 * max(canvas.scale, 0.4), "dash": dash}
            canvas.add([curve(places)], [(cut.known or 0, None)], mode="lines", line=look)
        if len(canvas.scene.snapshots) > 1:
            _cut_name(canvas, cut, colour)


def _story_cuts(canvas: Canvas) -> None:
    """The cuts of the story, hidden until one is chosen; the message that decides against one in red."""
    for number, cut in enumerate(cut for cut in canvas.scene.cuts if cut.snapshot is None):
        places = _complete(cut)
        if places is None:
            continue
        hidden: Trace = {"visible": False, "meta": {"cut": number}}
        colour = "@good" if cut.consistent else "@bad"
        canvas.add([curve(places)], mode="lines", line={"color": colour, "width": 4, "dash": "longdash"}, **hidden)
        witness = [arrow for arrow in canvas.scene.arrows if arrow.id == cut.witness_arrow]
        shafts = [_shaft(canvas.scene, arrow) for arrow in witness]
        canvas.add(shafts, mode="lines", line={"color": "@bad/0.6", "width": 9}, **hidden)


def _cut_name(canvas: Canvas, cut: Cut, colour: str) -> None:
    places = _complete(cut)
    if places is None:
        return
    point = (len(places) - 0.5, places[-1])
    position = "middle right" if canvas.down else "top center"
    _text(canvas, [point], [f"<b>{cut.name}</b>"], position, colour, 16, [(cut.known or 0, None)])


def _now(canvas: Canvas) -> None:
    """The line that says which moment the step shows; the browser moves it."""
    low, _ = canvas.scene.extent
    ends: list[Point | None] = [(-0.5, low), (len(canvas.scene.lanes) - 0.5, low)]
    look = {"color": "@faint", "width": 1.5, "dash": "3px,4px"}
    canvas.add([ends], mode="lines", line=look, meta={"cursor": "y" if canvas.down else "x"})


def _layout(scene: Scene, down: bool) -> Figure:
    low, high = scene.extent
    lanes = {
        "tickmode": "array", "tickvals": list(range(len(scene.lanes))), "ticktext": _lane_names(scene),
        "range": [-0.6, len(scene.lanes) - 0.4], "zeroline": False, "showgrid": False, "tickfont": {"size": 18},
        "color": "@ink", "fixedrange": False, "ticks": "",
    }  # fmt: skip
    times = {
        "range": [low, high], "zeroline": False, "showgrid": False, "color": "@faint", "tickfont": {"size": 11},
        "nticks": 8, "ticks": "outside", "ticklen": 4,
    }  # fmt: skip
    layout: Figure = {
        "margin": {"l": 46, "r": 26, "t": 34, "b": 12} if down else {"l": 54, "r": 20, "t": 14, "b": 30},
        "paper_bgcolor": "@paper/0", "plot_bgcolor": "@paper/0", "showlegend": False, "hovermode": "closest",
        "dragmode": "pan", "uirevision": "keep", "font": {"color": "@ink"},
        "hoverlabel": {"bgcolor": "@paper", "bordercolor": "@line", "font": {"color": "@ink", "size": 14}},
    }  # fmt: skip
    if down:
        layout |= {"xaxis": {**lanes, "side": "top"}, "yaxis": {**times, "range": [high, low]}}
    else:
        layout |= {"xaxis": times, "yaxis": {**lanes, "range": [len(scene.lanes) - 0.4, -0.6]}}
    return layout


def _lane_names(scene: Scene) -> list[str]:
    """Every name where there is room; every fifth or tenth of many."""
    every = 1 if len(scene.lanes) <= 20 else 5 if len(scene.lanes) <= 50 else 10
    return [name if lane % every == 0 else "" for lane, name in enumerate(scene.lanes)]
