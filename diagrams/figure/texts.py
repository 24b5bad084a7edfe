"""The texts of the space-time diagram, placed one after the other, and the obstacles that they avoid."""

from __future__ import annotations

from diagrams.figure.bodies import bodies
from diagrams.figure.canvas import Canvas, Point
from diagrams.figure.cuts import NAME_SIZE, OUTER, complete, curve, names, parts_of
from diagrams.figure.labels import Labels
from diagrams.figure.names import BLANKS, letters, outcomes
from diagrams.figure.shafts import shaft
from diagrams.figure.stops import avoid_stops, durations
from diagrams.figure.tips import DOT, ring_size
from diagrams.figure.undelivered import REASON_SIZE, not_received, reason_beside
from diagrams.scene.composition import ON_ITS_WAY
from diagrams.scene.elements import Decision, Dot, Moment
from sim.core.model import APP

COARSE = 12  # parts of a cut's line between two lanes, precise enough to avoid it

BAND, THIN = 15.0, 4.0  # pixels: the width of a band below a message, and of a message


def texts(canvas: Canvas) -> None:
    """Write all texts: names of events first, which have few spots, then texts at arrows, which have many."""
    labels = obstacles(canvas)
    avoid_stops(canvas, labels)
    letters(canvas, labels)
    outcomes(canvas, labels)
    bodies(canvas, labels)
    durations(canvas, labels)
    canvas.left_out = labels.left_out


def obstacles(canvas: Canvas) -> Labels:
    """All obstacles to texts, with the cost of hiding each."""
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
    """A point `off` pixels later."""
    assert point is not None
    low, high = canvas.scene.extent
    return point[0], point[1] + off * (high - low) / (canvas.room.height if canvas.down else canvas.room.width)


def _radius(canvas: Canvas, dot: Dot) -> float:
    """The radius of a dot with its rings, in pixels."""
    ranks = [rank for rank, snapshot in enumerate(canvas.scene.snapshots) if snapshot.id in dot.recorded]
    return max((ring_size(rank, canvas.scale) / 2 for rank in ranks), default=DOT / 2 * canvas.scale)
