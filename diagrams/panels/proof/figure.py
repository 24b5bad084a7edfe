"""Scene -> the space-time diagram of Dijkstra's page: the run's actions alone, at their places in the row.

White actions are rings, red ones filled squares; the name of a fault begins with its sign. A white message has an open
head, a red one a filled head. The browser moves the points (assets/explore/proof/row.js). `meta.places` holds for each
point the index of its action among those on show. A point between two actions has [one, other, share], and a point that
stays has null. `meta.turns` holds for each point the lane, in the run, of the process that turns red there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from diagrams.figure.bodies import (
    BODY_SIZE,
    FEW,
    LONGEST,
    LONGEST_OF_FEW,
    MOST_BODIES,
    along_arrow,
    cropped_name,
    with_a_body,
)
from diagrams.figure.canvas import Canvas, Point, plain, write
from diagrams.figure.labels import Labels, Spot
from diagrams.figure.layout import Figure, layout_of
from diagrams.figure.names import LETTER_SIZE, MOST_NAMED, off_the_line, spots_beside
from diagrams.figure.room import SCREEN, Room
from diagrams.figure.shafts import add_arrows, shaft
from diagrams.figure.spacetime import arranged, process_lines
from diagrams.figure.texts import obstacles
from diagrams.figure.tips import Obstacle, Tips
from diagrams.panels.proof.panel import Proof, Swaps
from diagrams.panels.proof.rearranged import Rearranged, Sign
from diagrams.scene.composition import Scene
from diagrams.scene.elements import Arrow
from diagrams.scene.positions import round_times
from diagrams.shapes import theme

BEYOND = 0.75  # lanes beyond the first one, for the names of states
NAME_SIZE = 16
ACTION, EDGE, TURN = 13, 2.2, 14  # pixels: the size of an action, the edge of a white one; the size of a turn
FEW_ACTIONS = 40  # all with their name, as in the row
Anchor = int | list[float] | None
ALWAYS = (0, None)


def figure(scene: Scene, proof: Proof, orientation: str, swaps: Swaps = 0, room: Room = SCREEN) -> Figure:
    """The diagram after some interchanges, `orientation` "down" or "right"."""
    whole = Rearranged(scene, proof, swaps)
    canvas = Canvas(arranged(whole), orientation, replace(room, beyond=BEYOND))
    signs = [*whole.signs(canvas.scene)]
    process_lines(canvas)
    _bands(canvas, whole)
    _messages(canvas, whole, signs)
    _actions(canvas, whole, signs)
    states = _cut(canvas, whole)
    labels = obstacles(canvas)
    for sign in signs:
        labels.avoid_dot((sign.lane, sign.position), ACTION * canvas.scale / 2, 20)
    for name, spot in states:
        labels.avoid_text(name, canvas.letters(NAME_SIZE), spot)
    _letters(canvas, signs, labels)
    _bodies(canvas, whole, labels)
    return {"data": canvas.traces, "layout": _layout(canvas)}


def _spans(elements: Sequence[Any]) -> list[tuple[int, None]]:
    """Spans that show every element at every step."""
    return [ALWAYS] * len(elements)


def _shaft(whole: Rearranged, arrow: Arrow) -> list[Anchor]:
    """The anchors of the three points of an arrow; one that stays in its channel moves with its send."""
    start, end = whole.ends(arrow)
    return [start, start if arrow.end is None and arrow.lost is None else end, None]


def _bands(canvas: Canvas, whole: Rearranged) -> None:
    """The bands below messages that are recorded, and below red ones that a white action accepts."""
    wrong = {found.message for found in whole.proof.forbidden}
    width = max(canvas.scale, 0.4)
    for arrows, sign, line in (
        ([arrow for arrow in canvas.scene.arrows if arrow.kept], "band", {"color": "@band", "width": 15 * width}),
        (
            [arrow for arrow in canvas.scene.arrows if arrow.id in wrong],
            "offending message",
            {"color": "@bad/0.5", "width": 11 * width},
        ),
    ):
        anchors = [anchor for arrow in arrows for anchor in _shaft(whole, arrow)]
        shafts = [shaft(canvas.scene, arrow) for arrow in arrows]
        canvas.add(shafts, _spans(arrows), mode="lines", line=line, meta={"places": anchors}, sign=sign)


def _messages(canvas: Canvas, whole: Rearranged, signs: Sequence[Sign]) -> None:
    """The messages: white ones with open heads, red ones with filled heads; those that never arrive as dotted stubs."""
    tips = Tips(canvas, _obstacles(canvas, whole, signs))
    for is_open in (True, False):
        own = [arrow for arrow in canvas.scene.arrows if (arrow.head == "open") == is_open]
        colour = "@ink" if is_open else "@red"
        for arrives in (True, False):
            arrows = [arrow for arrow in own if (arrow.end is not None) == arrives]
            meta = {"places": [anchor for arrow in arrows for anchor in _shaft(whole, arrow)]}
            line = {"color": colour, "width": 1.9 * max(canvas.scale, 0.5), **({} if arrives else {"dash": "dot"})}
            if arrows:
                head = 13 if arrives else 0
                off = [tips.off(shaft(canvas.scene, arrow), arrow, 0) for arrow in arrows]
                sign = ("white" if is_open else "red") + " message"
                add_arrows(canvas, arrows, _spans(arrows), line, head, is_open=is_open, meta=meta, sign=sign, off=off)


def _actions(canvas: Canvas, whole: Rearranged, signs: Sequence[Sign]) -> None:
    """The actions: white ones as rings, red ones as squares."""
    size = ACTION * max(canvas.scale, 0.4)
    ring = {"symbol": "circle", "size": size, "color": "@white", "line": {"color": "@white-edge", "width": EDGE}}
    square = {"symbol": "square", "size": size, "color": "@red", "line": {"color": "@paper", "width": 1}}
    for is_red, look in ((False, ring), (True, square)):
        own = [sign for sign in signs if whole.proof.actions[sign.number].is_red == is_red]
        kind = "red action" if is_red else "white action"
        texts = [plain(f"{kind}, {sign.text}") for sign in own]
        meta = {"places": [sign.number for sign in own]}
        points = [[(sign.lane, sign.position)] for sign in own]
        canvas.add(points, _spans(own), kind, mode="markers", marker=look, text=texts, hoverinfo="text", meta=meta)


def _obstacles(canvas: Canvas, whole: Rearranged, signs: Sequence[Sign]) -> Iterator[Obstacle]:
    """The signs of actions on lines and the turns to red, off which arrows keep."""
    radius = ACTION * max(canvas.scale, 0.4) / 2
    for sign in signs:
        is_red = whole.proof.actions[sign.number].is_red
        symbol, own = ("square", radius) if is_red else ("circle", radius + EDGE / 2)
        if sign.lane == int(sign.lane):
            yield Obstacle(int(sign.lane), sign.position, 0, symbol, own)
    symbol = theme.RECORD_SYMBOLS[whole.rank_of(whole.proof.snapshot.id) % len(theme.RECORD_SYMBOLS)]
    for lane, own_lane in enumerate(canvas.scene.layout.shown[: len(canvas.scene.processes)]):
        yield Obstacle(lane, whole.places.turns[own_lane], 0, symbol, TURN * max(canvas.scale, 0.45) / 2 + 1)


def _cut(canvas: Canvas, whole: Rearranged) -> list[tuple[str, Spot]]:
    """Draw S0 and S1 as lines across, and between them the line through the turns to red. Return their names."""
    proof = whole.proof
    last = len(canvas.scene.processes) - 1
    rank = whole.rank_of(proof.snapshot.id)
    low, high = canvas.scene.extent
    names: dict[float, str] = {}
    for name, at in (("S0", proof.begin), ("S1", proof.end)):
        if low <= at <= high:
            names[at] = f"{names[at]} = {name}" if at in names else name
    ends: list[list[Point | None]] = [[(-0.5, at), (last + 0.5, at), None] for at in names]
    canvas.add(ends, sign="state", mode="lines", line={"color": "@faint", "width": 1.6, "dash": "2px,4px"})
    told = [f"<b>{name}</b>" for name in names.values()]
    spots = [Spot((-0.5, at), _side_of_state(canvas, at, at == proof.begin)) for at in names]
    sides = [spot.side for spot in spots]
    write(canvas, [spot.at for spot in spots], told, sides, "@ink", NAME_SIZE, None)
    lanes = [lane for lane in canvas.scene.layout.shown if lane <= len(whole.processes) - 1]
    turns = [whole.places.turns[lane] for lane in lanes]
    colour, dash = theme.cut_look(rank, not proof.is_forbidden)
    line = [(-0.5, turns[0]), *((float(lane), turn) for lane, turn in enumerate(turns)), (last + 0.5, turns[-1])]
    look = {"color": colour, "width": 3.2 * max(canvas.scale, 0.4), "dash": dash}
    canvas.add([line], sign="turn", mode="lines", line=look, meta={"turns": [lanes[0], *lanes, lanes[-1]]})
    symbol = theme.RECORD_SYMBOLS[rank % len(theme.RECORD_SYMBOLS)]
    diamond = {"symbol": symbol, "size": TURN * max(canvas.scale, 0.45), "color": colour}
    diamond |= {"line": {"color": "@paper", "width": 1.5}}
    texts = [plain(f"{whole.processes[lane]} turns red") for lane in lanes]
    points = [[(float(number), turn)] for number, turn in enumerate(turns)]
    canvas.add(points, sign="turn", mode="markers", marker=diamond, text=texts, hoverinfo="text", meta={"turns": lanes})
    name = plain(proof.snapshot.id) if proof.is_forbidden else "SSS"  # a cut that is no state has only its own name
    end, meta = (last + 0.5, turns[-1]), {"turns": lanes[-1:]}
    is_low = canvas.room.letters and canvas.pixels(end)[1] > canvas.room.height - 1.5 * canvas.letters(NAME_SIZE)
    side = f"{'top' if is_low else 'bottom'} {'left' if canvas.down else 'center'}"
    write(canvas, [end], [f"<b>{name}</b>"], side, "@ink", NAME_SIZE, None, meta=meta)
    return [*zip(names.values(), spots, strict=True), (name, Spot(end, side))]


def _side_of_state(canvas: Canvas, at: float, is_first: bool) -> str:
    """The side of the name of a state: above its line, or below if that would be outside."""
    _, y = canvas.pixels((-0.5, at))
    height = "top" if y > 1.5 * canvas.letters(NAME_SIZE) or (not canvas.down and not canvas.room.letters) else "bottom"
    return f"{height} {'right' if canvas.down or is_first else 'left'}"


def _letters(canvas: Canvas, signs: Sequence[Sign], labels: Labels) -> None:
    """Write the names of actions beside their line."""
    are_few = len(signs) <= FEW_ACTIONS
    named = [sign for sign in signs if sign.named or are_few]
    if len(named) > MOST_NAMED:
        return
    points, texts, sides, anchors = [], [], [], []
    for sign in named:
        pad = "\u00a0\u00a0" if canvas.down else ""
        name = cropped_name(sign.label, LONGEST)
        spots = spots_beside(canvas, sign.lane, sign.position)
        own = [(sign.lane, sign.position)]
        spot = labels.place(f"{pad}{name}{pad}", canvas.letters(LETTER_SIZE), spots, own, is_needed=True)
        if spot:
            points.append(spot.at)
            texts.append(f"{pad}{plain(name)}{pad}")
            sides.append(spot.side)
            anchors.append(sign.number)
    write(canvas, points, texts, sides, "@ink", LETTER_SIZE, None, meta={"places": anchors})


def _bodies(canvas: Canvas, whole: Rearranged, labels: Labels) -> None:
    """Write the bodies of messages along their arrows, if they are more than a name."""
    arrows = [arrow for arrow in canvas.scene.arrows if None not in _shaft(whole, arrow)[:2]]
    carried = with_a_body(canvas.scene, arrows)
    if len(carried) > MOST_BODIES:
        return
    points, texts, sides, anchors = [], [], [], []
    for arrow in carried:
        name = cropped_name(arrow.name, LONGEST_OF_FEW if len(arrows) <= FEW else LONGEST)
        start, end = (point for point in shaft(canvas.scene, arrow) if point)
        spots = along_arrow(canvas.scene, arrow)
        spot = labels.place(f"\u00a0{name}\u00a0", canvas.letters(BODY_SIZE), spots, [start, end])
        if spot:
            share = (spot.at[0] - start[0]) / (end[0] - start[0])
            points.append(spot.at)
            texts.append(off_the_line(plain(name), spot.side))
            sides.append(spot.side)
            anchors.append([*_shaft(whole, arrow)[:2], round(share, 4)])
    write(canvas, points, texts, sides, "@ink", BODY_SIZE, None, meta={"places": anchors})


def _layout(canvas: Canvas) -> Figure:
    """The axes: the places on one of them, and on the other room for the names of the states."""
    layout = layout_of(canvas.scene, canvas.down, canvas.room)
    times = "yaxis" if canvas.down else "xaxis"
    low, high = canvas.scene.extent
    ticks = round_times(low, high, whole=True)
    gap = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    layout[times] |= {"tick0": 0, "dtick": gap}
    return layout
