"""What cluster the form of the page Live asks for, and the command line that starts it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from cluster.node.system import GRPC, TCP, live
from cluster.start.full_graph import of_nodes
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.core.workload import WORKLOADS

FEWEST, MOST = 2, 8  # processes


class Speed(NamedTuple):
    """How fast a cluster runs: a time unit, and the least and the longest way of a message, as --delay takes them."""

    words: str
    unit: str
    delay: str


SPEEDS = {
    "slow": Speed("Slow: one sees every message", "60ms", "250ms..900ms"),
    "lively": Speed("Lively", "12ms", "40ms..160ms"),
    "fast": Speed("Fast: hundreds of messages a second", "1ms", "2ms..12ms"),
}


LINKS = {TCP: "TCP", GRPC: "gRPC: a stream for each channel"}


@dataclass(frozen=True)
class Asked:
    """Raises InputError for what no cluster can be."""

    nodes: int = 4
    workload: str = "bank"
    algorithm: str = "chandy_lamport"
    speed: str = "slow"
    transport: str = TCP

    def __post_init__(self) -> None:
        if not FEWEST <= self.nodes <= MOST:
            raise InputError(f"processes: from {FEWEST} to {MOST}, not {self.nodes}")
        if self.speed not in SPEEDS:
            raise InputError(f"speed: {self.speed!r} is none of {', '.join(SPEEDS)}")
        if self.transport not in LINKS:
            raise InputError(f"transport: {self.transport!r} is none of {', '.join(LINKS)}")
        if self.algorithm not in algorithms() or self.workload not in workloads():
            raise InputError(f"{self.workload} under {self.algorithm}: no cluster runs that; choose from the menus")

    def command(self, folder: Path) -> list[str]:
        """The command that runs the cluster in the foreground. It listens on a free port, and says on which."""
        speed = SPEEDS[self.speed]
        return [
            sys.executable, "-m", "cluster", "up", "--nodes", str(self.nodes), "--workload", self.workload,
            "--algorithm", self.algorithm, "--unit", speed.unit, "--delay", speed.delay, "--port", "0",
            "--allow-faults", "--transport", self.transport, "--out", str(folder),
        ]  # fmt: skip

    @property
    def title(self) -> str:
        """What runs, in a few words."""
        return f"{self.nodes} processes: {WORKLOADS[self.workload].title}, {ALGORITHMS[self.algorithm].title}"


@cache
def algorithms() -> dict[str, str]:
    """The algorithms that run live, by name, each with its title."""
    return {name: ALGORITHMS[name].title for name in ALGORITHMS if _runs("bank", name)}


@cache
def workloads() -> dict[str, str]:
    """The workloads that go on by themselves for ever, by name, each with its title."""
    busy = [name for name in WORKLOADS if WORKLOADS[name].busy(3, 1)]
    found = {name: WORKLOADS[name].title for name in busy if _runs(name, "chandy_lamport")}
    return {name: found[name] for name in sorted(found, key=lambda name: (name != "bank", found[name]))}


def _runs(workload: str, algorithm: str) -> bool:
    try:
        live(of_nodes(3, workload, algorithm), 0.01)
    except InputError:
        return False
    return True
