"""Faults: actions of the environment on a system. No process takes part in them, and no rule book is asked.

A process that crashes loses all that it holds: its state, what it has recorded, its notes and its timers. Until it
starts again it does nothing, and messages to it are lost. It starts again from its initial state; its events go on
counting. A severed channel delivers nothing; messages due meanwhile arrive when the channel is mended.

A process that is frozen keeps all that it holds and takes no step. Messages to it wait in its channels. Its timers
stand still, too: after the thaw they have as much time left as before. A crash or a leave ends that; it leaves without
a word then.

A process that leaves loses all that it holds, too, and its channels are no longer there: the others send nothing on
them any more, and wait for nothing on them. Messages in transit from it still arrive; messages in transit to it are
lost. A process that joins begins in its initial state, with its channels from and to those that are present.

Under a FIFO layer (sim/core/network.py) a message that is lost is sent again, and of two copies one is dropped:
processes notice only the time that it takes. On a raw network a lost message is not resent, and a copy is one more
message. A process that is slow takes longer for its turns and its messages; only a scheduler with times knows how long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sim.core.model import (
    COPIED,
    CRASH,
    DOWN,
    DROPPED,
    FENCED,
    FROZEN,
    JOIN,
    LEAVE,
    LOST,
    RESENT,
    RESTART,
    SLOW,
    THAWED,
    UP,
    Channel,
    Copy,
    Crash,
    Fault,
    Freeze,
    Join,
    Leave,
    Lose,
    Mend,
    Message,
    MessageReference,
    Process,
    Restart,
    Sever,
    Slow,
    State,
    Thaw,
    label_of,
)  # fmt: skip

Emit = Callable[[tuple[Any, ...]], None]


def may_happen(state: State, fault: Fault) -> bool:
    """Whether a fault changes anything: a process that is down cannot crash, nor a message be lost that has arrived."""
    if isinstance(fault, Lose | Copy):
        return on_its_way(state, fault.reference) is not None
    if isinstance(fault, Slow):
        return state.slowed.get(fault.process, 1.0) != fault.factor
    if isinstance(fault, Crash):
        return state.processes[fault.process].alive
    if isinstance(fault, Restart):
        process = state.processes[fault.process]
        return process.present and not process.alive
    if isinstance(fault, Freeze | Thaw):
        process = state.processes[fault.process]
        return process.alive and process.frozen == isinstance(fault, Thaw)
    if isinstance(fault, Join | Leave):
        return state.processes[fault.process].present == isinstance(fault, Leave)
    severed = state.severed.intersection(fault.channels)
    return bool(severed) if isinstance(fault, Mend) else len(severed) < len(fault.channels)


def on_its_way(state: State, reference: MessageReference) -> Message | None:
    """The message in a channel that `reference` names (None: it is not sent yet, or not there any more)."""
    return next((message for queue in state.queues for message in queue if reference in message.names), None)


def carry_out(
    state: State, fault: Fault, channels: Iterable[Channel], initial: Callable[[str], Any], emit: Emit
) -> None:
    """Change `state`, and emit the rows. The fault is about no message.

    `channels`: all of the system. `initial` gives the state of a start.
    """
    if isinstance(fault, Slow):
        state.slowed = {**state.slowed, fault.process: fault.factor}
        emit(_row(state.processes[fault.process].name, SLOW, body=fault.factor))
    elif isinstance(fault, Crash):
        process = state.processes[fault.process]
        _end(state, process)
        emit(_row(process.name, CRASH))
    elif isinstance(fault, Restart):
        process = state.processes[fault.process]
        process.alive, process.state = True, initial(process.name)
        emit(_row(process.name, RESTART, body=process.state))
    elif isinstance(fault, Freeze | Thaw):
        process = state.processes[fault.process]
        process.frozen = isinstance(fault, Freeze)
        emit(_row(process.name, FROZEN if process.frozen else THAWED))
    elif isinstance(fault, Join):
        process = state.processes[fault.process]
        process.present, process.alive, process.state = True, True, initial(process.name)
        connect(state, channels)
        emit(_row(process.name, JOIN, body=process.state))
    elif isinstance(fault, Leave):
        process = state.processes[fault.process]
        _end(state, process)
        process.present = False
        connect(state, channels)
        emit(_row(process.name, LEAVE))
    elif isinstance(fault, Sever):
        _emit_channels(DOWN, (own for own in fault.channels if own not in state.severed), emit)
        state.severed |= frozenset(fault.channels)
    elif isinstance(fault, Mend):
        _emit_channels(UP, (own for own in fault.channels if own in state.severed), emit)
        state.severed -= frozenset(fault.channels)


def connect(state: State, channels: Iterable[Channel]) -> None:
    """Give every process its channels from and to those that are present."""
    present = [process.present for process in state.processes]
    incoming: list[list[Channel]] = [[] for _ in present]
    outgoing: list[list[Channel]] = [[] for _ in present]
    for channel in channels:
        if present[channel.source] and present[channel.target]:
            outgoing[channel.source].append(channel)
            incoming[channel.target].append(channel)
    for process in state.processes:
        process.incoming, process.outgoing = tuple(incoming[process.number]), tuple(outgoing[process.number])


def lose_at_target(message: Message, emit: Emit) -> None:
    """A message comes to a process that is down or not present."""
    emit(_row_of_message(message.channel.target_name, LOST, message))


def fence_off(message: Message, emit: Emit) -> None:
    """A message of an epoch before the last recovery comes to a process or service, and changes nothing."""
    emit(_row_of_message(message.channel.target_name, FENCED, message))


def lose_on_its_way(state: State, message: Message, emit: Emit, *, is_raw: bool) -> None:
    """The network loses a message; a FIFO layer notices it, and sends it again."""
    if is_raw:
        state.queues[message.channel.number].remove(message)
    emit(_row_of_message(message.channel.source_name, LOST if is_raw else RESENT, message))


def tell_of_copy(message: Message, emit: Emit, *, is_raw: bool) -> None:
    """The row of a copy: on a raw network `message` is that copy, else the one whose copy the FIFO layer drops.

    The copy of an application message names its send: `index` and `label` are those of the send.
    """
    source = message.channel.source_name
    row = _row_of_message(source, COPIED if is_raw else DROPPED, message)
    if is_raw and message.sent_index is not None:
        label = label_of(source, message.sent_index, message.label)
        row = (source, message.sent_index, *row[2:6], label, *row[7:])
    emit(row)


def _end(state: State, process: Process) -> None:
    """Take all that `process` holds away."""
    state.timers = {key: timer for key, timer in state.timers.items() if key[0] != process.number}
    process.alive, process.state, process.memory, process.coordination = False, None, None, None
    process.storing = None
    process.frozen, process.stands, process.paused, process.blocked = False, False, False, frozenset()
    process.snapshots, process.listening, process.aborted = {}, {}, frozenset()


def _emit_channels(kind: str, channels: Iterable[Channel], emit: Emit) -> None:
    for channel in channels:
        emit(_row(channel.source_name, kind, channel.name))


def _row_of_message(process: str, kind: str, message: Message) -> tuple[Any, ...]:
    return _row(process, kind, message.channel.name, message.id, message.body, message.snapshot)


def _row(
    process: str, kind: str, channel: str | None = None, message: int | None = None, body: Any = None,
    snapshot: str | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """A row of the log (sim.core.rules.Row)."""
    return process, None, kind, channel, None, message, None, body, snapshot
