"""The rule book of unaligned barriers in words, and its captions and reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.core.algorithm import SnapshotAlgorithm
from sim.core.algorithm_words import CAPTIONS, Caption, Rule, RuleClause

STARTS = RuleClause(
    "Barriers go ahead",
    "A process that has not recorded may start a snapshot: it records its state and sends a barrier on each outgoing "
    "channel, ahead of all messages that are on their way there.",
)
FIRST = RuleClause(
    "The first barrier comes",
    "The process records its state and sends a barrier ahead on each outgoing channel. From now on it records what "
    "comes on its incoming channels.",
)
OVERTAKEN = RuleClause(
    "A barrier closes its channel",
    "The messages that the barrier has overtaken are persisted: they are part of the state of the channel. They are "
    "delivered later as well.",
)
IN_BETWEEN = RuleClause(
    "A message comes before its barrier",
    "The process has recorded, and the barrier of the channel has not come: the message is part of the state of the "
    "channel.",
)
FLIP = "Apache Flink, FLIP-76: Unaligned Checkpoints, 2020"


class UnalignedWords(SnapshotAlgorithm):
    """The words of unaligned barriers."""

    marker = "barrier"
    channel_state: ClassVar[tuple[str, str]] = (
        "persisted",
        "A broad band: the barrier has overtaken this message, or it came in between the recording and the barrier. It "
        "is persisted in the state of its channel.",
    )
    rules: ClassVar[tuple[Rule, ...]] = (
        Rule("Barriers that overtake", (STARTS, FIRST, OVERTAKEN, IN_BETWEEN), FLIP),
    )  # fmt: skip
    captions: ClassVar[Mapping[str, Caption]] = {
        "initiates": CAPTIONS["initiates"]._replace(rule=STARTS.name),
        "marker_records": CAPTIONS["marker_records"]._replace(rule=FIRST.name),
        "marker": CAPTIONS["marker"]._replace(rule=OVERTAKEN.name),
        "kept": Caption(
            IN_BETWEEN.name,
            "The {marker} of {channel} has not come for {snapshots}, so this message is persisted in the channel's "
            "state.",
        ),
    }
    clauses: ClassVar[Mapping[str, str]] = {
        "overtaken": "persists what the {marker} has overtaken: {messages}",
        "close": "closes {channel}, whose state is {contents}",
    }
    reasons: ClassVar[Mapping[str, str]] = {
        "channel": "{channel} holds {message}: sent {send}, before {source} recorded; received {receive}, after "
        "{target} recorded (step {first}) and before the {marker} of {channel} came (step {second}).",
        "passed": "{message} was overtaken by the {marker}, and persisted: it was sent {send}, before {source} "
        "recorded, and was still on its way in {channel} when the {marker} came (step {first}).",
        "marker_closes": "This {marker} of {snapshot} closed {channel} (step {second}), which {target} had recorded "
        "since step {first}. What it had overtaken was persisted. A {marker} is in no recorded state.",
        "recorded_until": "{channel} holds {held}. Persisted is what comes after {target} records (step {first}), and "
        "what the {marker} of the channel has overtaken when it comes (step {second}).",
    }
