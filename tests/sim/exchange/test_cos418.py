"""The cases of the assignment, generated cases, and three that were worked out by hand."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sim.__main__ import main
from sim.exchange import cos418
from sim.run.execution import Execution, run
from tests.cases import each
from tests.sim.tools import verdicts
from tests.tools import ROOT

ASSIGNMENT = (
    "2nodes-simple", "2nodes-message", "3nodes-simple", "3nodes-bidirectional-messages", "8nodes-sequential-snapshots",
)  # fmt: skip
GENERATED = tuple(f"fuzz{number:03}_" for number in range(8))


def files_of(folder: Path, case: str) -> tuple[Path, Path, Path]:
    """The topology, the script and the delays of a case."""
    if case in GENERATED:
        folder = folder / "generated"
        return folder / f"{case}.top", folder / f"{case}.events", folder / f"{case}.json"
    return folder / f"{case.split('-')[0]}.top", folder / f"{case}.events", folder / "delays" / f"{case}.json"


def expected_snaps(folder: Path, case: str) -> dict[str, str]:
    """File name -> content of every .snap of a case."""
    folder = folder / "generated" if case in GENERATED else folder
    return {path.name: path.read_text() for path in folder.glob(f"{case}*.snap")}


def run_of(folder: Path, case: str) -> Execution:
    """The run of a case of the assignment."""
    top, events, delays = files_of(folder, case)
    return answer(top.read_text(), events.read_text(), json.loads(delays.read_text()))


def answer(top: str, events: str, delays: list[float]) -> Execution:
    return run(cos418.read_case(top, events, delays))


@pytest.mark.slow
@each("case", ASSIGNMENT + GENERATED)
def test_every_snap_file_line_by_line_and_every_check(cos418_cases: Path, case: str) -> None:
    execution = run_of(cos418_cases, case)
    texts = cos418.snap_texts(execution)
    names = [f"{case}.snap"] if len(texts) == 1 else [f"{case}{number}.snap" for number in range(len(texts))]
    assert dict(zip(names, texts, strict=True)) == expected_snaps(cos418_cases, case)
    assert all(verdict.holds for row in verdicts(execution).values() for verdict in row)


@each("case", ASSIGNMENT)
def test_every_line_of_the_reference_trace(cos418_cases: Path, case: str) -> None:
    assert (
        cos418.trace(run_of(cos418_cases, case)) == (cos418_cases / "traces" / f"{case}.txt").read_text().splitlines()
    )


@pytest.mark.parametrize("case", ["3nodes-simple", "8nodes-sequential-snapshots", "fuzz003_"])
def test_the_command_writes_the_files_and_prints_the_trace(
    cos418_cases: Path, case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    top, events, delays = files_of(cos418_cases, case)
    out = tmp_path / "new" / "folder"
    status = main(["cos418", str(top), str(events), "--delays", str(delays), "--out", str(out), "--trace"])
    printed = capsys.readouterr()
    assert (status, printed.err) == (0, "")
    assert {path.name: path.read_text() for path in out.iterdir()} == expected_snaps(cos418_cases, case)
    if case in ASSIGNMENT:
        assert printed.out == (cos418_cases / "traces" / f"{case}.txt").read_text()


# --------------------------------------------------------------------------- cases of our own

TOKEN_ON_ITS_WAY = (
    "2\nA 10\nB 0\nA B\nB A\n",
    "# the token is due at tick 3, behind it the marker\nsend A B 4\nsnapshot B\ntick 2\n",
    [2, 0, 0],
    ["0\nA 6\nB 0\nA B token(4)\n"],
    """\
0	10	A sent 4 tokens to B
0	0	B startSnapshot(0)
0	0	B sent marker(0) to A
1	6	A received marker(0) from B
1	6	A sent marker(0) to B
1	6	A endSnapshot(0)
3	0	B received 4 tokens from A
4	4	B received marker(0) from A
4	4	B endSnapshot(0)
""",
)

OVERLAPPING = (
    "2\nA 5\nB 5\nA B\nB A\n",
    "send A B 1\nsnapshot A\ntick\nsnapshot B\nsend B A 2\ntick\n",
    [0, 0, 0, 0, 0, 0],
    ["0\nA 4\nB 4\nB A token(2)\n", "1\nA 4\nB 6\n"],
    """\
0	5	A sent 1 tokens to B
0	4	A startSnapshot(0)
0	4	A sent marker(0) to B
1	5	B received 1 tokens from A
1	6	B startSnapshot(1)
1	6	B sent marker(1) to A
1	6	B sent 2 tokens to A
2	4	B received marker(0) from A
2	4	B sent marker(0) to A
2	4	B endSnapshot(0)
2	4	A received marker(1) from B
2	4	A sent marker(1) to B
2	4	A endSnapshot(1)
3	4	B received marker(1) from A
3	4	B endSnapshot(1)
3	4	A received 2 tokens from B
4	6	A received marker(0) from B
4	6	A endSnapshot(0)
""",
)

# N10 comes before N2: the first marker (delay 0) goes to N10, so N10 records before the token arrives.
STRING_ORDER = (
    "3\nN1 5\nN2 4\nN10 0\nN1 N2\nN1 N10\nN2 N10\nN10 N1\n",
    "snapshot N1\nsend N2 N10 3\ntick\n",
    [0, 3, 1, 0, 0],
    ["0\nN1 5\nN10 0\nN2 1\nN2 N10 token(3)\n"],
    """\
0	5	N1 startSnapshot(0)
0	5	N1 sent marker(0) to N10
0	5	N1 sent marker(0) to N2
0	4	N2 sent 3 tokens to N10
1	0	N10 received marker(0) from N1
1	0	N10 sent marker(0) to N1
2	5	N1 received marker(0) from N10
2	5	N1 endSnapshot(0)
2	0	N10 received 3 tokens from N2
4	1	N2 received marker(0) from N1
4	1	N2 sent marker(0) to N10
4	1	N2 endSnapshot(0)
5	3	N10 received marker(0) from N2
5	3	N10 endSnapshot(0)
""",
)
OWN = {"token on its way": TOKEN_ON_ITS_WAY, "overlapping": OVERLAPPING, "string order": STRING_ORDER}


@pytest.mark.parametrize("name", OWN)
def test_a_case_worked_out_by_hand(name: str) -> None:
    top, events, delays, snaps, trace = OWN[name]
    execution = answer(top, events, delays)
    assert cos418.snap_texts(execution) == snaps
    assert cos418.trace(execution) == trace.splitlines()
    assert all(verdict.holds for row in verdicts(execution).values() for verdict in row)


def test_string_order_case_depends_on_the_names() -> None:
    """With N3 for N10 the strings sort as the numbers do: N2 hears first, and the token is in no channel."""
    top, events, delays, _, _ = STRING_ORDER
    execution = answer(top.replace("N10", "N3"), events.replace("N10", "N3"), delays)
    assert cos418.snap_texts(execution) == ["0\nN1 5\nN2 1\nN3 3\n"]


def test_a_case_ends_six_ticks_after_its_snapshots() -> None:
    """The snapshot is complete at tick 4; a token due at tick 10 still arrives, one due at tick 11 does not."""
    top, events, delays, _, _ = TOKEN_ON_ITS_WAY
    assert last_arrival(answer(top, events + "send A B 1\n", [*delays, 7])) == "10\tB received 1 tokens from A"
    assert last_arrival(answer(top, events + "send A B 1\n", [*delays, 8])) == "3\tB received 4 tokens from A"


def last_arrival(execution: Execution) -> str:
    time, _, text = [line for line in cos418.trace(execution) if "tokens from" in line][-1].split("\t")
    return f"{time}\t{text}"


def test_delays_drawn_from_a_seed_are_whole_ticks_and_depend_on_it() -> None:
    top, events = "2\nA 10\nB 0\nA B\nB A\n", "send A B 1\ntick\n" * 5 + "snapshot A\n"
    traces = {tuple(cos418.trace(run(cos418.read_case(top, events, seed=seed)))) for seed in (1, 1, 2, 3)}
    assert len(traces) == 3


@pytest.mark.slow
def test_the_command_in_a_shell(tmp_path: Path) -> None:
    """Exit status, files and standard output."""
    top, events, delays, snaps, trace = STRING_ORDER
    for name, text in {"own.top": top, "own.events": events, "d.json": json.dumps(delays)}.items():
        (tmp_path / name).write_text(text)
    paths = [str(tmp_path / name) for name in ("own.top", "own.events")]
    command = ["cos418", *paths, "--delays", str(tmp_path / "d.json"), "--out", str(tmp_path / "o"), "--trace"]
    done = subprocess.run([sys.executable, "-m", "sim", *command], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", trace)
    assert (tmp_path / "o" / "own.snap").read_text() == snaps[0]
