"""No error on a page names a flag of a command."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tools import ROOT, check_none
from views.server.plain_words import sentence, without_flags

PACKAGES = ("sim", "pipeline", "diagrams", "views")


def texts(path: Path) -> Iterator[str]:
    """The texts in a file that may be part of an error; `{}` stands for a value."""
    tree = ast.parse(path.read_text("utf-8"))
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)  # type: ignore
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.value


@pytest.mark.slow
def test_no_text_of_the_code_reaches_a_page_with_a_flag() -> None:
    paths = [path for name in PACKAGES for path in (ROOT / name).rglob("*.py") if "--" in path.read_text("utf-8")]
    found = {text: path for path in paths for text in texts(path)}
    with_flags = {text: path for text, path in found.items() if "--" in text and "-->" not in text and "\n" not in text}
    assert len(with_flags) > 20, "the command lines have flags"
    check_none(f"{path}: {text}" for text, path in with_flags.items() if "--{" not in text and has_flag(sentence(text)))


def has_flag(text: str) -> bool:
    return any(word.startswith("--") and word[2:3].isalpha() for word in text.replace("(", " ").split())


WORDS = [
    ("--marker-delay: 'x' is no delay", "Marker delay: 'x' is no delay."),
    ("--set transfers: bank has no such parameter", "transfers: bank has no such parameter."),
    ("--steps 3-9: lecture has steps 0 to 5", "Steps 3-9: lecture has steps 0 to 5."),
    ("give fewer runs (--runs)", "Give fewer runs."),
    ("is it (--delimiter), or not (so)?", "Is it, or not (so)?"),
    ("P1--P2 is no channel", "P1--P2 is no channel."),
]


def test_a_flag_becomes_words_and_one_in_brackets_goes() -> None:
    check_none(
        f"{problem!r} becomes {sentence(problem)!r}, not {told!r}"
        for problem, told in WORDS
        if sentence(problem) != told
    )


def test_without_flags_changes_no_other_text() -> None:
    assert without_flags("a - b -- c, x-y (so)") == "a - b -- c, x-y (so)"
