"""Scene -> space-time diagram: a Plotly figure as plain lists and dicts, with colours as tokens.

Each trace holds elements of one look. `meta.show` holds the steps at which each of its elements is seen (`meta.stride`
points per element), so that the browser steps by masking points. "down": time runs down the page, as Kuper draws it;
"right": from left to right, as Gupta does.
"""

from __future__ import annotations

from collections.abc import Callable

from diagrams.figure import icons
from diagrams.figure.arrows import arrows, fences, halos
from diagrams.figure.canvas import Canvas, Point
from diagrams.figure.cuts import cuts, lines_back_to, shown_line, shown_messages, shown_past, tints
from diagrams.figure.events import dots, rings
from diagrams.figure.harm import harm_bands, harm_crosses
from diagrams.figure.layout import Figure, layout_of
from diagrams.figure.moments import decisions, moments, recordings
from diagrams.figure.room import SCREEN, Room
from diagrams.figure.sign import Sign
from diagrams.figure.stops import stops
from diagrams.figure.texts import texts
from diagrams.figure.undelivered import undelivered
from diagrams.scene.arranged import Arranged
from diagrams.scene.composition import Scene
from diagrams.scene.timed_run import MOST_TEXTS


def figure(scene: Scene, orientation: str, room: Room = SCREEN, *, live: bool = False) -> Figure:
    """The space-time diagram of `scene`, `orientation` "down" or "right", laid out for a room.

    `live`: it shows a segment of a live run, and is drawn often.
    """
    canvas = Canvas(arranged(scene), orientation, room)
    for part in _parts_of_live(scene) if live else PARTS:
        part(canvas)
    layout = layout_of(canvas.scene, canvas.down, room)
    if room.letters:
        layout["meta"]["left_out"] = canvas.left_out
    return {"data": canvas.traces, "layout": layout}


def arranged(scene: Scene) -> Scene:
    """The scene of the lanes on show."""
    return scene if scene.layout.is_plain else Arranged(scene)


def process_lines(canvas: Canvas) -> None:
    """The lines of the processes: solid, and dotted for a folded process."""
    low, high = canvas.scene.extent
    look = {"color": "@line", "width": 2 * max(canvas.scale, 0.4)}
    layout = canvas.scene.layout
    for folded, dash in ((False, {}), (True, {"dash": "dot"})):
        own = [number for number, lane in enumerate(layout.shown) if (lane in layout.folded) == folded]
        lines = [[(lane, low), (lane, high), None] for lane in own]
        canvas.add(lines, sign="process line", mode="lines", line={**look, **dash})


def _ghosts(canvas: Canvas) -> None:
    """The arrows as they were before the edits: faint, without heads or words."""
    low, high = canvas.scene.extent
    shafts: list[list[Point | None]] = []
    for ghost in canvas.scene.ghosts:
        end = ghost.end if ghost.end is not None else min(ghost.start + (high - low) * 0.06, high)
        target = ghost.target if ghost.end is not None else ghost.source + (ghost.target - ghost.source) * 0.4
        shafts.append([(ghost.source, ghost.start), (target, end), None])
    look = {"color": "@line", "width": 1.5 * max(canvas.scale, 0.5), "dash": "dot"}
    canvas.add(shafts, sign="before the edits", mode="lines", line=look, meta={"ghost": True})


def _now(canvas: Canvas) -> None:
    """The line of now, which the browser moves with the step."""
    low, _ = canvas.scene.extent
    ends: list[Point | None] = [(-0.5, low), (len(canvas.scene.lanes) - 0.5, low)]
    look = {"color": "@faint", "width": 1.5, "dash": "3px,4px"}
    canvas.add([ends], sign="now", mode="lines", line=look, meta={"cursor": "y" if canvas.down else "x"})


# In the order of drawing.
PARTS: tuple[Callable[[Canvas], None], ...] = (
    tints, shown_past, lines_back_to, process_lines, stops, _ghosts, halos, shown_messages, harm_bands, arrows,
    undelivered, fences, rings, dots, cuts, harm_crosses, shown_line, recordings, decisions, moments, _now, texts,
)  # fmt: skip


def _parts_of_live(scene: Scene) -> list[Callable[[Canvas], None]]:
    """The parts of a live diagram: no rings, since all events before a cut would have one; texts of few events only."""
    is_crowded = len(scene.dots) > MOST_TEXTS
    return [part for part in PARTS if part not in (_ghosts, rings, _now) and not (is_crowded and part is texts)]


NOW_SIGNS = (
    Sign(
        "now", "now",
        "The fine dotted line is now, the moment of this step. Everything beyond it is still ahead.",
        icons.icon(24, icons.level(24, "@ink", 1.5, 3, 3)),
        explains=("now",),
    ),
    Sign(
        "ghost", "arrow before your changes",
        "A faint dotted line shows where an arrow was before you changed the run.",
        icons.icon(28, icons.level(28, "@ink/0.6", 1.5, 2, 3)), rare=True,
        explains=("before the edits",),
    ),
)  # fmt: skip
