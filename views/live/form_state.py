"""The state of the form of the page Live, and the command line that starts its cluster."""

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
from views.live import words

FEWEST, MOST = 2, 8  # processes


class Speed(NamedTuple):
    """The speed of a cluster: a time unit, and the shortest and longest delay of a message, as --delay takes them."""

    words: str
    unit: str
    delay: str


SPEEDS = {
    "slow": Speed(words.SLOW, "60ms", "250ms..900ms"),
    "lively": Speed(words.LIVELY, "12ms", "40ms..160ms"),
    "fast": Speed(words.FAST, "1ms", "2ms..12ms"),
}


LINKS = {TCP: words.OVER_TCP, GRPC: words.OVER_GRPC}


@dataclass(frozen=True)
class FormState:
    """The choices of the form. Raises InputError for a cluster that cannot run."""

    nodes: int = 4
    workload: str = "bank"
    algorithm: str = "chandy_lamport"
    speed: str = "slow"
    transport: str = TCP

    def __post_init__(self) -> None:
        if not FEWEST <= self.nodes <= MOST:
            raise InputError(words.number_of_processes(FEWEST, MOST, self.nodes))
        if self.speed not in SPEEDS:
            raise InputError(words.none_of("speed", self.speed, ", ".join(SPEEDS)))
        if self.transport not in LINKS:
            raise InputError(words.none_of("transport", self.transport, ", ".join(LINKS)))
        if self.algorithm not in algorithms() or self.workload not in workloads():
            raise InputError(words.does_not_run(self.workload, self.algorithm))

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
        """The cluster in a few words."""
        return words.title(self.nodes, WORKLOADS[self.workload].title, ALGORITHMS[self.algorithm].title)


@cache
def algorithms() -> dict[str, str]:
    """The algorithms that run live, by name, each with its title."""
    return {name: ALGORITHMS[name].title for name in ALGORITHMS if _runs("bank", name)}


@cache
def workloads() -> dict[str, str]:
    """The workloads that never end, by name, each with its title."""
    busy = [name for name in WORKLOADS if WORKLOADS[name].busy(3, 1)]
    found = {name: WORKLOADS[name].title for name in busy if _runs(name, "chandy_lamport")}
    return {name: found[name] for name in sorted(found, key=lambda name: (name != "bank", found[name]))}


def _runs(workload: str, algorithm: str) -> bool:
    try:
        live(of_nodes(3, workload, algorithm), 0.01)
    except InputError:
        return False
    return True
