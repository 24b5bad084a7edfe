"""A node in JavaScript takes part in a cluster: its snapshots are complete, and its run is replayed, row by row."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import Status, Wish
from cluster.node.system import GRPC
from cluster.start.wanted import Wanted
from sim.core.model import RECORDED
from sim.document.files import read_toml
from tests.cluster.live import live, taken, told_again
from tests.tools import ROOT
from tests.waiting import comes

pytestmark = pytest.mark.slow
SOURCE = Path(__file__).with_name("javascript")
RING = """
processes = ["P1", "P2", "P3"]
topology = { kind = "ring" }
[workload]
kind = "token_ring"
hold = 2
rounds = 1000000
tokens = { P1 = 4, P2 = 2, P3 = 3 }
[delay]
kind = "fixed"
value = 0
[control_delay]
kind = "fixed"
value = 0
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The command that runs the node, with its packages."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("Node.js or npm is not installed")
    folder = tmp_path_factory.mktemp("javascript") / "node"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("node_modules"))
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    environment = {name: value for name, value in os.environ.items() if name != "NODE_OPTIONS"}  # tests/conftest.py
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode:
        pytest.skip(f"gRPC for Node.js is not installed, and npm cannot install it: {done.stderr[-200:]}")
    return f"env -u NODE_OPTIONS {node} {folder / 'token_ring.js'} {ROOT / 'cluster' / 'rpc' / 'snapshot.proto'}"


def test_a_node_in_javascript_follows_the_same_rules(tmp_path: Path, program: str) -> None:
    async def act(supervisor: Supervisor) -> None:
        counts = lambda name: next(own.counts for own in supervisor.nodes() if own.name == name) or {}  # noqa: E731
        await comes(lambda: counts("P3").get("received", 0) > 5, "it takes part")
        for initiator in ("P3", "P1", "P3"):
            own = await taken(supervisor, Wish(initiator=initiator))
            assert own.status is Status.COMPLETED, own.reason
            found = supervisor.contents(own.id)
            held = sum(part["state"] for part in found["processes"].values())
            assert held + sum(map(len, found["channels"].values())) == 9, "no token is lost, and none is there twice"

    wanted = Wanted(
        read_toml(RING, "ring"), tmp_path, delay=(0.005, 0.03), has_coordinator=False, transport=GRPC,
        programs={"P3": program},
    )  # fmt: skip
    execution = told_again(live(wanted, act))
    recorded = [row.process for row in execution.table if row.kind == RECORDED]
    assert recorded, "something was on its way"
    assert {row.process for row in execution.table if row.kind == "receive"} == {"P1", "P2", "P3"}
