"""The rights of a request: tokens, names of this machine, origins."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest

from cluster.api.app import create_app
from cluster.api.gate import check_address
from cluster.model import NodeStatus
from sim.core.errors import InputError
from tests.cases import check_each
from tests.cluster.fake_controller import FakeController
from tests.cluster.serving import Server, serving
from tests.waiting import budget_s

TRIGGER = "/v1/snapshots/trigger"


@pytest.fixture(scope="module")
def guarded() -> Iterator[Server]:
    """A server with a token."""
    with serving(create_app(FakeController(), "geheim-é")) as found:
        yield found


PATHS = ("/v1/nodes", "/docs", "/openapi.json", "/metrics", "/v1/events", "/nothing", "/")
NO_TOKENS = (None, "Bearer wrong", "Bearer ", "Basic geheim-é", "geheim-é", "Bearer geheim-é x")


def test_nothing_is_seen_without_the_token(guarded: Server) -> None:
    def check(path: str, given: str | None) -> None:
        headers = {} if given is None else {"Authorization": given.encode()}
        answer = guarded.ask("GET", path, headers=headers)
        assert (answer.status, answer.headers["WWW-Authenticate"][:6]) == (401, "Bearer")
        assert answer.detail == "This cluster wants its token; send it as Authorization: Bearer <token>."
        assert ("invalid_token" in answer.headers["WWW-Authenticate"]) == (given is not None)

    check_each(product(PATHS, NO_TOKENS), check)


def test_the_token_opens_by_whichever_name_the_server_is_called(guarded: Server) -> None:
    headers = {"Authorization": "bearer geheim-é".encode(), "Host": "cluster.example.org", "Origin": "https://x.org"}
    assert guarded.ask("GET", "/v1/nodes", headers=headers).status == 200
    assert guarded.ask("POST", TRIGGER, headers=headers).status == 202


def test_two_tokens_are_none(guarded: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", guarded.port, timeout=budget_s())
    connection.putrequest("GET", "/v1/nodes")
    for token in ("wrong", "geheim-é"):
        connection.putheader("Authorization", f"Bearer {token}".encode())
    connection.endheaders()
    assert connection.getresponse().status == 401
    connection.close()


def test_health_needs_no_token(guarded: Server) -> None:
    assert guarded.ask("GET", "/healthz").status == 200
    assert guarded.ask("GET", "/healthz/").status == 401


HOSTS = [
    ("127.0.0.1:8765", True),
    ("127.8.9.1", True),
    ("LocalHost.:80", True),
    ("[::1]:8765", True),
    ("evil.example", False),
    ("localhost.evil.example", False),
    ("127.0.0.1.evil.example:8765", False),
    ("192.168.1.20:8765", False),
    ("localhost@evil.example", False),
    ("evil.example@localhost", False),
    ("localhost/evil", False),
    ("localhost:port", False),
    ("[::1", False),
    ("", False),
]


def test_without_a_token_it_is_called_by_a_name_of_this_machine(server: Server) -> None:
    def check(host: str, good: bool) -> None:
        answer = server.ask("GET", "/v1/nodes", headers={"Host": host})
        assert answer.status == (200 if good else 400)
        assert good or answer.detail == "This cluster is not known by that name; ask it at 127.0.0.1 or localhost."

    check_each(HOSTS, check)


ORIGINS = [
    (None, True),
    ("http://127.0.0.1:8501", True),
    ("https://localhost", True),
    ("http://[::1]:1", True),
    ("http://evil.example", False),
    ("http://localhost.evil.example", False),
    ("http://localhost@evil.example", False),
    ("null", False),
    ("file://", False),
    ("", False),
]


def test_a_page_that_changes_something_is_of_this_machine(server: Server, controller: FakeController) -> None:
    def check(origin: str | None, good: bool) -> None:
        headers, before = {} if origin is None else {"Origin": origin}, len(controller.rows)
        answer = server.ask("POST", TRIGGER, headers=headers)
        assert (answer.status, len(controller.rows) - before) == ((202, 1) if good else (403, 0))
        controller.members[0] = replace(controller.members[0], status=NodeStatus.RUNNING)
        assert server.ask("DELETE", "/v1/nodes/P1", headers=headers).status == (200 if good else 403)
        assert server.ask("GET", "/v1/nodes", headers=headers).status == 200  # no other page can read it

    check_each(ORIGINS, check)


FORMS = ("", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp")
CHANGES = (("POST", TRIGGER), ("POST", "/v1/shutdown"), ("DELETE", "/v1/nodes/P1"), ("PUT", "/v1/nodes"))


def test_a_form_of_another_page_changes_nothing(server: Server, controller: FakeController) -> None:
    """It sends no Origin in some browsers, and needs no permission: but it can never say that it is JSON."""

    def check(request: tuple[str, str], media_type: str) -> None:
        for body in (None, b"{}"):
            answer = server.ask(*request, body, {"Content-Type": media_type})
            assert (answer.status, answer.detail[-38:]) == (415, "; send Content-Type: application/json.")
        assert (controller.rows, controller.ended, controller.members[0].status) == ([], False, NodeStatus.RUNNING)

    check_each(product(CHANGES, FORMS), check)
    assert server.ask("POST", TRIGGER, headers={"Content-Type": "Application/JSON; charset=utf-8"}).status == 202


def test_who_knows_the_token_needs_no_media_type(guarded: Server) -> None:
    headers = {"Authorization": "Bearer geheim-é".encode(), "Content-Type": ""}
    assert guarded.ask("POST", TRIGGER, headers=headers).status == 202


def test_no_page_may_read_across_origins_or_frame_it(server: Server) -> None:
    headers = server.ask("GET", "/v1/nodes", headers={"Origin": "http://localhost:8501"}).headers
    assert headers["Access-Control-Allow-Origin"] is None
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


def test_this_machine_alone_needs_no_token() -> None:
    check_each(["127.0.0.1", "localhost", "::1", "127.1.2.3"], lambda host: check_address(host, None))


def test_where_others_reach_it_a_token_is_needed() -> None:
    def check(host: str) -> None:
        check_address(host, "secret")
        for token in (None, ""):
            with pytest.raises(InputError, match=r"so a token is needed; give one, or listen on 127\.0\.0\.1$"):
                check_address(host, token)

    check_each(["0.0.0.0", "::", "192.168.1.20", "example.org", ""], check)
