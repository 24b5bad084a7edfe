"""Markers overtake messages, as if they had a connection of their own, and what they overtake is not recorded."""

from __future__ import annotations

from sim.algorithms.broken.rule_book import DESIGN, BrokenChandyLamport


class OutOfBand(BrokenChandyLamport):
    """A marker is delivered before the messages that were sent before it."""

    name = "out_of_band"
    switch = "Markers have a connection of their own"
    breaks = "A marker travels in the channel, behind every message that was sent before it."
    said_in = f"Chandy & Lamport 1985, section 3.1; {DESIGN} sends each marker as a call of its own"
    shown_by = "two_banks"
    order = 130
    overtakes = True
