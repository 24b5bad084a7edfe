"""The schedulers. A scheduler chooses the next action (Dijkstra's "friendly daemon").

A scheduler is a generator of (time, action). The run performs the action, sets `state` to the new state, and sends the
list of messages that the action sent into the generator. Every scheduler chooses among the actions that
`Engine.is_enabled` allows.

Services start before anything else. Ties in time: script, then the workload's turns, then initiations, then faults,
then deliveries, then control messages, then timers; then the listed order (of script lines, of channels); then the
order of sending.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Generator, MutableMapping, MutableSequence, Sequence
from heapq import heapify, heappop, heappush
from operator import itemgetter
from typing import Any

from sim.core import randomness
from sim.core.chances import Chances
from sim.core.delays import HOLD, Delays
from sim.core.engine import Engine
from sim.core.faults import on_its_way
from sim.core.model import (
    APP,
    CONTROL,
    FAULTS,
    MARKER,
    Action,
    AgendaItem,
    Channel,
    Copy,
    Crash,
    Deliver,
    Fire,
    Freeze,
    Hear,
    Initiate,
    Join,
    Lose,
    Mend,
    Message,
    Recover,
    Restart,
    Restore,
    Sever,
    Start,
    State,
    Thaw,
    Timer,
)
from sim.core.recovery import ON_CRASH

START, SCRIPT, TURN, INITIATION, FAULT, DELIVERY, CONTROL_DELIVERY, ALARM = range(8)
_RECOVERIES, _BEGINNINGS = frozenset({Recover, Restore}), frozenset({Restart, Join, Restore})
Choice = tuple[float, Action]
Choices = Generator[Choice, Sequence[Message], None]
Entry = tuple[float, int, int, int, Action | Message | Timer | None]  # time, rank, order, id, what (None: a turn)


def in_order(due: float, busy_until: MutableSequence[float] | MutableMapping[Any, float], channel: Any) -> float:
    """FIFO: when a message due at `due` arrives, which is not before the one sent before it on its channel.

    `busy_until` holds, by channel, when the last message arrives; it is brought up to date. The browser has the same
    rule in assets/explore/run/fifo.js, and a test holds it against this one.
    """
    last = busy_until[channel]
    if due < last:
        return last
    busy_until[channel] = due
    return due


def sent_again(sent: float, lost: float, resend: float) -> float:
    """When a FIFO layer sends a message again that was sent at `sent` and lost at `lost`: not before its alarm."""
    return max(sent + resend, lost)


class Parked:
    """The actions that are due and not enabled, in lines, so that a step makes few of them worth another look.

    In the line of a FIFO channel only its oldest message can be enabled. In that of another channel, all or none; then
    the first that was sent comes first. In the line of a process's timed items only the next one can be enabled. All
    else has no line.
    """

    def __init__(self, engine: Engine) -> None:
        self._agenda, self._channels, self._has_epochs = engine.agenda, engine.channels, engine.has_epochs
        self._messages: dict[int, dict[Any, Entry]] = {}  # by channel, then by epoch and id
        self._items: dict[int, dict[int, Entry]] = {}  # by process, then by rank
        self._others: list[Entry] = []

    def __bool__(self) -> bool:
        return bool(self._messages or self._items or self._others)

    def add(self, entry: Entry) -> None:
        """Park an entry."""
        what = entry[4]
        if entry[1] == DELIVERY and what.kind == APP:  # type: ignore[union-attr]
            self._messages.setdefault(entry[2], {})[what.epoch, what.id] = entry  # type: ignore[union-attr]
            return
        if entry[1] in (SCRIPT, INITIATION):
            item = self._agenda[entry[2]]
            if item.rank is not None:
                self._items.setdefault(item.process, {})[item.rank] = entry
                return
        self._others.append(entry)

    def drop(self, message: Message) -> bool:
        """Forgets the arrival of a message. Returns whether it was parked."""
        of_channel = self._messages.get(message.channel.number, {})
        own = message.epoch, message.id
        is_there = own in of_channel
        if is_there:
            _taken(self._messages, message.channel.number, own)
        others = [entry for entry in self._others if entry[4] is not message]
        is_there, self._others = is_there or len(others) < len(self._others), others
        return is_there

    def take(self, state: State) -> list[Entry]:
        """Takes out the entries that may be enabled in `state`."""
        found, self._others = self._others, []
        for channel, line in tuple(self._messages.items()):
            if not self._channels[channel].fifo:
                firsts = dict(sorted(line, reverse=True))
            elif self._has_epochs:
                firsts = {own.epoch: own.id for own in reversed(state.queues[channel])}
            else:
                firsts = {0: state.queues[channel][0].id}
            for first in firsts.items():
                found += _taken(self._messages, channel, first)
        for process in tuple(self._items):
            found += _taken(self._items, process, state.node(process).position)
        return found


def _taken(lines: dict[int, dict[Any, Entry]], number: int, first: Any) -> list[Entry]:
    """Takes the entry `first` out of a line, if it is there."""
    line = lines.get(number, {})
    entry = line.pop(first, None)
    if not line:
        lines.pop(number, None)
    return [] if entry is None else [entry]


class Scheduler:
    """The base class of schedulers."""

    def __init__(self, engine: Engine, state: State, delays: Delays) -> None:
        self.engine = engine
        self.state = state
        self.delays = delays

    def choices(self) -> Choices:
        """The actions of the run, each with its time, until none is due at a finite time."""
        raise NotImplementedError


class Timed(Scheduler):
    """Every message arrives its delay after its send, but on a FIFO channel not before the messages in front of it.

    An action may be due while its channel is blocked, its process paused, or a channel of that process full. Then it is
    parked, and happens as soon as it may. The messages from and to a slow process take so many times as long, unless
    their delay is set by hand; and so does a slow process for its turns. The timers of a frozen process stand still:
    they go off later, by as long as it was frozen.

    A message that is lost is lost when it is sent, or at the time that the scenario gives; a copy of it arrives as long
    after it as it takes itself.
    """

    def __init__(self, engine: Engine, state: State, delays: Delays, chances: Chances | None = None) -> None:
        """`chances` loses and copies messages at random (None: nothing does)."""
        super().__init__(engine, state, delays)
        self.now = 0.0
        self._parked = Parked(engine)
        self._takes_turns = engine.workload.takes_turns
        self._busy_until = [-math.inf] * len(engine.channels)  # when the last message of a channel is due
        self._has_control = engine.algorithm.uses_control
        self._control_busy_until: defaultdict[tuple[Channel, int], float] = defaultdict(lambda: -math.inf)
        self._has_turn = [False] * len(engine.processes) + [True] * len(engine.services)  # services take none
        self._happened = state.happened
        self._overtakes = engine.algorithm.overtakes
        self._goes_ahead = engine.algorithm.goes_ahead
        self._due: list[Entry] = [(0.0, START, start.process, 0, start) for start in engine.starts]
        timed = (self._entry(item, item.time) for item in engine.agenda if item.rank is not None)
        self._chances = chances
        self._has_message_faults = engine.has_message_faults or chances is not None
        self._delay_of: dict[int, float] = {}  # of the messages that are on their way, where some may be lost or copied
        self._sent_at: dict[int, float] = {}  # likewise: when each was sent, or is sent again
        self._outdated: Counter[tuple[int, int]] = Counter()  # arrivals in `_due` of what is lost, by epoch and message
        self._agenda = iter(sorted(timed, key=itemgetter(0, 1, 2)))
        self._has_epochs = engine.has_epochs
        self._epochs = 0  # so far, and one for each crash after which a recovery begins
        self._epoch = 0  # the number of the last recovery among these
        self._stopped: dict[
            int, list[tuple[float, Entry]]
        ] = {}  # timers of who is frozen, each with the time since when
        self._busy_in_epoch: defaultdict[tuple[int, int], float] = defaultdict(lambda: -math.inf)
        for number, time in enumerate(engine.plan.at if engine.plan else ()):
            heappush(self._due, (time, FAULT, self._after_faults, number, Recover(number)))
        for timer in state.timers.values():
            heappush(self._due, (timer.after, ALARM, timer.process, timer.number, timer))
        self._plan_next_item()
        if self._takes_turns:
            for number in range(len(engine.processes)):
                self._plan_turn(number)

    def choices(self) -> Choices:
        """The first action that is due and enabled."""
        return self._due_before(math.inf)

    def _due_before(self, limit: float) -> Choices:
        due, is_enabled, turn = self._due, self.engine.is_enabled, self.engine.workload.turn
        while True:
            if self._parked:
                self._unpark()
            if not due or due[0][0] >= limit:
                return
            entry = heappop(due)
            time, rank, order, number, what = entry
            action: Action | None
            if rank == DELIVERY:
                if self._outdated and self._is_outdated(what):  # type: ignore[arg-type]
                    continue
                action = Deliver(what)  # type: ignore[arg-type]
            elif rank == TURN:
                process = self.state.processes[order]
                if not process.alive:
                    self._parked.add(entry)
                    continue
                self._has_turn[order] = False
                action = turn(process)
                if action is None:
                    continue
            elif rank == CONTROL_DELIVERY:
                action = Hear(what)  # type: ignore[arg-type]
            elif rank == ALARM:
                action = Fire(what)  # type: ignore[arg-type]
                if not is_enabled(self.state, action):
                    continue  # it was set anew, or taken away
            else:
                action = what  # type: ignore[assignment]
                if type(action) in _RECOVERIES:
                    is_later = type(action) is Restore and number < self._epoch
                    if is_later or not self.engine.may_recover(self.state, action):  # type: ignore[arg-type]
                        continue  # a later recovery has begun
                elif type(action) is not Start:
                    self._plan_next_item()
            assert action is not None
            if is_enabled(self.state, action):
                self.now = time
                lost = on_its_way(self.state, action.reference) if type(action) is Lose else None
                sent = yield time, action
                if lost is not None:
                    self._plan_again(lost)
                self._plan_what_follows(action, sent)
            else:
                if rank == TURN:
                    self._has_turn[order] = True
                self._parked.add(entry)

    def _plan_what_follows(self, action: Action, sent: Sequence[Message]) -> None:
        """Plan what `action` caused: arrivals, timers, items that waited for its events, and the next turn."""
        if self._has_control:
            self._plan_control(sent)
        elif sent:
            self._plan_arrivals(sent)
        if self.state.happened is not self._happened:
            self._plan_followers()
        if self._has_epochs and isinstance(action, Crash | Recover):
            self._plan_recovery(action)
        elif isinstance(action, Freeze | Thaw):
            self._stop_timers(action)
        if self._takes_turns:
            number = action.process if type(action) in _BEGINNINGS else self.engine.actor(action)  # type: ignore[union-attr]
            if number < len(self._has_turn) and not self._has_turn[number]:
                self._plan_turn(number)

    def _plan_recovery(self, action: Crash | Recover) -> None:
        """A recovery begins some time after a crash; then each process is restored once its part is fetched."""
        plan, engine, recovery = self.engine.plan, self.engine, self.state.recovery
        assert plan is not None
        self._epochs += 1
        if isinstance(action, Crash):
            if plan.on == ON_CRASH:
                due = self.now + plan.detect
                heappush(self._due, (due, FAULT, self._after_faults, len(plan.at) + self._epochs, Recover(None)))
            return
        self._epoch = self._epochs
        for number in sorted(recovery.waiting):
            due = self.now + recovery.goal.takes.get(engine.processes[number], 0.0)
            heappush(self._due, (due, FAULT, self._after_faults + 1 + number, self._epochs, Restore(number)))

    def _stop_timers(self, action: Freeze | Thaw) -> None:
        """A process stands still, and so do its timers, or it goes on, and so do they."""
        stopped = self._stopped.setdefault(action.process, [])
        if type(action) is Freeze:
            stopped += ((self.now, own) for own in self._due if own[1:3] == (ALARM, action.process))
            self._due[:] = (own for own in self._due if own[1:3] != (ALARM, action.process))
            heapify(self._due)
            return
        for since, entry in self._stopped.pop(action.process):
            heappush(self._due, (entry[0] + self.now - since, *entry[1:]))

    @property
    def _after_faults(self) -> int:
        """A place in the order of the environment's actions: after all that the agenda plans."""
        return 2 * len(self.engine.agenda)

    def _entry(self, item: AgendaItem, time: float) -> Entry:
        kind = type(item.action)
        rank = FAULT if kind in FAULTS else INITIATION if kind is Initiate else SCRIPT
        return time, rank, item.number, 0, item.action

    def _plan_next_item(self) -> None:
        """Only the next timed item is in `_due`, so that a long script costs no more than a short one."""
        entry = next(self._agenda, None)
        if entry is not None:
            heappush(self._due, entry)

    def _plan_turn(self, number: int) -> None:
        """At most one turn of each process is in `_due`."""
        process = self.state.processes[number]
        gap = self.engine.workload.turn_gap(process) if process.alive else None
        if gap is not None:
            self._has_turn[number] = True
            gap *= self.state.slowed.get(number, 1.0)
            heappush(self._due, (self.now + gap, TURN, number, 0, None))

    def _plan_arrivals(self, sent: Sequence[Message]) -> None:
        for message in sent:
            channel = message.channel
            number = channel.number
            delay = self._delay_of_copy(message) if message.origin is not None else self._delay(message)
            due = self.now + delay
            is_in_line = channel.fifo and not message.is_again
            if is_in_line and not (self._overtakes and message.kind == MARKER and self._goes_ahead(message.body)):
                if self._has_epochs:
                    due = in_order(due, self._busy_in_epoch, (number, message.epoch))
                else:
                    due = in_order(due, self._busy_until, number)
            if due != HOLD:
                heappush(self._due, (due, DELIVERY, number, message.id, message))
            if self._has_message_faults:
                self._delay_of[message.id], self._sent_at[message.id] = delay, self.now
                self._plan_faults(message)

    def _delay(self, message: Message) -> float:
        """The delay of a message. It is that of the slower of both processes, if one of them is slow.

        What a recovery puts back is there at once.
        """
        if message.is_again:
            return 0.0
        slowed = self.state.slowed
        if not slowed:
            return self.delays.of(message)
        channel = message.channel
        return self.delays.of(message, max(slowed.get(channel.source, 1.0), slowed.get(channel.target, 1.0)))

    # ------------------------------------------------------------------ what is lost and copied

    def _plan_faults(self, message: Message) -> None:
        """The losses and copies of a message that has just been sent: those planned, then those by chance."""
        for item in self.engine.planned_for(message):
            heappush(self._due, self._entry(item, max(item.time, self.now)))
        if self._chances is not None and message.origin is None and not message.is_again:
            for number, fault in enumerate(self._chances.of(message)):
                heappush(self._due, (self.now, FAULT, len(self.engine.agenda) + number, message.id, fault))

    def _delay_of_copy(self, message: Message) -> float:
        """A copy arrives as long after the other one as that one takes. It draws no delay of its own."""
        assert message.origin is not None
        return max(0.0, self._sent_at[message.origin] + 2 * self._delay_of[message.origin] - self.now)

    def _plan_again(self, lost: Message) -> None:
        """The planned arrival of a message that is lost is none. A FIFO layer sends it again.

        What arrives before it on its channel is parked, since it is not the oldest there.
        """
        if not self._parked.drop(lost):
            self._outdated[lost.epoch, lost.id] += 1
        if self.engine.is_raw:
            return
        channel, delay = lost.channel, self._delay_of[lost.id]
        self._sent_at[lost.id] = again = sent_again(self._sent_at[lost.id], self.now, self.delays.resend)
        due = again + delay
        if due != HOLD:
            heappush(self._due, (due, DELIVERY, channel.number, lost.id, lost))

    def _is_outdated(self, message: Message) -> bool:
        """Whether the arrival that is due now is one that was planned before `message` was lost."""
        if not self._outdated[message.epoch, message.id]:
            return False
        self._outdated[message.epoch, message.id] -= 1
        return True

    # ------------------------------------------------------------------ what else follows

    def _plan_control(self, sent: Sequence[Message]) -> None:
        """Plan the arrivals of messages, control messages included, and the timers that were set.

        Control messages between the same two keep their order.
        """
        self._plan_arrivals([message for message in sent if message.kind != CONTROL])
        for message in (message for message in sent if message.kind == CONTROL):
            line = message.channel, message.epoch
            due = in_order(self.now + self._delay(message), self._control_busy_until, line)
            if due != math.inf:
                heappush(self._due, (due, CONTROL_DELIVERY, message.channel.number, message.id, message))
        if self.engine.set_by is sent:
            for timer in self.engine.scheduled:
                heappush(self._due, (self.now + timer.after, ALARM, timer.process, timer.number, timer))

    def _plan_followers(self) -> None:
        happened = self.state.happened
        for item in self.engine.agenda:
            if item.after in happened and item.after not in self._happened:
                heappush(self._due, self._entry(item, self.now + item.time))
        self._happened = happened

    def _unpark(self) -> None:
        """Parked actions that are enabled again are due now."""
        for entry in self._parked.take(self.state):
            what = entry[4]
            if what is None:
                may_go = self.engine.may_begin(self.state, self.state.processes[entry[2]])
            else:
                action = what
                if isinstance(what, Message):
                    action = Hear(what) if what.kind == CONTROL else Deliver(what)
                may_go = self.engine.is_enabled(self.state, action)  # type: ignore[arg-type]  # timers are not parked
            if may_go:
                heappush(self._due, (max(entry[0], self.now), *entry[1:]))
            else:
                self._parked.add(entry)


class Untimed(Scheduler):
    """Time is the number of the step. Held messages (and what is behind them) are never delivered."""

    def __init__(self, engine: Engine, state: State, delays: Delays) -> None:
        super().__init__(engine, state, delays)
        self._held: set[int] = set()

    def _enabled(self) -> list[Action]:
        return [
            action
            for action in self.engine.enabled(self.state)
            if not (isinstance(action, Deliver) and action.message.id in self._held)
        ]

    def _note_held(self, sent: Sequence[Message]) -> None:
        """Without time, a delay has no meaning unless it holds the message. A copy has none of its own."""
        drawn = (message for message in sent if message.origin is None and not message.is_again)
        self._held.update(message.id for message in drawn if self.delays.of(message) == math.inf)


class Random(Untimed):
    """Chooses uniformly among the enabled actions; the choice depends on (seed, step)."""

    def __init__(self, engine: Engine, state: State, delays: Delays, seed: int = 0) -> None:
        super().__init__(engine, state, delays)
        self._key = randomness.key(seed, "scheduler")

    def choices(self) -> Choices:
        """Actions until none is enabled."""
        step = 0
        while enabled := self._enabled():
            step += 1
            sent = yield float(step), enabled[randomness.bits(self._key, step) % len(enabled)]
            self._note_held(sent)


class NotEnabled(Exception):
    """A choice made by hand is not enabled. `number` counts the choices from 1."""

    def __init__(self, number: int, text: str) -> None:
        super().__init__(text)
        self.number = number


class Manual(Untimed):
    """Follows a list of choices in the notation of `choice_name`, and ends with it.

    A held message cannot be chosen.
    """

    def __init__(self, engine: Engine, state: State, delays: Delays, order: Sequence[str] = ()) -> None:
        super().__init__(engine, state, delays)
        self._order = order

    def choices(self) -> Choices:
        """The chosen actions. Raises NotEnabled, naming the enabled choices, at one that is not enabled."""
        for step, wanted in enumerate(self._order, start=1):
            action = next((action for action in self._enabled() if self._name(action) == wanted), None)
            if action is None:
                raise NotEnabled(step, f"choice {step}, {wanted!r}, is not enabled; enabled are: {self._known()}")
            sent = yield float(step), action
            self._note_held(sent)

    def _known(self) -> str:
        names = [self._name(action) for action in self._enabled()]
        return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "") or "none"

    def _name(self, action: Action) -> str:
        return choice_name(self.engine, self.state, action)


def choice_name(engine: Engine, state: State, action: Action) -> str:
    """The name of `action` in `state`, for people to write. No two enabled actions have the same name.

    `deliver P1->P2`: the oldest message of a channel; `deliver P1->P2 #2`: the second oldest, if it may overtake. `act
    P1`: the first script line that P1 may carry out now, in the listed order; `act P1 #2`: the second (if lines wait
    for events). `turn P1`: the first of the workload's options; `turn P1 #2`: the second. `initiate S1 at P1`. `control
    P1->P2`: the oldest control message (`#2`: the second, of another epoch). `timer retry of P1`. `start coordinator`:
    a service. `crash P2`, the second time `crash P2 #2`. So with `restart P2`, `freeze P2`, `thaw P2`, `join P2`,
    `leave P2`. Channels: `sever P1->P2 P2->P1`, `mend P1->P2`. Further: `slow P2`, `lose H` (by the label of the send),
    `copy P1->P2 S1` (the marker of a snapshot on a channel). `recover` after a crash, `recover #2`: the second at a
    time given; `restore P2`.
    """
    if isinstance(action, Hear):
        return _numbered(f"control {action.channel.name}", state.control[action.channel].index(action.message))
    if isinstance(action, Fire):
        return f"timer {action.timer.name} of {state.node(action.timer.process).name}"
    if isinstance(action, Deliver):
        rank = state.queues[action.channel.number].index(action.message)
        return _numbered(f"deliver {action.channel.name}", rank)
    if type(action) in FAULTS:
        same = [item.number for item in engine.agenda if fault_name(engine, item.action) == fault_name(engine, action)]
        return _numbered(fault_name(engine, action), same.index(action.item))  # type: ignore[arg-type]
    if isinstance(action, Recover):
        return "recover" if action.number is None else f"recover #{action.number + 1}"
    if isinstance(action, Restore):
        return f"restore {engine.processes[action.process]}"
    process = state.node(engine.actor(action))
    if isinstance(action, Start):
        return f"start {process.name}"
    if isinstance(action, Initiate):
        return f"initiate {action.snapshot} at {process.name}"
    if action.item is None:
        return _numbered(f"turn {process.name}", list(engine.workload.options(process)).index(action))
    lines = [item for item in engine.planned(state, process) if not isinstance(item.action, Initiate)]
    enabled = [item.number for item in lines if engine.is_enabled(state, item.action)]
    return _numbered(f"act {process.name}", enabled.index(action.item))


def fault_name(engine: Engine, action: Action) -> str:
    """`crash P2` (so all faults of a process), `sever P1->P2 P2->P1` (so mend), `lose H` (so copy); else nothing."""
    if isinstance(action, Lose | Copy):
        about = action.reference
        return f"{type(action).__name__.lower()} {about.label or f'{about.channel} {about.snapshot}'}"
    if isinstance(action, Sever | Mend):
        return " ".join([type(action).__name__.lower(), *(channel.name for channel in action.channels)])
    if type(action) in FAULTS:
        return f"{type(action).__name__.lower()} {engine.processes[action.process]}"  # type: ignore[union-attr]
    return ""


def _numbered(name: str, rank: int) -> str:
    return name if rank == 0 else f"{name} #{rank + 1}"
