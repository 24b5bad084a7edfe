"""The lines of the processes of a cluster: the application events of each that no restore has taken back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import permutations
from typing import Any, NamedTuple

BEGINS = "begins"  # a process begins, or joins again: what it has from then on is its first balance


class Message(NamedTuple):
    """A message of the start number `start` of a cluster: in each, numbers begin anew."""

    start: int
    number: int

    def __str__(self) -> str:
        return f"message {self.number} of start {self.start + 1}"


class Happening(NamedTuple):
    """A row of a log. `is_again`: a recovery has put back the message that it is about."""

    process: str
    index: int | None  # type: ignore[assignment]  # hides tuple.index, which nobody needs
    kind: str
    channel: str
    number: int | None
    body: Any
    snapshot: str
    is_again: bool


class Event(NamedTuple):
    """An application event on a line, or that its process begins."""

    index: int  # type: ignore[assignment]  # likewise
    kind: str
    channel: str = ""
    message: Message | None = None
    body: Any = None


class Lines:
    """All lines, and what is in the channels between them. `wrong` is told what is wrong, in a sentence.

    `doubtful` messages were on their way from or to a process that left, or was not there: they may come or not.
    """

    def __init__(self, wrong: Callable[[str], None]) -> None:
        self._wrong = wrong
        self.start = 0
        self.present: set[str] = set()
        self.own: dict[str, list[Event]] = {}
        self.epoch = 0  # the newest that has begun
        self.epochs: dict[str, int] = {}  # that each process is in
        self.bodies: dict[Message, Any] = {}
        self.doubtful: set[Message] = set()
        self._in_epoch: dict[Message, int] = {}  # the one in which a message was sent, or was put back last
        self._again: dict[str, list[Message]] = {}  # by channel: what the last restore of its receiver has put back

    # ------------------------------------------------------------------ what happens

    def begin(self, present: Iterable[str], balance: Mapping[str, int]) -> None:
        """The system begins anew: nothing of what was before is left."""
        self.present = {*present}
        self.own = {name: [Event(0, BEGINS, body=balance.get(name, 0))] for name in self.present}
        self.doubtful, self._again, self.epochs, self.epoch = set(), {}, {}, 0

    def happen(self, own: Happening) -> None:
        """An event without a message."""
        self._add(own.process, Event(own.index or 0, own.kind))

    def send(self, own: Happening) -> None:
        """A message goes into its channel."""
        message = Message(self.start, own.number or 0)
        self.bodies[message], self._in_epoch[message] = own.body, self.epochs.get(own.process, 0)
        if not {*own.channel.split("->")} <= self.present:
            self.doubtful.add(message)
        self._add(own.process, Event(own.index or 0, own.kind, own.channel, message, own.body))

    def receive(self, own: Happening) -> None:
        """A message comes out of its channel."""
        message = self.message_of(own)
        if message in self.bodies and own.body != self.bodies[message]:
            self._wrong(f"{own.channel}: {message} comes as {own.body}, and was sent as {self.bodies[message]}")
        self._add(own.process, Event(own.index or 0, own.kind, own.channel, message, own.body))

    def _add(self, process: str, event: Event) -> None:
        line = self.own.setdefault(process, [])
        if line and event.index <= line[-1].index and line[-1].kind != BEGINS:
            self._wrong(f"{process} has event {event.index} after event {line[-1].index}")
        line.append(event)

    def message_of(self, own: Happening) -> Message:
        """The message of a row."""
        back = (one for one in self._again.get(own.channel, ()) if own.is_again and one.number == own.number)
        return next(back, Message(self.start, own.number or 0))

    def restore(self, own: Happening, epoch: int) -> None:
        """A process goes back to its first so many events."""
        line = self.own.setdefault(own.process, [])
        self.own[own.process] = [event for event in line if event.index <= (own.index or 0)]
        self.epochs[own.process] = epoch
        for channel in [name for name in self._again if name.endswith(f"->{own.process}")]:
            del self._again[channel]

    def put_back(self, message: Message, own: Happening) -> None:
        """A message is in its channel again."""
        self._again.setdefault(own.channel, []).append(message)
        self._in_epoch[message] = self.epochs.get(own.process, 0)
        if own.body != self.bodies.get(message):
            self._wrong(f"{own.channel}: {message} is put back as {own.body}, not {self.bodies.get(message)}")

    def join(self, process: str, balance: int) -> None:
        """A process is there from now on."""
        self.present.add(process)
        self.epochs[process] = self.epoch
        line = self.own.setdefault(process, [])
        line.append(Event(line[-1].index if line else 0, BEGINS, body=balance))

    def leave(self, process: str) -> None:
        """A process is there no more. What was on its way to it or from it may be gone with it."""
        for channel in self._channels_of(process):
            sent, received = self._flow(channel)
            last = max((place for place, own in enumerate(sent, 1) if own in {*received}), default=0)
            self.doubtful |= {*sent[last:]}
        self.present.discard(process)

    # ------------------------------------------------------------------ channels

    @staticmethod
    def between(processes: Iterable[str]) -> list[str]:
        """The channels between processes."""
        return [f"{one}->{other}" for one, other in permutations(sorted(processes), 2)]

    def _channels_of(self, process: str) -> Iterator[str]:
        others = [name for name in self.own if name != process]
        yield from (f"{process}->{other}" for other in others)
        yield from (f"{other}->{process}" for other in others)

    def _flow(self, channel: str, frontier: Mapping[str, int] | None = None) -> tuple[list[Message], list[Message]]:
        """What is sent on a channel, and what is received, inside a frontier (None: at all)."""
        source, _, target = channel.partition("->")
        found: dict[str, list[Message]] = {"send": [], "receive": []}
        for process, kind in ((source, "send"), (target, "receive")):
            for event in self.own.get(process, ()):
                is_inside = frontier is None or event.index <= frontier[process]
                if event.kind == kind and event.channel == channel and event.message is not None and is_inside:
                    found[kind].append(event.message)
        return found["send"], found["receive"]

    def crossing(self, channel: str, frontier: Mapping[str, int]) -> tuple[list[Message], list[Message]]:
        """What is received inside a frontier and not sent inside, and what is in the channel there, in its order."""
        sent, received = self._flow(channel, frontier)
        inside, taken = {*sent}, {*received}
        return [own for own in received if own not in inside], [own for own in sent if own not in taken]

    # ------------------------------------------------------------------ money

    def balance(self, process: str, most: float = float("inf")) -> int:
        """What a process has after its first events up to number `most`."""
        found = 0
        for event in self.own.get(process, ()):
            if event.index > most:
                break
            if event.kind == BEGINS:
                found = event.body
            elif event.kind in ("send", "receive"):
                found += event.body if event.kind == "receive" else -event.body
        return found

    # ------------------------------------------------------------------ the end

    def judge(self) -> None:
        """Say what is wrong with the messages on the lines."""
        for channel in self.between(self.own):
            sent, received = self._flow(channel)
            place = {message: number for number, message in enumerate(sent)}
            known: set[Message] = set()
            latest = -1
            for message in received:
                if message in known:
                    self._wrong(f"{channel}: {message} is received twice")
                elif message not in place and not self._is_of_no_account(channel, message):
                    self._wrong(f"{channel}: {message} is received, and was not sent")
                elif place.get(message, latest) < latest:
                    self._wrong(f"{channel}: {message} is received after one that was sent later")
                known.add(message)
                latest = max(latest, place.get(message, -1))
            for message in self._lost(channel, sent[: max(latest, 0)], known) | self._gone(channel, sent, known):
                self._wrong(f"{channel}: {message} is lost")

    def _is_of_no_account(self, channel: str, message: Message) -> bool:
        """Whether a process has taken with it, when it left, what its sender has taken back since."""
        return message in self.bodies and channel.partition("->")[2] not in self.present

    def _lost(self, channel: str, before: list[Message], known: set[Message]) -> set[Message]:
        """What was sent before something that was received, and is not received itself."""
        return {*before} - known - self.doubtful

    def _gone(self, channel: str, sent: list[Message], known: set[Message]) -> set[Message]:
        """What was sent in an earlier epoch, and was not put back: its receiver does not take it any more."""
        source, _, target = channel.partition("->")
        now = self.epochs.get(target, 0)
        if not {source, target} <= self.present or self.epochs.get(source, 0) < now:
            return set()
        return {own for own in {*sent} - known - self.doubtful if self._in_epoch[own] < now}

    def total(self) -> int:
        """The money in all processes that are there, and in the channels between them."""
        found = sum(self.balance(name) for name in self.present)
        for channel in self.between(self.present):
            sent, received = self._flow(channel)
            gone = self._gone(channel, sent, {*received})
            found += sum(self.bodies[own] for own in {*sent} - {*received} - gone)
        return found

    def right_total(self, frontier: Mapping[str, int] | None = None) -> int:
        """What has to be there: what the processes began with, less what went to others, and what came from others.

        A frontier: of its processes, inside it (None: of all that are there).
        """
        found, members = 0, {*(self.present if frontier is None else frontier)}
        for name in members:
            most = float("inf") if frontier is None else frontier[name]
            line = [event for event in self.own.get(name, ()) if event.index <= most]
            began = max((number for number, event in enumerate(line) if event.kind == BEGINS), default=0)
            for event in line[began:]:
                if event.kind == BEGINS:
                    found += event.body
                elif event.channel and not {*event.channel.split("->")} <= members:
                    found += event.body if event.kind == "receive" else -event.body
        return found
