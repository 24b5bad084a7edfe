"""The base of all broken rule books: their words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.algorithms.chandy_lamport import NOT_FIRST, SENDING, ChandyLamport
from sim.core.algorithm import SnapshotAlgorithm
from sim.core.algorithm_words import CAPTIONS, Caption, RuleClause
from sim.core.broken_rule import BrokenRule
from sim.core.effects import Out
from sim.core.model import Process
from sim.core.parameters import Parameter

TUTORIAL = "a widely read tutorial with code in Python"
DESIGN = "a system design for snapshots as a service"
SECTION = "Chandy & Lamport 1985, section 3.2"


class BrokenChandyLamport(BrokenRule, ChandyLamport):
    """Chandy and Lamport's rules, one of which is broken. Its sentences say what happens, not what should.

    The rule book has the `broken` clause of theirs with what is done `instead`.
    """

    title = "Chandy-Lamport with a broken rule"
    parameters: ClassVar[Mapping[str, Parameter]] = {}  # no options: one rule is broken, and nothing else changes
    options: ClassVar[Mapping[str, type[SnapshotAlgorithm]]] = {}
    broken: ClassVar[RuleClause] = SENDING
    instead = ""
    captions: ClassVar[Mapping[str, Caption]] = {
        **ChandyLamport.captions,
        "marker_late": CAPTIONS["marker_late"]._replace(rule=NOT_FIRST.name),
    }
    reasons: ClassVar[Mapping[str, str]] = {
        "left_out_by_rule": "{message} is lost: sent {send}, before {source} recorded, and received after {target} "
        "recorded, but {target} did not record it. A rule is broken here.",
        "recorded_by_rule": "{channel} holds {message}, which does not belong to it: sent {send}. A rule is broken "
        "here.",
        "overtaken": "{message} is lost: sent {send}, before {source} recorded, but received {receive}, after "
        "{channel} was closed (step {first}).",
        "lost": "{message} is lost: sent {send}, before {source} recorded, and not received, though {channel} was "
        "closed (step {first}).",
        "early": "{message} is recorded in {channel} although {source} sent it {send}, after {source} recorded (step "
        "{first}); it came {receive}.",
        "by_rule": "{process} recorded at step {step}. A rule is broken here.",
    }

    def __init_subclass__(cls) -> None:
        cls.rules = tuple(
            rule._replace(clauses=tuple(cls._as_it_is(clause) for clause in rule.clauses))
            for rule in ChandyLamport.rules
        )

    @classmethod
    def _as_it_is(cls, clause: RuleClause) -> RuleClause:
        """A clause of the rule book; of the broken one also what is done instead."""
        if clause != cls.broken:
            return clause
        return clause._replace(text=f"Broken here: {cls.instead} The rule says: {clause.text}")


def record_and_tell(process: Process, snapshot: str, out: Out) -> None:
    """Record and send the markers, but record no channel."""
    out.record(snapshot)
    for channel in process.outgoing:
        out.send_marker(channel, snapshot)
