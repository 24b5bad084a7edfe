"""Scene -> the end of a run on Dijkstra's page: only its actions, at their places after some interchanges.

Steps and faults of a process lie on its line. The loss or the copy of a message in transit lies between two lines: a
lost message ends there, and a copy begins there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from diagrams.panels.proof.panel import Proof, Swaps
from diagrams.scene.composition import Scene, compose
from diagrams.scene.elements import Arrow, Dot
from diagrams.scene.messages import arrow_of
from sim.core.model import APP, COPIED, Event
from sim.run.flights import Flight
from sim.run.rollbacks import as_survives
from sim.theory.interchange import ColouredAction
from sim.theory.positions import ACTS

ROOM = 0.7  # places before the first action and after the last one
SHORT_NUMBERS = 100
COPIED_AT, LOST_AT = 0.4, 0.7  # of the way between two lines


class Sign(NamedTuple):
    """The sign of an action on show: its index, its place, its name, and its hover text."""

    number: int
    lane: float
    position: float
    label: str
    named: bool
    text: str


def scene_of(proof: Proof, scene: Scene) -> Scene:
    """The scene of the run of a proof: the whole run, or the part up to the completion of its snapshot."""
    return scene if proof.run.ends is None else compose(proof.execution).arranged(scene.arrangement)


class Rearranged(Scene):
    """The end of a run without its snapshots; actions lie at their places after some interchanges."""

    def __init__(self, scene: Scene, proof: Proof, swaps: Swaps = 0) -> None:
        super().__init__(scene.whole_run, 0, scene.last, {}, True, scene.arrangement)
        self.recordings, self.decisions, self.moments, self.cuts, self.back_to = {}, (), (), (), ()
        self.proof = proof
        self.places = proof.places(swaps)

    @property
    def is_whole(self) -> bool:
        """Whether all actions are on show."""
        return self.proof.is_whole

    @cached_property
    def extent(self) -> tuple[float, float]:
        """The places on show, with a little room."""
        first = self.proof.first
        return first - ROOM, first + len(self.proof.actions) - 1 + ROOM

    @property
    def counted(self) -> str:
        """The word for places of the row; empty if there is no room for it."""
        return "place " if self.extent[1] < SHORT_NUMBERS else ""

    def at(self, row: Event) -> float:
        """The position of a row; beyond the edge for one that is not on show."""
        place = self.proof.place_of(row)
        if place is not None:
            return self.places.actions[place[0]] - place[1]
        return self.extent[0] - 1 if row.step < self.proof.actions[0].step else self.extent[1] + 1

    @cached_property
    def dots(self) -> tuple[Dot, ...]:
        """The application events on show."""
        events = self.execution.history.rows
        return tuple(
            replace(dot, position=position, until=position)
            for dot, event in zip((dot for dot in super().dots if dot.gone is None), events, strict=True)
            if self.proof.place_of(event) is not None
            for position in [self.at(event)]
        )

    @cached_property
    def arrows(self) -> tuple[Arrow, ...]:
        """The application messages with an end on show."""
        own = (as_survives(self.execution, flight) for flight in self.flights if flight.kind == APP)
        return tuple(arrow for flight in own if flight is not None and (arrow := self._arrow(flight)))

    @cached_property
    def again(self) -> tuple[Arrow, ...]:
        """None: the receipt of a message that was put back is drawn with its sending."""
        return ()

    def _ends(self, flight: Flight) -> tuple[Event, Event | None]:
        """The rows that put a message into its channel and take it out; None: it stays there."""
        end = flight.receive or flight.lost
        is_end = end is not None and end.row in self.proof.run.order.place_of
        return flight.copied or flight.send, end if is_end else None

    def _arrow(self, flight: Flight) -> Arrow | None:
        begin, end = self._ends(flight)
        if self.proof.place_of(begin) is None and (end is None or self.proof.place_of(end) is None):
            return None
        arrow = arrow_of(self.whole_run, flight, is_outcome_known=False)
        is_red = self.proof.is_red(begin)
        kept = {self.proof.snapshot.id: 0} if flight.id in self._recorded else {}
        is_lost = end is not None and flight.receive is None
        lost = (
            (LOST_AT if end.process != flight.channel.target_name else 1.0, self.at(end)) if end and is_lost else None
        )
        return replace(
            arrow, start=self.at(begin), end=self.at(end) if end and not is_lost else None, lost=lost,
            head="full" if is_red else "open", kept=kept, is_fenced=False,
            begins=COPIED_AT if flight.copied else 0.0,
            text=f"{'red' if is_red else 'white'} message {arrow.text}",
        )  # fmt: skip

    @cached_property
    def _recorded(self) -> set[int]:
        """The messages in the recorded states of channels."""
        return {message.id for message in self.proof.snapshot.recorded_messages}

    def ends(self, arrow: Arrow) -> tuple[int | None, int | None]:
        """The indices, among the actions on show, of those that send a message and receive or lose it."""
        flight = as_survives(self.execution, self.execution.flights[arrow.id])
        assert flight is not None  # it is drawn
        found = [self.proof.place_of(row) if row else None for row in self._ends(flight)]
        return found[0] and found[0][0], found[1] and found[1][0]

    def signs(self, drawn: Scene) -> Iterator[Sign]:
        """The signs of the actions on the lanes that are `drawn`, numbered as there."""
        number = {lane: place for place, lane in enumerate(drawn.layout.shown)}
        at = {
            (self.lane_of(event), self.at(event)): self.proof.place_of(event) for event in self.execution.history.rows
        }
        for dot in drawn.dots:
            place = at[drawn.layout.shown[dot.lane], dot.position]
            assert place is not None  # it is drawn
            yield Sign(place[0], dot.lane, dot.position, dot.label, dot.named, dot.text)
        for index, action in enumerate(self.proof.actions):
            lane = self._lane(drawn, number, action) if action.kind != ACTS else None
            if lane is not None:
                label, name, sentence = self.proof.told(action)
                yield Sign(index, lane, self.places.actions[index], label, True, f"{name}: {sentence}")

    def lane_of(self, row: Event) -> int:
        """The lane of a row in the run."""
        return self.whole_run.lane_of[row.process]

    def _lane(self, drawn: Scene, number: dict[int, int], action: ColouredAction) -> float | None:
        """The lane of a fault among the drawn ones, or a place between two; None if it is on none of them."""
        row = self.execution.events[action.row]
        if action.process:
            return number.get(self.lane_of(row))
        source, target = (self.whole_run.lane_of[name] for name in (row.channel or "").split("->"))
        if source not in number:
            return None
        start = number[source]
        end = number[target] if target in number else drawn.beside(start, target)
        return start + (end - start) * (COPIED_AT if row.kind == COPIED else LOST_AT)
