"""The lines of the processes of a cluster: the application events of each that no restore has taken back."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from itertools import permutations
from typing import Any, NamedTuple


class Message(NamedTuple):
    """A message of the start number `start` of a cluster: in each, numbers begin anew."""

    start: int
    number: int

    def __str__(self) -> str:
        return f"message {self.number} of start {self.start + 1}"


class Happening(NamedTuple):
    """A row of a log. `is_again`: a recovery has put back the message that it is about."""

    process: str
    index: int | None  # type: ignore[assignment]  # hides tuple.index, which is not needed
    kind: str
    channel: str
    number: int | None
    body: Any
    snapshot: str
    is_again: bool


class Event(NamedTuple):
    """An event on a line, and what its process `has` after it. `begins`: the process begins, or joins again."""

    index: int  # type: ignore[assignment]  # likewise
    has: int
    begins: bool = False


class Passage(NamedTuple):
    """A message goes into a channel, or comes out of it, at the event number `index` of the process at that end."""

    index: int  # type: ignore[assignment]  # likewise
    message: Message
    body: Any


class Flow:
    """What is sent on a channel and what is received, in the order of either end, as far as nothing is taken back."""

    def __init__(self) -> None:
        self.sent: list[Passage] = []
        self.received: list[Passage] = []
        self._same = 0  # so many of both are the same messages, from the first on

    def forget(self, sent: int | None = None, received: int | None = None) -> None:
        """The sender has gone back to its first so many events, or the receiver has."""
        if sent is not None:
            del self.sent[_inside(self.sent, sent) :]
        if received is not None:
            del self.received[_inside(self.received, received) :]
        self._same = min(self._same, len(self.sent), len(self.received))

    def crossing(self, sent: float, received: float) -> tuple[list[Message], list[Message]]:
        """What is received inside a frontier and not sent inside, and what is in the channel there, in its order."""
        while self._same < min(len(self.sent), len(self.received)) and self._is_same(self._same):
            self._same += 1
        s, r = _inside(self.sent, sent), _inside(self.received, received)
        same = min(self._same, s, r)  # the longer a run, the more: they are not looked at again
        put = [own.message for own in self.sent[same:s]]
        taken = [own.message for own in self.received[same:r]]
        orphans = [own for own in taken if own not in {*put}]
        before = {own.message for own in self.sent[:same]} if orphans else set[Message]()
        return [own for own in orphans if own not in before], [own for own in put if own not in {*taken}]

    def _is_same(self, place: int) -> bool:
        return self.sent[place].message == self.received[place].message


def _inside(passages: list[Passage], most: float) -> int:
    """How many of them are up to the event number `most`."""
    return bisect_right(passages, most, key=lambda own: own.index)


class Lines:
    """All lines, and what is in the channels between them. `wrong` is told what is wrong, in a sentence.

    `doubtful` messages were on their way from or to a process that left, or was not there: they may come or not.
    """

    def __init__(self, wrong: Callable[[str], None]) -> None:
        self._wrong = wrong
        self.start = 0
        self.present: set[str] = set()
        self.own: dict[str, list[Event]] = {}
        self.flows: dict[str, Flow] = {}  # by channel
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
        self.own = {name: [Event(0, balance.get(name, 0), begins=True)] for name in self.present}
        self.flows = {}
        self.doubtful, self._again, self.epochs, self.epoch = set(), {}, {}, 0

    def happen(self, own: Happening) -> None:
        """An event without a message."""
        self._add(own, 0)

    def send(self, own: Happening) -> None:
        """A message goes into its channel."""
        message = Message(self.start, own.number or 0)
        self.bodies[message], self._in_epoch[message] = own.body, self.epochs.get(own.process, 0)
        if not {*own.channel.split("->")} <= self.present:
            self.doubtful.add(message)
        self._flow(own.channel).sent.append(Passage(own.index or 0, message, own.body))
        self._add(own, -1)

    def receive(self, own: Happening) -> None:
        """A message comes out of its channel."""
        message = self.message_of(own)
        if message in self.bodies and own.body != self.bodies[message]:
            self._wrong(f"{own.channel}: {message} comes as {own.body}, and was sent as {self.bodies[message]}")
        self._flow(own.channel).received.append(Passage(own.index or 0, message, own.body))
        self._add(own, +1)

    def _add(self, own: Happening, sign: int) -> None:
        line = self.own.setdefault(own.process, [Event(0, 0, begins=True)])
        index, last = own.index or 0, line[-1]
        if index <= last.index:
            self._wrong(f"{own.process} has event {index} after event {last.index}")
        line.append(Event(index, last.has + sign * own.body if sign and isinstance(own.body, int) else last.has))

    def _flow(self, channel: str) -> Flow:
        return self.flows.setdefault(channel, Flow())

    def message_of(self, own: Happening) -> Message:
        """The message of a row."""
        back = (one for one in self._again.get(own.channel, ()) if own.is_again and one.number == own.number)
        return next(back, Message(self.start, own.number or 0))

    def restore(self, own: Happening, epoch: int) -> None:
        """A process goes back to its first so many events."""
        most = own.index or 0
        self.own[own.process] = [event for event in self.own.get(own.process, ()) if event.index <= most]
        for channel, flow in self.flows.items():
            source, _, target = channel.partition("->")
            flow.forget(most if source == own.process else None, most if target == own.process else None)
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
        line.append(Event(line[-1].index if line else 0, balance, begins=True))

    def leave(self, process: str) -> None:
        """A process is there no more. What was on its way to it or from it may be gone with it."""
        for channel, flow in self.flows.items():
            if process in channel.split("->"):
                taken = {own.message for own in flow.received}
                last = max((place for place, own in enumerate(flow.sent, 1) if own.message in taken), default=0)
                self.doubtful |= {own.message for own in flow.sent[last:]}
        self.present.discard(process)

    # ------------------------------------------------------------------ channels

    @staticmethod
    def between(processes: Iterable[str]) -> list[str]:
        """The channels between processes."""
        return [f"{one}->{other}" for one, other in permutations(sorted(processes), 2)]

    def crossing(self, channel: str, frontier: Mapping[str, int]) -> tuple[list[Message], list[Message]]:
        """As in Flow, of a channel."""
        source, _, target = channel.partition("->")
        return self._flow(channel).crossing(frontier[source], frontier[target])

    def balance(self, process: str) -> int:
        """What a process has."""
        return next((event.has for event in reversed(self.own.get(process, ()))), 0)

    # ------------------------------------------------------------------ the end

    def judge(self) -> None:
        """Say what is wrong with the messages on the lines."""
        for channel in self.between(self.own):
            flow = self._flow(channel)
            place = {own.message: number for number, own in enumerate(flow.sent)}
            known: set[Message] = set()
            latest = -1
            for _, message, _ in flow.received:
                if message in known:
                    self._wrong(f"{channel}: {message} is received twice")
                elif message not in place and not self._is_of_no_account(channel, message):
                    self._wrong(f"{channel}: {message} is received, and was not sent")
                elif place.get(message, latest) < latest:
                    self._wrong(f"{channel}: {message} is received after one that was sent later")
                known.add(message)
                latest = max(latest, place.get(message, -1))
            before = {own.message for own in flow.sent[: max(latest, 0)]}
            for message in (before - known - self.doubtful) | self._gone(channel):
                self._wrong(f"{channel}: {message} is lost")

    def _is_of_no_account(self, channel: str, message: Message) -> bool:
        """Whether a process has taken with it, when it left, what its sender has taken back since."""
        return message in self.bodies and channel.partition("->")[2] not in self.present

    def _left(self, channel: str) -> set[Message]:
        """What was sent on a channel, and is not received."""
        flow = self._flow(channel)
        return {own.message for own in flow.sent} - {own.message for own in flow.received}

    def _gone(self, channel: str) -> set[Message]:
        """What was sent in an earlier epoch, and was not put back: its receiver does not take it any more."""
        source, _, target = channel.partition("->")
        now = self.epochs.get(target, 0)
        if not {source, target} <= self.present or self.epochs.get(source, 0) < now:
            return set()
        return {own for own in self._left(channel) - self.doubtful if self._in_epoch[own] < now}

    def total(self) -> int:
        """The money in all processes that are there, and in the channels between them."""
        found = sum(self.balance(name) for name in self.present)
        for channel in self.between(self.present):
            found += sum(self.bodies[own] for own in self._left(channel) - self._gone(channel))
        return found

    def right_total(self, frontier: Mapping[str, int] | None = None) -> int:
        """What has to be there: what the processes began with, less what went to others, and what came from others.

        A frontier: of its processes, inside it (None: of all that are there).
        """
        members = {*(self.present if frontier is None else frontier)}
        most = dict.fromkeys(members, float("inf")) | dict(frontier or {})
        began = {name: self._began(name, most[name]) for name in members}
        found = sum(event.has for event in began.values())
        for channel, flow in self.flows.items():
            source, _, target = channel.partition("->")
            if source in members and target not in members:
                found -= sum(own.body for own in flow.sent if began[source].index < own.index <= most[source])
            elif target in members and source not in members:
                found += sum(own.body for own in flow.received if began[target].index < own.index <= most[target])
        return found

    def _began(self, process: str, most: float) -> Event:
        """How a process began, as it was last before its event number `most`."""
        begins = (event for event in reversed(self.own.get(process, ())) if event.begins and event.index <= most)
        return next(begins, Event(0, 0))
