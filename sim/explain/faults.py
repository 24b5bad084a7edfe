"""Faults in words: as a choice, and as the sentence of a step."""

from __future__ import annotations

from collections.abc import Sequence

from sim.core.fault_kinds import KIND_OF
from sim.core.model import (
    COPIED,
    CRASH,
    DOWN,
    DROPPED,
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
    Event,
    Fault,
    Lose,
    Mend,
    Sever,
    Slow,
)
from sim.explain.standstills import long
from sim.explain.words import listing, words_of
from sim.run.execution import Execution
from sim.run.fifo import tries
from sim.run.references import find
from sim.run.stops import ended_by

KINDS = frozenset({CRASH, RESTART, FROZEN, THAWED, DOWN, UP, LOST, COPIED, RESENT, DROPPED, SLOW, JOIN, LEAVE})


def whose(execution: Execution, fault: Fault) -> str:
    """The process that a fault is about, or the sender of its message or first channel."""
    if isinstance(fault, Lose | Copy):
        found = find(execution, fault.reference)
        return found.channel.source_name if found else (fault.reference.channel or "").partition("->")[0]
    if isinstance(fault, Sever | Mend):
        return fault.channels[0].source_name
    return execution.engine.processes[fault.process]


def choice_in_words(execution: Execution, fault: Fault) -> str:
    """`P2 crashes`, `P2 starts again`, `C12 and C21 are severed`, `H->D is lost`."""
    does = KIND_OF[type(fault)].does
    if isinstance(fault, Slow):
        return f"{whose(execution, fault)} {_slow(fault.factor)}"
    if isinstance(fault, Lose | Copy):
        found, words = find(execution, fault.reference), words_of(execution)
        what = words.message(found) if found else fault.reference.in_words(words.algorithm.marker)
        return f"{what} is {does}"
    if isinstance(fault, Sever | Mend):
        return f"{_channels(execution, fault.channels)} {does}"
    return f"{whose(execution, fault)} {does}"


def sentences_of_faults(execution: Execution, rows: Sequence[Event]) -> list[str]:
    """The faults of one step, a sentence for each kind and process, from its rows of these KINDS."""
    own = words_of(execution)
    channel_of = {channel.name: channel for channel in execution.engine.channels}
    found = []
    for kind in dict.fromkeys(row.kind for row in rows):
        of_kind = [row for row in rows if row.kind == kind]
        channels = _channels(execution, [channel_of[row.channel] for row in of_kind if row.channel in channel_of])
        first = of_kind[0]
        if kind == CRASH:
            found.append(f"{first.process} crashes. It loses its state and every recording that it has not finished.")
        elif kind in (RESTART, JOIN):
            state = own.workload.state_words(execution.body_of(first))
            begins = "starts again from its" if kind == RESTART else "joins in its"
            found.append(f"{first.process} {begins} initial state{f' {state}' if state else ''}.")
        elif kind == FROZEN:
            found.append(f"{first.process} freezes. It keeps all that it holds, but it and its timers stand still.")
        elif kind == THAWED:
            found.append(f"{first.process} thaws{_after(execution, first)} and goes on with all that it holds.")
        elif kind == LEAVE:
            found.append(f"{first.process} leaves the system, and its state and channels go with it.")
        elif kind == DOWN:
            found.append(f"{channels} severed. Nothing arrives there until {_they(of_kind)} mended.")
        elif kind == UP:
            found.append(f"{channels} mended. Every message that was due in the meantime arrives now.")
        elif kind == SLOW:
            found.append(f"{first.process} {_slow(execution.body_of(first))}.")
        elif kind in (COPIED, RESENT, DROPPED) or first.process == (first.channel or "").partition("->")[0]:
            found += (_of_message(execution, row) for row in of_kind)
        else:
            flight = execution.flights[first.message_id or 0]
            what = own.begun(own.message(flight))
            where = "is down" if is_present(execution, first.process, first.row) else "is not in the system"
            source = own.node(flight.channel.source_name)
            found.append(f"{what} from {source} is lost, because {first.process} {where}.")
    return found


def _after(execution: Execution, thawed: Event) -> str:
    """` after 6 time units`."""
    return f" after {long(execution, ended_by(execution)[thawed.row].lasts or 0.0)}"


def _slow(factor: float) -> str:
    """`takes 3 times as long from now on`."""
    return "goes at its usual pace again" if factor == 1 else f"takes {factor:g} times as long from now on"


def _of_message(execution: Execution, row: Event) -> str:
    """The sentence on what the network, or the FIFO layer over it, does with one message."""
    own, flight = words_of(execution), execution.flights[row.message_id or 0]
    if row.kind == COPIED:
        flight = flight._replace(copied=None)  # of which it is the copy
    what, where = own.begun(own.message(flight)), own.where(flight)
    again = f"{tries(execution)[flight.id].sent:g}"
    if row.kind == LOST:
        return f"{what} {where} is lost. {own.begun(own.node(flight.channel.target_name))} never receives it."
    if row.kind == COPIED:
        return f"{what} {where} is copied, so it arrives twice."
    if row.kind == DROPPED:
        return f"{what} {where} is copied, but the FIFO layer drops the copy."
    return f"{what} {where} is lost. The FIFO layer sends it again{f' at {again}' if _has_time(execution) else ''}."


def _has_time(execution: Execution) -> bool:
    return execution.scenario.scheduler.has_time


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
