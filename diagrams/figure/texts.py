"""The texts of the space-time diagram: names of events, bodies of messages, channels that recorded them, outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diagrams.figure.arrows import REASON_SIZE, not_received, reason_beside, shaft
from diagrams.figure.canvas import Canvas, Point, plain, write
from diagrams.figure.cuts import NAME_SIZE, OUTER, complete, curve, names, parts_of
from diagrams.figure.labels import Labels, Spot, along
from diagrams.figure.stops import avoid_stops, durations
from diagrams.figure.tips import DECISION, DOT, ring_size
from diagrams.scene.composition import ON_ITS_WAY, Scene
from diagrams.scene.elements import Arrow, Decision, Dot, Moment, Span
from diagrams.shapes.lettering import cropped
from sim.core.model import APP

MOST_NAMED = 160  # events with a letter beside them
MOST_BODIES = 60  # messages with their body beside them
MOST_KEPT = 12  # recorded messages with their channel beside them
LONGEST = 18  # letters of a body
FEW, LONGEST_OF_FEW = 6, 32  # up to FEW messages may have longer bodies

LONGEST_CHANNEL = 14  # letters of a channel's name; beyond that it is just "its channel"
LONGEST_KEPT = 10  # letters of a body before the channel in which it was recorded

COARSE = 12  # parts of a cut's line between two lanes, precise enough to avoid it

LEAST_ROOM, MOST_ROOM = 48.0, 190.0  # pixels for the name of an event on a line across the page
BLANKS = "\u00a0" * 2  # between a name at the end of a cut and another text
STOP = 8.0  # pixels: how far the cross of a message that is not received reaches
BAND, THIN = 15.0, 4.0  # pixels: the width of a band below a message, and of a message
ASIDE = 15  # pixels from a line across the page to the names above or below it
LETTER_SIZE = 17
BODY_SIZE = 14
OUTCOME_SIZE, STOP_SIZE = 14, 15
FADED = "@ink/0.65"  # of what belongs to an event or a message that a recovery has taken back
Text = tuple[Spot, str, Span]
SHARES = (0.42, 0.54, 0.3, 0.64, 0.36, 0.48, 0.2, 0.76, 0.24, 0.7, 0.14, 0.84)  # of an arrow, the best spot first
MORE_SHARES = (*SHARES, *(share / 100 for share in range(8, 96, 4)))  # on paper, where a text lies on no other arrow


def texts(canvas: Canvas) -> None:
    """The names of events first, as each has few spots; then texts at arrows, which have many."""
    labels = obstacles(canvas)
    avoid_stops(canvas, labels)
    letters(canvas, labels)
    _outcomes(canvas, labels)
    bodies(canvas, labels)
    durations(canvas, labels)
    canvas.left_out = labels.left_out


def obstacles(canvas: Canvas) -> Labels:
    """Everything that texts should avoid, with the cost of hiding it."""
    scene = canvas.scene
    labels = Labels(canvas.pixels, canvas.room)
    for arrow in scene.all_arrows:
        start, end, *_ = shaft(scene, arrow)
        if start and end:
            wide = (BAND if arrow.kept else THIN) * canvas.scale / 2
            labels.avoid_line([start, end], *((12, wide) if arrow.kind == APP else (4, None)))
    for arrow, why in not_received(scene):
        if why and why != ON_ITS_WAY:
            labels.avoid_text(f"{BLANKS}{why}", canvas.letters(REASON_SIZE), reason_beside(canvas, arrow))
    for cut in scene.cuts:
        positions = complete(cut)
        if positions:
            line = curve(positions, COARSE)
            labels.avoid_line(line, 1)
            for spot, name in names(canvas, cut, line):
                labels.avoid_text(f"{BLANKS}{name}", canvas.letters(NAME_SIZE), spot)
    for back in scene.back_to:
        for part in parts_of(scene, back.positions):
            for off in (-OUTER / 2, OUTER / 2):
                labels.avoid_line([_later(canvas, point, off) for point in part], 15)
    low, high = scene.extent
    for lane in range(len(scene.lanes)):
        labels.avoid_line([(lane, low), (lane, high)], 3)
    for dot in scene.dots:
        labels.avoid_dot((dot.lane, dot.position), _radius(canvas, dot), 20)
    for recordings in scene.recordings.values():
        for recording in recordings:
            labels.avoid_dot((recording.lane, recording.position), 8 * canvas.scale, 20)
    signs: list[Decision | Moment] = [*scene.decisions, *scene.moments]
    for sign in signs:
        labels.avoid_dot((sign.lane, sign.position), 8 * canvas.scale, 20)
    return labels


def _later(canvas: Canvas, point: Point | None, off: float) -> Point:
    """A point so many pixels later."""
    assert point is not None
    low, high = canvas.scene.extent
    return point[0], point[1] + off * (high - low) / (canvas.room.height if canvas.down else canvas.room.width)


def _radius(canvas: Canvas, dot: Dot) -> float:
    """How far a dot reaches with its rings, in pixels."""
    ranks = [rank for rank, snapshot in enumerate(canvas.scene.snapshots) if snapshot.id in dot.recorded]
    return max((ring_size(rank, canvas.scale) / 2 for rank in ranks), default=DOT / 2 * canvas.scale)


def letters(canvas: Canvas, labels: Labels) -> None:
    """The names of events, beside their line so that rings and arrows leave them legible, cut to the room there is.

    A name that would hide another one is left out; the hover text of its event has it.
    """
    dots = [dot for dot in canvas.scene.dots if dot.named]
    if len(dots) > MOST_NAMED:
        return
    size = canvas.letters(LETTER_SIZE)
    placed: list[tuple[Spot, str, Dot]] = []
    for dot, room in zip(dots, _rooms(canvas, labels, dots), strict=True):
        name = cropped(dot.label, size, room)
        spots = spots_beside(canvas, dot.lane, dot.position)
        own = [(dot.lane, dot.position)]
        spot = labels.place(_off_the_dot(name, canvas, spots[0]), size, spots, own, is_needed=True)
        if spot:
            placed.append((spot, _off_the_dot(plain(name), canvas, spot), dot))
    for is_gone, colour in ((False, "@ink"), (True, FADED)):
        seen = [one for one in placed if not is_gone or one[2].gone is not None]
        points, sides = [spot.at for spot, *_ in seen], [spot.side for spot, *_ in seen]
        show: list[Span] = [(dot.gone or 0, None) if is_gone else (0, dot.gone) for *_, dot in seen]
        write(canvas, points, [name for _, name, _ in seen], sides, colour, LETTER_SIZE, show)


def _off_the_dot(name: str, canvas: Canvas, spot: Spot) -> str:
    """A name with blanks that keep it clear of the ring of its event, which is smaller on paper."""
    blanks = 0 if not canvas.down else 4 if spot.side.startswith("middle") else 3
    pad = " " * max(0, blanks - (canvas.room.letters is not None))
    return f"{pad}{name}{pad}"


def _rooms(canvas: Canvas, labels: Labels, dots: Sequence[Dot]) -> list[float]:
    """The room in pixels for the name of each event: to the next line, or to the next name on its own line."""
    if canvas.down:
        lanes = len(canvas.scene.lanes)
        width = labels.pixels((1, 0))[0] - labels.pixels((0, 0))[0]
        return [max(LEAST_ROOM, width * (0.6 if dot.lane in (0, lanes - 1) else 0.85) - 30) for dot in dots]
    along: dict[int, list[float]] = {}
    for dot in dots:
        along.setdefault(dot.lane, []).append(labels.pixels((0, dot.position))[0])
    gaps = []
    for dot in dots:
        here = labels.pixels((0, dot.position))[0]
        others = [abs(there - here) for there in along[dot.lane] if there != here]
        gaps.append(min(MOST_ROOM, max(LEAST_ROOM, min(others, default=MOST_ROOM))))
    return gaps


def spots_beside(canvas: Canvas, lane: float, position: float) -> list[Spot]:
    """The spots for a name: beside a line down the page, above or below a line across it."""
    lanes = len(canvas.scene.lanes)
    if canvas.down:
        sides = ["left", "right"] if lane == 0 else ["right", "left"]
        heights = ["middle", "top", "bottom"]
        return [Spot((lane, position), f"{height} {side}") for height in heights for side in sides]
    aside = ASIDE * (canvas.scene.layout.places[-1] + 2 * canvas.room.beyond) / canvas.room.height  # in lanes
    above, below = lane - aside, lane + aside
    upper = [Spot((above, position), f"top {side}") for side in ("center", "left", "right")]
    lower = [Spot((below, position), f"bottom {side}") for side in ("center", "left", "right")]
    return [*lower, *upper] if lane == lanes - 1 and lanes > 1 else [*upper, *lower]


def _outcomes(canvas: Canvas, labels: Labels) -> None:
    """What was decided, beside each decision; where there is no room, of which snapshot; none on a folded line.

    So with what is stored and gone back to.
    """
    size = canvas.letters(OUTCOME_SIZE)
    lanes = canvas.scene.layout.shown
    told: list[Decision | Moment] = [*canvas.scene.decisions, *(own for own in canvas.scene.moments if own.name)]
    decisions = [own for own in told if lanes[own.lane] not in canvas.scene.layout.folded]
    if decisions:
        _avoid_crosses(canvas, labels)
    for own in decisions if len(decisions) <= MOST_NAMED else ():
        spots, left_out = _spots_of(canvas, own), labels.left_out
        for name in dict.fromkeys((own.name, own.snapshot or own.name)):
            pad = "\u00a0" * canvas.down
            spot = labels.place(f"{pad}{name}{pad}", size, spots, [(own.lane, own.position)], is_spare=True)
            if spot:
                meta, show = canvas.of(own.snapshot), [(own.step, None)]
                text = off_the_line(plain(name), spot.side) if canvas.down else plain(name)
                write(canvas, [spot.at], [text], spot.side, "@ink", OUTCOME_SIZE, show, meta=meta)
                labels.left_out = left_out + (name != own.name)
                break


def _avoid_crosses(canvas: Canvas, labels: Labels) -> None:
    """Keep texts off the messages that are not received, and off what is written there (figure/arrows.py, _held)."""
    for arrow in canvas.scene.all_arrows:
        end = shaft(canvas.scene, arrow)[1]
        if arrow.received is None and end:
            labels.avoid_dot(end, STOP * canvas.scale, 20)
            is_before = arrow.target < arrow.source
            down, right = "left" if is_before else "right", "top" if is_before else "bottom"
            side = f"middle {down}" if canvas.down else f"{right} center"
            told = f"{BLANKS}{canvas.scene.why_not_received(arrow)}{BLANKS}"
            labels.avoid_text(told, canvas.letters(STOP_SIZE), Spot(end, side))


def _spots_of(canvas: Canvas, own: Decision | Moment) -> list[Spot]:
    """The spots for what was decided: those of the name of an event, off the sign."""
    spots = spots_beside(canvas, own.lane, own.position)
    if not canvas.down:
        return spots
    off = DECISION / 2 * (canvas.scene.layout.places[-1] + 2 * canvas.room.beyond) / canvas.room.width  # in lanes
    return [Spot((own.lane + (off if "right" in spot.side else -off), own.position), spot.side) for spot in spots]


def bodies(canvas: Canvas, labels: Labels) -> None:
    """The bodies of messages that carry more than their name; once a snapshot records a message, also its channel.

    The channel gives way (`meta.unless_cut`) to a cut that somebody holds; then the body is there alone (`when_cut`).
    """
    arrows = [arrow for arrow in canvas.scene.all_arrows if arrow.kind == APP and arrow.end is not None]
    carried = with_a_body(canvas.scene, arrows)
    kept = [arrow for arrow in arrows if arrow.kept and not canvas.scene.shown_cut]
    few = len(arrows) <= FEW
    of_body, of_kept = (LONGEST_OF_FEW, LONGEST_OF_FEW) if few else (LONGEST, LONGEST_KEPT)
    with_body = {_way(own): plain(cropped_name(own.name, of_body)) for own in carried if len(carried) <= MOST_BODIES}
    with_place = {_way(own): plain(_where_kept(canvas.scene, own, of_kept)) for own in kept if len(kept) <= MOST_KEPT}
    carrying: list[Text] = []
    gone: list[Text] = []
    alone: list[Text] = []
    places: dict[tuple[str, ...], list[Text]] = {}
    for arrow in sorted(arrows, key=lambda arrow: _way(arrow) not in with_place):
        body, place = with_body.get(_way(arrow)), with_place.get(_way(arrow))
        if not body and not place:
            continue
        known = min(arrow.kept.values()) if place else None
        spot, body, place = _spot_at(canvas, labels, arrow, body, place)
        if spot is None:
            continue
        if body:
            told, begin = off_the_line(body, spot.side), arrow.sent if arrow.is_again else 0
            carrying.append((spot, told, (begin, known if place else arrow.gone)))
            if arrow.gone is not None and not place:
                gone.append((spot, told, (arrow.gone, None)))
        if body and place:
            alone.append((spot, off_the_line(body, spot.side), (known or 0, None)))
        if place:
            text = (spot, off_the_line(f"<b>{place}</b>", spot.side), (known or 0, None))
            places.setdefault(tuple(arrow.kept), []).append(text)
    _write_beside(canvas, carrying)
    _write_beside(canvas, gone, FADED)
    _write_beside(canvas, alone, visible=False, meta={"when_cut": True})
    for snapshots, own in places.items():
        _write_beside(canvas, own, meta={**canvas.of(*snapshots), "unless_cut": True})


def _way(arrow: Arrow) -> tuple[int, int]:
    """What tells a message apart from the same one, put back."""
    return arrow.id, arrow.sent if arrow.is_again else 0


def _spot_at(
    canvas: Canvas, labels: Labels, arrow: Arrow, body: str | None, place: str | None
) -> tuple[Spot | None, str | None, str | None]:
    """A spot for the body and the place of a message, of which one gives way to the other.

    On paper, where neither has room, it is a spot for a shorter place alone.
    """
    ends = [point for point in shaft(canvas.scene, arrow) if point]
    spots = along_arrow(canvas.scene, arrow, MORE_SHARES if canvas.room.letters else SHARES)
    left_out, caption = labels.left_out, plain(_caption_of(canvas.scene, arrow))
    tried = [(body, place)]
    if place and canvas.room.letters:
        tried += [(None, told) for told in (f"in {caption}", caption, plain(cropped_name(arrow.name, LONGEST_KEPT)))]
    for carried, told in tried:
        longest = max(carried or "", told or "", key=len)
        spot = labels.place(f"\u00a0{longest}\u00a0", canvas.letters(BODY_SIZE), spots, ends)
        if spot:
            labels.left_out = left_out + (told != place)
            return spot, carried, told
    labels.left_out = left_out + 2
    return None, None, None


def _caption_of(scene: Scene, arrow: Arrow) -> str:
    """The name of a message's channel, if that is short."""
    caption = scene.captions[arrow.channel]
    return caption if len(caption) <= LONGEST_CHANNEL else "its channel"


def _write_beside(canvas: Canvas, texts: Sequence[Text], colour: str = "@ink", **look: Any) -> None:
    if texts:
        spots, words, spans = zip(*texts, strict=True)
        points, sides = [spot.at for spot in spots], [spot.side for spot in spots]
        write(canvas, points, words, sides, colour, BODY_SIZE, spans, **look)


def off_the_line(text: str, side: str) -> str:
    """A text with a blank between it and the arrow that it lies beside."""
    return f"\u00a0{text}" if side.endswith("right") else f"{text}\u00a0"


def with_a_body(scene: Scene, arrows: Sequence[Arrow]) -> list[Arrow]:
    """The messages whose body is more than the name of the event that sent them."""
    names = {(dot.lane, dot.step): dot.label for dot in scene.dots}
    own = ("->", ".")
    return [
        arrow
        for arrow in arrows
        if arrow.name != names.get((arrow.source, arrow.sent)) and not any(sign in arrow.name for sign in own)
    ]


def cropped_name(name: str, longest: int) -> str:
    """A name of at most `longest` letters."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


def _where_kept(scene: Scene, arrow: Arrow, longest: int) -> str:
    """The channel whose recorded state holds a message; with several snapshots also which of them."""
    caption = _caption_of(scene, arrow)
    place = f"in {caption}" if len(scene.snapshots) == 1 else f"in {caption} ({', '.join(arrow.kept)})"
    return place if "->" in arrow.name or len(arrow.name) > longest else f"{arrow.name} {place}"


def along_arrow(scene: Scene, arrow: Arrow, shares: Sequence[float] = SHARES) -> list[Spot]:
    """Spots on both sides of an arrow, at shares of its way; its slope decides which corners of a text touch it."""
    falls = arrow.target > arrow.source  # time and lanes both grow: down and to the right
    sides = ["top right", "bottom left"] if falls else ["bottom right", "top left"]
    start, end, _ = shaft(scene, arrow)
    assert start is not None and end is not None
    if arrow.is_again:  # it lies almost straight across the lines
        sides = ["top center", "bottom center"]
    return along(start, end, shares, [*sides, "middle right", "middle left"])
