"""The messages at which the failing checks of a snapshot point in the space-time diagram.

A message is marked once the verdicts are known. An orphan message is received inside the cut or recorded, and sent
outside the cut: it has a band and a cross. A missing message crosses the cut and is not recorded: it has a band of
dashes. The marks give way to a cut that the user holds (`meta.unless_cut`).
"""

from __future__ import annotations

from diagrams.figure import icons
from diagrams.figure.canvas import Canvas, Point, Trace
from diagrams.figure.cuts import MOST_CROSSES
from diagrams.figure.shafts import shaft
from diagrams.figure.sign import Sign
from diagrams.scene.composition import Scene
from diagrams.scene.elements import Arrow, Span
from sim.run.snapshots import Snapshot
from sim.verify.harm import against, harms

BESIDE = 0.15  # of the way of a message: the beginning of its band if a recovery has taken back its sending
WIDTH = 9  # pixels of a band


def harm_bands(canvas: Canvas) -> None:
    """The bands, below all arrows."""
    for snapshot, step in _harmed(canvas.scene):
        found = against(canvas.scene.execution, snapshot)
        meta: Trace = {**canvas.of(snapshot.id), "unless_cut": True}
        look: Trace = {"color": "@bad/0.6", "width": WIDTH * max(canvas.scale, 0.4)}
        _mark(canvas, found.orphans | found.extra, step, "speaks against the cut", meta, look)
        _mark(canvas, found.lost, step, "lost message", meta, {**look, "dash": "6px,5px"})


def harm_crosses(canvas: Canvas) -> None:
    """A cross on the middle of each orphan message."""
    for snapshot, step in _harmed(canvas.scene):
        found = against(canvas.scene.execution, snapshot)
        own = _arrows(canvas.scene, found.orphans | found.extra)[:MOST_CROSSES]
        ends = [shaft(canvas.scene, arrow) for arrow in own]
        middles = [[((a[0] + b[0]) / 2, (a[1] + b[1]) / 2)] for a, b, *_ in ends if a and b]
        cross = {"symbol": "x-thin", "size": 14, "color": "@ink", "line": {"width": 4, "color": "@ink"}}
        meta = {**canvas.of(snapshot.id), "unless_cut": True}
        show: list[Span] = [(step, None)] * len(middles)
        canvas.add(middles, show, "speaks against the cut", mode="markers", marker=cross, meta=meta)


def has_orphans(scene: Scene) -> bool:
    """Whether a snapshot has an orphan message."""
    found = [against(scene.execution, snapshot) for snapshot, _ in _harmed(scene)]
    return any(own.orphans or own.extra for own in found)


def has_lost(scene: Scene) -> bool:
    """Whether a snapshot misses a message."""
    return any(against(scene.execution, snapshot).lost for snapshot, _ in _harmed(scene))


def _harmed(scene: Scene) -> list[tuple[Snapshot, int]]:
    """The snapshots with a failing check, each with the step of its verdict; none beside a cut of the user's."""
    found = {} if scene.shown_cut else {own.snapshot.id: (own.snapshot, own.step) for own in harms(scene.execution)}
    return list(found.values())


def _arrows(scene: Scene, messages: frozenset[int]) -> list[Arrow]:
    """The arrows of messages on the surviving line."""
    own = {arrow.id: arrow for arrow in scene.all_arrows if arrow.id in messages and arrow.gone is None}
    return [own[message] for message in sorted(own)]


def _mark(canvas: Canvas, messages: frozenset[int], step: int, sign: str, meta: Trace, look: Trace) -> None:
    arrows = _arrows(canvas.scene, messages)
    shafts = [_band(canvas.scene, arrow) for arrow in arrows]
    canvas.add(shafts, [(step, None)] * len(arrows), sign, mode="lines", line=look, meta=meta)


def _band(scene: Scene, arrow: Arrow) -> list[Point | None]:
    """The ends of a band; it begins beside a sending that a recovery has taken back, whose pale dot stays visible."""
    start, end, gap = shaft(scene, arrow)
    if start and end and arrow.id in scene.execution.history.unsent:
        start = (start[0] + BESIDE * (end[0] - start[0]), start[1] + BESIDE * (end[1] - start[1]))
    return [start, end, gap]


HARM_SIGNS = (
    Sign(
        "orphan", "orphan message",
        "A red band with a cross: the message was sent after the cut, but counts as received or in transit.",
        icons.icon(30, icons.level(30, "@bad/0.6", 8), icons.arrow(icons.MESSAGE), icons.cross(8, "@ink", 2.6)),
        of_snapshots=True,
        is_in=has_orphans, explains=("speaks against the cut",),
    ),
    Sign(
        "lost", "missing message",
        "A dashed red band: the message crosses the cut, but the snapshot has not recorded it.",
        icons.icon(30, icons.level(30, "@bad/0.6", 8, 5, 4), icons.arrow(icons.MESSAGE)), of_snapshots=True,
        is_in=has_lost, explains=("lost message",),
    ),
)  # fmt: skip
