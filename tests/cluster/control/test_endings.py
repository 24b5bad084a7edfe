"""However a cluster ends, and whenever: none of its nodes is left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.running import command, nodes_of, none_is_left, sentence_of, surroundings
from tests.tools import ROOT
from tests.waiting import budget_s, until

pytestmark = pytest.mark.slow
OTHERS = pytest.mark.long("the other ways in which a cluster ends")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A cluster of two nodes as a program of its own, which has only just been started."""
    with subprocess.Popen(
        command("up", "--nodes", "2", "--port", "0", "--out", str(tmp_path / "out")),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **surroundings(ROOT),
    ) as program:  # fmt: skip
        yield program
        if program.poll() is None:
            program.kill()


def starting(cluster: subprocess.Popen[str]) -> list[int]:
    """Its nodes, when they have been started, and have hardly begun."""
    return until(lambda: found if len(found := nodes_of(cluster)) == 2 else [], "its nodes are started")


def started(cluster: subprocess.Popen[str]) -> list[int]:
    """Its nodes, when they run."""
    assert cluster.stdout is not None
    assert any("Ctrl-C" in line for line in iter(cluster.stdout.readline, ""))
    nodes = nodes_of(cluster)
    assert len(nodes) == 2
    return nodes


def ends(cluster: subprocess.Popen[str], nodes: list[int], how: signal.Signals) -> None:
    cluster.send_signal(how)
    status = cluster.wait(budget_s())
    assert status == (-how if how is signal.SIGKILL else 128 + how)
    none_is_left(nodes)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, pytest.param(signal.SIGTERM, marks=OTHERS)])
def test_no_node_outlives_its_controller(cluster: subprocess.Popen[str], how: signal.Signals) -> None:
    ends(cluster, started(cluster), how)


@pytest.mark.parametrize("how", [pytest.param(signal.SIGKILL, marks=OTHERS), signal.SIGINT])
def test_no_node_outlives_a_controller_that_ends_while_it_starts(
    cluster: subprocess.Popen[str], how: signal.Signals
) -> None:
    ends(cluster, starting(cluster), how)


def test_a_node_that_ends_while_it_starts_ends_the_cluster_with_a_sentence(cluster: subprocess.Popen[str]) -> None:
    nodes = starting(cluster)
    os.kill(nodes[0], signal.SIGKILL)
    out, err = cluster.communicate(timeout=budget_s())
    says = sentence_of(subprocess.CompletedProcess((), cluster.returncode, out, err))
    assert re.match(r"node P[12]: did not start, it ended with status -9; ", says)
    none_is_left(nodes)


def test_a_node_that_hears_nothing_of_its_controller_ends_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "cluster.node.process"], stdin=subprocess.DEVNULL, capture_output=True,
        timeout=budget_s(), check=True,
    )  # fmt: skip
    assert done.stderr == b""
