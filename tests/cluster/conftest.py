"""A cluster that there is not, behind a real server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from cluster.api.app import create_app
from tests.cluster.fake_controller import FakeController
from tests.cluster.serving import Server, serving


class Switch:
    """Stands for the app of whichever test runs: one server for all is quicker than one for each."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)


@pytest.fixture(scope="session")
def shared_server() -> Iterator[tuple[Server, Switch]]:
    switch = Switch()
    with serving(switch) as found:
        yield found, switch


@pytest.fixture
def controller() -> FakeController:
    return FakeController()


@pytest.fixture
def server(controller: FakeController, shared_server: tuple[Server, Switch]) -> Server:
    """A server of that cluster, without a token."""
    found, switch = shared_server
    switch.app = create_app(controller, None)
    return found
