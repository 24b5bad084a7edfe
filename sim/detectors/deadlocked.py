"""Deadlock: processes that wait for each other in a circle, each for an object that the next one holds."""

from __future__ import annotations

from collections.abc import Iterator

from sim.core.detector import Contents, Detector, Finding, States
from sim.workloads.requests import ASK, RELEASE


class Deadlocked(Detector):
    """A process that waits does nothing until it gets its object, so no process in a cycle ever goes on.

    A process waits for the holder of an object if it is in that object's queue, or if its request is on the way. An
    object whose release is on the way has no holder.
    """

    name = "deadlocked"
    title = "Deadlock"
    holds = "Some processes are in a deadlock"
    fails = "No process is in a deadlock"
    source = "G. Coulouris et al., Distributed Systems, chapter 17: edge chasing, phantom deadlocks"
    workloads = ("requests",)

    def look(self, states: States, channels: Contents) -> Finding:
        """Looks for a circle in the wait-for graph."""
        import networkx as nx  # slow: who looks for no deadlock does not wait for it

        waits = tuple(sorted(set(_waits(states, channels))))
        graph: nx.DiGraph[str] = nx.DiGraph(waits)
        try:
            circle = tuple(edge[0] for edge in nx.find_cycle(graph))
        except nx.NetworkXNoCycle:
            chain = ", ".join(f"{one} waits for {other}" for one, other in waits)
            return Finding(False, f"{chain}: there is no circle" if waits else "no process waits", waits)
        told = ", ".join(f"{one} waits for {circle[(place + 1) % len(circle)]}" for place, one in enumerate(circle))
        return Finding(True, told, waits, circle)


def _waits(states: States, channels: Contents) -> Iterator[tuple[str, str]]:
    """The edges of the wait-for graph: who waits, and for whom."""
    asking, released = _on_their_way(channels)
    for state in states.values():
        for thing, queue in state["objects"].items():
            if queue and (thing, queue[0]) not in released:
                yield from ((name, queue[0]) for name in (*queue[1:], *asking.get(thing, ())))


def _on_their_way(channels: Contents) -> tuple[dict[str, list[str]], set[tuple[str, str]]]:
    """By object: those whose request is on its way. And the releases on their way: the object, and who held it."""
    asking: dict[str, list[str]] = {}
    released = set()
    for channel, bodies in channels.items():
        source = channel.partition("->")[0]
        for word, _, thing in (body.partition(" ") for body in bodies):
            if word == ASK:
                asking.setdefault(thing, []).append(source)
            elif word == RELEASE:
                released.add((thing, source))
    return asking, released
