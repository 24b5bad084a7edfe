"""Faults: what the world does to a system. No process takes part in it, and no rule book is asked.

A process that crashes loses all that it holds: its state, what it has recorded, its notes and its timers. Until it
starts again it does nothing, and what comes to it is lost. It starts again from its initial state; its events go on
counting. A severed channel delivers nothing; what is due meanwhile arrives when the channel is mended.

A process that leaves loses all that it holds, too, and its channels are no longer there: the others send nothing on
them any more, and wait for nothing on them. What is on its way from it still arrives, and what is on its way to it is
lost. A process that joins begins in its initial state, with its channels from and to those that are present.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from sim.core.model import (
    CRASH,
    DOWN,
    JOIN,
    LEAVE,
    LOST,
    RESTART,
    UP,
    Channel,
    Crash,
    Fault,
    Join,
    Leave,
    Mend,
    Message,
    Process,
    Restart,
    Sever,
    State,
)  # fmt: skip

Emit = Callable[[tuple[Any, ...]], None]


def may_happen(state: State, fault: Fault) -> bool:
    """Whether a fault changes anything: a process that is down cannot crash, nor one that is up start again."""
    if isinstance(fault, Crash):
        return state.processes[fault.process].alive
    if isinstance(fault, Restart):
        process = state.processes[fault.process]
        return process.present and not process.alive
    if isinstance(fault, Join | Leave):
        return state.processes[fault.process].present == isinstance(fault, Leave)
    severed = state.severed.intersection(fault.channels)
    return bool(severed) if isinstance(fault, Mend) else len(severed) < len(fault.channels)


def carry_out(
    state: State, fault: Fault, channels: Iterable[Channel], initial: Callable[[str], Any], emit: Emit
) -> None:
    """Change `state`, and emit the rows. `channels`: all of the system. `initial` gives the state of a start."""
    if isinstance(fault, Crash):
        process = state.processes[fault.process]
        _end(state, process)
        emit(_row(process.name, CRASH))
    elif isinstance(fault, Restart):
        process = state.processes[fault.process]
        process.alive, process.state = True, initial(process.name)
        emit(_row(process.name, RESTART, body=process.state))
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
    else:
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


def lose(message: Message, emit: Emit) -> None:
    """A message comes to a process that is down or not present."""
    channel = message.channel
    emit(_row(channel.target_name, LOST, channel.name, message.id, message.body, message.snapshot))


def _end(state: State, process: Process) -> None:
    """Take all that `process` holds away."""
    state.timers = {key: timer for key, timer in state.timers.items() if key[0] != process.number}
    process.alive, process.state, process.memory, process.coordination = False, None, None, None
    process.paused, process.blocked = False, frozenset()
    process.snapshots, process.listening, process.aborted = {}, {}, frozenset()


def _emit_channels(kind: str, channels: Iterable[Channel], emit: Emit) -> None:
    for channel in channels:
        emit(_row(channel.source_name, kind, channel.name))


def _row(
    process: str, kind: str, channel: str | None = None, message: int | None = None, body: Any = None,
    snapshot: str | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    """A row of the log (sim.core.rules.Row)."""
    return process, None, kind, channel, None, message, None, body, snapshot
