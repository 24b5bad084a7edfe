"""The rows of the event logs as server-sent events. A client that reads too slowly loses its stream, and no other."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from cluster.api.problems import problem_response

MOST_CLIENTS = 16
MOST_WAITING = 1_000  # rows for one client
KEEP_ALIVE_S = 15.0
GRACE_S = 10.0  # for a client that was cut off to read the last rows

_TOO_SLOW = "this reader is too slow, so rows after the last one are missing; connect again to go on from now"
_ENDED = "the cluster has ended"
_BROKEN = "the cluster cannot read its event logs; its own log says more"

log = logging.getLogger(__name__)


@dataclass
class Streams:
    """All streams of an app, and their bounds. `rows` returns the rows from now on."""

    rows: Callable[[], AsyncIterator[Mapping[str, Any]]]
    most_clients: int = MOST_CLIENTS
    most_waiting: int = MOST_WAITING
    keep_alive_s: float = KEEP_ALIVE_S
    grace_s: float = GRACE_S
    open: int = 0


class EventStream(Response):
    """The rows from now on, one `data:` of JSON each. The last event is an `end` with a reason."""

    media_type = "text/event-stream"

    def __init__(self, streams: Streams) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._streams = streams
        self._waiting: list[str] = []  # events for the client
        self._some_wait = asyncio.Event()
        self._is_complete = False  # no more will wait

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the client has gone, the cluster has ended, or the client was too slow."""
        if self._streams.open >= self._streams.most_clients:
            sentence = f"{self._streams.open} clients read events already, which is the most; ask again later."
            await problem_response(scope, 503, sentence, {"Retry-After": "10"})(scope, receive, send)
            return
        self._streams.open += 1
        tasks = [asyncio.create_task(each) for each in (self._collect(), self._send(send), _gone(receive))]
        collecting, *others = tasks
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if collecting.done():
                await asyncio.wait(others, timeout=self._streams.grace_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._streams.open -= 1
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _collect(self) -> None:
        """Take the rows as they come, until they end or too many wait to be sent."""
        rows, end = self._streams.rows(), _ENDED
        try:
            async for row in rows:
                if await self._is_full():
                    end = _TOO_SLOW
                    break
                self._add(f"data: {json.dumps(row)}\n\n")
        except Exception:
            end = _BROKEN
            log.exception("the rows of the event logs cannot be read")
        self._is_complete = True
        self._add(f"event: end\ndata: {json.dumps({'reason': end})}\n\n")
        if isinstance(rows, AsyncGenerator):
            await rows.aclose()

    async def _is_full(self) -> bool:
        if len(self._waiting) >= self._streams.most_waiting:
            await asyncio.sleep(0)  # if many rows come at once, a client that is ready takes them now
        return len(self._waiting) >= self._streams.most_waiting

    def _add(self, event: str) -> None:
        self._waiting.append(event)
        self._some_wait.set()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        text = ": events from now on\n\n"
        while not (self._is_complete and not self._waiting):
            await send({"type": "http.response.body", "body": text.encode(), "more_body": True})
            text = await self._next()
        await send({"type": "http.response.body", "body": text.encode(), "more_body": False})

    async def _next(self) -> str:
        """Return all events that wait, as soon as there is one; a comment if there is none for long."""
        try:
            async with asyncio.timeout(self._streams.keep_alive_s):
                await self._some_wait.wait()
        except TimeoutError:
            return ": still here\n\n"
        self._some_wait.clear()
        events, self._waiting = self._waiting, []
        return "".join(events)


async def _gone(receive: Receive) -> None:
    """Wait until the client has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
