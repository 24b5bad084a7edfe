"""The app never calls an outside address: not at the start, and not for any Host and Origin of a request."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit import config, net_util
from streamlit.web import bootstrap

from tests.tools import ROOT, end, free_port
from tests.waiting import budget_s, until

HANDSHAKE = (
    "GET /_stcore/stream HTTP/1.1\r\nHost: {host}\r\nOrigin: {origin}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)

# The app, with a guard that tells of every address that is looked up or connected to, and is not of this computer.
GUARDED = """
import sys
from streamlit.web import cli

NEAR = ("127.0.0.1", "::1", "localhost", "0.0.0.0", None)

def guard(event, about):
    if event in ("socket.getaddrinfo", "socket.gethostbyname"):
        asked = about[0]
    elif event in ("socket.connect", "socket.sendto"):
        asked = about[1][0] if isinstance(about[1], tuple) else None
    else:
        return
    if asked not in NEAR:
        print("OUTSIDE", event, asked, flush=True)

sys.addaudithook(guard)
sys.argv = ["streamlit", "run", "app.py", *sys.argv[1:]]
cli.main()
"""


def answer(port: int, request: str) -> str:
    """The first line of the answer to a request; empty if no server listens yet."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=budget_s()) as connection:
            connection.sendall(request.encode())
            return connection.recv(1000).decode("latin-1").partition("\r\n")[0]
    except ConnectionRefusedError:
        return ""


def serves(port: int) -> bool:
    return answer(port, "GET /_stcore/health HTTP/1.1\r\nHost: localhost\r\n\r\n").endswith("200 OK")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    """The port of the app as for a class, which listens to the network, and what it prints."""
    log, port = tmp_path_factory.mktemp("outside") / "log", free_port()
    arguments = ["--server.address", "0.0.0.0", "--server.port", str(port)]
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "-c", GUARDED, *arguments], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            until(lambda: serves(port) or server.poll() is not None, "the app answers")
            assert server.poll() is None, log.read_text()
            yield port, log
        finally:
            end(server)


@pytest.mark.slow
def test_a_server_asks_nobody_when_it_starts_and_whoever_comes(served: tuple[int, Path]) -> None:
    port, log = served
    here = f"127.0.0.1:{port}"
    for host, origin, status in (
        (here, f"http://{here}", "101"),
        (here, "http://evil.example", "403"),
        (here, "null", "403"),
        (here, "http://127.0.0.1:1", "403"),
        (f"evil.example:{port}", f"http://evil.example:{port}", "403"),
        (f"LOCALHOST:{port}", f"http://localhost:{port}", "403"),
        (f"LOCALHOST:{port}", f"http://LOCALHOST:{port}", "101"),
    ):
        assert answer(port, HANDSHAKE.format(host=host, origin=origin)).split()[1] == status, (host, origin)
    told = log.read_text()
    assert "http://localhost" in told, "it has printed its address"
    assert "OUTSIDE" not in told, told


@pytest.mark.slow
def test_the_guard_sees_who_is_asked() -> None:
    program = GUARDED.partition("sys.argv =")[0] + "import socket\nsocket.getaddrinfo('outside.invalid', 80)"
    found = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "OUTSIDE socket.getaddrinfo outside.invalid" in found.stdout


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "::"])
def test_whatever_it_listens_to_its_address_is_not_asked_for(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(net_util, "get_external_ip", lambda: pytest.fail("an outside server was asked"))
    monkeypatch.setattr(net_util, "get_internal_ip", lambda: pytest.fail("a way to the outside was looked for"))
    before = config.get_option("server.address")
    config.set_option("server.address", address)
    try:
        bootstrap._print_url(False)
    finally:
        config.set_option("server.address", before)
