"""A cluster for tests: nodes are real processes; the controller runs in this one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from cluster.control.supervisor import Supervisor
from cluster.model import NodeStatus, Snapshot, Wish
from cluster.replay.scenario import replayed, table
from cluster.start.full_graph import of_nodes
from cluster.start.preparation import prepared
from cluster.start.wanted import Wanted
from sim.core.model import Event
from sim.document.scenario import Scenario
from sim.run.execution import Execution, run
from tests.waiting import carried_out, comes

T = TypeVar("T")


def bank(nodes: int = 3, *, pace: float = 2.0, **options: Any) -> Scenario:
    """A bank that goes on for ever: with time units of 10 ms, a transfer of each node about every `pace` of them."""
    return of_nodes(nodes, "bank", settings=[f"pace={pace}"], **options)


@asynccontextmanager
async def started(wanted: Wanted) -> AsyncIterator[Supervisor]:
    """A running cluster, which is ended at the end."""
    with prepared(wanted, lambda text: None) as supervisor:
        try:
            await supervisor.start(wanted.restore, restores=wanted.restores)
            yield supervisor
        finally:
            await supervisor.close()
        if supervisor.failure is not None:
            raise supervisor.failure


def live(wanted: Wanted, act: Callable[[Supervisor], Awaitable[None]]) -> Path:
    """Run a cluster, and do something with it. Returns the folder of its event logs."""

    async def main() -> Path:
        async with started(wanted) as supervisor:
            await act(supervisor)
        return supervisor.logs

    return carried_out(main())


@contextmanager
def shared(wanted: Wanted) -> Iterator[Callable[[Callable[[Supervisor], Awaitable[T]]], T]]:
    """A running cluster that several tests use. Yields what does something with it, and returns what that returns."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def done(work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    async def acted(act: Callable[[Supervisor], Awaitable[T]]) -> T:
        return await act(supervisor)

    try:
        running = started(wanted)
        supervisor: Supervisor = done(running.__aenter__())  # type: ignore[arg-type]
        try:
            yield lambda act: done(acted(act))
        finally:
            done(running.__aexit__(None, None, None))  # type: ignore[arg-type]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def taken(supervisor: Supervisor, wish: Wish | None = None) -> Snapshot:
    """A snapshot, when it has ended."""
    own = await supervisor.trigger(wish or Wish())
    await comes(lambda: supervisor.snapshot(own.id).status.is_final, f"{own.id} ends")
    return supervisor.snapshot(own.id)


async def all_running(supervisor: Supervisor) -> None:
    """Wait until every node that is present runs."""
    quiet = (NodeStatus.RUNNING, NodeStatus.ABSENT)
    await comes(lambda: all(node.status in quiet for node in supervisor.nodes()), "all nodes run")


def without_times(events: list[Event]) -> list[Event]:
    """Rows of which the times do not count."""
    return [event._replace(time=0.0) for event in events]


def told_again(logs: Path) -> Execution:
    """The run of a cluster, replayed in the simulation. Fails unless that comes to the very same rows."""
    execution = run(replace(replayed(logs)))
    ours, theirs = without_times(table(logs)), without_times(execution.table)
    for own, other in zip(ours, theirs, strict=False):
        assert own == other
    assert len(ours) == len(theirs)
    return execution


def money(contents: Any) -> int:
    """The money of a bank at a snapshot: of all processes, and of all channels."""
    bodies = [body for bodies in contents["channels"].values() for body in bodies]
    return sum(part["state"] for part in contents["processes"].values()) + sum(bodies)
