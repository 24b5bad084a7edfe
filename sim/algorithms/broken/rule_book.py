"""What all broken rule books share: their words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from sim.algorithms.chandy_lamport import ChandyLamport
from sim.core.effects import Out
from sim.core.model import Process
from sim.core.slip import Slip

TUTORIAL = "a widely read tutorial with code in Python"
DESIGN = "a system design for snapshots as a service"
SECTION = "Chandy & Lamport 1985, section 3.1"


class BrokenChandyLamport(Slip, ChandyLamport):
    """Chandy and Lamport's rules, one of which is broken. Its sentences say what happens, not what should."""

    title = "Chandy-Lamport with a broken rule"
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


def record_and_tell(process: Process, snapshot: str, out: Out) -> None:
    """Record and send the markers, but record no channel."""
    out.record(snapshot)
    for channel in process.outgoing:
        out.send_marker(channel, snapshot)
