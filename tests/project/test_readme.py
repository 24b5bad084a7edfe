"""The README and the docs name no format, command or option that is not there; a new format need not be in them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator

import pytest

from diagrams.__main__ import main as diagrams
from pipeline.__main__ import main as pipeline
from tests.project.reference.commands import MAINS, parser_of
from tests.tools import ROOT, check_none

PAGES = {path.relative_to(ROOT): path.read_text("utf-8") for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"))}
TEXT = "\n\n".join(PAGES.values())
MOST_LINES = {"README.md": 130, "docs/architecture.md": 200}
EXPORTS = "Exports need no browser: "
SEEN = "What is seen: "
LOGS = "Logs that `ingest` reads: "
COMMAND = re.compile(
    rf"^    (?:.*/)?python -m ({'|'.join(MAINS)}) (\w+)(?: (list|show|open|compare|delete)\b)?(.*)$", re.M
)


def printed(main: Callable[[list[str]], int], capsys: pytest.CaptureFixture[str]) -> tuple[set[str], set[str]]:
    """The formats and the flags that a command's list has."""
    assert main(["formats"]) == 0
    out = capsys.readouterr().out
    return set(re.findall(r"^  (\w+) ", out, re.MULTILINE)), set(re.findall(r"^    (--\S+)", out, re.MULTILINE))


@pytest.mark.parametrize(("main", "opening"), [(diagrams, EXPORTS), (pipeline, LOGS)])
def test_a_paragraph_has_the_formats_there_are_and_their_options(main, opening, capsys) -> None:
    formats, flags = printed(main, capsys)
    (paragraph,) = [part for part in TEXT.split("\n\n") if part.startswith(opening)]
    told = re.findall(r"`([^`]+)`", paragraph.removeprefix(opening))
    assert told and {word for word in told if not word.startswith("--")} <= formats
    assert {word for word in told if word.startswith("--")} <= flags


def test_the_page_on_exports_has_options_there_are(capsys) -> None:
    _, flags = printed(diagrams, capsys)
    (page,) = [text for text in PAGES.values() if SEEN in text]
    told = re.findall(r"`(--\S+?)[ `]", page[page.index(SEEN) :])
    assert told and set(told) <= flags | {"--algorithms"}


@pytest.mark.parametrize(("main", "command"), [(diagrams, "diagrams"), (pipeline, "pipeline")])
def test_command_lines_ask_for_formats_there_are(main, command, capsys) -> None:
    formats, _ = printed(main, capsys)
    asked = set(re.findall(rf"python -m {command} .*--format (\w+)", TEXT)) - examples()
    assert asked and asked <= formats
    assert f"    python -m {command} formats " in TEXT


def examples() -> set[str]:
    """The formats that the recipes of CONTRIBUTING.md add."""
    return set(re.findall(r"This is `(?:diagrams/export|pipeline/formats)/(\w+)\.py`", TEXT))


def options(parser: argparse.ArgumentParser) -> tuple[dict[str, argparse.ArgumentParser], set[str]]:
    """The commands of a parser, and its flags."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return (dict(inner[0].choices) if inner else {}), {flag for own in parser._actions for flag in own.option_strings}


def strange() -> Iterator[str]:
    """The commands and flags of the docs that no parser knows."""
    commands = {name: options(parser_of(main))[0] for name, main in MAINS.items()}
    own = {"--letters", "--comment"}  # options of the formats that the recipes add
    for where, text in PAGES.items():
        for program, command, inner, rest in COMMAND.findall(text):
            if command not in commands[program]:
                yield f"{where}: python -m {program} {command}"
                continue
            within, flags = options(commands[program][command])
            known = flags | (options(within[inner])[1] if inner in within else set()) | own
            call = re.split(r"\s{2,}|; ", rest)[0]  # without the remark behind it
            yield from (
                f"{where}: {command} {flag}" for flag in re.findall(r"(?<!\S)--[\w-]+", call) if flag not in known
            )


def test_command_lines_have_flags_there_are() -> None:
    check_none(strange())


def test_pages_are_short() -> None:
    lines = {name: (ROOT / name).read_text("utf-8").count("\n") for name in MOST_LINES}
    assert {name: count for name, count in lines.items() if count > MOST_LINES[name]} == {}


def test_links_between_pages_lead_somewhere() -> None:
    check_none(
        f"{where}: {link}"
        for where, text in PAGES.items()
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
        if not (ROOT / where).parent.joinpath(link).exists()
    )
