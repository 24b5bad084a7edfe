"""Termination: every process is passive, and no message is on its way that could make one active again."""

from __future__ import annotations

from sim.core.detector import Contents, Detector, Finding, States
from sim.workloads.diffusing import ACTIVATE, ACTIVE


class Terminated(Detector):
    """A passive process sends nothing, so no process can become active once all is quiet."""

    name = "terminated"
    title = "Termination"
    holds = "The computation has terminated"
    fails = "The computation has not terminated"
    source = "E. W. Dijkstra and C. S. Scholten, Termination Detection for Diffusing Computations, 1980"
    workloads = ("diffusing",)

    def look(self, states: States, channels: Contents) -> Finding:
        """The first active process, or the first message on its way, shows that it has not terminated."""
        for process, state in states.items():
            if state == ACTIVE:
                return Finding(False, f"{process} is active")
        for channel, bodies in channels.items():
            if bodies:
                source, _, target = channel.partition("->")
                return Finding(
                    False, f"every process is passive, but {source}'s message {ACTIVATE!r} is on its way to {target}"
                )
        known = "every process is passive" if not channels else "every process is passive, and every channel is empty"
        return Finding(True, known)
