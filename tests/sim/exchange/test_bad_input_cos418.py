"""Bad COS 418 files: the error is one line with the file, the line and how to correct it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases import each
from tests.sim.bad import complaint, missing

FILES = {
    "graph.top": "2\nA 10\nB 0\nA B\nB A\n",
    "run.events": "send A B 4\nsnapshot B\ntick 2\n",
    "d.json": "[0, 0, 0]",
}
TOP, EVENTS = FILES["graph.top"], FILES["run.events"]

# name: (the bad file, its content, the words a reader needs)
CASES: dict[str, tuple[str, str, list[str]]] = {
    "an empty topology": ("graph.top", "", ["first line", "number of processes"]),
    "only comments": ("graph.top", "# 2\n", ["first line", "number of processes"]),
    "no number of processes": ("graph.top", "two\nA 1\n", ["line 1", "number of processes", "'two'"]),
    "no processes": ("graph.top", "0\n", ["line 1", "at least 1", "'0'"]),
    "fewer processes than announced": ("graph.top", "4\nA 10\nB 0\n", ["line 1", "4", "2"]),
    "a process without tokens": ("graph.top", "2\nA\nB 0\n", ["line 2", "tokens"]),
    "negative tokens": ("graph.top", "2\nA -1\nB 0\nA B\n", ["line 2", "tokens", "'-1'"]),
    "half a token": ("graph.top", "2\nA 1.5\nB 0\nA B\n", ["line 2", "whole number", "'1.5'"]),
    "a process named twice": ("graph.top", "2\nA 1\nA 2\n", ["line 3", "'A'", "twice"]),
    "a name with an arrow": ("graph.top", "2\nA->B 1\nB 2\n", ["line 2", "'A->B'", '"->"']),
    "a link to nobody": ("graph.top", TOP + "A C\n", ["line 6", "'C'", "A, B"]),
    "a link of three": ("graph.top", TOP + "A B 3\n", ["line 6", "link"]),
    "a self link": ("graph.top", TOP + "A A\n", ["line 6", "itself"]),
    "a link given twice": ("graph.top", TOP + "# once more\nA B\n", ["line 7", "twice"]),
    "links where processes are announced": ("graph.top", "3\nA 10\nB 0\nA B\nB A\n", ["line 1", "3 processes", "2"]),
    "a sender nobody knows": ("run.events", "send C B 1\n", ["line 1", "'C'", "A, B"]),
    "a target nobody knows": ("run.events", "# a comment\n\nsend A C 1\n", ["line 3", "'C'", "A, B"]),
    "a snapshot of nobody": ("run.events", "snapshot C\n", ["line 1", "'C'", "A, B"]),
    "an unknown word": ("run.events", "snd A B 4\n", ["line 1", "snd A B 4", "send A B n"]),
    "a send of nothing": ("run.events", "send A B\n", ["line 1", "send A B", "send A B n"]),
    "zero tokens": ("run.events", "send A B 0\n", ["line 1", "at least 1", "'0'"]),
    "negative ticks": ("run.events", "tick -1\n", ["line 1", "ticks", "'-1'"]),
    "far too many ticks": ("run.events", "tick 99999999999\n", ["line 1", "1000000", "ticks"]),
    "a send to oneself": ("run.events", "tick\nsend A A 1\n", ["line 2", "itself"]),
    "a send without the tokens": ("run.events", "tick\n" + EVENTS + "send A B 7\n", ["line 5", "A", "6", "7"]),
    "delays that are no list": ("d.json", '{"a": 1}', ["list", "[3, 2, 3]"]),
    "delays that are no JSON": ("d.json", "[1, ", ["not valid JSON", "line 1", "[3, 2, 3]"]),
    "nothing instead of delays": ("d.json", "", ["not valid JSON", "[3, 2, 3]"]),
    "a delay that is a text": ("d.json", '[0, "a"]', ["delay 2", "number"]),
    "a negative delay": ("d.json", "[0, -1]", ["delay 2", "-1", "at least 0"]),
    "an infinite delay": ("d.json", "[Infinity]", ["delay 1", "inf"]),
    "a delay that is no number": ("d.json", "[NaN]", ["delay 1", "nan"]),
    "a delay that is true": ("d.json", "[true]", ["delay 1", "True"]),
    "deep nesting": ("d.json", "[" * 100_000, ["not valid JSON"]),
    "a number of 5,000 digits": ("d.json", f"[{'9' * 5000}]", ["not valid JSON"]),
    "too few delays": ("d.json", "[0]", ["1", "delay"]),
}


def answer(folder: Path, capsys: pytest.CaptureFixture[str], **changed: str) -> str:
    """The complaint about a case whose three files have three names; `changed` by suffix."""
    for name, text in FILES.items():
        (folder / name).write_text(changed.get(name.partition(".")[2], text))
    top, events, delays = (str(folder / name) for name in FILES)
    return complaint(capsys, "cos418", top, events, "--delays", delays)


@each("name", CASES)
def test_a_bad_case(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad, content, words = CASES[name]
    sentence = answer(tmp_path, capsys, **{bad.partition(".")[2]: content})
    assert missing([bad, *words], sentence) == [], sentence


def test_a_send_without_a_link(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sentence = answer(tmp_path, capsys, top="2\nA 10\nB 0\nB A\n", events="tick\nsend A B 4\n")
    assert missing(["run.events", "line 2", "A", "B"], sentence) == [], sentence


def test_a_snapshot_that_cannot_reach_everyone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sentence = answer(tmp_path, capsys, top="2\nA 10\nB 0\nA B\n", events="tick\nsnapshot B\n")
    assert missing(["run.events", "line 2", "cannot reach A"], sentence) == [], sentence


def test_a_folder_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, text in {**FILES, "taken": ""}.items():
        (tmp_path / name).write_text(text)
    top, events, taken = (str(tmp_path / name) for name in ("graph.top", "run.events", "taken"))
    assert "taken" in complaint(capsys, "cos418", top, events, "--out", taken)
