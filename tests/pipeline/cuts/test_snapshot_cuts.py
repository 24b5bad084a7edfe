"""The cuts of snapshots in event tables: which there are, and what is inside."""

from __future__ import annotations

from pathlib import Path

from pipeline.cuts.event_columns import DECIDE, HIGHEST, LOWEST, row_groups
from pipeline.cuts.snapshot_cuts import recorded
from pipeline.store.folder import Store
from sim.core.delays import HOLD
from sim.core.model import CONTROL, RECORD, MessageReference
from sim.document import library
from sim.document.scenario import Scenario
from sim.run.execution import Execution, run
from sim.run.snapshots import GIVEN_UP, snapshots_of
from tests.bundled import small
from tests.pipeline.some_tables import folder_of, numbered
from tests.sim.conftest import Register, register
from tests.sim.rule_books import Commanded, two
from tests.sim.tools import row_of, start, system

__all__ = ["register"]  # a fixture

Cuts = dict[tuple[int, str], dict[str, int]]


def recorded_cuts(executions: list[Execution]) -> tuple[Cuts, int]:
    """The cuts of the snapshots that are not given up and complete, by run and snapshot; how many others there are."""
    own, others = {}, 0
    for number, execution in enumerate(executions):
        recordings = [row for row in execution.table if row.kind == RECORD]
        index = {(row.snapshot_id, row.process, row.step): row.index for row in recordings}
        recorded = {row.snapshot_id for row in recordings}
        for snapshot in snapshots_of(execution):
            if snapshot.local.keys() >= {*snapshot.members} and snapshot.status not in GIVEN_UP:
                parts = {name: index[snapshot.id, name, part.step] or 0 for name, part in snapshot.local.items()}
                own[number, snapshot.id] = dict.fromkeys(execution.scenario.processes, 0) | parts
            elif snapshot.id in recorded:
                others += 1
    return own, others


WHOLE = [row_of(0, "A", 0, "record", snapshot_id="S"), row_of(1, "B", 2, "record", snapshot_id="S")]
NO_CUTS = [
    [*WHOLE, row_of(2, "C", 1, "internal")],  # C has not recorded
    [*WHOLE, row_of(2, "A", None, "marker_send", "A->C", snapshot_id="S")],  # nor has C here, which has no row
    [*WHOLE, row_of(2, "A", 1, "send", "A->C", 0)],
    [*WHOLE, row_of(2, "A", None, "snapshot_aborted", snapshot_id="S")],
]


def counted_for(process: str) -> Scenario:
    """Only a count is on its way to a process: it has not recorded."""
    return system(
        f"P1 P2 {process}", f"P1->P2 P1->{process} P2->P1", algorithm="lai_yang", snapshots=(start("P1", 1),),
        delays={MessageReference(None, f"P1->{process}", CONTROL, "S1"): HOLD},
    )  # fmt: skip


def found_in(store: Store) -> tuple[Cuts, int]:
    """The cuts of the snapshots in a folder, and how many are left out."""
    cuts: Cuts = {}
    left_out = 0
    for part in recorded(row_groups(store, DECIDE), LOWEST, HIGHEST):
        left_out += part.left_out
        for cut in range(part.cuts.size):
            lines = range(part.cuts.starts[cut], part.cuts.starts[cut + 1])
            own = {part.cuts.names[part.cuts.processes[line]]: int(part.cuts.indices[line]) for line in lines}
            cuts[part.cuts.name(cut)] = own
    return cuts, left_out


def test_the_cuts_of_snapshots_are_what_they_recorded_and_what_is_no_cut_is_left_out(
    register: Register, tmp_path: Path
) -> None:
    executions = [run(library.load(name)) for name in small()]
    expected, left_out = recorded_cuts(executions)
    with_service = two(register(Commanded), snapshots=(start("boss", 2),))
    tables = [WHOLE, *NO_CUTS, run(counted_for("P3")).table, run(with_service).table]
    first = len(executions)
    expected[first, "S"] = {"A": 0, "B": 2}
    rows = [row._replace(run_id=number) for number, own in enumerate(tables, first) for row in own]
    cuts, others = found_in(folder_of(tmp_path, numbered(executions) + rows))
    inside = cuts.get((first + 6, "S1"), {})
    assert set(inside) == {"P1", "P2"}, "a service is no process"
    assert cuts == {**expected, (first + 6, "S1"): inside}
    assert others == left_out + len(NO_CUTS) + 1
