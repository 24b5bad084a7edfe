"""The recorded state is no copy: what a process does later changes it."""

from __future__ import annotations

from sim.algorithms.broken.rule_book import TUTORIAL, BrokenChandyLamport


class ByReference(BrokenChandyLamport):
    """A process keeps a reference to its state, until it has done its part and hands the state over."""

    name = "by_reference"
    switch = "The state is recorded by reference"
    breaks = "What is recorded is the state at the moment of recording: a copy that nothing changes afterwards."
    said_in = f"Chandy & Lamport 1985, section 3.1; {TUTORIAL} makes a shallow copy"
    shown_by = "two_banks"
    order = 40
    copies_states = False
