"""Channels are not FIFO: a message may overtake a marker, and a marker a message."""

from __future__ import annotations

from sim.core.broken_rule import BrokenRule


class NotFifo(BrokenRule):
    """This broken rule is no rule book but a key of the scenario: `not_fifo` lists the channels."""

    name = "fifo"
    switch = "Channels are not FIFO"
    breaks = "All that is sent on a channel arrives in the order in which it was sent."
    said_in = "Chandy & Lamport 1985, section 2"
    of = ""
    shown_by = "lecture"
    overtakes = True
    order = 10
