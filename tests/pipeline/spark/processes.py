"""The processes of a Spark server, and the ports on which they listen."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.waiting import until


def descendants(pid: int) -> list[int]:
    """The descendants of process `pid`."""
    own = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    children: dict[int, list[int]] = {}
    for line in own.splitlines():
        child, parent = map(int, line.split())
        children.setdefault(parent, []).append(child)
    found, todo = [], [pid]
    while todo:
        own_children = children.get(todo.pop(), [])
        found += own_children
        todo += own_children
    return found


def wait_until(is_so: Callable[[], object]) -> None:
    """Waits until something is so that takes as long as a start of Spark."""
    until(is_so, seconds=120.0)


def wait_until_gone(pids: list[int]) -> None:
    until(lambda: not any(map(is_running, pids)), "these processes end")


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except OSError:  # it has ended since
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def command_of(pid: int) -> list[str]:
    """The words of the command line of a process; one empty word if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except OSError:
        return [""]


def java_of(server: int) -> list[int]:
    """The Java processes among the descendants of the server process."""
    return [pid for pid in descendants(server) if command_of(pid)[0].endswith("java")]


def python_workers(server: int) -> list[int]:
    """The Python workers of a server: children of PySpark's daemons."""
    daemons = [pid for pid in descendants(server) if "pyspark.daemon" in command_of(pid)]
    children = {child for daemon in daemons for child in descendants(daemon)}
    return sorted(children & set(daemons))  # a worker is a fork of its daemon


def ports_of(pids: list[int]) -> dict[int, list[str]]:
    """The addresses, as the kernel writes them, on which some processes listen, by port."""
    sockets = {target for pid in pids for target in _open_files(pid) if target.startswith("socket:")}
    found: dict[int, list[str]] = {}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            _, local, _, state, _, _, _, _, _, inode, *_ = line.split()
            address, _, port = local.partition(":")
            if state == "0A" and f"socket:[{inode}]" in sockets:
                found.setdefault(int(port, 16), []).append(address)
    return found


def _open_files(pid: int) -> list[str]:
    found = []
    for file in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.append(os.readlink(file))
        except OSError:  # it is closed by now
            continue
    return found


def is_let_in(probe: Any, port: int, **conf: str) -> bool:
    """Whether Spark's own client is answered at a port of a driver."""
    wanted = probe.org.apache.spark.SparkConf(False).set("spark.rpc.lookupTimeout", "20s")
    for name, value in conf.items():
        wanted.set(f"spark.{name.replace('_', '.')}", value)
    manager = probe.org.apache.spark.SecurityManager
    defaults = (getattr(manager, f"$lessinit$greater$default${number}")() for number in (2, 3))
    rpc = probe.org.apache.spark.rpc
    client = rpc.RpcEnv.create("probe", "127.0.0.1", 0, wanted, manager(wanted, *defaults), True)
    try:
        client.setupEndpointRef(rpc.RpcAddress("127.0.0.1", port), "HeartbeatReceiver")
    except Exception:  # of Java, by way of py4j
        return False
    finally:
        client.shutdown()
    return True
