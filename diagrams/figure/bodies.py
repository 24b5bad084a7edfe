"""The bodies of messages along their arrows, and the channels in which snapshots record them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from diagrams.figure.canvas import Canvas, plain, write
from diagrams.figure.labels import Labels, Spot, along
from diagrams.figure.names import FADED, off_the_line
from diagrams.figure.shafts import shaft
from diagrams.scene.composition import Scene
from diagrams.scene.elements import Arrow, Span
from sim.core.model import APP

MOST_BODIES = 60  # messages with their body beside them
MOST_KEPT = 12  # recorded messages with their channel beside them
LONGEST = 18  # letters of a body
FEW, LONGEST_OF_FEW = 6, 32  # up to FEW messages may have longer bodies
LONGEST_CHANNEL = 14  # letters of a channel's name; beyond that it is just "its channel"
LONGEST_KEPT = 10  # letters of a body before the channel in which it was recorded
BODY_SIZE = 14
Text = tuple[Spot, str, Span]
SHARES = (0.42, 0.54, 0.3, 0.64, 0.36, 0.48, 0.2, 0.76, 0.24, 0.7, 0.14, 0.84)  # of an arrow, the best spot first
MORE_SHARES = (*SHARES, *(share / 100 for share in range(8, 96, 4)))  # on paper, where a text lies on no other arrow


def bodies(canvas: Canvas, labels: Labels) -> None:
    """Write the bodies of messages that carry more than their name, and the channels of recorded messages.

    The channel gives way (`meta.unless_cut`) to a cut that the user holds; the body stays alone then (`when_cut`).
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
    """The key of a message, which differs from that of the same message, put back."""
    return arrow.id, arrow.sent if arrow.is_again else 0


def _spot_at(
    canvas: Canvas, labels: Labels, arrow: Arrow, body: str | None, place: str | None
) -> tuple[Spot | None, str | None, str | None]:
    """A spot for the body and the place of a message, of which one gives way to the other.

    If neither has room on paper, the spot is for a shorter place alone.
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
    """The channel whose recorded state holds a message; with several snapshots also their names."""
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
