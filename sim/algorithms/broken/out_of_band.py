"""Markers overtake messages, as if they had a connection of their own, and what they overtake is not recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.algorithms.broken.rule_book import DESIGN, BrokenChandyLamport
from sim.algorithms.chandy_lamport import NOT_FIRST


class OutOfBand(BrokenChandyLamport):
    """A marker is delivered before the messages that were sent before it."""

    name = "out_of_band"
    switch = "Markers have a connection of their own"
    breaks = "A marker travels in the channel, behind every message that was sent before it."
    said_in = f"Chandy & Lamport 1985, section 3.2; {DESIGN} sends each marker as a call of its own"
    shown_by = "two_banks"
    order = 130
    broken = NOT_FIRST
    instead = "Markers overtake messages, and what a marker has overtaken is not recorded."
    reasons: ClassVar[Mapping[str, str]] = {
        **BrokenChandyLamport.reasons,
        "marker_closes": "This {marker} of {snapshot} closed {channel} (step {second}), which {target} had recorded "
        "since step {first}. What it had overtaken was not recorded. A {marker} is in no recorded state.",
        "empty_at_once": "{channel} is empty: {target}'s first {marker} came on it (step {second}). What it had "
        "overtaken was not recorded.",
        "recorded_until": "{target} recorded {channel} from its own recording (step {first}) until the {marker} on "
        "it closed it (step {second}). In between came {held}. What the {marker} had overtaken was not recorded.",
    }
    overtakes = True
