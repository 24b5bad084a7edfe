"""Connections to the API: their number, and the time that each has to send its request.

The limits hold before anything is known of a client. A connection has a deadline for the headers of a request, one
for its body, and one for reading the answer. If there are too many connections, the oldest one without a complete
request is closed. So half-sent requests keep no client out, and a request that is being answered is not cut off.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from cluster.api.problems import LATER, MEDIA_TYPE, RETRY_AFTER, problem_body
from cluster.wire.descriptors import AT_ONCE, QUEUE


class Limits(NamedTuple):
    """The limits of all connections; times in seconds.

    `connections` is their greatest number. `headers_s` counts from the connection, or from the answer before, to the
    end of the headers; `body_s` from there to the end of the body; `answer_s` while the client reads nothing of an
    answer. A connection on which nothing comes after an answer ends after `idle_s`.
    """

    connections: int = 256
    headers_s: float = 10.0
    body_s: float = 10.0
    answer_s: float = 30.0
    idle_s: int = 5


class Connection(H11Protocol):
    """One connection of a client. uvicorn itself has a limit of time for idle connections only."""

    def __init__(self, *given: Any, limits: Limits, there: dict[Connection, None], **named: Any) -> None:
        """`there` holds all connections of the server, the oldest first."""
        super().__init__(*given, **named)
        self._limits, self._there = limits, there
        self._deadline: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None
        self._awaited: Any = None  # the request of which the body has not come, or None: the headers of the next one

    # ------------------------------------------------------------------ events

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Handle a new connection."""
        super().connection_made(transport)
        self._there[self] = None
        self._await(None)
        if len(self._there) > (most := self._limits.connections):
            oldest = next((own for own in self._there if not own.is_answering), self)
            oldest._turn_away(503, f"There are {most} connections, which is the most; connect again.")

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the end of the connection."""
        self._there.pop(self, None)
        self._set_deadline(None)
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Handle a piece of a request."""
        super().data_received(data)
        if self.is_answering:
            self._set_deadline(None)
        elif self._is_body_missing and self.cycle is not self._awaited:
            self._await(self.cycle)

    def on_response_complete(self) -> None:
        """Handle the end of an answer."""
        super().on_response_complete()
        if not self.is_answering:
            self._await(self.cycle if self._is_body_missing else None)

    def pause_writing(self) -> None:
        """Begin the deadline of a client that reads less than is written."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self._limits.answer_s, self.transport.abort)

    def resume_writing(self) -> None:
        """End that deadline: the client has read most of the answer."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def shutdown(self) -> None:
        """End with the server. A request that is being answered may go on for a moment."""
        if self.is_answering:
            super().shutdown()
        else:
            self._turn_away(503, "The cluster ends.")

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are no HTTP."""
        self._turn_away(400, "This is no request of HTTP/1.1, or its headers are longer than 16 KiB.")

    # ------------------------------------------------------------------ deadlines

    @property
    def is_answering(self) -> bool:
        """Whether a request has come entirely, and is not answered yet."""
        return self.cycle is not None and not self.cycle.response_complete and not self.cycle.more_body

    @property
    def _is_body_missing(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete and self.cycle.more_body

    def _await(self, request: Any) -> None:
        """Set the deadline for the body of a request, or (None) for the headers of the next one."""
        self._awaited = request
        if request is None:
            self._set_deadline(self._limits.headers_s, "The headers of the request")
        else:
            self._set_deadline(self._limits.body_s, "The body of the request")

    def _set_deadline(self, seconds: float | None, what: str = "") -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._is_late, what, seconds)

    def _is_late(self, what: str, seconds: float) -> None:
        if self.transport.is_closing():  # and the client does not read the answer
            self.transport.abort()
        else:
            self._turn_away(408, f"{what} did not come within {seconds:g} s; send the request again.")

    def _turn_away(self, status: int, sentence: str) -> None:
        """Send a reason, if nothing of an answer was sent, and end the connection."""
        self._there.pop(self, None)
        path = ""
        if self.cycle is not None and not self.cycle.response_complete:
            path = self.cycle.scope["path"]
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = json.dumps(problem_body(path, status, sentence)).encode()
            headers = {"content-type": MEDIA_TYPE, "content-length": str(len(body)), "connection": "close"}
            later = {"retry-after": RETRY_AFTER} if status in LATER else {}
            self._say(status, {**headers, **later}, body)
        self.transport.close()
        self._set_deadline(self._limits.answer_s)

    def _say(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        sent = [(name.encode(), value.encode()) for name, value in headers.items()]
        for event in (h11.Response(status_code=status, headers=sent), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")


class Server(uvicorn.Server):
    """A server of an app. It leaves signals to the program that runs it."""

    def __init__(self, app: ASGIApp, limits: Limits = Limits(), log_level: str = "error") -> None:  # noqa: B008
        protocol: Any = partial(Connection, limits=limits, there={})
        config = uvicorn.Config(
            app, http=protocol, ws="none", lifespan="off", log_level=log_level, backlog=AT_ONCE,
            timeout_keep_alive=limits.idle_s, timeout_graceful_shutdown=1,
        )  # fmt: skip
        super().__init__(config)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, with a long queue of connections."""
        await super().startup(sockets)
        for own in sockets or ():
            own.listen(QUEUE)
