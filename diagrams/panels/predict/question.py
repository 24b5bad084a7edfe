"""Scene -> the diagram for a user who predicts what a snapshot records, without the outcome.

It shows the application messages, without stamps; the initiators of each snapshot, with the messages of their start;
and the arrivals of all other markers and control messages. Their sendings would give away where their senders recorded.
So an arrival is a short arrow straight across the line of its receiver, on the side of its sender.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

from diagrams.figure.arrows import arrows, fences
from diagrams.figure.bodies import bodies
from diagrams.figure.canvas import Canvas, Point, Trace, plain, write
from diagrams.figure.events import dots
from diagrams.figure.labels import Labels, Spot
from diagrams.figure.layout import Figure, layout_of
from diagrams.figure.names import letters, off_the_line
from diagrams.figure.shafts import SHORT
from diagrams.figure.spacetime import arranged, process_lines
from diagrams.figure.stops import stops
from diagrams.figure.texts import obstacles
from diagrams.figure.undelivered import undelivered
from diagrams.scene.composition import Scene
from diagrams.scene.elements import ACROSS, Arrow, Dot, Interval
from diagrams.scene.messages import arrow_of
from diagrams.scene.positions import kept_apart, positions_of_steps
from sim.core.model import APP, APPLICATION_KINDS
from sim.run.flights import Flight
from sim.run.snapshots import start_steps

MOST_ARRIVALS = 40  # of a snapshot, with their channel beside them
SIZE = 13


class QuestionScene(Scene):
    """The end of a run without the outcome of its snapshots.

    Positions are those of steps, kept apart as if every process recorded in each.
    """

    def __init__(self, scene: Scene) -> None:
        super().__init__(scene.whole_run, scene.first, scene.until, {}, scene.expanded, scene.arrangement)
        self.recordings, self.decisions, self.moments, self.cuts, self.back_to = {}, (), (), (), ()
        self.positions = positions(scene)

    @cached_property
    def arrows(self) -> tuple[Arrow, ...]:
        """The messages on show, completely or by their arrival."""
        return tuple(arrow for flight in self.flights if (arrow := self._arrow(flight)))

    @cached_property
    def again(self) -> tuple[Arrow, ...]:
        """None: a recovery puts back what a snapshot has recorded, which would give the outcome away."""
        return ()

    @cached_property
    def dots(self) -> tuple[Dot, ...]:
        """The application events."""
        return tuple(
            replace(dot, position=self.positions[dot.step], until=self._end_of(dot), gone=None) for dot in super().dots
        )

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        """The intervals without a snapshot; one for a snapshot would give its outcome away."""
        return tuple(
            replace(own, start=self.positions[own.step], end=None if own.until is None else self.positions[own.until])
            for own in super().intervals
            if own.snapshot is None
        )

    @cached_property
    def failed_tries(self) -> tuple[Arrow, ...]:
        """None: processes do not notice what a FIFO layer makes good or drops."""
        return ()

    def why_not_received(self, arrow: Arrow) -> str:
        """The words for all reasons, since the message that holds this one back may be a marker."""
        return "never comes"

    def _arrow(self, flight: Flight) -> Arrow | None:
        """An application message or a message of a start completely; of others only the arrival.

        A message that a recovery takes back or fences off is drawn as any other, as the recovery would give the outcome
        away.
        """
        arrow = replace(arrow_of(self.whole_run, flight, is_outcome_known=False), gone=None)
        if arrow.is_fenced:
            arrow = replace(arrow, is_fenced=False, received=None, end=None)
        end = None if arrow.received is None else self.positions[arrow.received]
        if flight.kind == APP or (flight.send.snapshot_id, flight.send.process, flight.send.step) in self._starts:
            return replace(arrow, start=self.positions[arrow.sent], end=end)
        if end is None:
            return None
        words = self.whole_run.words
        told = f"{words.message(flight).removeprefix('the ')} {words.where(flight)}: received at step {arrow.received}"
        return replace(
            arrow, start=end, end=end, stub=ACROSS, text=told, name=self.captions[flight.channel.name],
        )  # fmt: skip

    @cached_property
    def _starts(self) -> set[tuple[str | None, str, int]]:
        """The steps in which processes start snapshots, each with the snapshot and the process."""
        return {
            (own.id, name, step) for own in self.snapshots for name, step in start_steps(self.execution, own).items()
        }

    def _end_of(self, dot: Dot) -> float:
        """The position at which a row of internal events ends."""
        if dot.count == 1:
            return self.positions[dot.step]
        rows = self.whole_run.rows(dot.step, self.until)
        own = [row for row in rows if row.kind in APPLICATION_KINDS and row.process == self.lanes[dot.lane]]
        return self.positions[own[dot.count - 1].step]


def positions(scene: Scene) -> tuple[float, ...]:
    """The position of each step in a question."""
    return kept_apart(scene.execution.events, positions_of_steps(scene.times), is_outcome_known=False)


def question(scene: Scene, orientation: str) -> Figure:
    """The diagram of the question, `orientation` "down" or "right".

    A trace of a snapshot (`meta.snapshots`) is seen while the user predicts that one.
    """
    canvas = Canvas(arranged(QuestionScene(scene)), orientation)
    labels = obstacles(canvas)
    for part in (process_lines, stops, arrows, undelivered, fences, dots):
        part(canvas)
    letters(canvas, labels)
    for snapshot in scene.snapshots:
        _channels(canvas, snapshot.id, labels)
    bodies(canvas, labels)
    traces = [trace for trace in canvas.traces if _is_seen(trace, scene.last)]
    return {"data": traces, "layout": layout_of(canvas.scene, canvas.down, canvas.room)}


def _channels(canvas: Canvas, snapshot: str, labels: Labels) -> None:
    """The channel of each arrival beside its arrow, if there is room."""
    arrows = [own for own in canvas.scene.arrows if own.stub == ACROSS and own.snapshot == snapshot]
    if len(arrows) > MOST_ARRIVALS:
        return
    size = canvas.letters(SIZE)
    found = [(arrow, labels.place(arrow.name, size, _spots(canvas, arrow), _ends(arrow))) for arrow in arrows]
    placed = [(off_the_line(plain(arrow.name), spot.side), spot) for arrow, spot in found if spot]
    points, sides = [spot.at for _, spot in placed], [spot.side for _, spot in placed]
    spans = [(0, None)] * len(placed)
    write(canvas, points, [name for name, _ in placed], sides, "@ink", SIZE, spans, meta=canvas.of(snapshot))


def _ends(arrow: Arrow) -> list[Point]:
    """The ends of the arrow of an arrival."""
    tail = arrow.target + (SHORT if arrow.source > arrow.target else -SHORT)
    return [(tail, arrow.start), (arrow.target, arrow.start)]


def _spots(canvas: Canvas, arrow: Arrow) -> list[Spot]:
    """The spots for the channel of an arrival: at the tail of its arrow, or along it."""
    tail, head = _ends(arrow)
    middle = ((tail[0] + head[0]) / 2, arrow.start)
    is_after = arrow.source > arrow.target
    if canvas.down:
        side = "right" if is_after else "left"
        return [Spot(tail, f"middle {side}"), Spot(middle, "top center"), Spot(middle, "bottom center")]
    side = "bottom" if is_after else "top"
    corners = [Spot(tail, f"{side} {beside}") for beside in ("left", "right")]
    return [Spot(tail, f"{side} center"), *corners, Spot(middle, "middle right"), Spot(middle, "middle left")]


def _is_seen(trace: Trace, step: int) -> bool:
    """Whether anything of a trace is seen at `step`."""
    spans: Any = trace.get("meta", {}).get("show", [(0, None)])
    return any(first <= step and (until is None or step < until) for first, until in spans)
