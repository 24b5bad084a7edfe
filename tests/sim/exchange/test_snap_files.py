"""Expected .snap files are compared line by line with what a case has recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from sim.__main__ import main
from sim.exchange import cos418
from sim.exchange.snap_files import Comparison, compare
from sim.run.execution import run
from tests.cases import each
from tests.sim.exchange.test_cos418 import ASSIGNMENT, GENERATED, expected_snaps, run_of

TOP = "2\nA 5\nB 7\nA B\nB A\n"
EVENTS = "send B A 2\nsnapshot A\ntick\n"
SNAP = "0\nA 5\nB 5\nB A token(2)\n"


def compared(expected: str) -> Comparison:
    """The 2 leave B before its marker comes, and reach A after it has recorded."""
    execution = run(cos418.read_case(TOP, EVENTS, [3.0, 1.0, 4.0]))
    (comparison,) = compare(execution, {"x.snap": expected})
    return comparison


@pytest.mark.parametrize("expected", [SNAP, SNAP.rstrip(), "0\n\nB 5\nA  5\nB A token(2)\n"])
def test_the_same_lines_agree_whatever_the_blanks_and_the_order_of_processes(expected: str) -> None:
    found = compared(expected)
    assert all(line.agrees for line in found.lines) and found.in_words == "x.snap: all 4 lines agree"
    assert (found.file, found.snapshot) == ("x.snap", "0")


def test_a_line_that_differs_is_named_with_both_texts() -> None:
    found = compared("0\nA 5\nB 7\nB A token(2)\n")
    assert [line for line in found.lines if not line.agrees] == [(3, "B 7", "B 5")]
    assert found.in_words == "x.snap: 1 of 4 lines differs"


@pytest.mark.parametrize(
    ("expected", "differing"),
    [
        ("0\nA 5\nB 5\n", [(None, None, "B A token(2)")]),
        ("0\nA 5\nB 5\nB A token(9)\nB A token(2)\n", [(4, "B A token(9)", None)]),
    ],
)
def test_a_line_too_few_or_too_many_moves_no_other(expected: str, differing: list[tuple[object, ...]]) -> None:
    assert [line for line in compared(expected).lines if not line.agrees] == differing


def test_an_empty_file_does_not_agree() -> None:
    assert not compared("\n").agrees and compared("").in_words == "x.snap: this file is empty"


def test_a_file_of_a_snapshot_that_is_not_there_agrees_nowhere() -> None:
    assert [line.found for line in compared("3\nA 5\n").lines] == [None, None]


@each("case", ASSIGNMENT + GENERATED)
def test_every_expected_file_of_the_cases_agrees(cos418_cases: Path, case: str) -> None:
    found = compare(run_of(cos418_cases, case), expected_snaps(cos418_cases, case))
    assert found and all(line.agrees for comparison in found for line in comparison.lines)


def test_the_command_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = {
        "c.top": TOP,
        "c.events": EVENTS,
        "d.json": "[3, 1, 4]",
        "x.snap": SNAP,
        "y.snap": SNAP.replace("B 5", "B 6"),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    case = [str(tmp_path / name) for name in ("c.top", "c.events")]
    delays = ["--delays", str(tmp_path / "d.json"), "--expected", str(tmp_path / "x.snap")]
    assert main(["cos418", *case, *delays]) == 0
    assert capsys.readouterr().out.endswith("x.snap: all 4 lines agree\n")
    assert main(["cos418", *case, *delays, str(tmp_path / "y.snap")]) == 1
    assert capsys.readouterr().out.endswith("1 of 4 lines differs\n  line 3: expected B 6, found B 5\n")
