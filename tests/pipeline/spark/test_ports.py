"""Every port of Spark's processes is on the loopback address and asks for a secret, which is on no command line."""

from __future__ import annotations

import socket
import stat
import struct
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.connect.session import SparkSession

from pipeline.spark import session as spark_session
from pipeline.spark.connecting import connect
from pipeline.spark.local_server import Server
from sim.core.errors import InputError
from tests.pipeline.spark.processes import command_of, descendants, is_let_in, java_of, ports_of
from tests.waiting import apart

pytestmark = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="there is no /proc/net to look at")


def is_loopback(address: str) -> bool:
    """Whether an address, as the kernel writes it, is 127.0.0.1, ::1, or 127.0.0.1 as an IPv6 address."""
    return address.endswith("0100007F") or address == "0" * 24 + "01000000"


def test_what_counts_as_loopback() -> None:
    assert is_loopback("0100007F")
    assert is_loopback("0000000000000000FFFF00000100007F")
    assert not is_loopback("00000000")
    assert not is_loopback("0" * 32)


@pytest.fixture
def server(spark: Any) -> Server:
    spark.range(3).mapInArrow(lambda batches: batches, "id long").count()  # so that there are workers
    if spark_session._STATE.server is None:
        pytest.skip("SPARK_REMOTE names a server that is not our own")
    return spark_session._STATE.server


def test_a_session_is_started_once(spark: Any) -> None:
    assert spark_session.is_warm()
    assert spark_session.session() is spark


def test_all_ports_are_on_the_loopback_address(server: Server) -> None:
    ports = ports_of([server._process.pid, *descendants(server._process.pid)])
    assert server.port in ports
    assert len(ports) >= 5  # Connect, py4j, driver, block manager, the daemon of the workers
    assert {is_loopback(address) for addresses in ports.values() for address in addresses} == {True}


def test_without_the_secret_no_port_of_java_lets_a_client_in(server: Server, probe: Any) -> None:
    ports = ports_of(java_of(server._process.pid))
    soon = {"rpc_lookupTimeout": "5s"}  # some ports do not answer at all
    assert [port for port in ports if is_let_in(probe, port, **soon)] == []
    wrong = {**soon, "authenticate": "true", "network_crypto_enabled": "true", "authenticate_secret": "a guess"}
    assert [port for port in ports if is_let_in(probe, port, **wrong)] == []


def test_a_worker_serves_nobody_without_the_secret(server: Server) -> None:
    daemons = [pid for pid in descendants(server._process.pid) if "pyspark.daemon" in command_of(pid)]
    (port,) = ports_of(daemons)
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(struct.pack("!i", 7) + b"a guess")
        answer = b""
        while received := client.recv(1000):
            answer += received
    assert answer.endswith(b"err")


def test_secrets_are_where_only_this_user_reads_them(server: Server) -> None:
    conf = server.scratch / "conf.properties"
    lines = map(str.split, conf.read_text().splitlines())
    secrets = [value for name, value, *_ in lines if name.endswith((".token", ".secret"))]
    assert [len(secret) >= 32 for secret in secrets] == [True, True]
    assert stat.S_IMODE(server.scratch.stat().st_mode) == 0o700
    assert stat.S_IMODE(conf.stat().st_mode) == 0o600
    commands = [word for pid in descendants(server._process.pid) for word in command_of(pid)]
    log = (server.scratch / "server.log").read_text()
    assert not any(secret in text for secret in secrets for text in (*commands, log))


def test_a_client_without_the_token_is_refused_and_no_function_of_spark_asks_it_later(server: Server) -> None:
    def refused() -> object:
        with pytest.raises(InputError, match="no Spark answers"):
            connect(f"sc://localhost:{server.port}", retries=0)
        return SparkSession.getActiveSession()

    assert apart(refused) is None
