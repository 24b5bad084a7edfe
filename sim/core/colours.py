"""White and red messages: what algorithms share in which a process is white until it records, and red afterwards.

Every message is stamped with the colour of its sender (T. H. Lai and T. H. Yang, "On Distributed Snapshots", 1987; F.
Mattern, 1993). Here are the words for it, and what follows of what such an algorithm needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sim.core.algorithm import BY_COUNT, SnapshotAlgorithm
from sim.core.algorithm_words import Caption, RuleClause, Stamp

COLOURS = RuleClause(
    "White before, red after",
    "A process is white until it records its state, and red from then on. Each message has the colour that its sender "
    "has when it sends it.",
)
RED_MESSAGE = "A red message comes to a white process"
WHITE_MESSAGE = "A white message comes to a red process"
# Beginnings of reasons that each algorithm ends in its own way.
HOLDS = (
    "{channel} holds {message}: it is white, for {source} sent it {send} before it recorded, and {target} was red "
    "(since step {first}) when it came {receive}."
)
ON_ITS_WAY = (
    "{message} is on its way in {channel}: it is white, for {source} sent it {send} before it recorded (step {first}). "
    "It has not been received"
)
RECORDS = (
    "{target} has been red since its own recording (step {first}): what is white and comes on {channel} belongs to its "
    "state."
)


class Coloured(SnapshotAlgorithm):
    """An algorithm with white and red messages. Its rules have clauses with the names RED_MESSAGE and WHITE_MESSAGE."""

    needs_fifo = False
    closes_by = BY_COUNT
    checks: ClassVar[tuple[str, ...]] = ("completion", "consistency", "channel_states", "conservation")

    stamps: ClassVar[tuple[Stamp, ...]] = (
        Stamp("white", "A white message: its sender had not recorded when it sent it.", "open"),
        Stamp("red", "A red message: its sender had recorded; a white process records before it takes it in.", "full"),
    )
    captions: ClassVar[Mapping[str, Caption]] = {
        "message_records": Caption(
            RED_MESSAGE,
            "{message} from {source} is red, and {process} is white{per}: before it takes it in, it {clauses}.",
        ),
        "message": Caption(WHITE_MESSAGE, "{process} {clauses}{per}."),
        "kept": Caption(
            WHITE_MESSAGE,
            "For {snapshots} the message is white, and {process} is red: it is part of the state of {channel}.",
        ),
    }
    clauses: ClassVar[Mapping[str, str]] = {"record": "turns red and records its state {state}"}
    reasons: ClassVar[Mapping[str, str]] = {
        "channel_waits": "{channel} holds {message}: it is white, for {source} sent it {send} and has not recorded at "
        "all, and {target} was red (since step {first}) when it came {receive}.",
        "state": "{message} is part of {target}'s state: {target} was white when it came {receive}, and recorded later "
        "(step {second}).",
        "future": "{message} is in no recorded state: it is red, for {source} sent it {send} after it recorded (step "
        "{first}). It belongs to what comes after the snapshot.",
        "initiated": "{process} started {snapshot} at step {step}: it was white until then.",
        "by_message": "{message}, which is red, came from {source} on {channel} at step {step}: {process} was white, "
        "and recorded before it took it in.",
    }

    def stamp_of(self, stamp: Any) -> str:
        """Red if the sender had recorded for some snapshot."""
        return "red" if stamp else "white"
