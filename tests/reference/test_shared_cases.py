"""Small inputs with right answers that were worked out by hand: each by its command, and its brothers by the reference.

The inputs have no licence, so they are not part of the project.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from diagrams.panels.proof.panel import proof_of
from pipeline.cuts.snapshot_cuts import OfSnapshots
from sim.__main__ import main
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.core.recovery import RecoveryPlan
from sim.core.topology import EVERY_CHANNEL
from sim.document import library
from sim.document.files import load
from sim.document.scenario import Scenario
from sim.document.validate import validate
from sim.run.cut_states import states_at_cuts
from sim.run.execution import Execution, run
from sim.run.snapshots import COMPLETE, snapshots_of
from sim.theory.lattice import lattice
from sim.verify.delivery import delivery_of
from tests.cases import each
from tests.pipeline.cuts.here import audited_here
from tests.pipeline.some_tables import folder_of
from tests.reference import test_cuts, test_verdicts
from tests.reference.delivery import delivery_from_table
from tests.tools import ROOT, check_none

CASES = ROOT.parent / "shared" / "data" / "cases" / "runs"
RECOVERY, NO_RECOVERY = "at-least-once-orphan-recovery", "at-least-once-orphan-norecovery"
FILES = (
    "atomic-step-cut", "possibly-lost", "unaligned-lost-later", NO_RECOVERY, RECOVERY, "interchange-nonfifo",
    "interchange-crash", "joins-complete-with-open-channel", "delivery-unfenced-held",
)  # fmt: skip
ORPHAN = "message m on C13 is received inside the cut, but sent outside it"
# By file, of S1: what it has in its channels, and the verdicts that its command must give, with their witnesses.
SNAPSHOTS: dict[str, tuple[dict[str, list[Any]], dict[str, tuple[bool, str | None]]]] = {
    "unaligned-lost-later": ({"P1->P2": [5], "P2->P1": []}, {"channel_states": (True, None)}),
    NO_RECOVERY: ({"P1->P3": [], "P2->P3": []}, {"consistency": (False, ORPHAN)}),
    RECOVERY: ({"P1->P3": [], "P2->P3": []}, {"consistency": (False, ORPHAN)}),
    # P1 was not there when S1 began: it is no member, and its channels are not asked for.
    "joins-complete-with-open-channel": ({}, {"completion": (True, None), "channel_states": (True, None)}),
}
PASSES = ("interchange-nonfifo", "interchange-crash")


@pytest.fixture
def cases() -> Path:
    """The folder with the inputs."""
    if not CASES.is_dir():
        pytest.skip(f"the cases with right answers are not here; they belong in {CASES}")
    return CASES


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """What a command of `python -m sim` answers, as JSON."""
    main([*arguments, "--json"])
    return json.loads(capsys.readouterr().out)


def test_every_input_has_its_test(cases: Path) -> None:
    assert sorted(FILES) == sorted(file.stem for file in cases.glob("*.toml"))


def test_goods_are_never_missing_at_a_cut(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A receipt and what answers it are one step."""
    file, missing = str(cases / "atomic-step-cut.toml"), "processes.widget + channels.widget < 7"
    assert asked(capsys, "cuts", file, "--definitely", missing)["definitely"]["holds"] is False
    assert asked(capsys, "cuts", file, "--possibly", missing)["possibly"]["holds"] is False


@each(("name", "records"), [("back_pressure", 6), ("exactly_once", 4)])
def test_the_records_of_bundled_runs_are_never_missing(name: str, records: int) -> None:
    """At every consistent cut all records are there; `sim cuts` of `back_pressure` does not say that they are fewer."""
    execution = run(library.load(name))
    states, measure = states_at_cuts(execution), execution.engine.workload
    for cut in lattice(execution.order):
        found: Counter[str] = Counter()
        for process, count in zip(execution.scenario.processes, cut, strict=False):
            found.update(measure.measure(states.state(process, count)))
        for channel in execution.engine.channels:
            for flight in states.in_channel(channel.name, cut):
                found.update(measure.measure_body(execution.body_of(flight.send)))
        assert found["records"] == records


def test_records_that_are_definitely_missing(capsys: pytest.CaptureFixture[str]) -> None:
    for name, records in (("back_pressure", 6), ("exactly_once", 4)):
        missing = f"processes.records + channels.records < {records}"
        assert asked(capsys, "cuts", name, "--definitely", missing)["definitely"]["holds"] is False


def test_a_message_that_is_lost_later_was_on_its_way(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(cases / "possibly-lost.toml")
    answer = asked(capsys, "cuts", file, "--possibly", "C12.messages >= 1")["possibly"]
    assert (answer["holds"], answer["witness"], answer["environment"]) == (True, {"P1": 1, "P2": 0}, [])
    less = asked(capsys, "cuts", file, "--possibly", "processes.money + channels.money < 200")["possibly"]
    assert [own["kind"] for own in less["environment"]] == ["lost"], "only the loss takes money away"


@each("name", SNAPSHOTS)
def test_what_a_run_says_of_its_snapshot(name: str, cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    channels, verdicts = SNAPSHOTS[name]
    (snapshot,) = asked(capsys, "run", str(cases / f"{name}.toml"))["snapshots"]
    assert (snapshot["status"], snapshot["channels"]) == ("complete", channels)
    found = {own["check"]: (own["holds"], own["witness"]) for own in snapshot["verdicts"]}
    assert {check: found[check] for check in verdicts} == verdicts


def test_a_rollback_changes_no_verdict(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with_it, without = (
        asked(capsys, "run", str(cases / f"{own}.toml"))["snapshots"] for own in (RECOVERY, NO_RECOVERY)
    )
    assert with_it == without


def test_no_interchange_leads_to_an_orphan(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A rollback afterwards changes nothing, but that the run is told up to the completion of the snapshot."""
    without, with_it = (asked(capsys, "interchange", str(cases / f"{name}.toml")) for name in (NO_RECOVERY, RECOVERY))
    assert (without["passes_through_snapshot"], without["forbidden_by"]["message"]) == (False, "message m")
    assert with_it == {**without, "ends": 8}


@pytest.mark.parametrize("name", [NO_RECOVERY, RECOVERY])
def test_an_audit_finds_the_orphan(name: str, cases: Path, tmp_path: Path) -> None:
    execution = run(load(cases / f"{name}.toml"))
    _, verdicts, channels = audited_here(folder_of(tmp_path, execution.table), OfSnapshots())
    (message,) = (row.message_id for row in execution.table if row.kind == "send")
    assert (verdicts, channels) == ({(0, "S1"): message}, {})


@each("name", PASSES)
def test_interchanges_lead_to_the_recorded_state(name: str, cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a channel that is not FIFO there is a bag; a crash and a restart are carried out. So says the tab Proof."""
    answer = asked(capsys, "interchange", str(cases / f"{name}.toml"))
    assert (answer["passes_through_snapshot"], answer["forbidden_by"]) == (True, None)
    proof = proof_of(run(load(cases / f"{name}.toml")))
    assert not proof.is_forbidden and [own["name"] for own in proof.compared() if own["equal"] is not True] == []


def test_without_a_fence_the_old_record_counts(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = cases / "delivery-unfenced-held.toml"
    (snapshot,) = asked(capsys, "run", str(file))["snapshots"]
    assert snapshot["status"] == "complete"
    execution = run(load(file))
    found = delivery_of(execution)
    assert found is not None and found.records.duplicated == 1
    assert found == delivery_from_table(execution.table, ["s->t"], is_transactional=False)


# --------------------------------------------------------------------------- the brothers of each input


def brothers(scenario: Scenario) -> Iterator[Execution]:
    """The same system under every algorithm, on channels that are FIFO or not, rolled back at the end or not."""
    plan = RecoveryPlan(at=(30.0,))
    for name in ALGORITHMS:
        for not_fifo in dict.fromkeys((scenario.not_fifo, (), (EVERY_CHANNEL,))):
            for recovery in dict.fromkeys((scenario.recovery, None, plan)):
                with suppress(InputError):  # which the algorithm refuses
                    other = replace(scenario, algorithm=name, algorithm_parameters={}, expect={})
                    other = replace(other, not_fifo=not_fifo, recovery=recovery)
                    other = replace(other, name=f"{scenario.name}, {name}, not FIFO: {not_fifo}, {recovery}")
                    validate(other)
                    yield run(other)


@pytest.mark.slow
@each("name", FILES)
def test_the_reference_judges_each_input_and_its_brothers(name: str, cases: Path) -> None:
    runs = [*brothers(load(cases / f"{name}.toml"))]
    assert any(own.status == COMPLETE for execution in runs for own in snapshots_of(execution)) or name == FILES[1]
    for differences in (test_cuts.differences, test_verdicts.differences):
        check_none(f"{own.scenario.name}: {told}" for own in runs for told in differences(own))
