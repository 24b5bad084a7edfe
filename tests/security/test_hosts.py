"""No page gets in by another name: DNS rebinding, foreign Origins, and the browser's permission to load."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from sim.core.errors import InputError
from tests.cases import check_each
from tests.security.asgi import ask, scope_of
from tests.tools import ROOT, examples
from views.server import visitors
from views.server.gate import FRAMES_VARIABLE, HOSTS_VARIABLE, Gate, host_in, hosts_named

LOCAL, LAN = ("127.0.0.1", 8501), ("192.168.1.20", 8501)


class Streamlit:
    """A stand-in for the app behind the gate, which accepts every request."""

    def __init__(self) -> None:
        self.reached = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.reached += 1
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
        else:
            await PlainTextResponse("hello")(scope, receive, send)


def passes(kind: str, headers: Any, server: Any = LOCAL, method: str = "GET") -> bool:
    """Whether the app sees a request. One that it does not see is refused."""
    app = Streamlit()
    sent = ask(Gate(app), scope_of(kind, headers, server, method))
    if not app.reached:
        (answer,) = sent[:1]
        assert answer["type"] == "websocket.close" if kind == "websocket" else answer["status"] in (403, 413)
    return bool(app.reached)


HOSTS = [
    ("127.0.0.1:8501", LOCAL, True),
    ("localhost:8501", LOCAL, True),
    ("LocalHost", LOCAL, True),
    ("localhost.:8501", LOCAL, True),
    ("192.168.1.20:8501", LAN, True),
    ("[::1]:8501", ("::1", 8501), True),
    ("[FE80:0::1]:8501", ("fe80::1%eth0", 8501), True),
    ("192.168.1.20:8501", ("::ffff:192.168.1.20", 8501), True),
    ("class.example.org", LOCAL, True),
    ("CLASS.example.org.:443", LOCAL, True),
    ("evil.example:8501", LOCAL, False),
    ("evil.example", LAN, False),
    ("127.0.0.1.evil.example", LOCAL, False),
    ("class.example.org.evil.example", LOCAL, False),
    ("other.class.example.org", LOCAL, False),
    ("192.168.1.20:8501", LOCAL, False),
    ("127.0.0.1:8501", LAN, False),
    ("[::1]:8501", LOCAL, False),
    ("localhost@evil.example", LOCAL, False),
    ("evil.example@localhost", LOCAL, False),
    ("localhost/evil.example", LOCAL, False),
    ("localhost#evil.example", LOCAL, False),
    ("localhost:port", LOCAL, False),
    ("localhost:99999", LOCAL, False),
    ("[::1", ("::1", 8501), False),
    ("", LOCAL, False),
    ("/run/app.sock", ("/run/app.sock", None), False),
    ("localhost", ("/run/app.sock", None), True),
    ("localhost", None, True),
]


def test_the_app_is_called_by_a_name_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOSTS_VARIABLE, "class.example.org")

    def check(host: str, server: Any, good: bool) -> None:
        for kind in ("http", "websocket"):
            assert passes(kind, [("Host", host)], server) == good, kind

    check_each(HOSTS, check)


OURS = st.sampled_from(["127.0.0.1", "localhost", "class.example.org"])
SIGNS = st.sampled_from([*"@.:/#?\t \\", ":80", ":65536", "//", ""])
WORDS = st.sampled_from(["evil.example", "a", "9", ""])
BEFORE, AFTER = st.tuples(WORDS, SIGNS).map("".join), st.tuples(SIGNS, WORDS).map("".join)
NOT_BESIDE = st.just("")


@examples(100)
@given(
    OURS, st.tuples(BEFORE, NOT_BESIDE) | st.tuples(NOT_BESIDE, AFTER) | st.tuples(BEFORE, AFTER),
    st.sampled_from(["http", "websocket"]),
)  # fmt: skip
def test_what_is_written_around_our_name_opens_nothing(name: str, beside: tuple[str, str], kind: str) -> None:
    """But for a dot at its end, and a port."""
    written = name.join(beside)
    port = re.fullmatch(rf"{re.escape(name)}\.?(?::(\d*))?", written)
    is_ours = port is not None and int(port[1] or 0) < 65_536
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOSTS_VARIABLE, "class.example.org")
        assert passes(kind, [("Host", written)]) == is_ours


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_there_is_one_host_and_no_proxy_says_another(kind: str) -> None:
    assert not passes(kind, [])
    assert not passes(kind, [("Host", "localhost"), ("Host", "evil.example")])
    assert not passes(kind, [("Host", "evil.example"), ("X-Forwarded-Host", "localhost")])
    assert passes(kind, [("Host", "localhost"), ("X-Forwarded-Host", "evil.example")])


ORIGINS = [
    ("http://localhost:8501", True),
    ("https://localhost:8501", True),  # the proxy before this server has the certificate
    (None, True),  # no browser, as bench/classroom.py
    ("http://evil.example", False),
    ("http://localhost:8888", False),  # another program's page on this computer
    ("http://localhost", False),
    ("http://localhost:8501.evil.example", False),
    ("http://localhost:8501@evil.example", False),
    ("null", False),
    ("", False),
    ("file://", False),
    ("http://[localhost:8501", False),
]


def test_a_page_that_asks_is_one_of_ours() -> None:
    def check(origin: str | None, good: bool) -> None:
        headers = [("Host", "localhost:8501"), *([("Origin", origin)] if origin is not None else [])]
        for kind, method in (("websocket", "GET"), ("http", "PUT"), ("http", "GET"), ("http", "OPTIONS")):
            assert passes(kind, headers, method=method) == good, (kind, method)

    check_each(ORIGINS, check)


def test_the_hosts_are_a_plain_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HOSTS_VARIABLE, raising=False)
    assert hosts_named() == frozenset()
    monkeypatch.setenv(HOSTS_VARIABLE, " Class.example.org., teacher-laptop 203.0.113.7,[2001:DB8::1] ")
    assert hosts_named() == {"class.example.org", "teacher-laptop", "203.0.113.7", "2001:db8::1"}
    for bad in ("https://class.example.org", "*", "class.example.org:8501", "class.example.org/app", "a..b"):
        monkeypatch.setenv(HOSTS_VARIABLE, bad)
        with pytest.raises(InputError, match=f"{HOSTS_VARIABLE}: .* is not a host name"):
            hosts_named()


def test_ports_and_letters_of_a_host() -> None:
    assert host_in("Class.Example.org.:80") == "class.example.org"
    assert host_in("[::FFFF:127.0.0.1]:80") == "127.0.0.1"
    assert host_in("a\tb") is None


def answer_of(app: Any, headers: Any = (("Host", "localhost"),)) -> Headers:
    started = ask(app, scope_of("http", headers, LOCAL))[0]
    return Headers(raw=started["headers"])


def test_nothing_is_loaded_from_elsewhere_and_nobody_frames_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = answer_of(Gate(Streamlit()))["content-security-policy"]
    sources = {words.split()[0]: words.split()[1:] for words in policy.split("; ")}
    near = {"'self'", "'none'", "'unsafe-inline'", "'unsafe-eval'", "data:", "blob:"}
    assert {source for listed in sources.values() for source in listed if not source.startswith("'sha256-")} <= near
    assert "'unsafe-inline'" not in sources["script-src"], "a script in a name does not run"
    assert {"default-src", "script-src", "img-src", "connect-src", "font-src"} <= set(sources)
    assert sources["frame-ancestors"] == ["'self'"]
    monkeypatch.setenv(FRAMES_VARIABLE, "https://moodle.example.org")
    framed = answer_of(Gate(Streamlit()))["content-security-policy"]
    assert framed.endswith("frame-ancestors 'self' https://moodle.example.org")
    monkeypatch.setenv(FRAMES_VARIABLE, "https://a.example;script-src *")
    with pytest.raises(InputError, match="is no site"):
        Gate(Streamlit())


def test_refusals_have_the_headers_too() -> None:
    headers = answer_of(Gate(Streamlit()), [("Host", "evil.example")])
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "set-cookie" not in headers


def test_a_file_for_a_class_is_short_and_says_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(length: str | None, good: bool) -> None:
        headers = [("Host", "localhost"), *([("Content-Length", length)] if length is not None else [])]
        monkeypatch.delenv(visitors.CLASS_VARIABLE, raising=False)
        assert passes("http", headers, method="PUT"), "no class"
        monkeypatch.setenv(visitors.CLASS_VARIABLE, "1")
        assert passes("http", headers, method="PUT") == good

    bounds = [("20000000", True), ("0", True), ("21000000", True), ("21000001", False)]
    check_each([*bounds, ("-1", False), ("²", False), (None, False)], check)


START = """
import os
from tests.security.asgi import ask, scope_of
os.environ[{variable!r}] = "http://class.example.org"
try:
    import app
except SystemExit as ended:
    print(ended)
del os.environ[{variable!r}]
from app import app
bad = [('Host', 'evil.example'), ('Origin', 'http://evil.example')]
starlette = app._build_starlette_app()
for kind in ('http', 'websocket'):
    print(ask(starlette, scope_of(kind, bad, ('127.0.0.1', 8501)))[0])
"""


@pytest.mark.slow
def test_the_app_is_behind_the_gate_and_a_wrong_setting_ends_its_start_with_one_sentence() -> None:
    """The app of app.py itself, whose Streamlit is not started: the gate answers first."""
    command = [sys.executable, "-c", START.format(variable=HOSTS_VARIABLE)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    *_, problem, page, socket = done.stdout.splitlines()
    assert f"{HOSTS_VARIABLE}: 'http://class.example.org' is not a host name" in problem
    assert "Traceback" not in done.stderr
    assert "'status': 403" in page
    assert "websocket.close" in socket
