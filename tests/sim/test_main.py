"""python -m sim: the JSON document, the exit status, the list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sim.__main__ import main
from sim.core.algorithm import ALGORITHMS
from sim.core.workload import WORKLOADS
from sim.document import library
from sim.run.execution import run
from sim.run.references import notes
from tests.sim.bad import BANK, SNAPSHOT, TWO, delay, line


def answer(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, Any, list[str]]:
    """Exit status, the JSON document and the lines on stderr of a run of `text`."""
    (folder / "homework.toml").write_text(text)
    status = main(["run", str(folder / "homework.toml"), "--json"])
    printed = capsys.readouterr()
    return status, json.loads(printed.out), printed.err.splitlines()


def test_the_json_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exactly these keys; every channel, the empty ones too; bodies as they were given."""
    text = (
        BANK
        + line(process='"P2"', to='"P1"', at="1", body="3", label='"m"', delay="9")
        + SNAPSHOT.replace("1\n", "2\n", 2)
    )
    status, document, complaints = answer(text.replace("P2\n", "P1\n"), tmp_path, capsys)
    assert (status, complaints) == (0, [])
    assert document == {
        "scenario": "homework",
        "steps": 5,
        "snapshots": [
            {
                "id": "S1",
                "algorithm": "chandy_lamport",
                "initiators": ["P1"],
                "status": "complete",
                "processes": {"P1": {"state": 10, "events": []}, "P2": {"state": 7, "events": ["m"]}},
                "channels": {"P1->P2": [], "P2->P1": [3]},
                "verdicts": [
                    {"check": check, "holds": True, "witness": None}
                    for check in ("completion", "one_marker", "consistency", "channel_states", "conservation")
                ],
            }
        ],
        "final": {"processes": {"P1": 13, "P2": 7}, "channels": {"P1->P2": [], "P2->P1": []}},
    }


HELD = TWO + SNAPSHOT + delay(kind='"marker"', snapshot='"S1"', delay="inf")


def test_an_undeclared_failing_check_is_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, document, complaints = answer(HELD, tmp_path, capsys)
    assert (status, complaints) == (1, ["homework: S1:completion does not hold: P2 has not recorded"])
    (snapshot,) = document["snapshots"]
    assert (snapshot["status"], snapshot["channels"]) == ("recording", {})
    assert snapshot["processes"] == {"P1": {"state": None, "events": []}}


def test_a_declared_failure_is_status_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(HELD + '[expect]\nfails = ["S1:completion"]\n', tmp_path, capsys)[0] == 0


def test_a_declared_failure_that_does_not_happen_is_status_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, complaints = answer(TWO + SNAPSHOT + '[expect]\nfails = ["S1:completion"]\n', tmp_path, capsys)
    assert (status, len(complaints)) == (1, 1) and "S1:completion holds" in complaints[0]


EXPECTATIONS = [
    "consistent_cuts = 2",
    "linearizations = 7",
    'snapshots = { S1 = { status = "recording" } }',
    'snapshots = { S1 = { processes = { P1 = ["A"] } } }',
    'snapshots = { S1 = { states = { P1 = "white" } } }',
    'snapshots = { S1 = { channels = { "P1->P2" = ["x"] } } }',
    "snapshots = { S2 = {} }",
    "cuts = { here = { consistent = true } }",
]


@pytest.mark.parametrize("expectation", EXPECTATIONS)
def test_an_expectation_that_is_not_met_is_status_1(
    expectation: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, complaints = answer(TWO + SNAPSHOT + "[expect]\n" + expectation + "\n", tmp_path, capsys)
    assert (status, len(complaints)) == (1, 1)


def test_without_json_a_sentence_for_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "lecture"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [int(text.split()[0]) for text in lines] == list(range(19))


def test_the_list_names_everything_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in [*library.names(), *ALGORITHMS, *WORKLOADS])


STRAY = """
processes = 2
script = [{ process = "P1", at = 1, to = "P2", label = "H" }]
snapshots = [{ id = "S1", process = "P1", at = 2 }]
[[delays]]
channel = "P1->P2"
ordinal = 2
delay = 7
[[delays]]
label = "P2.1"
delay = 7
"""


def test_a_delay_of_a_message_that_is_never_sent_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is no error: an edit may have taken the message away."""
    path = tmp_path / "stray.toml"
    path.write_text(STRAY)
    assert main(["run", str(path), "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["scenario"] == "stray"
    assert told.err.splitlines() == [
        "stray: the delay of message number 2 on P1->P2 has no effect: there is no message number 2 on P1->P2 in this "
        "run; it carries 1 of them",
        "stray: the delay of the message sent at P2.1 has no effect: no message is sent at 'P2.1' in this run; "
        "known: H",
    ]


@pytest.mark.parametrize("name", library.names())
def test_no_bundled_scenario_has_a_stray_delay(name: str) -> None:
    assert notes(run(library.load(name))) == []
