"""The verdicts on snapshots are those of the reference, where any features meet; and the cases that were once wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sim.core.errors import InputError
from sim.document.files import load
from sim.exchange.interchange_report import interchange_report
from sim.run.as_of import as_of
from sim.run.execution import Execution, run
from sim.run.snapshots import COMPLETE, snapshots_of
from sim.verify.checks import verdicts_of
from sim.verify.delivery import delivery_of
from tests.cases import each
from tests.reference.delivery import delivery_from_table
from tests.reference.generator import executions, of_all
from tests.reference.test_cuts import some
from tests.reference.verdicts import Judged, verdicts_from_table
from tests.tools import check_none

CASES = Path(__file__).parent / "cases"


def differences(execution: Execution) -> Iterator[str]:
    """What the project says of the snapshots of a run that the reference does not say."""
    expected = verdicts_from_table(execution.table, execution.scenario)
    for snapshot in snapshots_of(execution):
        judged = Judged(execution.scenario, execution.table, snapshot.id)
        if judged.divided():
            yield f"{snapshot.id}: the recorded cut divides {judged.divided()}"
        if as_of(execution, snapshot).snapshot.status != judged.status:
            yield f"{snapshot.id} is {snapshot.status}, not {judged.status}"
        found = {own.check: own.holds for own in verdicts_of(execution)[snapshot.id] if own.check != "one_outcome"}
        if found != expected[snapshot.id]:
            yield f"{snapshot.id}: {found}, not {expected[snapshot.id]}"
        if snapshot.status == judged.status == COMPLETE:
            is_right = judged.verdicts()["consistency"] and judged.verdicts()["channel_states"]
            yield from _misled(execution, snapshot.id, bool(is_right))


def _misled(execution: Execution, snapshot: str, is_right: bool) -> Iterator[str]:
    """Dijkstra's interchanges meet a snapshot that is right, and no other."""
    with suppress(InputError):  # not every process takes part, or a recovery has taken the cut back
        report = interchange_report(execution, snapshot)
        if report["passes_through_snapshot"] is not is_right:
            yield f"{snapshot}: {report}"


def test_the_verdicts_on_the_snapshots_of_any_system() -> None:
    check_none(of_all(some(), differences))


@pytest.mark.long("verdicts on the snapshots of 5,000 systems in which any features meet")
def test_the_verdicts_of_very_many() -> None:
    check_none(of_all(executions(2_000_000, 5_000), differences))


# What was wrong once: by file, the verdicts that decide it. None: undecided.
RIGHT: dict[str, dict[str, bool | None]] = {
    "lost_after_it_was_recorded": {"completion": True, "channel_states": True},
    "orphan": {"completion": True, "consistency": False},
    "orphan_rolled_back": {"completion": True, "consistency": False},
    "recorded_again_after_a_crash": {"completion": True, "consistency": True, "conservation": None},
    "overtaking": {"channel_states": True, "conservation": True},
    "left_and_joined": {"completion": True, "consistency": True, "channel_states": True},
    "left_before_its_marker_came": {"completion": False},
    "left_too_early": {"completion": False, "consistency": False},
}


@each("name", RIGHT)
def test_cases_that_were_wrong(name: str) -> None:
    execution = run(load(CASES / f"{name}.toml"))
    found = {own.check: own.holds for own in verdicts_of(execution)["S1"]}
    assert {check: found[check] for check in RIGHT[name]} == RIGHT[name]
    check_none(differences(execution))


def test_with_and_without_a_recovery_the_orphan_is_the_same() -> None:
    told = [verdicts_of(run(load(CASES / f"{name}.toml")))["S1"] for name in ("orphan", "orphan_rolled_back")]
    assert told[0] == told[1]
    assert [own.witness for own in told[0] if own.check == "consistency"] == [
        "message m on C13 is received inside the cut, but sent outside it"
    ]


def test_without_a_fence_what_was_sent_before_a_rollback_counts() -> None:
    execution = run(load(CASES / "held_and_not_fenced.toml"))
    found = delivery_of(execution)
    assert found is not None and found.records.duplicated == 1
    assert found == delivery_from_table(execution.table, ["s->t"], is_transactional=False)
