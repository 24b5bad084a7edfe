"""Requests to an ASGI app without a server: what it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from starlette.types import ASGIApp

HERE = "127.0.0.1"
Headers = Sequence[tuple[str, str]]


def scope_of(kind: str, headers: Headers, server: tuple[str, int | None], method: str = "GET") -> dict[str, Any]:
    """The scope of a request for the first page (kind http), or for Streamlit's stream (kind websocket)."""
    plain = [(name.lower().encode(), value.encode()) for name, value in headers]
    path = "/" if kind == "http" else "/_stcore/stream"
    asked = {"type": kind, "path": path, "raw_path": path.encode(), "root_path": "", "query_string": b""}
    return {
        **asked, "headers": plain, "server": server, "client": ("127.0.0.1", 5), "scheme": kind, "method": method,
        "subprotocols": [], "asgi": {"version": "3.0"}, "http_version": "1.1",
    }  # fmt: skip


def ask(app: ASGIApp, scope: dict[str, Any]) -> list[dict[str, Any]]:
    """All messages that the app sends; the client says nothing more."""
    sent: list[dict[str, Any]] = []
    first = {"type": "websocket.connect"} if scope["type"] == "websocket" else {"type": "http.request", "body": b""}
    gone = (
        {"type": "websocket.disconnect", "code": 1001} if scope["type"] == "websocket" else {"type": "http.disconnect"}
    )
    said = [gone, first]

    async def receive() -> dict[str, Any]:
        return said.pop() if len(said) > 1 else gone

    async def send(message: Any) -> None:
        sent.append(message)

    with ThreadPoolExecutor(1) as thread:  # this one may have the event loop of the tests with a browser
        thread.submit(asyncio.run, app(scope, receive, send)).result()
    return sent
