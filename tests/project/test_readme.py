"""The README names no format or option that the commands do not print: a format of one's own need not be in it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from diagrams.__main__ import main as diagrams
from pipeline.__main__ import main as pipeline
from tests.tools import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
EXPORTS = "Exports need no browser: "
SET = "What is seen: "  # and how it is set
LOGS = "Logs that `ingest` reads: "


def printed(main: Callable[[list[str]], int], capsys: pytest.CaptureFixture[str]) -> tuple[set[str], set[str]]:
    """The formats and the flags that a command's list has."""
    assert main(["formats"]) == 0
    out = capsys.readouterr().out
    return set(re.findall(r"^  (\w+) ", out, re.MULTILINE)), set(re.findall(r"^    (--\S+)", out, re.MULTILINE))


@pytest.mark.parametrize(("main", "opening"), [(diagrams, EXPORTS), (pipeline, LOGS)])
def test_its_paragraph_has_the_formats_there_are_and_their_options(main, opening, capsys) -> None:
    formats, flags = printed(main, capsys)
    (paragraph,) = [part for part in README.split("\n\n") if part.startswith(opening)]
    told = re.findall(r"`([^`]+)`", paragraph.removeprefix(opening))
    assert told and {word for word in told if not word.startswith("--")} <= formats
    assert {word for word in told if word.startswith("--")} <= flags


def test_its_paragraph_on_how_files_are_set_has_options_there_are(capsys) -> None:
    _, flags = printed(diagrams, capsys)
    (paragraph,) = [part for part in README.split("\n\n") if part.startswith(SET)]
    told = re.findall(r"`(--\S+?)[ `]", paragraph)
    assert told and set(told) <= flags


@pytest.mark.parametrize(("main", "command"), [(diagrams, "diagrams"), (pipeline, "pipeline")])
def test_its_command_lines_ask_for_formats_there_are(main, command, capsys) -> None:
    formats, _ = printed(main, capsys)
    asked = set(re.findall(rf"python -m {command} .*--format (\w+)", README))
    assert asked and asked <= formats
    assert f"    python -m {command} formats " in README
