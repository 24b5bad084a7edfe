"""Faults in words: as a choice, and as the sentence of a step."""

from __future__ import annotations

from collections.abc import Sequence

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
    Event,
    Fault,
    Join,
    Leave,
    Restart,
    Sever,
)
from sim.document.scenario import FAULT_KINDS, OF_PROCESSES
from sim.explain.words import listing, words_of
from sim.run.execution import Execution

KINDS = frozenset({CRASH, RESTART, DOWN, UP, LOST, JOIN, LEAVE})
_OF_PROCESSES = {FAULT_KINDS[kind]: does for kind, does in OF_PROCESSES.items()}


def whose(execution: Execution, fault: Fault) -> str:
    """The process that a fault is about, or the sender of the first channel."""
    if isinstance(fault, Crash | Restart | Join | Leave):
        return execution.engine.processes[fault.process]
    return fault.channels[0].source_name


def choice_in_words(execution: Execution, fault: Fault) -> str:
    """`P2 crashes`, `P2 starts again`, `P2 joins`, `C12 and C21 are severed`."""
    if isinstance(fault, Crash | Restart | Join | Leave):
        return f"{whose(execution, fault)} {_OF_PROCESSES[type(fault)]}"
    return f"{_channels(execution, fault.channels)} {'severed' if isinstance(fault, Sever) else 'mended'}"


def sentences_of_faults(execution: Execution, rows: Sequence[Event]) -> list[str]:
    """What the world does in one step, from its rows of these KINDS."""
    own = words_of(execution)
    channel_of = {channel.name: channel for channel in execution.engine.channels}
    found = []
    for kind in dict.fromkeys(row.kind for row in rows):
        of_kind = [row for row in rows if row.kind == kind]
        channels = _channels(execution, [channel_of[row.channel] for row in of_kind if row.channel in channel_of])
        first = of_kind[0]
        if kind == CRASH:
            found.append(f"{first.process} crashes: it loses its state, and all that it has recorded and not finished.")
        elif kind in (RESTART, JOIN):
            state = own.workload.state_words(execution.body_of(first))
            begins = "starts again, from its" if kind == RESTART else "joins, in its"
            found.append(f"{first.process} {begins} initial state{f' {state}' if state else ''}.")
        elif kind == LEAVE:
            found.append(f"{first.process} leaves: its state and its channels go with it.")
        elif kind == DOWN:
            found.append(f"{channels} severed: nothing arrives there until {_they(of_kind)} mended.")
        elif kind == UP:
            found.append(f"{channels} mended: what was due meanwhile arrives now.")
        else:
            flight = execution.flights[first.message_id or 0]
            what = own.message(flight)
            where = "down" if is_present(execution, first.process, first.row) else "not there"
            found.append(f"{first.process} is {where}: {what} from {own.node(flight.channel.source_name)} is lost.")
    return found


def is_present(execution: Execution, process: str, row: int) -> bool:
    """Whether `process` is part of the system at row number `row`."""
    present = process not in execution.scenario.absent
    for event in execution.events[:row] if execution.engine.has_faults else ():
        if event.process == process and event.kind in (JOIN, LEAVE):
            present = event.kind == JOIN
    return present


def _channels(execution: Execution, channels: Sequence[Channel]) -> str:
    """`C12 is`, `C12 and C21 are`."""
    names = [words_of(execution).channel(channel.name) for channel in channels]
    return f"{listing(names)} {'is' if len(names) == 1 else 'are'}"


def _they(rows: Sequence[Event]) -> str:
    return "it is" if len(rows) == 1 else "they are"
