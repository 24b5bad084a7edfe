"""Rules broken on purpose, one at a time: students learn from them, and the checks have to catch every one.

A broken rule is a switch of a scenario: its name stands in `breaks`. Most are a rule book of their own; one is a key of
the scenario, `not_fifo`. They have a registry of their own, so no list of algorithms shows them.
"""

from __future__ import annotations

from typing import Any

from sim.core.registry import Registry

FIFO = "fifo"  # the broken rule that is a key of the scenario


class BrokenRule:
    """One broken rule. If it is a rule book, it is a `SnapshotAlgorithm` as well, and runs instead of `of`."""

    name = ""
    switch = ""  # what goes wrong, in a few words: the text of its switch
    breaks = ""  # the assumption or the sentence that it breaks
    said_in = ""  # where that is said
    of = "chandy_lamport"  # the algorithm whose rule it breaks; "" means every one that needs that rule
    shown_by = ""  # a bundled scenario in which a check fails, at once or after one edit
    overtakes = False  # whether it lets one message overtake another on its channel
    needs_snapshots = False  # whether it does no harm before a second snapshot begins
    order = 100  # its place in the list of switches

    @classmethod
    def settings(cls, length: float) -> dict[str, Any]:
        """Parameters of its rule book that make it visible in a run that takes `length` time units."""
        return {}


BROKEN_RULES: Registry[type[BrokenRule]] = Registry("sim.algorithms.broken", BrokenRule)
