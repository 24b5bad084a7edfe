"""What failing checks point at: the message that shows the harm, and the step at which it is known."""

from __future__ import annotations

from sim.core.broken_rule import BROKEN_RULES
from sim.document import library
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of
from sim.verify.checks import verdicts_of
from sim.verify.harm import Against, against, harms
from tests.broken_rules import shown
from tests.cases import each


def named(execution: Execution, messages: frozenset[int]) -> list[str]:
    """Bodies and channels of messages."""
    return [f"{execution.flights[own].body} {execution.flights[own].channel.name}" for own in sorted(messages)]


@each("rule", list(BROKEN_RULES))
def test_every_check_that_fails_is_a_harm_and_no_other(rule: str) -> None:
    _, execution = shown(BROKEN_RULES[rule])
    failing = [
        (own.id, verdict) for own in snapshots_of(execution) for verdict in verdicts_of(execution)[own.id]
        if verdict.holds is False
    ]  # fmt: skip
    found = harms(execution)
    assert [(own.snapshot.id, own.verdict) for own in found] == failing
    assert all(0 <= own.step <= execution.steps for own in found)
    assert all(own.message is not None for own in found if own.verdict.check in ("consistency", "one_marker"))


@each(
    "rule, orphans, lost, extra",
    [
        ("slips_in", ["50 S1->S2"], [], []),
        ("deaf_initiator", [], ["80 S2->S1"], []),
        ("records_late", [], ["50 S1->S2"], []),
        ("backwards", [], [], []),  # all are recorded, in a wrong order
    ],
)
def test_the_messages_that_speak_against_a_snapshot(rule, orphans, lost, extra) -> None:
    _, execution = shown(BROKEN_RULES[rule])
    (snapshot,) = snapshots_of(execution)
    assert [named(execution, own) for own in against(execution, snapshot)] == [orphans, lost, extra]


def test_a_message_that_is_recorded_and_does_not_cross_the_cut_is_extra() -> None:
    _, execution = shown(BROKEN_RULES["counts_processes"])
    assert not any(against(execution, own).extra for own in snapshots_of(execution))  # it never completes
    _, execution = shown(BROKEN_RULES["two_markers"])
    (only,) = harms(execution)
    flight = execution.flights[only.message or 0]
    assert (flight.is_marker, flight.channel.name, only.step) == (True, "P1->P2", only.snapshot.completed)


def test_nothing_speaks_against_a_right_snapshot() -> None:
    execution = run(library.load("lecture"))
    (snapshot,) = snapshots_of(execution)
    assert harms(execution) == [] and against(execution, snapshot) == Against()
