"""A storage service on this machine, that speaks S3 (moto): what is at an address s3://BUCKET/... in tests."""

from __future__ import annotations

import logging
import os
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


@contextmanager
def s3() -> Iterator[dict[str, str]]:
    """A service with an empty bucket. Yields the variables by which this process, and workers, find it."""
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, Gate(DomainDispatcherApplication(create_backend_app)), threaded=True)
    threading.Thread(target=server.serve_forever, name="s3", daemon=True).start()
    own = {**RIGHTS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.port}"}
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    try:
        urlopen(Request(f"{own['AWS_ENDPOINT_URL']}/{BUCKET}", method="PUT")).close()
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
