"""A storage service on this machine, that speaks S3 (moto): what is at an address s3://BUCKET/... in tests."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.request import Request, urlopen

BUCKET = "tests-of-cuts"
RIGHTS = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "us-east-1"}
REFUSED = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
_OPEN = threading.Event()
_OPEN.set()


class Gate:
    """Lets the questions to the service through, or refuses all of them; its files stay."""

    def __init__(self, service: Callable[..., Iterable[bytes]]) -> None:
        self._service = service

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if _OPEN.is_set():
            return self._service(environ, start)
        start("403 Forbidden", [("Content-Type", "application/xml"), ("Connection", "close")])
        return [REFUSED]


def rights(port: int) -> dict[str, str]:
    """The variables by which a process finds the service at a port."""
    return {**RIGHTS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}


@contextmanager
def s3(door: socket.socket | None = None) -> Iterator[dict[str, str]]:
    """A service with an empty bucket. Yields the variables by which this process, and workers, find it.

    door: the socket at which it is served, which listens (None: one of its own).
    """
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    service, host, port = Gate(DomainDispatcherApplication(create_backend_app)), "127.0.0.1", 0
    if door is not None:
        host, port = door.getsockname()
    server = make_server(host, port, service, threaded=True, fd=None if door is None else door.fileno())
    threading.Thread(target=server.serve_forever, name="s3", daemon=True).start()
    own = rights(server.port)
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    try:
        for method, place in (("POST", "moto-api/reset"), ("PUT", BUCKET)):  # what it held before lives in this process
            urlopen(Request(f"{own['AWS_ENDPOINT_URL']}/{place}", method=method)).close()
        yield own
    finally:
        server.shutdown()
        server.server_close()
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


@contextmanager
def losing() -> Iterator[Callable[..., None]]:
    """Yields what makes the service refuse every question from then on, until the block ends."""
    try:
        yield lambda *_: _OPEN.clear()
    finally:
        _OPEN.set()
