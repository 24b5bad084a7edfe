"""The arrows of the space-time diagram: messages, markers, control messages, and the bands of recorded messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from diagrams.figure import icons
from diagrams.figure.canvas import Canvas, Trace, plain
from diagrams.figure.shafts import add_arrows, grouped, shaft
from diagrams.figure.sign import ALWAYS, ASKED, Sign, has
from diagrams.figure.tips import Tips, obstacles_of
from diagrams.scene.composition import Scene
from diagrams.scene.elements import Arrow
from diagrams.shapes import theme
from sim.core.algorithm import BY_MARKER
from sim.core.model import APP, CONTROL, FENCED, MARKER, PUT_BACK, RESTORE

AHEAD = {"color": "@line", "width": 1.2}  # the way still ahead of a message


def _ahead(canvas: Canvas, arrows: Sequence[Arrow], tips: Tips, meta: Trace | None = None) -> None:
    """The thin arrows of messages until they are received or taken back, or from the step of their putting back on."""
    off = [tips.off(shaft(canvas.scene, arrow), arrow, 0) for arrow in arrows]
    show = [(0 if arrow.kind == APP and not arrow.is_again else arrow.sent, flying_until(arrow)) for arrow in arrows]
    add_arrows(canvas, arrows, show, AHEAD, head=9, meta=meta, sign="ahead", off=off)


def _there(
    canvas: Canvas, arrows: Sequence[Arrow], tips: Tips, line: Trace, head: float, sign: str, is_open: bool = False,
    meta: Trace | None = None,
) -> None:  # fmt: skip
    """The arrows of messages that have been received. A head gives way to a ring that is drawn later at its tip."""
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
    """The arrows of all messages that arrive; the obstacles at their ends are found once."""
    tips = Tips(canvas, obstacles_of(canvas))
    _gone(canvas, tips)
    for part in (_control, _messages, _markers):
        part(canvas, tips)


def flying_until(arrow: Arrow) -> int | None:
    """The step at which a message in transit arrives, or a recovery takes it back."""
    return arrow.received if arrow.gone is None else min(arrow.gone, arrow.received or arrow.gone)


def _gone(canvas: Canvas, tips: Tips) -> None:
    """The messages that a recovery has taken back, faded, also while they are in transit."""
    look = {"color": "@line", "width": 1.3 * max(canvas.scale, 0.5), "dash": theme.GONE_DASH}
    gone = [arrow for arrow in _that_come(canvas) if arrow.gone is not None]
    for snapshot, own in grouped(gone, lambda arrow: arrow.snapshot).items():
        off = [tips.off(shaft(canvas.scene, arrow), arrow, canvas.scene.last) for arrow in own]
        show, meta = [(arrow.gone or 0, None) for arrow in own], canvas.of(snapshot)
        add_arrows(canvas, own, show, look, 9, meta=meta, sign="abandoned message", off=off)


def fences(canvas: Canvas) -> None:
    """The fences at the ends of messages of an earlier epoch."""
    outline = {"color": "@ink", "width": 2.2 * max(canvas.scale, 0.6)}
    sign = {"symbol": theme.FENCE, "size": 15 * max(canvas.scale, 0.6), "color": "@ink", "line": outline}
    fenced = [arrow for arrow in _that_come(canvas) if arrow.is_fenced and arrow.stub != "target"]
    for snapshot, own in grouped(fenced, lambda arrow: arrow.snapshot).items():
        canvas.add(
            [[(arrow.target, arrow.end or 0.0)] for arrow in own], [(arrow.received or 0, None) for arrow in own],
            "fenced off", mode="markers", marker=sign, text=[plain(arrow.text) for arrow in own], hoverinfo="text",
            meta=canvas.of(snapshot),
        )  # fmt: skip


def _messages(canvas: Canvas, tips: Tips) -> None:
    """Application messages: thin ahead of the message, bold behind it, solid once it is received."""
    own_kind = _of_kind(canvas, APP)
    _ahead(canvas, own_kind, tips)
    looks = grouped(own_kind, lambda arrow: (_colour(arrow), arrow.head == "open", arrow.is_again))
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
    """The squares at which messages begin that a recovery puts back, on the line of the process that sent them."""
    size = 11 * max(canvas.scale, 0.5)
    sign = {"symbol": "square", "size": size, "color": "@paper", "line": {"width": 2, "color": colour}}
    shown = [arrow for arrow in own if not arrow.stub]
    canvas.add(
        [[(arrow.source, arrow.start)] for arrow in shown], [(arrow.sent, arrow.gone) for arrow in shown],
        "message put back", mode="markers", marker=sign, text=[plain(arrow.text) for arrow in shown], hoverinfo="text",
    )  # fmt: skip


def _that_come(canvas: Canvas) -> list[Arrow]:
    """The arrows of all messages that arrive."""
    return [arrow for arrow in canvas.scene.all_arrows if arrow.received is not None]


def _of_kind(canvas: Canvas, kind: str) -> list[Arrow]:
    """The arrows of one kind of message that arrive."""
    return [arrow for arrow in _that_come(canvas) if arrow.kind == kind]


def _control(canvas: Canvas, tips: Tips) -> None:
    """Control messages: fine dotted lines in the colour of their sender, beside all channels."""
    for (colour, snapshot), own in grouped(_of_kind(canvas, CONTROL), look_of).items():
        line, meta = {"color": colour, "dash": theme.CONTROL_DASH}, canvas.of(snapshot)
        flying = {**line, "width": 2.2 * max(canvas.scale, 0.4)}
        spans = [(arrow.sent, arrow.received) for arrow in own]
        add_arrows(canvas, own, spans, flying, head=10, grow=True, meta=meta, sign="control message on its way")
        there = {**line, "width": 1.3 * max(canvas.scale, 0.4)}
        _there(canvas, own, tips, there, 9, "control message", meta=meta)


def _markers(canvas: Canvas, tips: Tips) -> None:
    """Markers: dashed, in the colour of the process that sent them; the dash depends on the snapshot.

    The way ahead of a marker is a thin solid line, so that the bold dashes on it stay clear.
    """
    looks = grouped(_of_kind(canvas, MARKER), look_of)
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


def halos(canvas: Canvas) -> None:
    """The bands of recorded messages: a broad highlight under the arrow.

    They give way (`meta.unless_cut`) to a cut that the user holds, and to its bands.
    """
    if canvas.scene.shown_cut:
        return
    look = {"color": "@band", "width": 15 * max(canvas.scale, 0.4)}
    for snapshot in canvas.scene.snapshots:
        kept = [arrow for arrow in canvas.scene.all_arrows if snapshot.id in arrow.kept]
        meta = {**canvas.of(snapshot.id), "unless_cut": True}
        add_arrows(canvas, kept, [(arrow.kept[snapshot.id], None) for arrow in kept], look, meta=meta, sign="band")


def _colour(arrow: Arrow) -> str:
    return theme.message_colour(arrow.sender, arrow.kind, arrow.head)


def look_of(arrow: Arrow) -> tuple[str, str | None]:
    """The colour and the snapshot of an arrow, which arrows of one trace share."""
    return _colour(arrow), arrow.snapshot


def _has_markers(scene: Scene) -> bool:
    """Whether the algorithm uses markers, or the run has some in any case."""
    closes_by = scene.whole_run.words.algorithm.closes_by
    return closes_by == BY_MARKER or any(flight.is_marker for flight in scene.execution.flights)


def _has_control(scene: Scene) -> bool:
    """Whether a control message is sent."""
    return any(flight.is_control for flight in scene.execution.flights)


MESSAGE_SIGNS = (
    Sign(
        "message", "message",
        "A solid arrow is a message: bold in transit, thin and grey on the way still ahead.",
        icons.icon(30, icons.arrow(icons.MESSAGE)),
        drawn=ALWAYS, is_in=lambda scene: not scene.whole_run.words.algorithm.stamps,
        explains=("message", "message on its way"),
    ),
    Sign(
        "message-asked", "message",
        "A solid arrow is a message. Work out whether its sender had recorded.",
        icons.icon(30, icons.arrow(icons.MESSAGE)),
        drawn=ASKED, is_in=lambda scene: bool(scene.whole_run.words.algorithm.stamps),
    ),
    Sign(
        "marker", "{marker}",
        "A dashed arrow is a {marker} in the colour of its sender. It tells the receiver to record.",
        icons.icon(30, icons.arrow(icons.MARKER, 2.4, 6, 3)), of_snapshots=True, drawn=ALWAYS, is_in=_has_markers,
        as_drawn=True, explains=("marker", "marker on its way"),
    ),
    Sign(
        "marker-comes", "{marker} arrival",
        "A short dashed arrow: a {marker} arrives here. Work out where it was sent.",
        icons.icon(16, icons.arrow(icons.MARKER, 2.4, 4, 2, width=15)), of_snapshots=True,
        drawn=ASKED, is_in=_has_markers,
    ),
    Sign(
        "control", "{control}",
        "A fine dotted arrow is a {control}. It goes outside the channels, so no cut holds it.",
        icons.icon(30, icons.arrow(icons.CONTROL_MESSAGE, 1.4, 2, 3)),
        of_snapshots=True, drawn=ALWAYS, is_in=_has_control,
        explains=("control message", "control message on its way"),
    ),
    Sign(
        "control-comes", "{control} arrival",
        "A short dotted arrow: a {control} arrives here. Work out where it was sent.",
        icons.icon(16, icons.arrow(icons.CONTROL_MESSAGE, 1.4, 2, 3, width=15)),
        of_snapshots=True, drawn=ASKED, is_in=_has_control,
    ),
)  # fmt: skip

BAND_SIGNS = (
    Sign(
        "in-channel", "{recorded}", "{recorded_title}",
        icons.icon(30, icons.level(30, "@band", 12), icons.arrow(icons.MESSAGE)), of_snapshots=True,
        is_in=lambda scene: any(own.recorded_messages for own in scene.snapshots), explains=("band",),
    ),
)  # fmt: skip

TAKEN_BACK_SIGNS = (
    Sign(
        "abandoned", "abandoned part",
        "Faded: a recovery has taken this event or message back. No cut holds it any more.",
        icons.icon(34, icons.disc(5, 3, "@line"), icons.arrow("@line", 1.3, 6, 3, width=33)), is_in=has(RESTORE),
        explains=("abandoned event", "abandoned message", "abandoned recording"),
    ),
    Sign(
        "put-back", "message put back",
        "An arrow that begins at a square: a recovery puts a recorded message back into its channel.",
        icons.icon(
            34, icons.arrow(icons.MESSAGE, width=33), replace(icons.square(5, 4, "@paper"), outline="@ink", width=1.5)
        ),
        is_in=has(PUT_BACK), explains=("message put back", "message put back on its way"),
    ),
    Sign(
        "fenced", "fenced message",
        "A fence at the end of an arrow: the message belongs to an earlier epoch, and the receiver ignores it.",
        icons.fence(), is_in=has(FENCED), explains=("fenced off",),
    ),
)  # fmt: skip
