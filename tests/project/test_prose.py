"""Docstrings, page texts, stories and docs keep the rules for sentences that a machine can keep."""

from __future__ import annotations

import pytest

from tests.project.prose import Text, complaints, files, texts_of
from tests.tools import check_none


@pytest.mark.slow
def test_no_sentence_breaks_a_rule() -> None:
    check_none(line for path in files() for text in texts_of(path) for line in complaints(text))


@pytest.mark.parametrize(
    "text",
    [
        "What each channel holds.",
        "Return the messages that nobody has received.",
        "The documents say so.",
        "Return " + "a long sentence of many words " * 5,
    ],
)
def test_this_test_sees_what_is_forbidden(text: str) -> None:
    assert len([*complaints(Text("here", text, 25, is_docstring=True))]) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Return the contents of each channel.",
        "Return `nobody`, a name in code. " + "Short sentences follow each other. " * 9,
        'The rule is from a paper (L. Lamport, "Time, Clocks, and the Ordering of Events in a Distributed System").',
        "A list:\n\n" + "- an entry of a list, without an end\n" * 9,
    ],
)
def test_and_lets_pass_what_is_not(text: str) -> None:
    assert [*complaints(Text("here", text, 25, is_docstring=True))] == []
