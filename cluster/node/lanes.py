"""Messages that have come to a node and wait: a lane for each channel, which delivers as sim/core/engine.py does."""

from __future__ import annotations

from typing import NamedTuple

from cluster.node.system import System
from sim.core.model import APP, CONTROL, MARKER, Channel, Message, Process


class Arrival(NamedTuple):
    """A message that has come. It may be delivered from `due` on, in seconds of the event loop's clock."""

    due: float
    message: Message
    clock: int


class Lane:
    """The messages of one channel that have come, oldest first."""

    def __init__(self, system: System, channel: Channel) -> None:
        self.channel = channel
        self.waiting: list[Arrival] = []
        self._may_overtake = system.engine.algorithm.overtakes
        self._goes_ahead = system.engine.algorithm.goes_ahead
        self._is_free = not channel.fifo
        self._busy_until = 0.0

    def add(self, message: Message, now: float, delay: float, clock: int) -> None:
        """Add a message that has come. It is delivered `delay` seconds later at the earliest, in its turn."""
        due = now + delay
        if not self._is_free and not self._overtakes(message):
            self._busy_until = due = max(due, self._busy_until)
        self.waiting.append(Arrival(due, message, clock))

    def put_back(self, message: Message) -> None:
        """Put a message of a snapshot back, behind those put back before, and ahead of new messages."""
        waiting = self.waiting
        newer = (
            at for at, own in enumerate(waiting) if own.message.epoch >= message.epoch and not own.message.is_again
        )
        waiting.insert(next(newer, len(waiting)), Arrival(0.0, message, 0))

    def _overtakes(self, message: Message) -> bool:
        return self._may_overtake and message.kind == MARKER and self._goes_ahead(message.body)

    def take(
        self, process: Process, now: float, *, is_stopped: bool = False
    ) -> tuple[Arrival, list[Message]] | float | None:
        """The next message for `process`, with the messages that it overtakes; or the time at which to ask again.

        None: no message becomes due by time alone. A message of an earlier epoch is taken at once, to be fenced off. If
        `is_stopped`, the process takes only control messages and markers that go ahead.
        """
        waiting = self.waiting
        if not waiting:
            return None
        epoch = process.epoch
        first = waiting[0]
        if first.message.epoch < epoch:
            del waiting[0]
            return first, []
        best: float | None = None
        for at, own in enumerate(waiting):
            if own.message.epoch > epoch:
                break
            goes_ahead = self._overtakes(own.message)
            if goes_ahead or ((at == 0 or self._is_free) and not (is_stopped and own.message.kind != CONTROL)):
                if own.due <= now:
                    del waiting[at]
                    return own, [other.message for other in waiting[:at] if other.message.epoch == epoch]
                best = own.due if best is None else min(best, own.due)
            if not self._is_free and (not self._may_overtake or own.message.kind == MARKER):
                break  # only the first marker may go ahead
        return best

    @property
    def apps(self) -> int:
        """The number of application messages that wait."""
        return sum(own.message.kind == APP for own in self.waiting)
