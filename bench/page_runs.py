"""The scenarios that bench/ui.py opens as files: long runs, and one with a lattice of many states."""

from __future__ import annotations

LATTICE = {"P1": 4, "P2": 7, "P3": 6, "P4": 6}  # events, each apart from all others: 5 * 8 * 7 * 7 = 1,960 states

LONG_RUN = """
title = "{events} events"
processes = 5
topology = {{ kind = "complete" }}
workload = {{ kind = "bank", balance = 1000, transfers = {transfers} }}
delay = {{ kind = "uniform", low = 1, high = 20 }}
snapshots = [{{ id = "S1", process = "P1", at = 50 }}]
"""


def run_with_a_lattice() -> str:
    """A scenario in which no message is sent, so that every cut is consistent."""
    script = [
        f'[[script]]\nprocess = "{name}"\nat = {2 * number + 1}\n'
        for name, events in LATTICE.items()
        for number in range(events)
    ]
    head = f'title = "A large lattice"\nprocesses = {[*LATTICE]}\ntopology = {{ kind = "complete" }}\n'
    return "\n".join([head, *script, '[[snapshots]]\nid = "S1"\nprocess = "P1"\nat = 6\n'])
