"""docs/broken-rules.md says what the code finds: every broken rule is caught by somebody."""

from __future__ import annotations

import pytest

from sim.core.broken_rule import BROKEN_RULES
from sim.edit.counterexample import harm
from tests.broken_rules import HEAD, INTRODUCTION, NOT_FOUND, PAGE, line, row, shown


def told() -> dict[str, list[str]]:
    """The cells of the page's table, by the name of the rule."""
    lines = [text for text in PAGE.read_text(encoding="utf-8").splitlines() if text.startswith("| ")]
    rows = [[cell.strip() for cell in text.strip("|").split(" | ")] for text in lines[1:]]
    return {cells[1].strip("`"): cells for cells in rows}


def test_the_page_has_every_broken_rule_in_the_order_of_the_switches() -> None:
    assert list(told()) == sorted(BROKEN_RULES, key=lambda name: BROKEN_RULES[name].order)


@pytest.mark.parametrize("rule", list(BROKEN_RULES))
def test_a_row_is_what_the_code_finds(rule: str) -> None:
    """Where this fails, look whether the change is meant; then `make broken`."""
    assert line(row(BROKEN_RULES[rule])) in PAGE.read_text(encoding="utf-8").splitlines()


def test_the_rest_of_the_page_is_what_the_code_writes() -> None:
    assert PAGE.read_text(encoding="utf-8").startswith(INTRODUCTION + line(HEAD))


@pytest.mark.parametrize("rule", list(BROKEN_RULES))
def test_every_broken_rule_is_caught(rule: str) -> None:
    """By a check, by Dijkstra's page or by the explorer; and here by a check at the least."""
    _, _, _, checks, forbidden, explored = told()[rule]
    assert {checks, forbidden, explored} != {NOT_FOUND}
    assert checks != NOT_FOUND and harm(shown(BROKEN_RULES[rule])[1])


def test_two_markers_and_a_channel_in_reverse_order_are_caught_by_the_checks_that_are_made_for_them() -> None:
    assert told()["two_markers"][3] == "one_marker"
    assert told()["backwards"][3] == "channel_states"
