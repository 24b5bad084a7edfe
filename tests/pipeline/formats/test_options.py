"""Suffixes and options of log formats; and the example of a new format in the docs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import formats, jobs
from pipeline.__main__ import main
from pipeline.formats import all_options, check_options, find, guess, names, options_of, suffixes_of
from pipeline.ingest import Plan, plan
from pipeline.logs.format import ANYTHING
from pipeline.store.folder import Store
from sim.core.errors import InputError
from tests.pipeline.some_logs import events_of
from tests.tools import dropped, example

LOG = "P1 send 7\n; a remark\nP2 receive 7\n"
MENU = """
from pipeline.logs.format import Option
TITLE = "a menu"
OPTIONS = (Option("order", "Order", choices={"as it is": "given", "by time": "timed"}),)
"""


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Path]:
    """A log in the format of the docs, which exists during the test."""
    (tmp_path / "some.plain").write_text(LOG, encoding="utf-8")
    with dropped(formats, "plain", example("pipeline/formats/plain.py"), tmp_path):
        yield tmp_path / "some.plain"


@pytest.mark.parametrize(
    ("files", "form"),
    [
        (["a.jsonl"], "jsonl"), (["A.CSV"], "csv"), (["part-0.parquet"], "parquet"), (["c.top", "c.events"], "cos418"),
        (["d.json", "c.events"], "cos418"), (["node.log"], "shiviz"), (["node"], "shiviz"), ([], "shiviz"),
    ],
)  # fmt: skip
def test_the_format_is_guessed_from_the_names_of_files(files: list[str], form: str) -> None:
    assert guess(files) == form


def test_one_format_takes_anything_and_no_two_take_the_same() -> None:
    suffixes = [suffix for name in names() for suffix in suffixes_of(name)]
    assert len(set(suffixes)) == len(suffixes) and suffixes.count(ANYTHING) == 1
    assert all(option.label and option.help for name in names() for option in options_of(name))


def test_a_new_file_is_a_format_and_knows_its_files(plain: Path) -> None:
    assert "plain" in names() and guess(["node.plain"]) == "plain"
    assert all_options("plain", {}) == {"comment": None}
    (piece,) = plan([plain], "plain", {"comment": ";"}).pieces
    events = events_of(find("plain").read(piece))
    assert [(event.process, event.kind, event.channel) for event in events] == [
        ("P1", "send", "P1->P2"),
        ("P2", "receive", "P1->P2"),
    ]
    (piece,) = plan([plain], "plain").pieces
    with pytest.raises(InputError, match=r"some\.plain:2: kind is"):
        find("plain").read(piece)


def test_its_option_is_a_flag_of_ingest(plain: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    """Without Spark, whose workers do not have this module."""
    done: list[Plan] = []
    monkeypatch.setattr(jobs, "ask", lambda question, spark: question(spark))
    monkeypatch.setattr(jobs, "carry_out", lambda spark, store, todo, progress: done.append(todo) or [])
    arguments = ["ingest", str(plain), "--format", "plain", "--out", str(tmp_path / "out")]
    assert main([*arguments, "--comment", ";"]) == 0
    assert [piece.how for piece in done[0].pieces] == [";"]
    assert Store(tmp_path / "out").manifest.about == {
        "files": [str(plain)], "format": "plain", "comment": ";", "quarantine": False,
    }  # fmt: skip
    assert main([*arguments, "--pattern", "x"]) == 2
    assert capsys.readouterr().err == "--pattern: means nothing to the format plain; leave it out\n"
    assert main(["formats"]) == 0
    printed = capsys.readouterr().out
    assert "  plain                        a line for each event, such as P1 send 7 (.plain)\n" in printed
    assert "    --comment                  the beginning of lines that hold no event (default: #)\n" in printed


def test_a_value_is_one_of_the_ready_made_ones_where_there_are_no_others(tmp_path: Path) -> None:
    with dropped(formats, "ordered", MENU, tmp_path):
        check_options("ordered", {"order": "timed"})
        with pytest.raises(InputError, match="--order: 'odd' is not known; say given or timed"):
            check_options("ordered", {"order": "odd"})
    check_options("shiviz", {"pattern": "one of my own"})
