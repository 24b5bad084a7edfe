"""The rules of the algorithms in words: every algorithm has them, and the badge of every step names a clause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from hypothesis import given

from sim.core.algorithm import ALGORITHMS, SnapshotAlgorithm
from sim.core.algorithm_words import Rule, RuleClause
from sim.core.delays import DelayRule
from sim.document import library
from sim.explain.narration import APPLICATION_EVENT, FAULT, StepText, narrate
from sim.explain.rule_book import paragraphs, rule_book, rules_before
from sim.run.execution import run
from tests.cases import each
from tests.sim.rule_books import Barrier
from tests.sim.strategies import scenarios
from tests.sim.tools import send, start, system
from tests.tools import check_none, examples


def unnamed(algorithm: type[SnapshotAlgorithm] | SnapshotAlgorithm, told: Iterable[StepText]) -> Iterator[str]:
    """What is missing from the rule book: rules, words in them, and the clauses that badges name."""
    if not algorithm.rules:
        yield f"{algorithm.name} has no rules"
    names = [clause.name for rule in algorithm.rules for clause in rule.clauses]
    if len(set(names)) < len(names):
        yield f"{algorithm.name}: two clauses have one name: {names}"
    for rule in algorithm.rules:
        if not (rule.title and rule.source and rule.clauses and all(text for one in rule.clauses for text in one)):
            yield f"{algorithm.name}: {rule} lacks a title, a source, a name or a text"
    own = {caption.rule for caption in algorithm.captions.values() if caption.rule}
    shown = {name for text in told for name in text.rules} - {APPLICATION_EVENT, FAULT}
    yield from (f"{algorithm.name}: {name!r} names no clause" for name in sorted((own | shown) - set(names)))


@each("name", list(ALGORITHMS))
def test_every_algorithm_has_rules_with_a_source_and_its_captions_name_their_clauses(name: str) -> None:
    check_none(unnamed(ALGORITHMS[name], []))


@each("name", library.names())
def test_the_badge_of_every_step_names_a_clause(name: str) -> None:
    execution = run(library.load(name))
    check_none(unnamed(execution.engine.algorithm, narrate(execution)))


@pytest.mark.slow
@examples(15)
@given(scenario=scenarios())
def test_the_badge_of_every_step_of_any_run_names_a_clause(scenario: Any) -> None:
    execution = run(scenario)
    check_none(unnamed(execution.engine.algorithm, narrate(execution)))


def test_an_algorithm_without_rules_and_a_badge_without_a_clause_are_found() -> None:
    assert next(unnamed(Barrier, [])) == "test_barrier has no rules"

    class Misnamed(Barrier):
        rules = (Rule("Barriers", (RuleClause("One", "A process records."),), "a test"),)

    assert list(unnamed(Misnamed, [StepText(("Two",), "")])) == ["test_barrier: 'Two' names no clause"]


def test_a_message_that_is_recorded_in_its_channel_carries_out_a_clause() -> None:
    told = {text.badge for text in narrate(run(library.load("two_banks")))}
    assert "Marker-receiving rule, message before the marker" in told
    white = [text.rules for text in narrate(run(library.load("lai_yang")))]
    assert ("A white message comes to a red process",) in white


def test_a_step_may_carry_out_two_clauses() -> None:
    """P2 is red for S1 and white for S2 when a message comes that is red for S2 only."""
    scenario = system(
        "P1 P2", "P1->P2 P2->P1", algorithm="lai_yang", workload="bank",
        snapshots=(start("P2", 1, "S1"), start("P1", 2, "S2")), script=(send("P1", "P2", 3, 5),),
        delay=DelayRule("fixed", 1.0), control_delay=DelayRule("fixed", 50.0),
    )  # fmt: skip
    assert ("A red message comes to a white process", "A white message comes to a red process") in [
        text.rules for text in narrate(run(scenario))
    ]


def test_the_rule_book_is_for_json() -> None:
    sending, receiving = rule_book(run(library.load("lecture")).engine.algorithm)
    assert sending["title"] == "Marker-sending rule" and "section 3.2" in sending["source"]
    assert [clause["name"].rpartition(", ")[2] for clause in receiving["clauses"]] == [
        "first marker", "message before the marker", "not the first marker",
    ]  # fmt: skip


@each("name, number", [("lecture", 0), ("two_banks", 1), ("single_token", 1), ("lai_yang", 0)])
def test_a_story_says_the_rules_before_the_first_paragraph_that_needs_them(name: str, number: int) -> None:
    scenario = library.load(name)
    assert rules_before(scenario, "marker") == number
    assert "snapshot" not in " ".join(paragraphs(scenario.story)[:number])


def test_rules_come_last_where_a_story_never_needs_them_and_not_at_all_without_a_snapshot() -> None:
    scenario = system("P1 P2", snapshots=(start("P1", 1),), story="Money moves.\n\nMore of it.")
    assert rules_before(scenario, "marker") == 2
    assert rules_before(system("P1 P2", story="A marker."), "marker") is None
    barrier = system("P1 P2", snapshots=(start("P1", 1),), story="Money.\n\nBarriers go round.")
    assert rules_before(barrier, "barrier") == 1
