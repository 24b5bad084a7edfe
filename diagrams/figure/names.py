"""The names of events beside their lines, and the words beside decisions and moments of storage."""

from __future__ import annotations

from collections.abc import Sequence

from diagrams.figure.canvas import Canvas, plain, write
from diagrams.figure.labels import Labels, Spot
from diagrams.figure.shafts import shaft
from diagrams.figure.tips import DECISION
from diagrams.scene.elements import Decision, Dot, Moment, Span
from diagrams.shapes.lettering import cropped

MOST_NAMED = 160  # events with a letter beside them
LEAST_ROOM, MOST_ROOM = 48.0, 190.0  # pixels for the name of an event on a line across the page
BLANKS = "\u00a0" * 2  # between a name at the end of a cut and another text
STOP = 8.0  # pixels: how far the cross of a message that is not received reaches
ASIDE = 15  # pixels from a line across the page to the names above or below it
LETTER_SIZE = 17
OUTCOME_SIZE, STOP_SIZE = 14, 15
FADED = "@ink/0.65"  # of texts at an event or a message that a recovery has taken back


def letters(canvas: Canvas, labels: Labels) -> None:
    """Write the names of events beside their line, off rings and arrows, cropped to the room.

    A name that would hide another one is left out; it is in the hover text of its event.
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
    """The pixels for the name of each event: to the next line, or to the next name on its own line."""
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


def outcomes(canvas: Canvas, labels: Labels) -> None:
    """Write the name of each decision and moment of storage beside it; without room, only its snapshot.

    A folded line has no such names.
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
    """Keep texts off messages that are not received, and off the words beside them (figure/undelivered.py)."""
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
    """The spots for the name of a decision: those of the name of an event, off the symbol."""
    spots = spots_beside(canvas, own.lane, own.position)
    if not canvas.down:
        return spots
    off = DECISION / 2 * (canvas.scene.layout.places[-1] + 2 * canvas.room.beyond) / canvas.room.width  # in lanes
    return [Spot((own.lane + (off if "right" in spot.side else -off), own.position), spot.side) for spot in spots]


def off_the_line(text: str, side: str) -> str:
    """A text with a blank between it and the arrow that it lies beside."""
    return f"\u00a0{text}" if side.endswith("right") else f"{text}\u00a0"
