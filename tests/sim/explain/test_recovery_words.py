"""Recovery lines in words and by `python -m sim run --failed`: who fails, who keeps its present state."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from diagrams.__main__ import main as draw
from sim.__main__ import main
from sim.core.recovery import RecoveryPlan
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import FaultLine
from sim.document.writing import dumps
from sim.edit.edits import apply_edit
from sim.explain.domino import stages, with_failed
from sim.run.execution import run
from sim.run.recovery_lines import recoveries_of
from tests.cases import each


@each(("failed", "names", "end"), [
    ("P1,P2", ["Last checkpoints", "Rollback 1", "Rollback 2", "Rollback 3", "Recovery line"],
     "If all processes fail (a total failure), 4 rollbacks lead to it: P1 and P2 go back to their initial states. No "
     "checkpoint was of any use."),
    ("P1", ["Recovery line"],
     "If only P1 fails, its last checkpoint is consistent with the present state of P2: P1 goes back to its checkpoint "
     "after H (step 10) and P2 keeps its present state."),
    ("P2", ["After the failure", "Rollback 1", "Rollback 2", "Rollback 3", "Recovery line"],
     "If only P2 fails, 4 rollbacks lead to it: P1 and P2 go back to their initial states. No checkpoint was of any "
     "use."),
])  # fmt: skip
def test_the_line_of_the_domino_effect_for_any_failure(failed: str, names: list[str], end: str) -> None:
    told = [*stages(run(with_failed(library.load("domino"), failed)))]
    assert [own.name for own in told] == names
    assert told[-1].text.endswith(end)


def test_who_has_not_failed_goes_back_from_its_present_state() -> None:
    first, rollback, *_ = stages(run(with_failed(library.load("domino"), "P2")))
    assert first.text == "P2 fails and goes back to its last checkpoint. P1 still has its present state."
    assert rollback.text.startswith(
        "P1 goes back from its present state to its checkpoint after D (step 6). It had received m4"
    )


def test_who_is_down_at_the_end_has_no_present_state() -> None:
    crash, early = FaultLine("crash", "P2", (), 30.0), RecoveryPlan(at=(0.5,))
    own = replace(library.load("domino"), faults=(crash,), recovery=early, expect={})
    assert recoveries_of(run(with_failed(own, "P1")))["S1"].is_total


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "domino", "--failed", "P1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found.pop("recovery_lines") == {
        "S1": {"failed": ["P1"], "line": {"P1": 4, "P2": 4}, "kept": ["P2"], "rollbacks": []}
    }
    main(["run", "domino", "--json"])
    assert json.loads(capsys.readouterr().out) == found, "without the option the document is as it was"
    main(["run", "domino", "--failed", "P1"])
    assert "If only P1 fails" in capsys.readouterr().out


def test_the_caption_of_a_figure_says_who_fails(tmp_path: Path) -> None:
    out = tmp_path / "caption.txt"
    assert draw(["export", "domino", "--failed", "P1", "--format", "caption", "-o", str(out)]) == 0
    assert "The bold dashed line is the recovery line. If only P1 fails, its last checkpoint is" in out.read_text()


@each(("scenario", "failed", "told"), [
    ("domino", "P1,P7", "algorithm.failed: 'P7' is no process; the processes are P1, P2"),
    ("lecture", "P1", "failed: Chandy-Lamport coordinates its recordings, so all processes go back to one snapshot; "
     "choose the algorithm uncoordinated"),
])  # fmt: skip
def test_who_cannot_fail(scenario: str, failed: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", scenario, "--failed", failed]) == 2
    assert capsys.readouterr().err == f"{scenario}.toml: {told}\n"


def test_an_edit_chooses_and_a_file_keeps_who_fails() -> None:
    chosen = apply_edit(run(library.load("domino")), {"do": "parameter", "name": "failed", "value": ["P1"]}, 0.0)
    assert recoveries_of(chosen)["S1"].kept == ("P2",)
    assert parse_toml(dumps(chosen.scenario), "again").algorithm_parameters["failed"] == ("P1",)
    back = apply_edit(chosen, {"do": "parameter", "name": "failed", "value": []}, 0.0)
    assert recoveries_of(back)["S1"].is_total and "failed" not in back.scenario.algorithm_parameters
