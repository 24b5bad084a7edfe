"""Rules broken on purpose, one at a time: what a student learns from, and what every check has to catch.

A slip is a switch of a scenario: its name stands in `breaks`. Most slips are a rule book of their own; one is a key of
the scenario, `not_fifo`. They have a registry of their own, so no list of algorithms shows them.
"""

from __future__ import annotations

from typing import Any

from sim.core.registry import Registry

FIFO = "fifo"  # the slip that is a key of the scenario


class Slip:
    """One broken rule. A slip that is a rule book is a `SnapshotAlgorithm` as well, and runs instead of `of`."""

    name = ""
    switch = ""  # what goes wrong, in a few words: the text of its switch
    breaks = ""  # the assumption or the sentence that it breaks
    said_in = ""  # where that is said
    of = "chandy_lamport"  # the algorithm whose rule it breaks; "" means every one that needs that rule
    shown_by = ""  # a bundled scenario that lays it bare, at once or after one edit
    overtakes = False  # whether it lets one message overtake another on its channel
    needs_snapshots = False  # whether it does no harm before a second snapshot begins
    order = 100  # its place in the list of switches

    @classmethod
    def settings(cls, length: float) -> dict[str, Any]:
        """Parameters of its rule book that make it visible in a run that takes `length` time units."""
        return {}


SLIPS: Registry[type[Slip]] = Registry("sim.algorithms.broken", Slip)
