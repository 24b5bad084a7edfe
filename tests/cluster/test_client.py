"""The client of the command line, against a real server; every failure is one sentence."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from cluster import client as client_module
from cluster.api.app import create_app
from cluster.client import Client
from cluster.model import Fault, Problem, Status
from sim.core.errors import InputError
from tests.cases import check_each
from tests.cluster.fake_controller import FakeController
from tests.cluster.serving import Server, serving
from tests.tools import free_port
from tests.waiting import until


@pytest.fixture
def client(server: Server) -> Client:
    return Client(server.url)


@pytest.mark.slow
def test_a_snapshot_from_its_request_to_what_was_true(client: Client, controller: FakeController) -> None:
    asked = client.trigger("P1", "full")
    assert asked["status"] == "INITIATED"
    ending = threading.Timer(0.1, controller.finish, (asked["snapshot_id"], Status.COMPLETED))
    ending.start()
    assert client.wait(asked["snapshot_id"])["status"] == "COMPLETED"
    assert client.contents("snap-0")["channels"] == {"P1->P2": [30, "x"]}
    assert client.restore("snap-0")["epoch"] == 1
    assert client.restore(epoch=1)["epoch"] == client.restore()["epoch"] - 1 == 2
    assert [one["epoch"] for one in client.epochs()] == [3, 2, 1, 0]


@pytest.mark.slow
def test_all_pages_of_snapshots(client: Client, controller: FakeController) -> None:
    for number in range(120):
        client.trigger()
        if number % 2:
            controller.finish(f"snap-{number}", Status.FAILED)
    assert [one["snapshot_id"] for one in client.snapshots()] == [f"snap-{n}" for n in range(119, -1, -1)]
    assert len(list(client.snapshots("FAILED"))) == 60
    assert client.cancel("snap-0")["status"] == "CANCELLED"


def test_nodes_and_faults(client: Client, controller: FakeController) -> None:
    assert [node["node_id"] for node in client.nodes()] == ["P1", "P2", "P3"]
    assert client.join()["node_id"] == "P3"
    assert client.leave("P3")["status"] == "ABSENT"
    client.inject("delay", channels=["P1->P2"], high_ms=5)
    assert controller.faults == [Fault("delay", channels=("P1->P2",), high=5.0)]


def test_down_ends_the_cluster(client: Client, controller: FakeController) -> None:
    client.down()
    until(lambda: controller.ended)


def test_events_come_until_the_cluster_ends(client: Client, controller: FakeController) -> None:
    events = client.events()

    def feed() -> None:
        until(lambda: bool(controller.readers))
        controller.emit({"row": 1})
        controller.emit(None)

    feeding = threading.Thread(target=feed)
    feeding.start()
    assert next(events) == {"row": 1}
    with pytest.raises(InputError, match=r"^the cluster has ended$"):
        next(events)
    feeding.join()


def test_a_problem_is_its_sentence(client: Client) -> None:
    with pytest.raises(InputError, match=r"^There is no snapshot '\.\.é \?#'\.$"):
        client.snapshot("..é ?#")
    with pytest.raises(InputError, match=r"^snapshot_type: 'weekly' is not possible; it should be 'full' or"):
        client.trigger(type="weekly")


@pytest.mark.parametrize("status", [429, 503])
def test_a_question_is_asked_again_while_the_cluster_is_busy_and_a_wish_is_not(
    status: int, client: Client, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "LONGEST_PAUSE_S", 0.0)
    asked: list[str] = []
    later: dict[str, str] = {}

    def busy(what: str, times: int) -> None:
        asked.append(what)
        if asked.count(what) <= times:
            problem = Problem(status, f"{what} cannot be read now; ask again later.")
            problem.headers = later  # type: ignore[attr-defined]
            raise problem

    nodes, trigger = controller.nodes, controller.trigger
    monkeypatch.setattr(controller, "nodes", lambda: busy("nodes", 2) or nodes())
    assert len(client.nodes()) == asked.count("nodes") == 3
    monkeypatch.setattr(controller, "trigger", lambda wish: busy("a wish", 9) or trigger(wish))
    with pytest.raises(InputError, match=r"^a wish cannot be read now; ask again later\.$"):
        client.trigger()
    assert asked.count("a wish") == 1
    monkeypatch.setattr(client_module, "LONGEST_PAUSE_S", 99.0)  # longer than its patience
    later["Retry-After"] = "98"
    monkeypatch.setattr(controller, "nodes", lambda: busy("nodes", 99))
    with pytest.raises(InputError, match=r"^nodes cannot be read now"):
        client.nodes()
    assert asked.count("nodes") == 4


def test_a_pause_is_what_the_cluster_says_within_bounds() -> None:
    told = {"3": 3.0, "0": 0.0, "3600": 5.0, None: 1.0, "": 1.0, "soon": 1.0, "-1": 1.0, "9" * 5000: 1.0, "²": 1.0}
    check_each(told.items(), lambda text, pause: _equal(client_module._pause(text), pause))


def _equal(one: object, other: object) -> None:
    assert one == other


def test_a_snapshot_that_does_not_end_is_not_waited_for_for_ever(client: Client) -> None:
    client.trigger()
    with pytest.raises(InputError, match=r"^snap-0 is still INITIATED after 0 seconds; ask again later$"):
        client.wait("snap-0", patience_s=0)


@pytest.mark.slow
def test_the_token_is_sent() -> None:
    with serving(create_app(FakeController(), "secret")) as server:
        assert len(Client(server.url, "secret").nodes()) == 3
        for token in (None, "wrong"):
            with pytest.raises(InputError, match="wants its token; give it with --token"):
                Client(server.url, token).nodes()


def test_no_cluster_there() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(InputError, match=f"^no cluster answers at {url}; start one with python -m cluster up$"):
        Client(url).nodes()
    with pytest.raises(InputError, match=r"^no cluster answers"):
        next(Client(url).events())


def test_what_is_no_address() -> None:
    def check(url: str) -> None:
        with pytest.raises(InputError, match=r"is no address of a cluster; give one such as http://127\.0\.0\.1:8765$"):
            Client(url)

    check_each(["", "127.0.0.1:8765", "file:///etc/passwd", "http://", "http://a:b", "http://x y"], check)


def test_a_token_that_no_header_carries() -> None:
    with pytest.raises(InputError, match="printable ASCII"):
        Client(token="a\nHost: evil")


@contextmanager
def saying(text: bytes | None) -> Iterator[str]:
    """The address of a server that answers every request with `text` (None: it never answers)."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                if text is not None:
                    connection.sendall(text)
                else:
                    connection.recv(1)  # until the client has gone

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join()


OTHERS = [
    (b"HTTP/1.0 200 OK\r\n\r\n<html>", "is no cluster; give the address that `up` printed$"),
    (b"HTTP/1.0 200 OK\r\n\r\n[1]", "is no cluster; give the address"),
    (b"HTTP/1.0 500 Oh\r\n\r\n<html>", "is no cluster: status 500$"),
    (b"HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", "is no cluster: status 302$"),
    (b"SSH-2.0\r\n", "^the connection to .* broke off; check that the cluster still runs$"),
    (b"", "^the connection to .* broke off"),
    (b"HTTP/1.0 200 OK\r\nContent-Length: 9\r\n\r\n{", "^the connection to .* broke off|is no cluster"),
]


def test_something_else_answers() -> None:
    def check(text: bytes, sentence: str) -> None:
        with saying(text) as url, pytest.raises(InputError, match=sentence):
            Client(url).nodes()

    check_each(OTHERS, check)


def test_what_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Client._ask, "__defaults__", (None, 0.05))
    with (
        saying(None) as url,
        pytest.raises(InputError, match=r"has not answered within 0\.05 seconds; ask again later$"),
    ):
        Client(url).nodes()


def test_an_answer_is_bounded(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "MOST_BYTES", 10)
    with pytest.raises(InputError, match=r"/v1/nodes is too large; it may have 10 bytes$"):
        client.nodes()


def test_no_proxy_sees_the_token(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    monkeypatch.delenv("no_proxy", raising=False)
    assert len(Client(client.url).nodes()) == 3
