"""Connections to the API: half-sent requests, slow clients and too many of either keep no client out."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from cluster.api.app import create_app
from cluster.api.connections import Limits
from cluster.client import Client
from cluster.model import Status
from cluster.wire import descriptors
from sim.core.errors import InputError
from tests.cases import check_each
from tests.cluster.fake_controller import FakeController
from tests.cluster.running import ports_of, up
from tests.cluster.serving import serving
from tests.tools import ROOT
from tests.waiting import budget_s, until

TRIGGER = "/v1/snapshots/trigger"
HEADERS = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" % TRIGGER.encode()
HALF_SENT = {
    "nothing": b"",
    "half of the headers": HEADERS,
    "half of the body": HEADERS + b"Content-Length: 20\r\n\r\n{",
    "half of a body of its own size": HEADERS + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
    "half of what is refused": b"POST / HTTP/1.1\r\nHost: evil\r\nContent-Length: 20\r\n\r\n{",
    "half of the next one": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" + HEADERS,
}


def connected(port: int, said: bytes) -> socket.socket:
    """A client that has said something."""
    own = socket.create_connection(("127.0.0.1", port), timeout=budget_s())
    own.sendall(said)
    return own


@contextmanager
def crowd(port: int, count: int, said: bytes) -> Iterator[list[socket.socket]]:
    """So many clients that have said the same, and say no more."""
    with ExitStack() as stack:
        found = []
        for _ in range(count):
            own = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=budget_s()))
            with suppress(OSError):  # it had to go already
                own.sendall(said)
            found.append(own)
        yield found


def heard(own: socket.socket) -> bytes:
    """All that a client hears until its connection ends."""
    said = b""
    try:
        while more := own.recv(65_536):
            said += more
    except ConnectionError:
        pass
    return said


def is_open(own: socket.socket) -> bool:
    """Whether a connection has not ended."""
    own.setblocking(False)
    try:
        while own.recv(65_536):
            pass
    except BlockingIOError:
        return True
    except ConnectionError:
        pass
    return False


def problem(said: bytes) -> Any:
    """The problem in the last answer of all that a client has heard."""
    head, _, body = said[said.rindex(b"HTTP/1.1 ") :].partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head and b"connection: close" in head
    return json.loads(body)


@pytest.mark.slow
@pytest.mark.parametrize("said", HALF_SENT.values(), ids=HALF_SENT)
def test_half_sent_requests_keep_no_client_out(said: bytes) -> None:
    """The oldest of them have to go: there are never more connections than the limit."""
    limits = Limits(10, headers_s=600, body_s=600, idle_s=600)
    with serving(create_app(FakeController(), None), limits) as server, crowd(server.port, 60, said) as clients:
        assert server.ask("GET", "/healthz").status == 200
        assert server.ask("POST", TRIGGER).status == 202
        until(lambda: sum(map(is_open, clients)) <= 10, "no more than the limit are open", 10)


def test_who_has_to_go_is_told_why() -> None:
    with serving(create_app(FakeController(), None), Limits(2)) as server, crowd(server.port, 3, b"GET ") as clients:
        said = heard(clients[0])
        assert b"retry-after: 1" in said
        assert problem(said)["detail"] == "There are 2 connections, which is the most; connect again."


def test_a_request_that_is_being_answered_is_not_cut_off() -> None:
    controller = FakeController()
    controller.gate = asyncio.Event()
    restoring: list[Any] = []
    with serving(create_app(controller, None), Limits(3)) as server:
        thread = threading.Thread(target=lambda: restoring.append(server.ask("POST", "/v1/restore", {})))
        thread.start()
        until(lambda: controller.waiting == 1)
        with crowd(server.port, 12, HEADERS):
            assert server.ask("GET", "/healthz").status == 200
            controller.open_gate()
            thread.join()
    assert restoring[0].status == 200


@pytest.mark.parametrize("said", HALF_SENT.values(), ids=HALF_SENT)
def test_what_does_not_come_in_time_ends_its_connection(said: bytes) -> None:
    limits = Limits(headers_s=0.05, body_s=0.05)
    with serving(create_app(FakeController(), None), limits) as server, connected(server.port, said) as own:
        told = problem(heard(own)) if said != HALF_SENT["half of what is refused"] else None
        assert told is None or (told["status"], told["detail"][-38:]) == (408, "within 0.05 s; send the request again.")


def test_a_body_that_drips_has_the_same_time() -> None:
    with (
        serving(create_app(FakeController(), None), Limits(body_s=0.3)) as server,
        connected(server.port, HEADERS + b"Content-Length: 60000\r\n\r\n") as own,
    ):

        def drip() -> None:
            with pytest.raises(OSError, match=r".*"):
                until(lambda: own.sendall(b" "))

        thread = threading.Thread(target=drip)
        thread.start()
        assert problem(heard(own))["status"] == 408
        own.close()
        thread.join()


def test_a_request_that_is_cut_off_is_not_carried_out() -> None:
    """It would ask for something else than its client has said."""
    controller = FakeController()
    with serving(create_app(controller, None)) as server:
        connected(server.port, HEADERS + b"Content-Length: 20\r\n\r\n").close()
        with connected(server.port, HALF_SENT["half of the body"]) as own:
            own.shutdown(socket.SHUT_WR)
            heard(own)
        assert server.ask("GET", "/healthz").status == 200
        assert controller.rows == []


def test_what_is_no_http_is_told_so() -> None:
    with serving(create_app(FakeController(), None)) as server:
        for said in (b"SSH-2.0\r\n\r\n", b"GET / HTTP/1.1\r\nX: " + b"x" * 20_000):
            with connected(server.port, said) as own:
                assert problem(heard(own))["status"] == 400


def test_an_answer_that_is_not_read_ends_its_connection() -> None:
    has_gone = threading.Event()

    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(64):
            await send({"type": "http.response.body", "body": b"x" * 2**20, "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass
        has_gone.set()

    with serving(large, Limits(answer_s=0.05)) as server, connected(server.port, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"):
        until(has_gone.is_set)


def test_no_more_requests_than_a_bound_are_under_way() -> None:
    controller = FakeController()
    controller.gate = asyncio.Event()
    with serving(create_app(controller, None, most_requests=2)) as server:
        threads = [threading.Thread(target=server.ask, args=("POST", "/v1/restore", {})) for _ in range(2)]
        for thread in threads:
            thread.start()
        until(lambda: controller.waiting == 2)
        refused = server.ask("GET", "/v1/nodes")
        assert (refused.status, refused.headers["Retry-After"]) == (429, "1")
        assert refused.detail == "2 requests are under way, which is the most; ask again in a second."
        assert server.ask("GET", "/healthz").status == 200
        controller.open_gate()
        for thread in threads:
            thread.join()
        assert server.ask("GET", "/v1/nodes").status == 200


# ---------------------------------------------------------------------- descriptors


def test_clients_leave_descriptors_to_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(limit: int, nodes: int, expected: int | None) -> None:
        monkeypatch.setattr(resource, "getrlimit", lambda kind: (limit, limit))
        if expected is not None:
            assert descriptors.most_connections(nodes) == expected
            return
        with pytest.raises(InputError, match=rf"^{nodes} nodes need \d+ file descriptors, and the limit is {limit}; "):
            descriptors.most_connections(nodes)

    check_each([(1024, 4, 256), (256, 4, 32), (255, 4, None), (1024, 64, 256), (256, 64, None), (-1, 64, 256)], check)


@pytest.mark.slow
def test_the_soft_limit_becomes_the_hard_one() -> None:
    code = (
        "import resource as r, cluster.wire.descriptors as own; own.raise_limit(); print(*r.getrlimit(r.RLIMIT_NOFILE))"
    )
    line = ["sh", "-c", 'ulimit -S -n 100; ulimit -H -n 300; exec "$@"', "sh", sys.executable, "-c", code]
    assert subprocess.run(line, capture_output=True, check=True, text=True, cwd=ROOT).stdout == "300 300\n"


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["tcp", pytest.param("grpc", marks=pytest.mark.long("floods of gRPC's ports"))])
def test_a_cluster_lives_while_strangers_fill_its_ports_and_a_node_dies(tmp_path: Path, transport: str) -> None:
    """256 descriptors; 1,100 half-sent requests, and as many connections at the ports of the controller and a node."""
    arguments = ("--nodes", "4", "--allow-faults", "--transport", transport, "--out", str(tmp_path))
    with up(*arguments, descriptors=256) as cluster, ExitStack() as stack:
        port = int(cluster.url.rpartition(":")[2])
        stack.enter_context(crowd(port, 1100, HALF_SENT["half of the body"]))
        client = Client(cluster.url)
        nodes = client.nodes()
        own = next(found for found in ports_of(cluster.process.pid) if found != port)
        for other in (own, nodes[0]["port"]):
            stack.enter_context(crowd(other, 550, b""))
        assert len(os.listdir(f"/proc/{cluster.process.pid}/fd")) < 256
        client.inject("kill", node_id="P2")
        until(lambda: client.epochs()[0]["epoch"] == 1, "all have gone back")
        until(lambda: {node["status"] for node in client.nodes()} == {"RUNNING"}, "it is back")
        assert client.wait(client.trigger()["snapshot_id"])["status"] == Status.COMPLETED
        stopped = cluster.process
    assert stopped.returncode == 130
