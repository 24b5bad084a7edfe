"""The words of runs that break a rule on purpose: they say what happens, and the rule book says what is broken."""

from __future__ import annotations

import pytest

from sim.core.slip import FIFO, SLIPS
from sim.document import library
from sim.edit.edits import apply_edit
from sim.edit.lay_bare import harm, smallest_edit
from sim.explain.narration import narrate, sentences
from sim.explain.reasons import explain, reasons
from sim.explain.recorded_reasons import why_channel, why_state
from sim.explain.rule_book import rule_book
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of
from tests.cases import each
from tests.sim.explain.test_rule_book import unnamed
from tests.tools import check_none

READ = ("lecture", "two_banks", "overlapping", "ring", "star")


def broken(slip: str, scenario: str) -> Execution:
    """The run with the slip, and with the edit that lays it bare where it needs one."""
    execution = apply_edit(run(library.load(scenario)), {"do": "break", "rule": slip}, 0.0)
    found = None if harm(execution) else smallest_edit(execution)
    return execution if found is None else found.execution


def all_words(execution: Execution) -> str:
    """Every sentence and every reason of a run, a line each."""
    told = [text.sentence for text in narrate(execution)]
    channels = sorted({flight.channel.name for flight in execution.flights if not flight.is_control})
    for own in snapshots_of(execution):
        told += [explain(execution, own, flight.id) for flight in execution.flights]
        told += [why_state(execution, own, process) for process in execution.scenario.processes]
        told += [why_channel(execution, own, channel) for channel in channels]
    return "\n".join(told)


@pytest.mark.slow
@each("slip", SLIPS)
def test_every_sentence_is_complete_and_every_badge_names_a_clause(slip: str) -> None:
    for scenario in READ:
        execution = broken(slip, scenario)
        told = all_words(execution)
        assert "{" not in told.replace("{}", "") or scenario == "lecture"  # states of the lecture are sets
        assert "  " not in told and "None" not in told
        check_none(unnamed(execution.engine.algorithm, narrate(execution)))


@pytest.mark.slow
@each("slip", [name for name in SLIPS if name != FIFO and SLIPS[name].of == "chandy_lamport"])
def test_the_rule_book_says_which_clause_is_broken_and_what_it_says(slip: str) -> None:
    algorithm = broken(slip, "two_banks").engine.algorithm
    if not hasattr(algorithm, "instead"):
        return  # rules of its own
    texts = [clause["text"] for rule in rule_book(algorithm) for clause in rule["clauses"]]
    (own,) = [text for text in texts if text.startswith("Broken here: ")]
    assert algorithm.instead and algorithm.instead in own and "The rule says: " in own


SAID = {  # what a run says, and what it must not say as it would if the rule were kept
    ("fifo", "two_banks"): (
        "C12 is empty: S2's first marker came on it (step 5). But C12 is not FIFO: what was sent before the marker may "
        "come after it.",
        "so all that was sent before the marker had been received",
    ),
    ("slips_in", "two_banks"): ("Only now S1 sends a marker on C12", "S1 starts snapshot audit: it records its state "
        "550, sends"),
    ("deaf_initiator", "two_banks"): ("it closes C21, whose state is <empty>", "it stops recording C21"),
    ("by_reference", "overlapping"): ("P1 changes what it recorded for S1 to 63, as that is no copy.", "no copy for"),
    ("records_late", "two_banks"): ("It does not record yet.", "its first marker"),
    ("keeps_the_first", "two_banks"): ("starts recording C12", "marks C12 empty"),
    ("one_flag", "two_banks"): ("S1 is asked to start audit, but its only flag says that it has recorded", "be seen"),
    ("lost_marker", "two_banks"): ("It forgets the marker on its last channel.", "sends a marker on C12"),
    ("counts_processes", "ring"): ("it waits for more markers", "it changes nothing"),
    ("skewed_clocks", "lecture"): (
        "The agreed time came by the clock of P2 (step 6): it recorded for S1.", "tells P2, P3, P2 and P3",
    ),
    ("freezes", "lecture"): ("takes nothing more from C12", "goes on"),
    ("two_markers", "two_banks"): ("sends two markers on each outgoing channel", "on C12 and C12"),
    ("out_of_band", "lecture"): ("What it had overtaken was not recorded.", "was recorded, too"),
    ("records_on", "overlapping"): (
        "P1 stops recording C51, whose state is <22>, and has done its part for S1.", "P1 starts snapshot S1: it stops",
    ),
    ("backwards", "two_banks"): ("records what it has noted, the latest first: 80 and 50", "has overtaken"),
    ("records_twice", "two_banks"): ("takes it for its first: it records its state 580", "S1 receives its first"),
    ("waits_with_its_markers", "overlapping"): (
        "Only now P3 sends markers on C32, C34 and C35 for S1.", "P3 receives its first marker of S1, from P1: it "
        "records its state 84, marks C13 empty, sends",
    ),
}  # fmt: skip


@pytest.mark.slow
@each("slip, scenario", list(SAID))
def test_the_words_say_what_happens_and_not_what_should(slip: str, scenario: str) -> None:
    """Of a slip that is not in SAID the sentences are whole, and its badges name clauses: see above."""
    said, not_said = SAID[slip, scenario]
    told = all_words(broken(slip, scenario))
    assert said in told and not_said not in told


def test_a_deaf_initiator_starts_no_recording_and_the_others_do() -> None:
    told = sentences(broken("deaf_initiator", "lecture"))
    assert "starts recording" not in told[5] and "starts recording C23" in told[6]


@pytest.mark.slow
def test_no_marker_is_blamed_on_a_channel_that_is_fifo() -> None:
    for slip in SLIPS:
        if slip != FIFO:
            assert "is not FIFO" not in all_words(broken(slip, "lecture"))


def test_a_marker_that_closes_a_channel_that_is_not_fifo_promises_nothing() -> None:
    execution = broken("fifo", "lecture")
    (snapshot,) = snapshots_of(execution)
    cases = {reason.case for reason in reasons(execution, snapshot)}
    assert "marker_closes_not_fifo" in cases and "marker_closes" not in cases
