"""The legend: the signs of the diagram and their meaning, in short below it and in full beside the story.

An entry of SIGNS is a sign. The page shows them as `signs` tells it; a still picture has a legend of those that are
seen in it (diagrams/still/legend.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from diagrams.figure.harm import has_lost, has_orphans
from diagrams.figure.stops import ABSENT, CHANNEL, CRASHED, FILLED, ICED, PROCESS, SEVERED, SLOWED
from diagrams.scene.composition import Scene
from diagrams.shapes import theme
from diagrams.shapes.marks import marks
from diagrams.shapes.primitives import Area, Arrows, Box, Disc, Line, Primitive
from diagrams.shapes.svg import written
from sim.core.algorithm import BY_MARKER
from sim.core.model import (
    APP,
    BLOCKED,
    COMMITTED,
    CONTROL,
    COPIED,
    CRASH,
    DOWN,
    DROPPED,
    FENCED,
    FROZEN,
    FULL,
    LEAVE,
    LOST,
    OUTPUT,
    PAUSED,
    PUT_BACK,
    RECOVERY,
    RESENT,
    RESTORE,
    SLOW,
)

MESSAGE = theme.message_colour(0, APP)
MARKER = theme.message_colour(0, "marker")
CONTROL_MESSAGE = theme.message_colour(0, CONTROL)
SNAPSHOT = theme.snapshot_colour(0)
RUN, ASKED, PROOF, LATTICE, ALWAYS = "run", "asked", "proof", "lattice", "always"


HIGH = 16.0  # pixels of an icon


@dataclass(frozen=True)
class Icon:
    """A small picture, `width` x HIGH pixels."""

    width: float
    shapes: tuple[Primitive, ...]

    def svg(self) -> str:
        """It as an SVG element for the page, in the page's colours; ink is that of the text beside it."""
        parts = "".join(written(shape, _IN_PAGE) for shape in self.shapes)
        return f'<svg viewBox="0 0 {self.width:g} {HIGH:g}" width="{self.width:g}" aria-hidden="true">{parts}</svg>'


class _PageColours(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return "currentColor" if name == "ink" else theme.variable(f"@{name}")


_IN_PAGE = _PageColours()


def icon(width: float, *shapes: Primitive) -> Icon:
    """An icon of shapes."""
    return Icon(width, shapes)


def level(width: float, token: str, thick: float, *dash: float) -> Line:
    """A line across an icon at half its height."""
    return Line((((0.0, HIGH / 2), (width, HIGH / 2)),), token, thick, dash)


def cross(left: float, token: str, thick: float) -> Line:
    """Two lines that cross."""
    ends = ((left, 3.0), (left + 10, 13.0)), ((left + 10, 3.0), (left, 13.0))
    return Line(ends, token, thick)


def diamond(x: float, radius: float, token: str) -> Area:
    """A filled diamond at half the height."""
    y = HIGH / 2
    return Area((((x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)),), token)


def square(x: float, radius: float, token: str) -> Area:
    """A filled square at half the height."""
    return Area((Box(x, HIGH / 2, x, HIGH / 2).wider(radius).corners,), token)


def disc(x: float, radius: float, token: str) -> Disc:
    """A filled circle at half the height."""
    return Disc((x, HIGH / 2), radius, token)


def ring(x: float, radius: float, token: str, thick: float) -> Disc:
    """A circle at half the height."""
    return Disc((x, HIGH / 2), radius, "", token, thick)


def outcome(name: str) -> Icon:
    """The sign of a decision, by its outcome."""
    look = {"symbol": theme.OUTCOME_SYMBOLS[name], "size": 13.0, "color": SNAPSHOT}
    return icon(18, *marks(look, [(9.0, HIGH / 2)], 1.0))


def moment(kind: str, token: str) -> Icon:
    """The sign of what is stored or gone back to, by the kind of its row, as in a diagram whose time runs down."""
    look = {"symbol": theme.MOMENT_SYMBOLS[kind][0], "size": 13.0, "color": token}
    return icon(18, *marks(look, [(9.0, HIGH / 2)], 1.0))


def fence() -> Icon:
    """Where a message is fenced off."""
    look = {"symbol": theme.FENCE, "size": 13.0, "color": "@ink", "line": {"width": 2.0, "color": "@ink"}}
    return icon(32, arrow("@line", 1.3, 6, 3, width=18), *marks(look, [(24.0, HIGH / 2)], 1.0))


def arrow(token: str, thick: float = 2, *dash: float, width: float = 29, is_open: bool = False) -> Arrows:
    """An arrow with an open head or a filled one."""
    way = ((1.0, HIGH / 2), (width, HIGH / 2))
    return Arrows((way,), token, thick, dash, min(11.0, width * 0.6), "@paper" if is_open else token, 1.4 * is_open)


def _has_markers(scene: Scene) -> bool:
    """Whether the algorithm uses markers, or the run has some anyway."""
    closes_by = scene.whole_run.words.algorithm.closes_by
    return closes_by == BY_MARKER or any(flight.is_marker for flight in scene.execution.flights)


def _stands_still(kind: str) -> Callable[[Scene], bool]:
    """Whether anything stands still in this way."""
    return lambda scene: any(own.kind == kind for own in scene.whole_run.intervals)


def _has(kind: str) -> Callable[[Scene], bool]:
    """Whether the run has a row of this kind."""
    return lambda scene: any(event.kind == kind for event in scene.execution.events)


def _decided(outcome: str) -> Callable[[Scene], bool]:
    """Whether a coordinator decides so on any snapshot."""
    return lambda scene: any(own.outcome == outcome for own in scene.whole_run.decisions)


def _has_control(scene: Scene) -> bool:
    """Whether a control message is sent."""
    return any(flight.is_control for flight in scene.execution.flights)


@dataclass(frozen=True)
class Sign:
    """A sign of the diagram. In its label and title `{marker}` and `{control}` stand for the algorithm's own words;
    so do `{recorded}` and `{recorded_title}`, which tell of a message that a snapshot has recorded.

    `label` is its word below the diagram, `title` its sentence. A `rare` sign is in the full list only. One that is
    `of_snapshots` is drawn where a snapshot is taken. `drawn` says when: in the "run", while somebody predicts what a
    snapshot records ("asked"), on Dijkstra's page ("proof"), in a picture of the "lattice", or "always" in the first
    two. Of one that is `as_drawn` a still picture shows the look that it has there, with several snapshots that of
    each one. `is_in` says whether a scene has such a sign. `explains` are the signs of primitives that it stands for
    (diagrams/shapes/primitives.py).
    """

    key: str
    label: str
    title: str
    icon: Icon
    rare: bool = False
    of_snapshots: bool = False
    drawn: str = RUN
    as_drawn: bool = False
    explains: tuple[str, ...] = ()
    is_in: Callable[[Scene], bool] = lambda scene: True


CROSS = icon(16, cross(3, "@ink", 3))

SIGNS = (
    Sign(
        "event", "event",
        "A dot is an event of a process: hollow while it is still to come, filled once it has happened.",
        icon(12, disc(6, 5, "@ink")), drawn=ALWAYS,
        explains=("event", "event ahead"),
    ),
    Sign(
        "message", "message",
        "A solid arrow is a message: bold while it is on its way, and thin and grey where it is still to go.",
        icon(30, arrow(MESSAGE)), drawn=ALWAYS, is_in=lambda scene: not scene.whole_run.words.algorithm.stamps,
        explains=("message", "message on its way"),
    ),
    Sign(
        "message-asked", "message",
        "A solid arrow is a message. Whether its sender had recorded is for you to find.",
        icon(30, arrow(MESSAGE)), drawn=ASKED, is_in=lambda scene: bool(scene.whole_run.words.algorithm.stamps),
    ),
    Sign(
        "marker", "{marker}",
        "A dashed arrow is a {marker}, in the colour of the process that sent it; it tells the receiver to record.",
        icon(30, arrow(MARKER, 2.4, 6, 3)), of_snapshots=True, drawn=ALWAYS, is_in=_has_markers,
        as_drawn=True, explains=("marker", "marker on its way"),
    ),
    Sign(
        "marker-comes", "{marker} comes",
        "A short dashed arrow is a {marker} that comes here. Where it was sent is for you to find.",
        icon(16, arrow(MARKER, 2.4, 4, 2, width=15)), of_snapshots=True,
        drawn=ASKED, is_in=_has_markers,
    ),
    Sign(
        "control", "{control}",
        "A fine dotted arrow is a {control}: a process tells another something outside the channels. No cut holds it.",
        icon(30, arrow(CONTROL_MESSAGE, 1.4, 2, 3)), of_snapshots=True, drawn=ALWAYS, is_in=_has_control,
        explains=("control message", "control message on its way"),
    ),
    Sign(
        "control-comes", "{control} comes",
        "A short dotted arrow is a {control} that comes here. Where it was sent is for you to find.",
        icon(16, arrow(CONTROL_MESSAGE, 1.4, 2, 3, width=15)),
        of_snapshots=True, drawn=ASKED, is_in=_has_control,
    ),
    Sign(
        "records", "records",
        "A diamond is the moment at which a process records its own state.",
        icon(16, diamond(8, 7, SNAPSHOT)), of_snapshots=True,
        as_drawn=True, explains=("recording",),
    ),
    Sign(
        "in-process", "in process state",
        "A ring: this event belongs to the recorded state of its process.",
        icon(18, ring(9, 6.5, SNAPSHOT, 2.4), disc(9, 3, "@ink")), of_snapshots=True,
        as_drawn=True, explains=("recorded event",),
    ),
    Sign(
        "in-channel", "{recorded}", "{recorded_title}",
        icon(30, level(30, "@band", 12), arrow(MESSAGE)), of_snapshots=True,
        is_in=lambda scene: any(own.recorded_messages for own in scene.snapshots), explains=("band",),
    ),
    Sign(
        "complete", "complete",
        "A square: the coordinator decides that a snapshot is complete. Everybody keeps what was recorded.",
        outcome("complete"), of_snapshots=True, as_drawn=True, is_in=_decided("complete"),
        explains=("complete snapshot",),
    ),
    Sign(
        "expired", "expired",
        "An hourglass: the coordinator decides that a snapshot has expired, for its time is over. Everybody discards "
        "what was recorded.",
        outcome("expired"), of_snapshots=True, as_drawn=True, is_in=_decided("expired"),
        explains=("expired snapshot",),
    ),
    Sign(
        "failed", "failed",
        "An X: the coordinator decides that a snapshot has failed. Everybody discards what was recorded.",
        outcome("failed"), of_snapshots=True, as_drawn=True, is_in=_decided("failed"),
        explains=("failed snapshot",),
    ),
    Sign(
        "blocked", "blocked",
        "Stripes beside the line of a process: it takes nothing from a channel in this time. What is sent on it waits.",
        icon(28, level(28, f"{SNAPSHOT}/0.8", 7, 2, 2)), of_snapshots=True, as_drawn=True,
        is_in=_stands_still(BLOCKED), explains=(CHANNEL,),
    ),
    Sign(
        "paused", "stands still",
        "Stripes on the line of a process: it stands still in this time, and only takes in what comes.",
        icon(28, level(28, "@line", 2), level(28, f"{SNAPSHOT}/0.4", 13, 2, 2)), of_snapshots=True,
        is_in=_stands_still(PAUSED), explains=(PROCESS,),
    ),
    Sign(
        "full", "full",
        "Long stripes beside the line of a process: a channel to that side is full. The process stands still until a "
        "message is taken from it.",
        icon(28, level(28, "@ink/0.8", 7, 6, 3)), as_drawn=True, drawn=ALWAYS,
        is_in=_stands_still(FULL), explains=(FILLED,),
    ),
    Sign(
        "down", "down",
        "The line of a process is broken while the process is down: it does nothing, and what comes to it is lost.",
        icon(28, level(28, "@line", 2), level(28, "@paper", 5, 7, 5)), drawn=ALWAYS,
        is_in=_stands_still(CRASH), explains=(CRASHED,),
    ),
    Sign(
        "frozen", "frozen",
        "Long blocks on the line of a process: it is frozen in this time. It does nothing and takes nothing in, and "
        "loses nothing. What comes to it waits.",
        icon(28, level(28, "@line", 2), level(28, "@ink/0.3", 13, 7, 3)), drawn=ALWAYS,
        is_in=_stands_still(FROZEN), explains=(ICED,),
    ),
    Sign(
        "absent", "not there",
        "Hardly any line: the process is not part of the system yet, or no longer. What comes to it is lost.",
        icon(28, level(28, "@line", 2), level(28, "@paper", 5, 16, 3)), drawn=ALWAYS,
        is_in=_stands_still(LEAVE), explains=(ABSENT,),
    ),
    Sign(
        "slow", "slow",
        "Fine strokes across the line of a process: it is slow in this time. Its messages and its turns take longer.",
        icon(28, level(28, "@line", 2), level(28, "@ink/0.35", 9, 1, 5)), drawn=ALWAYS,
        is_in=_stands_still(SLOW), explains=(SLOWED,),
    ),
    Sign(
        "severed", "severed",
        "Dots beside the line of a process: the channel to that side is severed. What is sent on it waits until it is "
        "mended.",
        icon(28, level(28, "@ink/0.9", 4, 2, 6)), as_drawn=True, drawn=ALWAYS,
        is_in=_stands_still(DOWN), explains=(SEVERED,),
    ),
    Sign(
        "valid", "valid",
        "A hexagon: the manifest of a snapshot is written. From now on the system can go back to it.",
        moment(COMMITTED, SNAPSHOT), of_snapshots=True, rare=True, as_drawn=True, is_in=_has(COMMITTED),
        explains=("valid snapshot",),
    ),
    Sign(
        "recovery", "recovery begins",
        "A plus: the system is rolled back, and a new life begins.",
        moment(RECOVERY, SNAPSHOT), rare=True, as_drawn=True, is_in=_has(RECOVERY), explains=("recovery",),
    ),
    Sign(
        "restored", "goes back",
        "A triangle that points back in time: a process is restored. It goes back to its point of the double line.",
        moment(RESTORE, SNAPSHOT), as_drawn=True, is_in=_has(RESTORE), explains=("restored process",),
    ),
    Sign(
        "back-to", "line gone back to",
        "A double line joins the states to which the processes go back. What came after it is abandoned.",
        icon(28, level(28, SNAPSHOT, 12), level(28, "@paper", 8)), as_drawn=True, is_in=_has(RESTORE),
        explains=("line gone back to",),
    ),
    Sign(
        "abandoned", "abandoned",
        "What is faded has happened, and a recovery has taken it back: no cut holds it any more.",
        icon(34, disc(5, 3, "@line"), arrow("@line", 1.3, 6, 3, width=33)), is_in=_has(RESTORE),
        explains=("abandoned event", "abandoned message", "abandoned recording"),
    ),
    Sign(
        "put-back", "put back",
        "An arrow that begins at a square: a recovery puts this message back into its channel, as the snapshot has "
        "recorded it.",
        icon(34, arrow(MESSAGE, width=33), replace(square(5, 4, "@paper"), outline="@ink", width=1.5)),
        is_in=_has(PUT_BACK), explains=("message put back", "message put back on its way"),
    ),
    Sign(
        "fenced", "fenced off",
        "A fence at the end of an arrow: the message is of a life that is over, and changes nothing.",
        fence(), is_in=_has(FENCED), explains=("fenced off",),
    ),
    Sign(
        "output", "output",
        "A star: a process gives something to the world outside, which no recovery takes back.",
        moment(OUTPUT, "@ink"), is_in=_has(OUTPUT), explains=("output",),
    ),
    Sign(
        "cut", "cut",
        "The bold dashed line is the cut of the snapshot. The tinted side was recorded; the other side is its future.",
        icon(28, level(28, SNAPSHOT, 3.4, 8, 4)), of_snapshots=True,
        as_drawn=True, is_in=lambda scene: scene.whole_run.words.algorithm.coordinated, explains=("cut",),
    ),
    Sign(
        "recovery-line", "recovery line",
        "The bold dashed line is the recovery line: the latest consistent cut to go back to after a failure. Where it "
        "lies beyond all events of a process, that process keeps its present state.",
        icon(28, level(28, SNAPSHOT, 3.4, 8, 4)), of_snapshots=True,
        as_drawn=True, is_in=lambda scene: not scene.whole_run.words.algorithm.coordinated, explains=("cut",),
    ),
    Sign(
        "orphan", "speaks against it",
        "A red band with a cross: this message was sent after the cut, but the snapshot counts it as received or on "
        "its way.",
        icon(30, level(30, "@bad/0.6", 8), arrow(MESSAGE), cross(8, "@ink", 2.6)), of_snapshots=True,
        is_in=has_orphans, explains=("speaks against the cut",),
    ),
    Sign(
        "lost", "lost",
        "A dashed red band: this message was sent before the cut and came after it, but the snapshot has not recorded "
        "it.",
        icon(30, level(30, "@bad/0.6", 8, 5, 4), arrow(MESSAGE)), of_snapshots=True,
        is_in=has_lost, explains=("lost message",),
    ),
    Sign(
        "held-cut", "cut",
        "The line with handles is the cut that you hold. Its tinted side is inside; dashed, it is not consistent.",
        icon(28, level(28, "@good", 3.4), disc(14, 5, "@good")),
        explains=("held cut",),
    ),
    Sign(
        "now", "now",
        "The fine dotted line is now, the moment of this step. What lies beyond it is still to come.",
        icon(24, level(24, "@ink", 1.5, 3, 3)),
        explains=("now",),
    ),
    Sign(
        "ghost", "before your changes",
        "A faint dotted line: where an arrow was before you changed the run.",
        icon(28, level(28, "@ink/0.6", 1.5, 2, 3)), rare=True,
        explains=("before the edits",),
    ),
    Sign(
        "held", "held",
        "A cross: this message is held and never arrives. On a FIFO channel, messages sent after it wait behind it.",
        CROSS, rare=True, is_in=lambda scene: scene.whole_run.log is None,
        explains=("message not received",),
    ),
    Sign(
        "dropped", "lost on its way",
        "A cross with the word lost: the network loses this message, or it comes to a process that is down. Nobody "
        "receives it.",
        CROSS, is_in=_has(LOST), explains=("message not received",),
    ),
    Sign(
        "sent-again", "lost, sent again",
        "A cross with the words lost, sent again: the network loses this message, and the layer on it sends it again.",
        CROSS, is_in=_has(RESENT), explains=("message not received",),
    ),
    Sign(
        "copy-dropped", "copy dropped",
        "A cross with the words copy dropped: the network delivers this message twice, and the layer on it drops one.",
        CROSS, is_in=_has(DROPPED), explains=("message not received",),
    ),
    Sign(
        "copied", "copy",
        "Two arrows from one event: the network delivers this message twice. The second one is called a copy.",
        icon(30, arrow(MESSAGE)), is_in=_has(COPIED), explains=("message",),
    ),
    Sign(
        "later", "received later, or never",
        "A cross: this message is not received in these rows. It is received later in the log, or never.",
        CROSS, is_in=lambda scene: scene.whole_run.log is not None,
        explains=("message not received",),
    ),
    Sign(
        "white-action", "white action", "A ring is a white action: its process has not recorded yet.",
        icon(16, ring(8, 5.5, "@white-edge", 2)), of_snapshots=True, drawn=PROOF,
        explains=("white action",),
    ),
    Sign(
        "red-action", "red action", "A square is a red action: its process has recorded.",
        icon(16, square(8, 5, "@red")), of_snapshots=True, drawn=PROOF,
        explains=("red action",),
    ),
    Sign(
        "white-message", "white message", "An arrow with an open head: a white action has sent it.",
        icon(30, arrow("@ink", is_open=True)), of_snapshots=True, drawn=PROOF,
        explains=("white message",),
    ),
    Sign(
        "red-message", "red message", "An arrow with a filled head: a red action has sent it.",
        icon(30, arrow("@red")), of_snapshots=True, drawn=PROOF,
        explains=("red message",),
    ),
    Sign(
        "recorded-message", "in channel state", "A broad band: the snapshot recorded this message in its channel.",
        icon(30, level(30, "@band", 12), arrow("@ink", is_open=True)), of_snapshots=True, drawn=PROOF,
        explains=("band",),
    ),
    Sign(
        "consistent-cut", "consistent cut", "A dot is a consistent cut.", icon(12, disc(6, 5, "@ink")), drawn=LATTICE,
        explains=("consistent cut",),
    ),
    Sign(
        "holds", "predicate holds", "A square is a cut at which the predicate holds.", icon(14, square(7, 5, "@good")),
        drawn=LATTICE, explains=("cut at which it holds",),
    ),
    Sign(
        "states-of-the-run", "states of the run", "The broad line goes through the states of the run.",
        icon(28, level(28, "@accent/0.45", 7)), drawn=LATTICE, as_drawn=True,
        explains=("states of the run",),
    ),
    Sign(
        "avoids", "avoids the predicate", "A dashed line is a way on which the predicate never holds.",
        icon(28, level(28, "@bad", 3, 6, 4)), drawn=LATTICE, explains=("way that avoids it",),
    ),
    Sign(
        "state-at-the-step", "state at this step", "A ring is the state of the run at this step.",
        icon(18, ring(9, 6.5, "@accent", 2.4), disc(9, 3, "@ink")), drawn=LATTICE, explains=("state at the step",),
    ),
    Sign(
        "recorded-state", "recorded state", "A diamond is the state that a snapshot recorded.",
        icon(16, diamond(8, 7, SNAPSHOT)), drawn=LATTICE, as_drawn=True, explains=("recorded state",),
    ),
    Sign(
        "outer-state", "snapshot begins, ends", "A ring is the state in which a snapshot began or ended.",
        icon(18, ring(9, 6.5, SNAPSHOT, 2.4), disc(9, 3, "@ink")), drawn=LATTICE, as_drawn=True,
        explains=("outer state",),
    ),
    Sign(
        "turns-red", "turns red", "A diamond is where a process turns red; the dashed line joins them.",
        icon(28, level(28, SNAPSHOT, 3, 8, 4), diamond(14, 6, SNAPSHOT)), of_snapshots=True,
        drawn=PROOF, as_drawn=True, explains=("turn",),
    ),
    Sign(
        "state", "S0, S1", "A dotted line is a state of the run: in S0 the snapshot begins, in S1 it ends.",
        icon(28, level(28, "@faint", 1.6, 2, 4)), of_snapshots=True, drawn=PROOF,
        explains=("state",),
    ),
)  # fmt: skip


def _of_stamps(scene: Scene) -> list[Sign]:
    """A sign for each kind of stamp that the messages of this run carry."""
    algorithm = scene.whole_run.words.algorithm
    carried = {algorithm.stamp_of(flight.stamp) for flight in scene.execution.flights if flight.kind == APP}
    return [
        Sign(
            f"stamp-{stamp.name}", f"{stamp.name} message", stamp.title,
            icon(30, arrow(theme.message_colour(0, APP, stamp.head), is_open=stamp.head == "open")),
            explains=(f"{stamp.head} message", f"{stamp.head} message on its way"),
        )
        for stamp in algorithm.stamps
        if stamp.name in carried
    ]  # fmt: skip


def signs_in(scene: Scene) -> list[Sign]:
    """The signs of a scene in its algorithm's words, in the order in which they are listed."""
    algorithm = scene.whole_run.words.algorithm
    own = {"marker": algorithm.marker, "control": algorithm.control_message}
    own["recorded"], own["recorded_title"] = algorithm.channel_state
    first, *others = SIGNS
    return [
        replace(sign, label=sign.label.format(**own), title=sign.title.format(**own))
        for sign in (first, *_of_stamps(scene), *others)
        if sign.is_in(scene) and not (sign.of_snapshots and scene.whole_run.log)
    ]


def signs(scene: Scene) -> list[dict[str, Any]]:
    """The signs that the page shows beside the diagram, ready for JSON."""
    return [as_told(sign) for sign in signs_in(scene) if sign.drawn != LATTICE]


def as_told(sign: Sign) -> dict[str, Any]:
    """A sign, ready for JSON."""
    return {
        "key": sign.key, "label": sign.label, "title": sign.title, "icon": sign.icon.svg(), "rare": sign.rare,
        "of_snapshots": sign.of_snapshots, "drawn": sign.drawn,
    }  # fmt: skip
