"""Random executions with all their events and messages, and the logs of them, for tests of formats and pairing."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from pipeline.formats import shiviz
from pipeline.logs.format import NO_OPTIONS, Options, Reading
from sim.core.model import RECEIVE, SEND, Event
from tests.tools import examples

REPEATABLE = settings(examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture])

TEXT = r"(?P<event>(?:(?P<kind>send|receive) (?P<msg>\S+) (?:to|from) (?P<peer>\S+))?.*)\n(?P<host>\S*) (?P<clock>{.*})"
WITHOUT_ID = TEXT.replace(r"(?P<msg>\S+)", r"\S+")


class Step(NamedTuple):
    """An event: its host, its clock, and the numbers of the messages that it received and sent."""

    host: str
    clock: dict[str, int]
    received: tuple[int, ...]
    sent: tuple[int, ...]

    @property
    def name(self) -> tuple[str, int]:
        return self.host, self.clock[self.host]

    @property
    def text(self) -> str:
        return f"event {self.clock[self.host]} of {self.host}"


class Truth:
    """An execution: all events in a causal order, and all messages."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.channel: list[tuple[str, str]] = []  # by message
        self.ends: list[list[tuple[str, int] | None]] = []  # by message: its send and receive (None: never)
        self._clock: dict[str, dict[str, int]] = {}
        self._sent_with: list[dict[str, int]] = []

    def step(self, host: str, receive: Sequence[int] = (), to: Sequence[str] = ()) -> None:
        """Adds an event that receives messages by number, then sends one to each host in `to`."""
        clock = dict(self._clock.get(host, {}))
        for message in receive:
            for other, count in self._sent_with[message].items():
                clock[other] = max(count, clock.get(other, 0))
        clock[host] = clock.get(host, 0) + 1
        self._clock[host] = clock
        for message in receive:
            self.ends[message][1] = (host, clock[host])
        sent = range(len(self.channel), len(self.channel) + len(to))
        for target in to:
            self.channel.append((host, target))
            self.ends.append([(host, clock[host]), None])
            self._sent_with.append(clock)
        self.steps.append(Step(host, clock, tuple(receive), tuple(sent)))

    def waiting(self, host: str) -> list[int]:
        """The messages in flight to a host, in the order of their sends."""
        return [
            number for number, (_, target) in enumerate(self.channel) if target == host and not self.ends[number][1]
        ]

    def messages(self) -> set[Any]:
        """Every message as (send, receive, channel)."""
        return {(*ends, channel) for ends, channel in zip(map(tuple, self.ends), self.channel, strict=True)}

    def text_of(self, step: Step) -> str:
        """The text of an event in a log that names sends and receives; for events of at most one partner."""
        for number in step.sent:
            return f"send m{number} to {self.channel[number][1]}"
        for number in step.received:
            return f"receive m{number} from {self.channel[number][0]}"
        return step.text

    def log(self, text: Callable[[Step], str] | None = None, kept: Sequence[Step] | None = None) -> str:
        """A log of all events, or of those in `kept`, for ShiViz's own pattern; `text` gives the text of an event."""
        steps = self.steps if kept is None else kept
        words = [text(step) if text else step.text for step in steps]
        return "".join(f"{w}\n{s.host} {json.dumps(s.clock)}\n" for w, s in zip(words, steps, strict=True))


@st.composite
def truths(draw: Any, hosts: int = 4, most: int = 2, fifo: bool = False, events: int = 14) -> Truth:
    """A random execution: every host has events, and an event receives and sends at most `most` messages each."""
    names = [f"h{number}" for number in range(draw(st.integers(2, hosts)))]
    truth = Truth()
    for name in [*names, *draw(st.lists(st.sampled_from(names), min_size=2, max_size=events))]:
        others = [other for other in names if other != name]
        waiting = truth.waiting(name)
        if fifo:
            first = {truth.channel[number]: number for number in reversed(waiting)}
            waiting = sorted(first.values())
        received = draw(st.lists(st.sampled_from(waiting), max_size=most, unique=True)) if waiting else []
        room = most if most > 1 else most - len(received)
        targets = draw(st.lists(st.sampled_from(others), max_size=max(0, room), unique=True))
        truth.step(name, received, targets)
    return truth


def read_log(folder: Path, text: str, options: Options = NO_OPTIONS) -> Reading:
    """Reads a log of one execution."""
    path = folder / "some.log"
    path.write_text(text, encoding="utf-8")
    (piece,) = shiviz.pieces([path], options)
    return shiviz.read(piece)


def events_of(reading: Reading) -> list[Event]:
    return [Event(**row) for row in reading.events.to_pylist()]


def messages_of(events: Sequence[Event], own: Callable[[str, int], int] = lambda host, index: index) -> set[Any]:
    """Every message of a table as (send, receive, channel); `own` gives an event's clock entry for its own host."""
    received = {event.message_id: event for event in events if event.kind == RECEIVE}
    found = set()
    for event in events:
        if event.kind == SEND:
            end = received.get(event.message_id)
            source, _, target = (event.channel or "").partition("->")
            receive = None if end is None else (end.process, own(end.process, end.index or 0))
            found.add(((event.process, own(event.process, event.index or 0)), receive, (source, target)))
    return found
