"""The arrows of the space-time diagram: messages, markers, what is held, and what a snapshot found on its way."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from diagrams.figure.canvas import Canvas, Point, Trace, plain
from diagrams.figure.labels import Spot
from diagrams.figure.tips import Tips, obstacles_of
from diagrams.scene.composition import ON_ITS_WAY, Scene
from diagrams.scene.elements import ACROSS, Arrow, Span
from diagrams.shapes import theme
from diagrams.shapes.lettering import width_of
from sim.core.model import APP, CONTROL, MARKER

AHEAD = {"color": "@line", "width": 1.2}  # the way that a message has yet to go
CLEAR_OF_START = 12  # pixels from an event's centre to the head of an arrow that has just begun
SHORT = 0.26  # lanes: the length of an arrow of which only the arrival is told
STUB = 0.3  # of the way of a message: what is drawn of it where its other end is hidden

REASON_SIZE = 15  # of the letters that say why an arrow ends on its way

Key = TypeVar("Key", bound=Hashable)
Thing = TypeVar("Thing")


def shaft(scene: Scene, arrow: Arrow) -> list[Point | None]:
    """The points of an arrow: start, end, gap. A message that never arrives or has a hidden end gets a short stub."""
    start: Point = (arrow.source + (arrow.target - arrow.source) * arrow.begins, arrow.start)
    if arrow.end is not None:
        end: Point = (arrow.target, arrow.end)
        if arrow.stub == ACROSS:
            start = (arrow.target + (SHORT if arrow.source > arrow.target else -SHORT), arrow.end)
        elif arrow.stub:
            start, end = (start, _towards(end, start)) if arrow.stub == "target" else (_towards(start, end), end)
        return [start, end, None]
    if arrow.lost is not None:
        share, position = arrow.lost
        return [start, (arrow.source + (arrow.target - arrow.source) * share, position), None]
    low, high = scene.extent
    stop = min(arrow.start + (high - low) * 0.06, high)
    return [start, (start[0] + (arrow.target - start[0]) * 0.4, stop), None]


def _towards(end: Point, other: Point) -> Point:
    """The point near `other` at which a stub that lies towards `end` is cut off."""
    return other[0] + (end[0] - other[0]) * STUB, other[1] + (end[1] - other[1]) * STUB


def add_arrows(
    canvas: Canvas, arrows: Sequence[Arrow], show: Sequence[Span], line: Trace, head: float = 0.0, grow: bool = False,
    is_open: bool = False, meta: Trace | None = None, sign: str = "", off: Sequence[float] = (),
) -> None:  # fmt: skip
    """Shafts, each with a head of `head` pixels, filled unless `is_open`. One that grows ends where the message is now.

    `off` says how many pixels before its end each has its tip (none: at the end). A growing shaft lies on a thin arrow
    of full length, which has the hover text. It is never so short that its head would lie behind the event that sends
    the message.
    """
    heads = [0, head * max(canvas.scale, 0.55), 0] * len(arrows)
    symbol = {
        "symbol": "arrow", "angleref": "previous", "size": heads, "opacity": 1,
        "line": {"width": 1.6, "color": line["color"]} if is_open else {"width": 0},
        "color": "@paper" if is_open else line["color"],
        "standoff": [gap for place in range(len(arrows)) for gap in (0, off[place] if off else 0, 0)],
    }  # fmt: skip
    ids: Trace = {"messages": [arrow.id for arrow in arrows], **(meta or {})}
    hover: Trace = {}
    if grow:
        ids["grow"] = [[arrow.start, arrow.end, _least_share(canvas, arrow, head * canvas.scale)] for arrow in arrows]
    else:
        texts = [text for arrow in arrows for text in (plain(arrow.text), plain(arrow.text), None)]
        hover = {"hoverinfo": "text", "text": texts}
    mode = {"mode": "lines+markers", "marker": symbol} if head else {"mode": "lines"}
    shafts = [shaft(canvas.scene, arrow) for arrow in arrows]
    canvas.add(shafts, show, sign, line=line, meta=ids, **hover, **mode)


def _least_share(canvas: Canvas, arrow: Arrow, head: float) -> float:
    """The share of its way that an arrow has at least gone when it is drawn: its head is clear of where it begins."""
    start, end = [canvas.pixels(point) for point in shaft(canvas.scene, arrow) if point]
    return round(min(1.0, (head + CLEAR_OF_START) / max(math.dist(start, end), 1.0)), 4)


def _ahead(canvas: Canvas, arrows: Sequence[Arrow], tips: Tips, meta: Trace | None = None) -> None:
    """The thin arrows of messages until they are received, or taken back. What is put back nobody sees before that."""
    off = [tips.off(shaft(canvas.scene, arrow), arrow, 0) for arrow in arrows]
    show = [(0 if arrow.kind == APP and not arrow.is_again else arrow.sent, flying_until(arrow)) for arrow in arrows]
    add_arrows(canvas, arrows, show, AHEAD, head=9, meta=meta, sign="ahead", off=off)


def _there(
    canvas: Canvas, arrows: Sequence[Arrow], tips: Tips, line: Trace, head: float, sign: str, is_open: bool = False,
    meta: Trace | None = None,
) -> None:  # fmt: skip
    """The arrows of messages that have been received. A head gives way to a ring that is drawn there later."""
    staged = [(arrow, *stage) for arrow in arrows for stage in tips.stages(shaft(canvas.scene, arrow), arrow)]
    seen = [
        (arrow, start, arrow.gone if until is None or (arrow.gone or until) < until else until, off)
        for arrow, start, until, off in staged
        if (arrow.gone is None or start < arrow.gone) and not arrow.is_fenced
    ]
    for is_first in (True, False):
        own = [
            (arrow, (start, until), off) for arrow, start, until, off in seen if (start == arrow.received) == is_first
        ]
        spans, off = [span for _, span, _ in own], [gap for _, _, gap in own]
        add_arrows(canvas, [arrow for arrow, *_ in own], spans, line, head, False, is_open, meta, sign, off)


def arrows(canvas: Canvas) -> None:
    """The arrows of all messages; one look for what lies at their ends serves them all."""
    tips = Tips(canvas, obstacles_of(canvas))
    _gone(canvas, tips)
    for part in (_control, _messages, _markers):
        part(canvas, tips)
    _held(canvas)
    _fences(canvas)


def flying_until(arrow: Arrow) -> int | None:
    """The step until which a message is on its way as one that counts: it arrives then, or a recovery takes it back."""
    return arrow.received if arrow.gone is None else min(arrow.gone, arrow.received or arrow.gone)


def _gone(canvas: Canvas, tips: Tips) -> None:
    """Messages that a recovery has taken back: faded, also where they are still on their way."""
    look = {"color": "@line", "width": 1.3 * max(canvas.scale, 0.5), "dash": theme.GONE_DASH}
    gone = [arrow for arrow in _that_come(canvas) if arrow.gone is not None]
    for snapshot, own in _grouped(gone, lambda arrow: arrow.snapshot).items():
        off = [tips.off(shaft(canvas.scene, arrow), arrow, canvas.scene.last) for arrow in own]
        show, meta = [(arrow.gone or 0, None) for arrow in own], canvas.of(snapshot)
        add_arrows(canvas, own, show, look, 9, meta=meta, sign="abandoned message", off=off)


def _fences(canvas: Canvas) -> None:
    """Where what is left of a life that is over is fenced off."""
    outline = {"color": "@ink", "width": 2.2 * max(canvas.scale, 0.6)}
    sign = {"symbol": theme.FENCE, "size": 15 * max(canvas.scale, 0.6), "color": "@ink", "line": outline}
    fenced = [arrow for arrow in _that_come(canvas) if arrow.is_fenced and arrow.stub != "target"]
    for snapshot, own in _grouped(fenced, lambda arrow: arrow.snapshot).items():
        canvas.add(
            [[(arrow.target, arrow.end or 0.0)] for arrow in own], [(arrow.received or 0, None) for arrow in own],
            "fenced off", mode="markers", marker=sign, text=[plain(arrow.text) for arrow in own], hoverinfo="text",
            meta=canvas.of(snapshot),
        )  # fmt: skip


def _messages(canvas: Canvas, tips: Tips) -> None:
    """Application messages: thin ahead of the message, bold behind it, solid once it is received."""
    own_kind = _of_kind(canvas, APP)
    _ahead(canvas, own_kind, tips)
    looks = _grouped(own_kind, lambda arrow: (_colour(arrow), arrow.head == "open", arrow.is_again))
    for (colour, is_open, is_again), own in looks.items():
        flying = {"color": colour, "width": 3.4 * max(canvas.scale, 0.5)}
        span = [(arrow.sent, flying_until(arrow)) for arrow in own]
        sign = "message put back" if is_again else f"{own[0].head} message".strip()
        if is_again:
            _put_back(canvas, own, colour)
        add_arrows(canvas, own, span, flying, head=15, grow=True, is_open=is_open, sign=f"{sign} on its way")
        there = {"color": colour, "width": 1.8 * max(canvas.scale, 0.5)}
        _there(canvas, own, tips, there, 13, sign, is_open)


def _put_back(canvas: Canvas, own: Sequence[Arrow], colour: str) -> None:
    """Where a message begins that a recovery puts back: a square on the line of the process that once sent it."""
    size = 11 * max(canvas.scale, 0.5)
    sign = {"symbol": "square", "size": size, "color": "@paper", "line": {"width": 2, "color": colour}}
    shown = [arrow for arrow in own if not arrow.stub]
    canvas.add(
        [[(arrow.source, arrow.start)] for arrow in shown], [(arrow.sent, arrow.gone) for arrow in shown],
        "message put back", mode="markers", marker=sign, text=[plain(arrow.text) for arrow in shown], hoverinfo="text",
    )  # fmt: skip


def _that_come(canvas: Canvas) -> list[Arrow]:
    """The arrows of all messages that come to their receivers."""
    return [arrow for arrow in canvas.scene.all_arrows if arrow.received is not None]


def _of_kind(canvas: Canvas, kind: str) -> list[Arrow]:
    """The arrows of one kind of message that come to their receivers."""
    return [arrow for arrow in _that_come(canvas) if arrow.kind == kind]


def _control(canvas: Canvas, tips: Tips) -> None:
    """Control messages: fine dotted lines in the colour of their sender, beside all channels."""
    for (colour, snapshot), own in _grouped(_of_kind(canvas, CONTROL), _look).items():
        line, meta = {"color": colour, "dash": theme.CONTROL_DASH}, canvas.of(snapshot)
        flying = {**line, "width": 2.2 * max(canvas.scale, 0.4)}
        spans = [(arrow.sent, arrow.received) for arrow in own]
        add_arrows(canvas, own, spans, flying, head=10, grow=True, meta=meta, sign="control message on its way")
        there = {**line, "width": 1.3 * max(canvas.scale, 0.4)}
        _there(canvas, own, tips, there, 9, "control message", meta=meta)


def _markers(canvas: Canvas, tips: Tips) -> None:
    """Markers: dashed, in the colour of the process that sent them; the dash tells the snapshot.

    The way ahead of a marker is a thin solid line, so that the bold dashes on it stay clear.
    """
    looks = _grouped(_of_kind(canvas, MARKER), _look)
    for (_, snapshot), own in looks.items():
        _ahead(canvas, own, tips, canvas.of(snapshot))
    for (colour, snapshot), own in looks.items():
        line = {"color": colour, "dash": theme.snapshot_dash(canvas.scene.rank_of(snapshot))}
        meta = canvas.of(snapshot)
        bold = {**line, "width": 3.2 * max(canvas.scale, 0.4)}
        spans = [(arrow.sent, flying_until(arrow)) for arrow in own]
        add_arrows(canvas, own, spans, bold, head=14, grow=True, meta=meta, sign="marker on its way")
        there = {**line, "width": 1.9 * max(canvas.scale, 0.4)}
        _there(canvas, own, tips, there, 12, "marker", meta=meta)


def _grouped(things: Sequence[Thing], key: Callable[[Thing], Key]) -> dict[Key, list[Thing]]:
    groups: dict[Key, list[Thing]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return groups


def not_received(scene: Scene) -> list[tuple[Arrow, str]]:
    """The arrows that end on their way, each with the reason in words.

    So do the tries of a FIFO layer that fail: a loss, which it makes good, and a copy, which it drops.
    """
    arrows = [arrow for arrow in scene.all_arrows if arrow.received is None]
    told = [(arrow, scene.why_not_received(arrow)) for arrow in arrows]
    return told + [(arrow, arrow.why) for arrow in scene.failed_tries]


def reason_beside(canvas: Canvas, arrow: Arrow) -> Spot:
    """Where the reason is written for which an arrow ends on its way."""
    before = "middle left" if canvas.down else "top center"
    after = "middle right" if canvas.down else "bottom center"
    end = shaft(canvas.scene, arrow)[1]
    assert end is not None
    return Spot(end, before if arrow.target < arrow.source else after)


def _held(canvas: Canvas) -> None:
    """Messages that are never received, and tries that fail, as dotted stubs.

    One that is held, lost, or waits behind a held one, ends in a cross; one that nobody has chosen to deliver in a
    ring.
    """
    looks = _grouped(_each_word_once(canvas), lambda told: (*_look(told[0]), told[1] == ON_ITS_WAY))
    for (colour, snapshot, is_on_its_way), told in looks.items():
        own, spots = [arrow for arrow, _ in told], [reason_beside(canvas, arrow) for arrow, _ in told]
        show = [(arrow.sent, None) for arrow in own]
        meta = canvas.of(snapshot)
        dotted = {"color": colour, "width": 2.4, "dash": "dot"}
        add_arrows(canvas, own, show, dotted, meta=meta, sign="message not received")
        end = {"symbol": "circle-open" if is_on_its_way else "x-thin", "size": 12, "color": colour}
        canvas.add(
            [[spot.at] for spot in spots], show, mode="markers+text",
            marker={**end, "line": {"width": 3.5, "color": colour}},
            text=["" if is_on_its_way or not why else f"<b>{why}</b>" for _, why in told],
            cliponaxis=not canvas.scene.is_whole, textposition=[spot.side for spot in spots],
            textfont={"color": "@ink", "size": canvas.letters(REASON_SIZE)}, meta=meta, sign="message not received",
        )  # fmt: skip


def _each_word_once(canvas: Canvas) -> list[tuple[Arrow, str]]:
    """The arrows that end on their way, with the reasons; of two that end side by side the first one has the word."""
    seen: list[tuple[str, tuple[float, float]]] = []
    told = []
    for arrow, why in not_received(canvas.scene):
        at, size = canvas.pixels(reason_beside(canvas, arrow).at), canvas.letters(REASON_SIZE)
        reach = width_of(why, size) + size / 2
        is_near = any(word == why and math.dist(at, other) < reach for word, other in seen)
        if why != ON_ITS_WAY:
            seen.append((why, at))
        told.append((arrow, "" if is_near else why))
    return told


def _colour(arrow: Arrow) -> str:
    return theme.message_colour(arrow.sender, arrow.kind, arrow.head)


def _look(arrow: Arrow) -> tuple[str, str | None]:
    """What arrows of one trace share: their colour and their snapshot."""
    return _colour(arrow), arrow.snapshot


def halos(canvas: Canvas) -> None:
    """What a snapshot found in a channel: a broad highlight under the arrow, with the channel's name.

    It gives way (`meta.unless_cut`) to a cut that somebody holds, and to what that finds.
    """
    if canvas.scene.shown_cut:
        return
    look = {"color": "@band", "width": 15 * max(canvas.scale, 0.4)}
    for snapshot in canvas.scene.snapshots:
        kept = [arrow for arrow in canvas.scene.all_arrows if snapshot.id in arrow.kept]
        meta = {**canvas.of(snapshot.id), "unless_cut": True}
        add_arrows(canvas, kept, [(arrow.kept[snapshot.id], None) for arrow in kept], look, meta=meta, sign="band")
