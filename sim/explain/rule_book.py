"""The rule book of an algorithm, for pages, and the place in a story where its rules first matter."""

from __future__ import annotations

import re
from typing import Any

from sim.core.algorithm import SnapshotAlgorithm
from sim.document.scenario import Scenario

_WORDS = ("snapshot", "record", "marker", "rule", "stamp")  # a paragraph with one of these needs the rules


def rule_book(algorithm: SnapshotAlgorithm) -> list[dict[str, Any]]:
    """Every rule with its clauses and its source, ready for JSON."""
    return [{**rule._asdict(), "clauses": [clause._asdict() for clause in rule.clauses]} for rule in algorithm.rules]


def paragraphs(story: str) -> list[str]:
    """The paragraphs of a story, each in one line; an empty line ends one."""
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", story) if part.strip()]


def rules_before(scenario: Scenario, marker: str) -> int | None:
    """The number of the story's paragraphs before the first one that needs the rules.

    It is the number of all if none needs them, and None if the scenario starts no snapshot. `marker` is the algorithm's
    word for its markers.
    """
    if not scenario.snapshots:
        return None
    needs = re.compile("|".join(rf"\b{re.escape(word)}" for word in (*_WORDS, marker)), re.IGNORECASE)
    parts = paragraphs(scenario.story)
    return next((number for number, text in enumerate(parts) if needs.search(text)), len(parts))
