"""The actions of services: one at a time, and a manifest is durable before its snapshot counts as complete."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from cluster.model import Problem
from cluster.node.site import Done, Site
from sim.core.model import COMMITTED
from sim.services.storage_words import NAME as STORAGE
from sim.services.uploads import Part


class Disk(Protocol):
    """The storage of parts and manifests. Both methods raise Problem."""

    async def write_part(self, snapshot: str, node: str, part: Part) -> None:
        """Write a part, durably."""

    async def write_manifest(self, snapshot: str, body: Any) -> None:
        """Write the manifest, durably: the snapshot is valid from now on."""


class Job(NamedTuple):
    """An action that waits for its turn.

    `seen` is the clock of its cause. `done` gets the outcome. `is_wanted` is called when its turn has come.
    `manifest` is the snapshot and the body of a manifest that is written already, so that the action may say so.
    """

    actor: int
    action: list[Any]
    act: Callable[[], None]
    seen: int = 0
    done: asyncio.Future[Done | None] | None = None
    is_wanted: Callable[[], bool] = lambda: True
    manifest: tuple[str, Any] | None = None


class ServiceActions:
    """Carries out the actions of all services, one at a time."""

    def __init__(
        self, site: Site, disk: Disk, on_done: Callable[[Done], None], give_up: Callable[[str, str], None],
        save_timers: Callable[[], Callable[[], None]],
    ) -> None:  # fmt: skip
        """`on_done` is called after each action. `give_up` makes the storage give up a snapshot, with a reason.
        `save_timers` returns a function that puts all timers back as they are now."""
        self._site, self._disk, self._on_done = site, disk, on_done
        self._give_up, self._save_timers = give_up, save_timers
        self._storage = site.system.engine.number_of.get(STORAGE, -1)
        self._jobs: asyncio.Queue[Job] = asyncio.Queue()
        self._first: deque[Job] = deque()  # jobs that come before those
        self._held: list[Job] = []  # jobs of the storage while it writes a manifest
        self._writing: asyncio.Task[None] | None = None  # that manifest

    def put(self, job: Job) -> None:
        """Let a job wait for its turn."""
        self._jobs.put_nowait(job)

    async def run(self, after_each: Callable[[], object]) -> None:
        """Carry out everything that waits, for ever. `after_each` is called after each action."""
        while True:
            job = self._first.popleft() if self._first else await self._jobs.get()
            if self._writing is not None and job.actor == self._storage:
                self._held.append(job)
            else:
                self._carry_out(job)
                after_each()

    async def do(
        self, actor: int, action: list[Any], act: Callable[[], None], seen: int = 0,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> Done | None:  # fmt: skip
        """Carry out an action in its turn. Returns its outcome (None: it was not wanted any more)."""
        done: asyncio.Future[Done | None] = asyncio.get_running_loop().create_future()
        self.put(Job(actor, action, act, seen, done=done, is_wanted=is_wanted))
        return await done

    def close(self) -> None:
        """Stop writing."""
        if self._writing is not None:
            self._writing.cancel()

    def _carry_out(self, job: Job) -> None:
        if not job.is_wanted():
            if job.done is not None and not job.done.cancelled():
                job.done.set_result(None)
            return
        put_timers_back = self._save_timers()
        try:
            done = self._site.perform(job.actor, job.action, job.act, job.seen)
        except BaseException as problem:
            if job.done is None or job.done.cancelled():
                raise
            job.done.set_exception(problem)
            return
        manifest = next(((row[8] or "", row[7]) for row in done.rows if row[2] == COMMITTED), None)
        if manifest is not None and manifest != job.manifest:
            self._site.undo(done)  # it happens when that is written
            put_timers_back()
            self._writing = asyncio.get_running_loop().create_task(self._write_manifest(job, *manifest))
            return
        self._site.commit(done)
        self._on_done(done)
        if job.done is not None and not job.done.cancelled():
            job.done.set_result(done)

    async def _write_manifest(self, job: Job, snapshot: str, body: Any) -> None:
        """Write the manifest that a job calls written, then carry out the job; else the snapshot is given up.

        Meanwhile the storage does nothing else. The other services go on.
        """
        next_jobs = [job._replace(manifest=(snapshot, body))]
        try:
            await self._disk.write_manifest(snapshot, body)
        except Problem as problem:
            reason = f"its manifest could not be written: {problem}"
            given_up = Job(self._storage, ["outside", "give up"], lambda: self._give_up(snapshot, reason))
            next_jobs = [given_up, *([] if job.actor == self._storage else [job])]
        except Exception as problem:
            next_jobs = [job._replace(act=raising(problem))]
        self._writing = None
        self._first.extend((*next_jobs, *self._held))
        self._held.clear()
        self.put(Job(-1, [], lambda: None, is_wanted=lambda: False))  # wakes `run`


def raising(problem: Exception) -> Callable[[], None]:
    """Return an action that fails, because its preparation has."""

    def act() -> None:
        raise problem

    return act
