"""The scheduler of Princeton's COS 418: at each tick every source delivers at most one message."""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Sequence
from heapq import heappop, heappush

from sim.core.delays import Delays
from sim.core.engine import Engine
from sim.core.model import Action, Channel, Deliver, Initiate, Message, State
from sim.core.scheduler import Choices, Timed


class Tick(Timed):
    """COS 418's rule: time advances in ticks; at each, every source delivers at most one message.

    A message sent between ticks t and t+1 is due at t + 1 + its delay. At a tick the sources take turns in string order
    of their names. Each looks at its channels in string order of the target and delivers the first oldest message that
    is due; a message that is not due blocks only its own channel. Without `extra`, a run ends when no message or item
    is due at a finite time. With `extra` (COS 418), ticks go on at least to `until` and to the last agenda item. Then
    they go on until every snapshot is complete, and for `extra` more.
    """

    def __init__(self, engine: Engine, state: State, delays: Delays, until: int = 0, extra: int | None = None) -> None:
        super().__init__(engine, state, delays)
        self._until = until
        self._extra = extra
        self._tick = 0
        self._moved = False  # whether anything has happened since the deliveries of this tick began
        by_name = sorted(range(len(engine.processes)), key=lambda number: engine.processes[number])
        self._rank = {number: rank for rank, number in enumerate(by_name)}
        self._due_tick: list[deque[float]] = [deque() for _ in engine.channels]
        self._calendar: defaultdict[int, list[Channel]] = defaultdict(
            list
        )  # tick -> channels whose head becomes due at it
        self._ready: dict[int, list[tuple[int, int]]] = {}  # rank of source -> heap of (rank of target, channel)

    def choices(self) -> Choices:
        """The actions between two ticks, then the deliveries of the next tick, and so on."""
        end: int | None = None
        while True:
            yield from self._due_before(math.nextafter(self._tick + 1, math.inf))  # the next tick included
            if end is None and self._tick >= self._until and not self._due:
                if self._extra is not None and self._all_complete():
                    end = self._tick + self._extra
                elif not self._calendar and not self._moved:
                    return
            if end is not None and self._tick >= end:
                return
            self._tick = self._next_tick(self._until if end is None else end)
            self.now = float(self._tick)
            yield from self._deliveries()

    def _next_tick(self, end: int) -> int:
        """The next tick at which something may happen, at most `end`: idle ticks are skipped."""
        if self._ready and self._moved:
            return self._tick + 1
        pending = [*self._calendar, *(math.ceil(entry[0]) - 1 for entry in self._due[:1])]
        if end > self._tick:
            pending.append(end)
        return max(min(pending, default=0), self._tick + 1)

    def _all_complete(self) -> bool:
        asked = {item.action.snapshot for item in self.engine.agenda if isinstance(item.action, Initiate)}
        processes = self.state.processes
        return all(name in p.snapshots and p.snapshots[name].done for p in processes for name in asked)

    def _plan_what_follows(self, action: Action, sent: Sequence[Message]) -> None:
        self._moved = True
        super()._plan_what_follows(action, sent)

    def _plan_arrivals(self, sent: Sequence[Message]) -> None:
        """A channel enters the calendar when its oldest message is known."""
        for message in sent:
            queue = self._due_tick[message.channel.number]
            queue.append(math.floor(self.now) + 1 + self.delays.of(message))
            if len(queue) == 1:
                self._announce_head(message.channel, queue[0])

    def _announce_head(self, channel: Channel, due: float) -> None:
        if due != math.inf:
            self._calendar[max(math.ceil(due), self._tick + 1)].append(channel)

    def _deliveries(self) -> Choices:
        self._moved = False
        for channel in self._calendar.pop(self._tick, ()):
            heap = self._ready.setdefault(self._rank[channel.source], [])
            heappush(heap, (self._rank[channel.target], channel.number))
        for source in sorted(self._ready):
            heap = self._ready[source]
            choice = self._first_deliverable(heap)
            if not heap:
                del self._ready[source]
            if choice is not None:
                channel = choice.message.channel
                queue = self._due_tick[channel.number]
                queue.popleft()
                sent = yield self.now, choice
                self._plan_what_follows(choice, sent)
                if queue:
                    self._announce_head(channel, queue[0])

    def _first_deliverable(self, heap: list[tuple[int, int]]) -> Deliver | None:
        """Removes the first channel that is not blocked from `heap`, and returns its delivery."""
        blocked = []
        found = None
        while heap and found is None:
            entry = heappop(heap)
            action = Deliver(self.state.queues[entry[1]][0])
            if self.engine.is_enabled(self.state, action):
                found = action
            else:
                blocked.append(entry)
        for entry in blocked:
            heappush(heap, entry)
        return found
