"""The arrows that end on their way: messages that are held, lost or still under way, and tries that fail."""

from __future__ import annotations

import math

from diagrams.figure import icons
from diagrams.figure.arrows import look_of
from diagrams.figure.canvas import Canvas
from diagrams.figure.labels import Spot
from diagrams.figure.shafts import add_arrows, grouped, shaft
from diagrams.figure.sign import Sign, has
from diagrams.scene.composition import ON_ITS_WAY, Scene
from diagrams.scene.elements import Arrow
from diagrams.shapes.lettering import width_of
from sim.core.model import COPIED, DROPPED, LOST, RESENT

REASON_SIZE = 15  # of the letters that say why an arrow ends on its way


def not_received(scene: Scene) -> list[tuple[Arrow, str]]:
    """The arrows that end on their way, each with the reason in words.

    Among them are the failed tries of a FIFO layer: a loss, which it makes good, and a copy, which it drops.
    """
    arrows = [arrow for arrow in scene.all_arrows if arrow.received is None]
    told = [(arrow, scene.why_not_received(arrow)) for arrow in arrows]
    return told + [(arrow, arrow.why) for arrow in scene.failed_tries]


def reason_beside(canvas: Canvas, arrow: Arrow) -> Spot:
    """The spot for the reason why an arrow ends on its way."""
    before = "middle left" if canvas.down else "top center"
    after = "middle right" if canvas.down else "bottom center"
    end = shaft(canvas.scene, arrow)[1]
    assert end is not None
    return Spot(end, before if arrow.target < arrow.source else after)


def undelivered(canvas: Canvas) -> None:
    """Messages that are never received, and failed tries, as dotted stubs.

    A held or lost message, or one behind a held one, ends in a cross. One that was never chosen ends in a ring.
    """
    looks = grouped(_each_word_once(canvas), lambda told: (*look_of(told[0]), told[1] == ON_ITS_WAY))
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
    """The arrows that end on their way, with the reasons; of two ends side by side only the first has the word."""
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


UNDELIVERED_SIGNS = (
    Sign(
        "held", "held message",
        "A cross: this message is held and never arrives. A FIFO channel keeps the order, so later messages wait "
        "behind it.",
        icons.CROSS, rare=True, is_in=lambda scene: scene.whole_run.log is None,
        explains=("message not received",),
    ),
    Sign(
        "dropped", "lost message",
        "A cross with the word lost: the network loses the message, or its receiver is down.",
        icons.CROSS, is_in=has(LOST), explains=("message not received",),
    ),
    Sign(
        "sent-again", "resent message",
        "A cross with the words lost, sent again: the network loses the message, and the FIFO layer resends it.",
        icons.CROSS, is_in=has(RESENT), explains=("message not received",),
    ),
    Sign(
        "copy-dropped", "dropped copy",
        "A cross with the words copy dropped: the network delivers a message twice, and the FIFO layer drops one.",
        icons.CROSS, is_in=has(DROPPED), explains=("message not received",),
    ),
    Sign(
        "copied", "copied message",
        "Two arrows from one event: the network delivers the message twice. The second one is a copy.",
        icons.icon(30, icons.arrow(icons.MESSAGE)), is_in=has(COPIED), explains=("message",),
    ),
    Sign(
        "later", "message received later",
        "A cross: the receipt is not in these rows. It is later in the log, or never.",
        icons.CROSS, is_in=lambda scene: scene.whole_run.log is not None,
        explains=("message not received",),
    ),
)  # fmt: skip
