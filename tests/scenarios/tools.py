"""Helpers: runs of bundled scenarios, and global states of a computation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from sim.core.model import APP
from sim.document import library
from sim.run.execution import Execution, run
from sim.theory.causality import History
from tests.sim.tools import only_snapshot


@dataclass(frozen=True)
class Global:
    """A global state of the computation: what each process and each channel holds, markers left out."""

    processes: dict[str, Any]
    channels: dict[str, list[Any]]


def run_of(name: str) -> Execution:
    return run(library.load(name))


def global_states(execution: Execution) -> Iterator[Global]:
    """The states the run passes through, from the initial one to the last."""
    for state in (execution.engine.initial(), *(step.state for step in execution.replay())):
        yield Global(
            {process.name: process.state for process in state.processes},
            {c.name: [m.body for m in state.queues[c.number] if m.kind == APP] for c in execution.engine.channels},
        )


def recorded_state(execution: Execution) -> Global:
    snapshot = only_snapshot(execution)
    return Global(
        {name: local.state for name, local in snapshot.local.items()},
        {name: [message.body for message in messages] for name, messages in snapshot.channels.items()},
    )


def recorded_total(execution: Execution) -> int:
    """The money in the snapshot of a bank."""
    recorded = recorded_state(execution)
    return int(sum(recorded.processes.values()) + sum(map(sum, recorded.channels.values())))


def frontiers(history: History) -> list[dict[str, int]]:
    """Every cut, consistent or not."""
    counts = product(*(range(len(history.of[name]) + 1) for name in history.processes))
    return [dict(zip(history.processes, count, strict=True)) for count in counts]


def clocks_by_label(history: History) -> dict[str, str]:
    events = [event for row in history.of.values() for event in row]
    return {str(event.label): "".join(map(str, history.clock(event))) for event in events}
