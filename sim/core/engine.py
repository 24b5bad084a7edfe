"""The engine: which actions are enabled, and what one action does (Dijkstra, EWD864a).

`enabled(state)` and `step(state, action)` are the model. `perform` is the same step in place, which is faster. What an
action does to its process is in sim/core/rules.py; the engine keeps states, channels, timers and the agenda. It knows
no time: the schedulers do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sim.core import recovery
from sim.core.algorithm import Service, SnapshotAlgorithm
from sim.core.deadline import in_time
from sim.core.effects import Out
from sim.core.fault_kinds import KIND_OF
from sim.core.faults import (
    carry_out,
    connect,
    fence_off,
    lose_at_target,
    lose_on_its_way,
    may_happen,
    on_its_way,
    tell_of_copy,
)
from sim.core.log import INDEX, KIND
from sim.core.model import (
    APP,
    APPLICATION_KINDS,
    CONTROL,
    FAULTS,
    FULL,
    MARKER,
    RECOVERY,
    ROOM,
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
    Internal,
    Join,
    Leave,
    Lose,
    Message,
    MessageReference,
    Process,
    Recover,
    Restart,
    Restorable,
    Restore,
    Send,
    Start,
    State,
    Thaw,
    Timer,
    label_of,
)
from sim.core.rules import ROW_WIDTH, Rules, count_message
from sim.core.workload import Refused, Workload

_PROCESS, _LABEL = 0, 6  # columns of a row
_OF_ENVIRONMENT = FAULTS | {Recover, Restore}  # what no process does


def _is_full(state: State, channel: Channel) -> bool:
    """Whether a channel holds as many application messages as it can. Markers take no room."""
    queue = state.queues[channel.number]
    return channel.capacity is not None and sum(message.kind == APP for message in queue) >= channel.capacity


class Engine:
    """One system: processes, channels, workload, algorithm, services and agenda.

    Services are numbered after the processes. After `perform`, if `set_by` is the very list that it returned,
    `scheduled` holds the timers that the action set.
    """

    def __init__(
        self,
        processes: tuple[str, ...],
        channels: tuple[Channel, ...],
        workload: Workload,
        algorithm: SnapshotAlgorithm,
        agenda: tuple[AgendaItem, ...] = (),
        absent: Collection[str] = (),
        *,
        has_faults: bool = False,
        is_raw: bool = False,
        plan: recovery.RecoveryPlan | None = None,
        has_logs: bool = False,
    ) -> None:
        """`has_faults`: faults may happen that the agenda does not plan. `is_raw`: nothing makes good what is lost.

        `plan` says when and how the system is rolled back (None: never). `has_logs`: channels are logs, and a recovery
        takes what was in them from there.
        """
        self.processes = processes
        self.channels = channels
        self.workload = workload
        self.algorithm = algorithm
        self.services = tuple(kind(algorithm) for kind in algorithm.services)
        self.nodes = processes + tuple(service.name for service in self.services)
        self.agenda = agenda
        self._limited = [
            tuple(own for own in channels if own.source == i and own.capacity) for i in range(len(processes))
        ]
        self.has_limits = any(self._limited)  # whether a channel can be full
        self._around: list[list[Channel]] = [[] for _ in processes]
        for channel in channels:
            self._around[channel.source].append(channel)
            self._around[channel.target].append(channel)
        self.between = {(channel.source, channel.target): channel for channel in channels}
        self.number_of = {name: number for number, name in enumerate(self.nodes)}
        self.awaited: frozenset[str | None] = frozenset(item.after for item in agenda if item.after is not None)
        self._timed = {(item.process, item.rank): item for item in agenda if item.rank is not None}
        self.environment = len(self.nodes)  # the number under which faults are planned
        self.absent, self.is_raw = absent, is_raw
        self._of_message: dict[MessageReference, list[AgendaItem]] = {}
        for item in agenda:
            if isinstance(item.action, Lose | Copy):
                self._of_message.setdefault(item.action.reference, []).append(item)
        self.has_message_faults = bool(self._of_message)
        self.plan, self.has_logs = plan, has_logs
        self.has_epochs = plan is not None
        self._notes_sent = self.has_epochs or has_logs
        has_faults = has_faults or self.has_epochs  # a recovery is the environment's, too
        self.has_faults = has_faults or bool(absent) or any(type(item.action) in FAULTS for item in agenda)
        self._waiting: list[list[AgendaItem]] = [[] for _ in range(self.environment + 1)]
        for item in agenda:
            if item.rank is None:
                self._waiting[item.process].append(item)
        self._control: dict[tuple[int, int], Channel] = {}
        eager = (own for own in self.services if type(own).on_start is not Service.on_start)
        self.starts = tuple(Start(self.number_of[service.name]) for service in eager)  # the first actions of a run
        self.scheduled: list[Timer] = []
        self.set_by: list[Message] | None = None
        self._rows: list[Any] = []
        self.rules = Rules(workload, algorithm, dict(enumerate(self.services, start=len(processes))), self)
        self.rules.records_epochs, self.rules.counts_messages = self.has_epochs or has_logs, has_logs
        keeps_receipts = self.has_epochs and not algorithm.coordinated
        self._send, self._receive = self.rules.send, self._note_receipt if keeps_receipts else self.rules.receive

    # ------------------------------------------------------------------ states

    def initial(self) -> State:
        """Step 0: every process in its initial state, every channel empty."""
        processes = [Process(name, i, self.workload.initial(name)) for i, name in enumerate(self.processes)]
        services = [Process(own.name, i, None) for i, own in enumerate(self.services, start=len(processes))]
        if self.has_faults:
            services.append(Process("the environment", self.environment, None))
        state = State(processes, [[] for _ in self.channels], services)
        for process in processes:
            if process.name in self.absent:
                process.present, process.alive, process.state = False, False, None
        connect(state, self.channels)
        state.waiting = frozenset(item.number for item in self.agenda if item.rank is None)
        for process in (own for own in processes if own.present):
            for name, after in self.algorithm.first_timers().items():
                state.timers[process.number, name] = Timer(process.number, name, after, None, state.timers_set)
                state.timers_set += 1
        return state

    def enabled(self, state: State) -> list[Action]:
        """Every action that may happen next: agenda items, turns, deliveries, control messages, timers.

        An action that the workload refuses, such as a send without the money, is not enabled. Until every service has
        started, nothing else is enabled.
        """
        starts: list[Action] = [action for action in self.starts if self.is_enabled(state, action)]
        return starts or [
            action
            for action in in_time(self._candidates(state))
            if self.is_enabled(state, action) and not self._is_refused(state, action)
        ]

    def _is_refused(self, state: State, action: Action) -> bool:
        try:
            if type(action) is Send:
                self.workload.after_send(state.processes[action.channel.source], action.body)
            elif type(action) is Internal:
                self.workload.after_internal(state.processes[action.process], action.body, Out())
        except Refused:
            return True
        return False

    def planned(self, state: State, process: Process) -> list[AgendaItem]:
        """The agenda items that `process` may carry out next, once enabled: the next timed one, and all that wait."""
        timed = self._timed.get((process.number, process.position))
        waiting = [item for item in self._waiting[process.number] if item.number in state.waiting]
        return waiting if timed is None else sorted([timed, *waiting], key=lambda item: item.number)

    def _candidates(self, state: State) -> Iterator[Action]:
        nodes = [*state.processes, *state.services]
        planned = [item for process in nodes for item in self.planned(state, process)]
        for item in sorted(planned, key=lambda item: item.number):
            yield item.action
        for process in state.processes:
            if process.alive:
                yield from self.workload.options(process)
        for channel in self.channels:
            for message in state.queues[channel.number]:
                yield Deliver(message)
        for channel in sorted(state.control, key=lambda channel: channel.number):
            if self.has_epochs:
                yield from map(Hear, state.control[channel])
            else:
                yield Hear(state.control[channel][0])
        for key in sorted(state.timers):
            yield Fire(state.timers[key])
        if self.plan is not None:
            yield from (Recover(state.recovery.planned), Recover(None))
            yield from map(Restore, sorted(state.recovery.waiting))

    def is_enabled(self, state: State, action: Action) -> bool:
        """Whether `action` may happen in `state`, apart from refusals of the workload.

        A process whose channel is full stands still: it begins nothing and takes nothing from its channels but markers
        that go ahead. It still initiates, and it still handles control messages and timers. A process that is frozen
        does nothing at all.
        """
        if self.has_faults and self._is_frozen(state, action):
            return False
        if type(action) is Deliver:
            message = action.message
            channel = message.channel
            queue = state.queues[channel.number]
            if channel in state.severed:
                return False
            target = state.processes[channel.target]
            if not queue or target.stands or (target.blocked and channel in target.blocked):
                return False
            if self.has_limits and self.is_stopped(state, channel.target) and not self._goes_ahead(message):
                return False
            if self.has_epochs:
                if recovery.waits(message, state.recovery):
                    return False
                queue = [own for own in queue if own.epoch == message.epoch]
            return queue[0] is message or self._passes(message, queue)
        if type(action) is Hear:
            if self.has_epochs:
                line = state.control.get(action.channel, ())
                return recovery.is_next(action.message, line) and not recovery.waits(action.message, state.recovery)
            return state.control.get(action.channel, (None,))[0] is action.message
        if type(action) is Fire:
            return state.timers.get((action.timer.process, action.timer.name)) is action.timer
        if self.has_epochs and isinstance(action, (Recover, Restore)):  # X | Y would be made anew at each call
            return self.may_recover(state, action)
        process = state.node(self.actor(action))
        if type(action) is Start:
            return process.turn == 0
        if type(action) in FAULTS:
            if not may_happen(state, action) and not self._is_undone(action):  # type: ignore[arg-type]
                return False
        elif not process.alive or (type(action) is not Initiate and not self.may_begin(state, process)):
            return False
        if action.item is None:
            return True
        item = self.agenda[action.item]
        if item.rank is not None:
            return process.position == item.rank
        return item.number in state.waiting and (item.after is None or item.after in state.happened)

    def _is_undone(self, action: Action) -> bool:
        """Whether this fault can be a no-op, because a recovery may already have restarted the process."""
        return self.has_epochs and KIND_OF[type(action)].is_unsure  # type: ignore[index]

    def _is_frozen(self, state: State, action: Action) -> bool:
        """Whether an action waits for a process to be thawed, which takes no step and is not restored before."""
        return state.node(action.process if type(action) is Restore else self.actor(action)).frozen

    def may_recover(self, state: State, action: Recover | Restore) -> bool:
        """Whether a recovery may begin: the next at a time given, or one for a crash; or a process be restored.

        A process that is frozen is restored when it is thawed.
        """
        assert self.plan is not None
        if isinstance(action, Restore):
            return action.process in state.recovery.waiting
        if action.number is None:
            return self.plan.on == recovery.ON_CRASH and bool(state.recovery.failed)
        return action.number == state.recovery.planned < len(self.plan.at)

    def _passes(self, message: Message, queue: list[Message]) -> bool:
        """Whether a message that is not the oldest may be delivered: on FIFO channels only an overtaking marker may."""
        if not message.channel.fifo:
            return message in queue
        if self._goes_ahead(message):
            return message is next(other for other in queue if other.kind == MARKER)
        return False

    def _goes_ahead(self, message: Message) -> bool:
        return message.kind == MARKER and self.algorithm.goes_ahead(message.body)

    def messages_in(self, state: State, channel: Channel) -> list[Message]:
        """The application messages in a channel, oldest first, without those that its receiver will fence off."""
        target, plan = state.processes[channel.target], self.plan
        own = (message for message in state.queues[channel.number] if message.kind == APP)
        return [message for message in own if plan is None or not recovery.is_fenced(message, target, plan)]

    # ------------------------------------------------------------------ channels that are full

    def may_begin(self, state: State, process: Process) -> bool:
        """Whether a process may begin an internal event or a send.

        It may not if it is down, frozen or paused, or stands still, or has a full channel.
        """
        waits = process.frozen or process.stands or process.paused
        stands_still = waits or (self.has_limits and self.is_stopped(state, process.number))
        return process.alive and not stands_still

    def is_stopped(self, state: State, process: int) -> bool:
        """Whether a channel of process number `process` is full. Services have no channels."""
        return process < len(self.processes) and any(_is_full(state, own) for own in self._limited[process])

    def _full_around(self, state: State, process: int) -> list[Channel]:
        """The full channels from and to process number `process`."""
        if process >= len(self.processes):
            return []
        around = (*self._limited[process], *(own for own in state.processes[process].incoming if own.capacity))
        return [own for own in around if _is_full(state, own)]

    def _whose_channels(self, state: State, action: Action) -> int:
        """The number of a process around which an action may fill channels, or make room in them."""
        message = on_its_way(state, action.reference) if isinstance(action, Lose | Copy) else None
        return self.actor(action) if message is None else message.channel.source

    def _tell_full(self, state: State, process: int, before: Sequence[Channel], rows: list[Any]) -> None:
        """The rows of an action for the channels that it has filled, and for those in which it has made room."""
        after = self._full_around(state, process)
        changed = [(FULL, own) for own in after if own not in before]
        changed += [(ROOM, own) for own in before if own not in after]
        for kind, channel in changed:
            who = channel.source_name if kind == FULL else channel.target_name
            rows += (who, None, kind, channel.name, None, None, None, None, None)

    # ------------------------------------------------------------------ steps

    def step(self, state: State, action: Action) -> tuple[State, list[Any]]:
        """The successor of `state`, and the rows of the step (flat, ROW_WIDTH values each). `state` does not change.

        Raises Refused if the workload cannot carry out `action`.
        """
        rows: list[Any] = []
        successor = self.copy_for(state, action)
        self.perform(successor, action, rows)
        return successor, rows

    def copy_for(self, state: State, action: Action) -> State:
        """A copy of `state` for `perform` to change: carrying out `action` in it leaves `state` unchanged."""
        number = self.actor(action)
        twin = state.copy_for(state.node(number), self._around[number] if number < len(self.processes) else ())
        if type(action) in _OF_ENVIRONMENT:
            self._copy_for_world(twin, action)
        return twin

    @staticmethod
    def _copy_for_world(twin: State, action: Action) -> None:
        """Copy in `twin` what a fault or a recovery may change there."""
        if isinstance(action, Crash | Restart | Freeze | Thaw | Restore):
            twin.processes[action.process] = own = twin.processes[action.process].copy()
            for channel in (*own.incoming, *own.outgoing):
                twin.queues[channel.number] = twin.queues[channel.number].copy()
        elif isinstance(action, Join | Leave):
            twin.processes = [process.copy() for process in twin.processes]
        elif isinstance(action, Lose | Copy):
            twin.queues = [queue.copy() for queue in twin.queues]
        if isinstance(action, Crash | Recover):
            twin.services = [service.copy() for service in twin.services]
        if isinstance(action, Recover):
            twin.processes = [process.copy() for process in twin.processes]
            twin.queues = [queue.copy() for queue in twin.queues]

    def actor(self, action: Action) -> int:
        """The number of the process (or service) that performs `action`; the environment performs faults."""
        if isinstance(action, Deliver):
            return action.message.channel.target
        if type(action) is Send:
            return action.channel.source
        if type(action) is Fire:
            return action.timer.process
        return self.environment if type(action) in _OF_ENVIRONMENT else action.process  # type: ignore[union-attr]

    def perform(self, state: State, action: Action, rows: list[Any]) -> list[Message]:
        """Carry out `action` in place and append its rows to `rows`. Returns the messages it sent.

        Raises Refused if the workload cannot carry out `action`.
        """
        self._state = state
        sent: list[Message] = []
        self._sent = sent
        if rows is not self._rows:
            self._rows, self.rules.emit = rows, rows.extend
        whose = self._whose_channels(state, action) if self.has_limits else -1
        full = self._full_around(state, whose) if self.has_limits else ()
        awaited = self.awaited
        begin = len(rows) if awaited else 0
        kind = type(action)
        try:
            if kind is Deliver:
                message = action.message  # type: ignore[union-attr]
                channel = message.channel
                queue = state.queues[channel.number]
                process = state.processes[channel.target]
                if self.has_faults and self._is_missed(process, message, rows):
                    queue.remove(message)
                elif message.kind == APP and queue[0] is message:
                    queue.pop(0)
                    self._receive(process, message)
                else:
                    self._deliver(state, message)
            elif kind is Send:
                process = state.processes[action.channel.source]  # type: ignore[union-attr]
                if action.item is None:
                    process.turn += 1
                else:
                    self._advance(process, action.item)
                self._send(process, action.channel, action.body, action.label, action.receive_label)  # type: ignore[union-attr]
            else:
                self._perform_other(state, action)
        except BaseException:
            self.rules.drop_effects()
            raise
        if self.has_limits:
            self._tell_full(state, whose, full, rows)
        if awaited:
            self._notice(rows, begin)
        return sent

    def _is_missed(self, process: Process, message: Message, rows: list[Any]) -> bool:
        """Whether a message that comes to `process` is lost there, or fenced off, and the row that says so."""
        if not process.alive:
            lose_at_target(message, rows.extend)
            return True
        if self.plan is not None and recovery.is_fenced(message, process, self.plan):
            fence_off(message, rows.extend)
            return True
        return False

    def _perform_other(self, state: State, action: Action) -> None:
        """Carry out an action that is neither a send nor a delivery on a channel."""
        process = state.node(self.actor(action))
        if type(action) is Internal:
            self._advance(process, action.item)
            self.rules.internal(process, action.body, action.label)
        elif type(action) is Initiate:
            self._advance(process, action.item)
            self.rules.initiate(process, action.snapshot)
        elif type(action) is Hear:
            left = tuple(own for own in state.control.pop(action.channel) if own is not action.message)
            if left:
                state.control[action.channel] = left
            if not process.alive:
                lose_at_target(action.message, self._rows.extend)
            elif self.plan is not None and recovery.is_fenced(action.message, process, self.plan):
                fence_off(action.message, self._rows.extend)
            else:
                self.rules.receive_control(process, action.message)
        elif type(action) is Fire:
            del state.timers[process.number, action.timer.name]
            self.rules.fire(process, action.timer)
        elif type(action) in FAULTS:
            self._advance(process, action.item)
            if isinstance(action, Lose | Copy):
                self._meet_fault(state, action)
                return
            if not may_happen(state, action):  # type: ignore[arg-type]
                return
            if isinstance(action, Leave):
                self.rules.leave(state.processes[action.process])
            carry_out(state, action, self.channels, self.workload.initial, self._rows.extend)  # type: ignore[arg-type]
            if isinstance(action, Restart | Join):
                self.rules.begin_again(state.processes[action.process])
            elif isinstance(action, Thaw):
                self.rules.thaw(state.processes[action.process])
            elif isinstance(action, Crash):
                self._tell_of_crash(state, state.processes[action.process])
        elif type(action) is Recover:
            self._begin_recovery(state, action)
        elif type(action) is Restore:
            self._restore(state, state.processes[action.process])
        else:
            process.turn = 1
            self.rules.start(process)

    def _note_receipt(self, process: Process, message: Message) -> None:
        """`process` receives an application message, of which a recovery needs to know."""
        state = self._state
        if process.number not in state.recovery.waiting:  # else it will be taken back
            receipt = process.number, process.index + 1, message.channel.source, message.sent_index
            state.recovery = state.recovery._replace(receipts=(state.recovery.receipts, receipt))
        self.rules.receive(process, message)

    def _tell_of_crash(self, state: State, process: Process) -> None:
        """The services hear of a crash at once; a recovery begins later."""
        if self.has_epochs:
            state.recovery = state.recovery._replace(failed=state.recovery.failed | {process.name})
        for service in state.services[: len(self.services)]:
            self.rules.crashed(service, process.name)

    def _begin_recovery(self, state: State, action: Recover) -> None:
        assert self.plan is not None
        failed = frozenset(self._failed(state)) if action.number is None else frozenset[str]()
        goal = self.goal(state, self.plan.wanted(action.number), failed)
        restores, services = goal.restores, state.services[: len(self.services)]
        state.recovery = begun = recovery.begun(state.recovery, goal, state, action.number)
        told = [service.name for service in services]
        body = {"epoch": begun.epoch, "fence": self.plan.fence, "restores": list(restores), "services": told}
        body |= {"keeps": list(goal.keeps)} if goal.keeps else {}
        self._rows += (self.recovers_at, None, RECOVERY, None, None, None, None, body, goal.snapshot)
        for service in services:
            service.epoch = begun.epoch
            self.rules.recover(service, goal)
        for process in state.processes:
            if process.name in goal.keeps:
                process.epoch, process.storing = begun.epoch, None  # what it uploads is of the epoch before
                self._drop_timers(state, process)
                if self.plan.fence:  # else what was on its way to it comes all the same
                    self._put_back(state, process)

    def goal(self, state: State, wanted: str | None, failed: frozenset[str] = frozenset()) -> Restorable:
        """Return the goal of a recovery that begins in `state` and wants the snapshot `wanted` (None: the last one).

        `failed` names the processes for which it begins (none: all processes are rolled back on purpose).
        """
        assert self.plan is not None
        asked = zip(self.services, state.services[: len(self.services)], strict=True)
        known = state.recovery._replace(failed=failed)
        goals = (own.goal(node, wanted, known) for own, node in asked)
        goal = next((found for found in goals if found is not None), Restorable(None, {}, {}))
        meant = [own for own in state.processes if own.present and self.plan.restores(own.name)]
        keep = [own for own in meant if own.name in goal.keeps]
        return goal._replace(
            parts={**goal.parts, **{own.name: recovery.as_it_is(own) for own in keep}},
            restores=tuple(own.name for own in meant if own not in keep), keeps=tuple(own.name for own in keep),
        )  # fmt: skip

    @staticmethod
    def _failed(state: State) -> Iterator[str]:
        """The processes that have no present state to keep: they are down, have forgotten it, or will be restored."""
        for process in state.processes:
            is_there = process.alive and process.name not in state.recovery.failed
            if process.present and not (is_there and process.number not in state.recovery.waiting):
                yield process.name

    @property
    def recovers_at(self) -> str:
        """The name of the service that keeps what is gone back to, else of the first process."""
        kept = (own.name for own in self.services if type(own).goal is not Service.goal)
        return next(kept, self.processes[0])

    def _restore(self, state: State, process: Process) -> None:
        """Put `process` back into its part, and what its channels had recorded back into them."""
        assert self.plan is not None
        known = state.recovery
        gone = process.number, recovery.inside(known.goal.parts, process.name), process.index
        state.recovery = known._replace(waiting=known.waiting - {process.number}, gone=(known.gone, gone))
        self._drop_timers(state, process)
        self.rules.restore(process, known.goal, known.epoch)
        self._put_back(state, process)

    @staticmethod
    def _drop_timers(state: State, process: Process) -> None:
        state.timers = {key: timer for key, timer in state.timers.items() if key[0] != process.number}

    def _put_back(self, state: State, process: Process) -> None:
        """Put what the channels to `process` had recorded, or what their logs hold, back into them."""
        assert self.plan is not None
        known = state.recovery
        for message in recovery.contents(known, process, from_log=self.has_logs) if self.plan.channels else ():
            recovery.put_back(state.queues[message.channel.number], message)
            self._sent.append(message)
            self.rules.put_back(process, known.goal.snapshot, message)

    def _meet_fault(self, state: State, fault: Lose | Copy) -> None:
        """A message that is on its way is lost or copied."""
        message, emit = on_its_way(state, fault.reference), self._rows.extend
        assert message is not None
        if isinstance(fault, Lose):
            lose_on_its_way(state, message, emit, is_raw=self.is_raw)
            return
        if self.is_raw:
            message = replace(message, id=state.messages, receive_label=None, origin=message.id)
            state.messages += 1
            state.queues[message.channel.number].append(message)
            self._sent.append(message)
        tell_of_copy(message, emit, is_raw=self.is_raw)

    def planned_for(self, message: Message) -> list[AgendaItem]:
        """The losses and copies that the agenda plans for a message, and that wait for no event."""
        if not self._of_message:
            return []
        found = (item for name in message.names for item in self._of_message.get(name, ()))
        return [item for item in found if item.after is None]

    def _advance(self, process: Process, item: int | None) -> None:
        """Mark agenda item number `item` as carried out (None: count a turn of the workload)."""
        if item is None:
            process.turn += 1
        elif self.agenda[item].rank is not None:
            process.position += 1
        else:
            self._state.waiting -= {item}

    def _deliver(self, state: State, message: Message) -> None:
        """Deliver a marker, or a message that overtakes others."""
        channel = message.channel
        queue = state.queues[channel.number]
        overtaken: Sequence[Message] = ()
        if queue[0] is message:
            queue.pop(0)
        else:
            overtaken = [own for own in queue[: queue.index(message)] if own.epoch == message.epoch]
            queue.remove(message)
        if message.kind == APP:
            self._receive(state.processes[channel.target], message)
        else:
            self.rules.receive_marker(state.processes[channel.target], message, overtaken)

    def _notice(self, rows: list[Any], begin: int) -> None:
        """Add the events in the new rows to `happened` if an agenda item waits for them."""
        for row in range(begin, len(rows), ROW_WIDTH):
            if rows[row + KIND] in APPLICATION_KINDS:
                numbered = label_of(rows[row + _PROCESS], rows[row + INDEX], None)
                names = {rows[row + _LABEL], numbered} & self.awaited
                if names:
                    self._state.happened |= names

    # ------------------------------------------------------------------ the surroundings of a process (rules.World)

    def transmit(
        self, channel: Channel, kind: str, body: Any, snapshot: str | None = None, stamp: Any = None,
        sent_index: int | None = None, label: str | None = None, receive_label: str | None = None,
    ) -> int:  # fmt: skip
        """Put a message at the end of its channel. Returns its id."""
        state = self._state
        number = state.messages
        state.messages = number + 1
        message = Message(number, channel, kind, body, snapshot, stamp, sent_index, label, receive_label)
        if self._notes_sent:
            self._note_sent(state, message)
        if kind == CONTROL:
            state.control[channel] = (*state.control.get(channel, ()), message)
        else:
            state.queues[channel.number].append(message)
        self._sent.append(message)
        return number

    def _note_sent(self, state: State, message: Message) -> None:
        """The facts of a message that a recovery needs: its epoch, and its place in the log of its channel."""
        source, channel = state.node(message.channel.source), message.channel
        message.epoch = source.epoch
        if self.has_logs and message.kind == APP:
            count_message(source, channel)
            if source.number not in state.recovery.waiting:  # else its send will be taken back
                state.recovery = state.recovery._replace(log=(state.recovery.log, message))

    def channel_to(self, source: int, target: str) -> Channel:
        """The channel from process number `source` to the process named `target`."""
        return self.between[source, self.number_of[target]]

    def control_channel(self, source: int, target: str) -> Channel:
        """The channel for control messages from one process or service to another. Its number follows the graph's."""
        if self.number_of.get(target, source) == source:
            who = f"{self.algorithm.title}: {self.nodes[source]}"
            raise TypeError(f"{who} tells {target!r} something; name another process or a service")
        pair = source, self.number_of[target]
        if pair not in self._control:
            number = len(self.channels) + source * len(self.nodes) + pair[1]
            self._control[pair] = Channel(number, *pair, f"{self.nodes[source]}->{target}")
        return self._control[pair]

    def schedule(self, process: Process, name: str, after: float | None, snapshot: str | None) -> None:
        """Set a timer, replacing an earlier one with that name (`after` None: only cancel that one)."""
        state = self._state
        state.timers.pop((process.number, name), None)
        if after is not None:
            if self.set_by is not self._sent:
                self.scheduled, self.set_by = [], self._sent
            timer = Timer(process.number, name, after, snapshot, state.timers_set)
            state.timers_set += 1
            state.timers[process.number, name] = timer
            self.scheduled.append(timer)
