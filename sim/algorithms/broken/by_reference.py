"""The recorded state is no copy: what a process does later changes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.algorithms.broken.rule_book import TUTORIAL, BrokenChandyLamport
from sim.algorithms.chandy_lamport import SENDING
from sim.core.algorithm_words import Caption


class ByReference(BrokenChandyLamport):
    """A process keeps a reference to its state, until it has done its part and hands the state over."""

    name = "by_reference"
    switch = "The state is recorded by reference"
    breaks = "What is recorded is the state at the moment of recording: a copy that nothing changes afterwards."
    said_in = f"Chandy & Lamport 1985, section 3.2; {TUTORIAL} makes a shallow copy"
    shown_by = "two_banks"
    order = 40
    instead = "The process keeps no copy of its state: what it does later changes what it has recorded."
    captions: ClassVar[Mapping[str, Caption]] = {
        **BrokenChandyLamport.captions,
        "message": Caption(SENDING.name, "{process} {clauses}."),
        "own": Caption(SENDING.name, "{process} {clauses}."),
    }
    copies_states = False
