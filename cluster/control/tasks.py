"""Background work of a controller: its tasks, and the first failure, which ends the cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any


class Tasks:
    """All tasks of a controller. `ended` is set when the cluster has to end, and `failure` is the reason, if any."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self.is_ending = False
        self.failure: BaseException | None = None
        self._all: set[asyncio.Task[Any]] = set()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Carry out some work in the background. If it raises, the cluster ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._all.add(task)
        task.add_done_callback(self._on_end)
        return task

    def _on_end(self, task: asyncio.Task[Any]) -> None:
        self._all.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            self.fail(problem)

    def fail(self, problem: BaseException) -> None:
        """End the cluster, which cannot go on because of a problem."""
        if not self.is_ending:
            self.failure = problem
            self.ended.set()

    async def cancel(self, timeout: float) -> None:
        """Cancel all tasks, and wait at most `timeout` seconds for their end. Failures count no more."""
        self.is_ending = True
        for task in (tasks := list(self._all)):
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=timeout)
