"""The audits of event tables are those of the reference, where any features meet: of any cuts, and of snapshots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from pipeline.cuts.snapshot_cuts import OfSnapshots
from sim.document.files import load
from sim.run.execution import Execution, run
from tests.cases import each
from tests.pipeline.cuts.here import audited_here
from tests.pipeline.cuts.oracles import Channels, Verdicts
from tests.pipeline.cuts.random_tables import Line, as_table
from tests.pipeline.some_tables import folder_of, numbered
from tests.reference.definition import target_of
from tests.reference.generator import executions
from tests.reference.messages import Crossing, Messages, messages_of
from tests.reference.test_cuts import some
from tests.reference.test_verdicts import CASES
from tests.reference.verdicts import Judged
from tests.tools import check_none

EACH = 6  # cuts of a run
GIVEN_UP = ("aborted", "expired", "failed")


def runs_of(systems: Iterator[object] | Sequence[object]) -> list[Execution]:
    return [own.execution for own in systems if own.execution is not None]  # type: ignore[attr-defined]


def differences(runs: Sequence[Execution], folder: Path) -> Iterator[str]:
    """What audits of the tables of these runs say that the reference does not say."""
    store = folder_of(folder, numbered(runs))
    _, verdicts, channels = audited_here(store, OfSnapshots())
    for number, own in enumerate(runs):
        yield from _of_snapshots(own, number, verdicts, channels)
    cuts = {(number, f"cut-{cut}"): _drawn(own, cut) for number, own in enumerate(runs) for cut in range(EACH)}
    lines: list[Line] = [(*key, name, index) for key, cut in cuts.items() for name, index in cut.items()]
    _, verdicts, channels = audited_here(store, as_table(lines))
    for number, own in enumerate(runs):
        messages = messages_of(own.table, own.scenario)
        for cut in range(EACH):
            key = number, f"cut-{cut}"
            yield from _differs(
                f"{own.scenario.name} {cuts[key]}", verdicts[key], _held(channels, *key), messages.of_events(cuts[key])
            )


def _drawn(execution: Execution, cut: int) -> dict[str, int]:
    draw = Random(execution.scenario.seed * EACH + cut)
    ends = dict.fromkeys(execution.scenario.processes, 0)
    for row in execution.table:
        if row.process in ends:
            ends[row.process] = max(ends[row.process], row.index or 0)
    return {name: draw.randint(0, end) for name, end in ends.items()}


def _of_snapshots(execution: Execution, number: int, verdicts: Verdicts, channels: Channels) -> Iterator[str]:
    """The differences in the snapshots that were not given up, and that everybody who takes part has recorded."""
    table, scenario = execution.table, execution.scenario
    named = {row.process for row in table} | {target_of(row) for row in table if row.kind.endswith("send")}
    for name in sorted({row.snapshot_id for row in table if row.snapshot_id is not None}):
        what, judged = f"{scenario.name} {name}", Judged(scenario, table, name)
        members = named.intersection(judged.members)  # of others a table does not tell
        is_judged = judged.status not in GIVEN_UP and bool(judged.parts) and judged.parts.keys() >= members
        if ((number, name) in verdicts) is not is_judged:
            yield f"{what} is {'not ' if is_judged else ''}audited"
        elif is_judged:
            witness = verdicts[number, name]
            expected = Messages(judged.meaning).of_positions(judged.positions)
            yield from _differs(what, witness, _held(channels, number, name), expected)
            if judged.status == "complete" and judged.verdicts()["consistency"] is not (witness is None):
                yield f"{what}: {witness}, but consistency is {judged.verdicts()['consistency']}"


def _held(channels: Channels, number: int, cut: str) -> dict[str, list[int]]:
    return {name: sorted(own) for (run, which, name), own in channels.items() if (run, which) == (number, cut)}


def _differs(what: str, witness: int | None, held: dict[str, list[int]], expected: Crossing) -> Iterator[str]:
    if witness != next(iter(expected.orphans), None) or held != expected.held:
        yield f"{what}: {witness}, {held}, not {expected}"


@pytest.mark.slow
def test_the_audits_of_any_system(tmp_path: Path) -> None:
    check_none(differences(runs_of(some()), tmp_path))


@each("name", sorted(path.stem for path in CASES.glob("*.toml")))
def test_the_audits_of_cases_that_were_wrong(name: str) -> None:
    with TemporaryDirectory() as folder:
        check_none(differences([run(load(CASES / f"{name}.toml"))], Path(folder)))


@pytest.mark.long("audits of 5,000 systems in which any features meet")
def test_the_audits_of_very_many(tmp_path: Path) -> None:
    check_none(differences(runs_of(executions(3_000_000, 5_000)), tmp_path))
