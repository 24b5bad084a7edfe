"""Verdicts in words: what fails says why in a sentence of its own."""

from __future__ import annotations

from typing import Any

from sim.core.delays import HOLD, DelayRule
from sim.core.model import MARKER, MessageReference
from sim.document import library
from sim.document.scenario import Scenario
from sim.explain.verdicts import verdict_words
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from sim.verify.checks import verdicts_of
from tests.sim.rule_books import FirstOnly, Impatient, two
from tests.sim.tools import send, start, system


def told(scenario: Scenario) -> dict[str, tuple[str, str]]:
    """The words for the only snapshot of a run, by check."""
    execution = run(scenario)
    (snapshot,) = snapshots_of(execution)
    return {v.check: tuple(verdict_words(execution, snapshot, v)) for v in verdicts_of(execution)[snapshot.id]}


def test_what_holds_is_a_sentence() -> None:
    assert told(library.load("two_banks")) == {
        "completion": ("Complete", "Every process has recorded, and every channel is closed."),
        "one_marker": ("One marker per channel", "Every channel has carried exactly one marker."),
        "consistency": ("Consistent cut", "Every message that is received inside the cut is also sent inside it."),
        "channel_states": (
            "Channel states", "Each channel state holds the messages that cross the cut, in their order."
        ),
        "conservation": (
            "Conservation", "Nothing is lost or counted twice: 720 in processes + 80 in channels = 800 money."
        ),
    }  # fmt: skip


def test_a_snapshot_that_is_not_complete_says_what_is_missing_and_claims_no_marker_that_never_came() -> None:
    held = {MessageReference(None, "P1->P2", MARKER, "S1"): HOLD}
    words = told(system("P1 P2", workload="bank", snapshots=(start("P1", 1),), delays=held))
    assert words["completion"] == ("Not complete", "P2 has not recorded.")
    assert words["one_marker"] == ("At most one marker per channel", "No channel has carried more than one marker.")
    assert words["consistency"] == ("Consistent cut", "Not decided: not every process has recorded.")
    assert words["conservation"] == ("Conservation", "Not decided: the snapshot is not complete.")
    closing = {MessageReference(None, "P2->P1", MARKER, "S1"): HOLD}
    words = told(system("P1 P2", snapshots=(start("P1", 1),), delays=closing))
    assert words["completion"] == ("Not complete", "C21 is not closed.")


def test_what_fails_says_why(register: Any) -> None:
    """FirstOnly keeps the first message only: the second one is missing from the channel and from the sum."""
    script = (send("P2", "P1", 1, 30, label="m"), send("P2", "P1", 2, 20, label="n"))
    words = told(
        system(
            "P1 P2", workload="bank", script=script, snapshots=(start("P1", 3),), delay=DelayRule("fixed", 5.0),
            algorithm=register(FirstOnly), marker_delay=DelayRule("fixed", 6.0),
        )
    )  # fmt: skip
    assert words["channel_states"] == ("A wrong channel state", "C21 recorded [30], but [30,20] crosses the cut.")
    assert words["conservation"] == ("Not conserved", "180 money recorded of 200.")


def test_nothing_is_decided_of_an_aborted_snapshot(register: Any) -> None:
    words = told(two(register(Impatient)))
    assert {text for _, text in words.values()} == {"Not decided: the snapshot was aborted."}
