"""Recoveries in words: every step of oracle 13, and why each message met its fate."""

from __future__ import annotations

import re

from sim.document import library
from sim.explain.narration import sentences
from sim.explain.rollbacks import FATES, fate_in_words, fates, why_gone
from sim.run.execution import Execution, run
from sim.run.rollbacks import taken_back
from tests.bundled import small
from tests.cases import each

WITH_RECOVERY = [name for name in small() if library.load(name).recovery is not None]


def told(name: str) -> list[str]:
    return sentences(run(library.load(name)))


def cases(execution: Execution, label: str) -> list[str]:
    message = next(event.message_id for event in execution.events if event.label == label)
    return [fate.case for fate in fates(execution, message or 0)]


def test_the_steps_of_a_recovery() -> None:
    assert told("recovery")[11:] == [
        "P2 crashes. It loses its state and every recording that it has not finished.",
        "The system is rolled back to S1. Epoch 1 begins.",
        "P1 goes back to its part of S1: state 770.",
        "P2 goes back to its part of S1: state 200; 30 is put back into C12.",
        "P2 receives 30 from P1 on C12, where it was put back.",
        "50 from P1 arrives, but it is from the epoch before the recovery. P2 fences it off.",
    ]


@each("name, sentence", [
    ("recovery_without_channels", "P2 goes back to its part of S1: state 200; 30 is not put back into C12."),
    ("recovery_without_fence", "P2 receives 50 from P1 on C12, though P1 has not sent it in this epoch."),
    ("recovery_of_one", "Only P2 is rolled back to S1. Epoch 1 begins."),
    ("crash_during_commit",
     "P2 crashes. It loses its state and every recording that it has not finished. S2 will never be valid: the "
     "storage deletes the parts of P2 and P1, for P2 crashed, and tells the coordinator that there will be no "
     "manifest."),
    ("crash_during_commit", "P1 goes back to its part of S1: state 770. P1 tells the coordinator that it is here."),
    ("crash_during_commit", "The coordinator tells P2 that it takes part: P2 takes no notice of S2 from now on."),
])  # fmt: skip
def test_a_step_of_a_recovery_that_goes_otherwise(name: str, sentence: str) -> None:
    assert sentence in told(name)


@each("name, label, wanted", [
    ("recovery", "a", ["put_back"]),
    ("recovery", "b", ["abandoned"]),
    ("recovery", "c", ["abandoned", "fenced"]),
    ("crash_during_recovery", "a", ["put_back", "put_back"]),
    ("recovery_without_channels", "a", ["dropped"]),
    ("recovery_without_fence", "c", ["let_in"]),
    ("recovery_of_one", "b", ["kept"]),
    ("recovery_of_one", "c", []),
])  # fmt: skip
def test_why_a_message_is_put_back_fenced_off_or_dropped(name: str, label: str, wanted: list[str]) -> None:
    assert cases(run(library.load(name)), label) == wanted


def test_the_reasons_in_words() -> None:
    execution = run(library.load("recovery"))
    fifty = next(event.message_id for event in execution.events if event.label == "c") or 0
    assert [fate_in_words(execution, fifty, fate) for fate in fates(execution, fifty)] == [
        "50 is abandoned. P1 sent it at c (step 10), after the line that the recovery (step 12) goes back to.",
        "P2 fences 50 off (step 16). P1 sent it at c (step 10), but the recovery (step 12) has undone that. In the new "
        "epoch P1 has not sent it.",
    ]


@each("name", WITH_RECOVERY)
def test_a_fate_is_one_line_that_speaks_of_nothing_later(name: str) -> None:
    execution = run(library.load(name))
    for flight in execution.flights:
        for fate in fates(execution, flight.id):
            said = fate_in_words(execution, flight.id, fate)
            assert fate.case in FATES and said.endswith(".") and "None" not in said and "{" not in said
            assert all(int(step) <= fate.step for step in re.findall(r"step (\d+)", said)), said


@each("name", WITH_RECOVERY)
def test_every_event_that_is_taken_back_has_a_reason_and_no_other(name: str) -> None:
    execution = run(library.load(name))
    for event in execution.events:
        assert (why_gone(execution, event) is not None) == (event.row in taken_back(execution))
