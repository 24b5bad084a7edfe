"""Helpers for tests of bad input: pieces of scenarios, and the line on stderr."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from sim.__main__ import main

TWO = 'processes = ["P1", "P2"]\n'
ONE_WAY = TWO + '[topology]\nchannels = ["P1->P2"]\n'
BANK = TWO + '[workload]\nkind = "bank"\nbalance = 10\n'
RING = TWO + '[workload]\nkind = "token_ring"\n'
TRADE = TWO + '[workload]\nkind = "trade"\ngoods = { P1 = { cash = 5 }, P2 = { pens = 5 } }\nships = { P2 = "pens" }\n'
SNAPSHOT = '[[snapshots]]\nid = "S1"\nprocess = "P1"\nat = 1\n'
CUT = '[[cuts]]\nname = "c"\n'
LISTED = '[delay]\nkind = "listed"\n'


def line(**keys: str) -> str:
    """A script line of P1 at time 1, with these keys (already TOML) instead of or besides its own."""
    given = {"process": '"P1"', "at": "1", **keys}
    return "[[script]]\n" + "".join(f"{key} = {value}\n" for key, value in given.items() if value)


def delay(**keys: str) -> str:
    """A delay of 1 for the first message on P1->P2, with these keys instead of or besides its own."""
    given = {"channel": '"P1->P2"', "delay": "1", **keys}
    return "[[delays]]\n" + "".join(f"{key} = {value}\n" for key, value in given.items() if value)


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What the command prints on stderr when it refuses its input: exactly one line, and nothing on stdout."""
    status = main(list(arguments))
    printed = capsys.readouterr()
    assert (status, printed.out) == (2, ""), f"accepted, or stopped half-way: {printed}"
    assert printed.err.endswith("\n")
    sentence = printed.err[:-1]
    assert len(sentence.splitlines()) == 1, sentence
    assert "Traceback" not in sentence and "Error" not in sentence, sentence
    assert len(sentence) < 400, f"too long to read: {sentence}"
    return sentence


def complaint_about(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The complaint about a scenario file, homework.toml, that holds `text`."""
    (folder / "homework.toml").write_text(text)
    return complaint(capsys, "run", str(folder / "homework.toml"))


def missing(words: Iterable[str], sentence: str) -> list[str]:
    """The words that are missing in `sentence`."""
    return [word for word in words if word not in sentence]
