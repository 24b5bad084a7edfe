"""An app behind a real server on a free port of this machine, and what it answers."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from starlette.types import ASGIApp

from cluster.api import connections
from cluster.api.connections import Limits
from tests.waiting import budget_s


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def detail(self) -> str:
        """The sentence of a problem, all of which has the form that it should have."""
        assert self.headers["Content-Type"] == "application/problem+json"
        assert set(self.json) == {"type", "title", "status", "detail", "instance"}
        assert self.json["status"] == self.status
        return str(self.json["detail"])


class Server:
    """A server that listens on `port`."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"

    def ask(self, method: str, path: str, body: Any = None, headers: Mapping[str, str | bytes] | None = None) -> Answer:
        """The answer to a request. A body that is neither bytes nor an iterator of them is sent as JSON.

        A request that changes something says that it is JSON, unless `headers` say something else ("": nothing).
        """
        given = dict(headers or {})
        if body is not None and not isinstance(body, (bytes, Iterator)):
            body = json.dumps(body).encode()
        if body is not None or method not in ("GET", "HEAD", "OPTIONS"):
            given.setdefault("Content-Type", "application/json")
        given = {name: value for name, value in given.items() if value != "" or name != "Content-Type"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=budget_s())
        try:
            connection.request(method, path, body, given)
            answer = connection.getresponse()
            return Answer(answer.status, answer.headers, answer.read().decode("utf-8", "replace"))
        finally:
            connection.close()


@contextmanager
def serving(app: ASGIApp, limits: Limits = Limits()) -> Iterator[Server]:  # noqa: B008
    """A server of the app, stopped again in any case."""
    with socket.create_server(("127.0.0.1", 0)) as listener:  # connections wait from here on
        server = connections.Server(app, limits, log_level="critical")
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield Server(listener.getsockname()[1])
        finally:
            server.should_exit = True
            thread.join()
