"""The web app of a live cluster."""

from __future__ import annotations

from functools import cache, partial

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig

from cluster.api import documents
from cluster.api.gate import MOST_REQUESTS, Gate
from cluster.api.keys import KeysInMemory, KeyStore
from cluster.api.problems import answer_with_problems
from cluster.api.routes import add_operations
from cluster.api.streaming import Streams
from cluster.model import Controller
from sim import VERSION
from sim.core.errors import InputError

TITLE = "Consistent Cut: a live cluster"
NO_TELEMETRY: TelemetryConfig = {
    "tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False,
}  # fmt: skip
ABOUT = "Take snapshots of a running distributed system, list them, read them, and go back to them."


def create_app(
    controller: Controller, token: str | None, keys: KeyStore | None = None, streams: Streams | None = None,
    most_requests: int = MOST_REQUESTS,
) -> FastAPI:  # fmt: skip
    """Return the app. With a token, every request but /healthz needs it; without, only this machine is answered.

    `keys` keeps the answers to requests with an Idempotency-Key (None: in memory), `streams` bounds the streams of
    events (None: as usual). `most_requests` requests may be under way. Raises InputError for an empty token.
    """
    if token is not None and not token.strip():
        raise InputError("the token is empty; give one of at least a character, or none")
    app = FastAPI(
        title=TITLE, description=ABOUT, version=VERSION, docs_url=None, redoc_url=None, redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        telemetry=NO_TELEMETRY,
    )  # fmt: skip
    documents.add_page(app)
    add_operations(app, controller, keys or KeysInMemory(), streams or Streams(controller.events))
    answer_with_problems(app)
    app.add_middleware(Gate, token=token, most=most_requests)
    app.openapi = cache(partial(documents.document, app, token is not None))  # type: ignore[method-assign]
    return app
