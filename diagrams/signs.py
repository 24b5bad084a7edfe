"""The legend: the signs of the diagram and their meaning, in short below it and in full beside the story.

An entry of SIGNS is a sign. Its icon is a small SVG of the shapes below, in colours of diagrams/theme.py; "ink" is the
colour of the text beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from diagrams import theme
from diagrams.scene import Scene
from sim.core.algorithm import BY_MARKER
from sim.core.model import APP, CONTROL

MESSAGE = theme.message_colour(0, APP)
MARKER = theme.message_colour(0, "marker")
CONTROL_MESSAGE = theme.message_colour(0, CONTROL)
SNAPSHOT = theme.snapshot_colour(0)
RUN, ASKED, PROOF, ALWAYS = "run", "asked", "proof", "always"


def icon(width: int, *shapes: str) -> str:
    """An SVG element, 16 high, of shapes."""
    return f'<svg viewBox="0 0 {width} 16" width="{width}" aria-hidden="true">{"".join(shapes)}</svg>'


def stroke(path: str, token: str, width: float, dash: str = "") -> str:
    """A line along a path; `dash` in SVG's notation, such as "6 3"."""
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<path d="{path}" {_paint("stroke", token)} stroke-width="{width:g}"{dashed}/>'


def fill(path: str, token: str) -> str:
    """The inside of a path."""
    return f'<path d="{path}" {_paint("fill", token)}/>'


def disc(x: float, radius: float, token: str) -> str:
    """A filled circle at half the height."""
    return f'<circle cx="{x:g}" cy="8" r="{radius:g}" {_paint("fill", token)}/>'


def ring(x: float, radius: float, token: str, width: float) -> str:
    """A circle at half the height."""
    return f'<circle cx="{x:g}" cy="8" r="{radius:g}" {_paint("stroke", token)} stroke-width="{width:g}"/>'


def arrow(token: str, width: float = 2, dash: str = "", *, is_open: bool = False) -> str:
    """An arrow, 30 wide, with an open head or a filled one."""
    head = stroke("M28 8l-9-4v8z", token, 1.4) if is_open else fill("M29 8l-10-4.5v9z", token)
    return stroke("M1 8h18" if is_open else "M1 8h20", token, width, dash) + head


def _paint(use: str, token: str) -> str:
    name, _, opacity = token.partition("/")
    colour = "currentColor" if name == "@ink" else theme.variable(name)
    return f'{use}="{colour}"' + (f' {use}-opacity="{opacity}"' if opacity else "")


def _has_markers(scene: Scene) -> bool:
    """Whether the algorithm uses markers, or the run has some anyway."""
    closes_by = scene.whole_run.words.algorithm.closes_by
    return closes_by == BY_MARKER or any(flight.is_marker for flight in scene.execution.flights)


def _has_control(scene: Scene) -> bool:
    """Whether a control message is sent."""
    return any(flight.is_control for flight in scene.execution.flights)


@dataclass(frozen=True)
class Sign:
    """A sign of the diagram. In its label and title `{marker}` and `{control}` stand for the algorithm's own words.

    `label` is its word below the diagram, `title` its sentence. A `rare` sign is in the full list only. One that is
    `of_snapshots` is drawn where a snapshot is taken. `drawn` says when: in the "run", while somebody predicts what a
    snapshot records ("asked"), on Dijkstra's page ("proof"), or "always" in the first two. `is_in` says whether a scene
    has such a sign.
    """

    key: str
    label: str
    title: str
    icon: str
    rare: bool = False
    of_snapshots: bool = False
    drawn: str = RUN
    is_in: Callable[[Scene], bool] = lambda scene: True


CROSS = icon(16, stroke("M3 3l10 10M13 3L3 13", "@ink", 3))

SIGNS = (
    Sign(
        "event", "event",
        "A dot is an event of a process: hollow while it is still to come, filled once it has happened.",
        icon(12, disc(6, 5, "@ink")), drawn=ALWAYS,
    ),
    Sign(
        "message", "message",
        "A solid arrow is a message: bold while it is on its way, and thin and grey where it is still to go.",
        icon(30, arrow(MESSAGE)), drawn=ALWAYS, is_in=lambda scene: not scene.whole_run.words.algorithm.stamps,
    ),
    Sign(
        "message-asked", "message",
        "A solid arrow is a message. Whether its sender had recorded is for you to find.",
        icon(30, arrow(MESSAGE)), drawn=ASKED, is_in=lambda scene: bool(scene.whole_run.words.algorithm.stamps),
    ),
    Sign(
        "marker", "{marker}",
        "A dashed arrow is a {marker}, in the colour of the process that sent it; it tells the receiver to record.",
        icon(30, arrow(MARKER, 2.4, "6 3")), of_snapshots=True, drawn=ALWAYS, is_in=_has_markers,
    ),
    Sign(
        "marker-comes", "{marker} comes",
        "A short dashed arrow is a {marker} that comes here. Where it was sent is for you to find.",
        icon(16, stroke("M0 8h8", MARKER, 2.4, "4 2") + fill("M15 8l-9-4v8z", MARKER)), of_snapshots=True,
        drawn=ASKED, is_in=_has_markers,
    ),
    Sign(
        "control", "{control}",
        "A fine dotted arrow is a {control}: a process tells another something outside the channels. No cut holds it.",
        icon(30, arrow(CONTROL_MESSAGE, 1.4, "2 3")), of_snapshots=True, drawn=ALWAYS, is_in=_has_control,
    ),
    Sign(
        "control-comes", "{control} comes",
        "A short dotted arrow is a {control} that comes here. Where it was sent is for you to find.",
        icon(16, stroke("M0 8h8", CONTROL_MESSAGE, 1.4, "2 3") + fill("M15 8l-9-4v8z", CONTROL_MESSAGE)),
        of_snapshots=True, drawn=ASKED, is_in=_has_control,
    ),
    Sign(
        "records", "records",
        "A diamond is the moment at which a process records its own state.",
        icon(16, fill("M8 1l7 7-7 7-7-7z", SNAPSHOT)), of_snapshots=True,
    ),
    Sign(
        "in-process", "in process state",
        "A ring: this event belongs to the recorded state of its process.",
        icon(18, ring(9, 6.5, SNAPSHOT, 2.4), disc(9, 3, "@ink")), of_snapshots=True,
    ),
    Sign(
        "in-channel", "in channel state",
        "A broad band: this message belongs to the recorded state of its channel.",
        icon(30, stroke("M0 8h30", "@band", 12), arrow(MESSAGE)), of_snapshots=True,
    ),
    Sign(
        "cut", "cut",
        "The bold dashed line is the cut of the snapshot. The tinted side was recorded; the other side is its future.",
        icon(28, stroke("M0 8h28", theme.snapshot_colour(0), 3.4, "8 4")), of_snapshots=True,
    ),
    Sign(
        "held-cut", "cut",
        "The line with handles is the cut that you hold. Its tinted side is inside; dashed, it is not consistent.",
        icon(28, stroke("M0 8h28", "@good", 3.4), disc(14, 5, "@good")),
    ),
    Sign(
        "now", "now",
        "The fine dotted line is now, the moment of this step. What lies beyond it is still to come.",
        icon(24, stroke("M0 8h24", "@ink", 1.5, "3 3")),
    ),
    Sign(
        "ghost", "before your changes",
        "A faint dotted line: where an arrow was before you changed the run.",
        icon(28, stroke("M0 8h28", "@ink/0.6", 1.5, "2 3")), rare=True,
    ),
    Sign(
        "held", "held",
        "A cross: this message is held and never arrives. On a FIFO channel, messages sent after it wait behind it.",
        CROSS, rare=True, is_in=lambda scene: scene.whole_run.log is None,
    ),
    Sign(
        "later", "received later, or never",
        "A cross: this message is not received in these rows. It is received later in the log, or never.",
        CROSS, is_in=lambda scene: scene.whole_run.log is not None,
    ),
    Sign(
        "white-action", "white action", "A ring is a white action: its process has not recorded yet.",
        icon(16, ring(8, 5.5, "@white-edge", 2)), of_snapshots=True, drawn=PROOF,
    ),
    Sign(
        "red-action", "red action", "A square is a red action: its process has recorded.",
        icon(16, fill("M3 3h10v10H3z", "@red")), of_snapshots=True, drawn=PROOF,
    ),
    Sign(
        "white-message", "white message", "An arrow with an open head: a white action has sent it.",
        icon(30, arrow("@ink", is_open=True)), of_snapshots=True, drawn=PROOF,
    ),
    Sign(
        "red-message", "red message", "An arrow with a filled head: a red action has sent it.",
        icon(30, arrow("@red")), of_snapshots=True, drawn=PROOF,
    ),
    Sign(
        "recorded-message", "in channel state", "A broad band: the snapshot recorded this message in its channel.",
        icon(30, stroke("M0 8h30", "@band", 12), arrow("@ink", is_open=True)), of_snapshots=True, drawn=PROOF,
    ),
    Sign(
        "turns-red", "turns red", "A diamond is where a process turns red; the dashed line joins them.",
        icon(28, stroke("M0 8h28", SNAPSHOT, 3, "8 4"), fill("M14 2l6 6-6 6-6-6z", SNAPSHOT)), of_snapshots=True,
        drawn=PROOF,
    ),
)  # fmt: skip


def _of_stamps(scene: Scene) -> list[Sign]:
    """A sign for each kind of stamp that the algorithm's messages carry."""
    return [
        Sign(
            f"stamp-{stamp.name}", f"{stamp.name} message", stamp.title,
            icon(30, arrow(theme.message_colour(0, APP, stamp.head), is_open=stamp.head == "open")),
        )
        for stamp in scene.whole_run.words.algorithm.stamps
    ]  # fmt: skip


def signs(scene: Scene) -> list[dict[str, Any]]:
    """The signs of a scene, in the order in which they are listed, ready for JSON."""
    algorithm = scene.whole_run.words.algorithm
    own = {"marker": algorithm.marker, "control": algorithm.control_message}
    first, *others = SIGNS
    return [
        {
            "key": sign.key, "label": sign.label.format(**own), "title": sign.title.format(**own), "icon": sign.icon,
            "rare": sign.rare, "of_snapshots": sign.of_snapshots, "drawn": sign.drawn,
        }
        for sign in (first, *_of_stamps(scene), *others)
        if sign.is_in(scene) and not (sign.of_snapshots and scene.whole_run.log)
    ]  # fmt: skip
