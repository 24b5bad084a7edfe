"""The command `tradeoffs`: its output, the files that it writes, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.__main__ import main
from pipeline.tradeoffs.table import table_from_json
from sim.core.algorithm import ALGORITHMS

SMALL = [
    "tradeoffs", "--topology", "dag", "--processes", "3", "--marker-delay", "same", "--pace", "20", "--runs", "1",
]  # fmt: skip


@pytest.mark.slow
def test_it_measures_and_says_where_the_claims_do_not_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "table.json"
    assert main([*SMALL, "--out", str(out)]) == 0
    first, *told, last = capsys.readouterr().out.splitlines()
    assert first.startswith("Banks of 3 processes on each of these topologies: dag")
    begins = 'Aligned barriers, latency: "Low (Zero-Pause)" depends on topology. Channels were blocked on dag.'
    assert any(line.startswith(begins) and "Topology: 0 of 1 on dag, 1 of 1 on" in line for line in told)
    table = table_from_json(out.read_text("utf-8"))
    assert last == f"{table.runs} runs, in {out}"
    assert set(table.rows) == set(ALGORITHMS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "begins", "has"),
    [
        (".md", "Trade-offs of snapshot algorithms", "| Stop-the-world | Memory overhead | Zero |"),
        (".tex", "\\begin{longtable}", "Stop-the-world & Memory overhead & Zero &"),
        (".csv", "Algorithm,Aspect,Claim,Measured,Verdict,Depends on,Remark", "Stop-the-world,Memory overhead,Zero,"),
    ],
)
def test_the_name_of_the_file_says_its_form(tmp_path: Path, suffix: str, begins: str, has: str) -> None:
    out = tmp_path / f"table{suffix}"
    assert main([*SMALL, "--out", str(out)]) == 0
    text = out.read_text("utf-8")
    assert text.startswith(begins) and has in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--out", "table.pdf"],
            "--out table.pdf: has no known suffix; end the file's name in one of .json, .md, .tex, .csv",
        ),
        (["--out", "nowhere/table.md"], "--out nowhere/table.md: cannot be written (No such file or directory)"),
        (["--out", "table.md", "--processes", "2"], "--processes: the table is measured on systems of 3 to 20"),
        (["--out", "table.md", "--scratch", "x"], "--scratch: works only with --on-spark"),
    ],
)
def test_bad_input_is_one_sentence(
    words: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*SMALL, *words]) == 2
    (line,) = [own for own in capsys.readouterr().err.splitlines() if "runs" not in own or "--" in own]
    assert sentence in line
    assert not list(tmp_path.iterdir())
