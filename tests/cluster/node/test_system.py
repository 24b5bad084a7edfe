"""The system that a cluster runs, as its users read of it."""

from __future__ import annotations

from cluster.node.system import System
from cluster.start.full_graph import of_nodes


def test_the_coordinators_times_are_told_in_seconds() -> None:
    system = System(of_nodes(2, "bank"), 0.06)
    assert system.in_seconds("P2 has sent no heartbeat for 66.6667") == "P2 has sent no heartbeat for 4 s"
    assert system.in_seconds("no word from P2 within 83.3333") == "no word from P2 within 5 s"
    assert system.in_seconds("P2 would hold more than 20 messages") == "P2 would hold more than 20 messages"
