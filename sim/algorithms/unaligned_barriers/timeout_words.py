"""The words that an alignment timeout adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.algorithms.unaligned_barriers.words import FIRST, OVERTAKEN
from sim.core.algorithm import SnapshotAlgorithm
from sim.core.algorithm_words import CAPTIONS, Caption, Rule, RuleClause

TURN = RuleClause(
    "A snapshot begins aligned",
    "A process that starts a snapshot records its state and sends its barriers in their turn: they overtake nothing.",
)
ALIGNS = RuleClause(
    "Barriers are aligned",
    "A process that has not recorded takes nothing more from a channel whose barrier has "
    "come. When barriers have come on all its channels, it records its state, sends its own barriers in their turn and "
    "takes from all channels again. If it has recorded already, or if the barrier was sent ahead, it does not wait.",
)
TOO_LONG = RuleClause(
    "Alignment takes too long",
    "The alignment timeout is over and a barrier is still missing: the process records its state, sends its barriers "
    "ahead of all messages, and takes from all channels again. It records what comes on a channel until the barrier of "
    "that channel comes.",
)
TIMEOUT = "Apache Flink, FLIP-76, and the option execution.checkpointing.aligned-checkpoint-timeout"


class TimeoutWords(SnapshotAlgorithm):
    """The words for rules 4 and 5."""

    rules: ClassVar[tuple[Rule, ...]] = (Rule("Barriers that wait first", (TURN, ALIGNS, TOO_LONG), TIMEOUT),)
    situations = ("marker_ahead_records", "marker_closes")
    captions: ClassVar[Mapping[str, Caption]] = {
        "initiates": CAPTIONS["initiates"]._replace(rule=TURN.name),
        "marker_ahead_records": CAPTIONS["marker_records"]._replace(rule=FIRST.name),
        "marker_closes": CAPTIONS["marker"]._replace(rule=OVERTAKEN.name),
        "marker_records": Caption(ALIGNS.name, "{process} receives the {marker}{of} from {source}: it {clauses}."),
        "marker": CAPTIONS["marker"]._replace(rule=ALIGNS.name),
        "timer_records": Caption(
            TOO_LONG.name, "{process} has waited long enough for the missing {marker}s{per}: it {clauses}."
        ),
        "own": Caption(ALIGNS.name, "{process} waits no longer for the {marker}s of {snapshot}: it {clauses}."),
    }
    clauses: ClassVar[Mapping[str, str]] = {
        "block": "takes nothing more from {channels} until the other {marker}s come",
    }
    reasons: ClassVar[Mapping[str, str]] = {
        "by_marker": "The {marker} of {snapshot} came from {source} on {channel} at step {step}, and {process} had to "
        "wait for no other: it recorded.",
        "by_rule": "{process} recorded at step {step}, before all {marker}s had come: it had waited long enough, or "
        "a {marker} of another snapshot came.",
        "marker_records": "This {marker} of {snapshot} came, and {target} had to wait for no other: it recorded its "
        "state (step {second}). A {marker} is not a message of the program, so it is in no recorded state.",
        "marker_noted": "{target} received this {marker} of {snapshot} at step {second}, and took nothing more from "
        "{channel} until it recorded. A {marker} is in no recorded state.",
        "empty_at_once": "{channel} is empty: its {marker} had come, and all that was sent before it, when {target} "
        "recorded (step {second}).",
        "recorded_until": "{target} recorded at step {first}, and by step {second} the {marker} of {channel} had come. "
        "In between came, or was overtaken: {held}.",
    }
