"""The figures of the design document, sentence by sentence: measured values reproduce or refute each of them.

The table that comes with the app checks the claims of "Technical Trade-offs & Strategic Compromises". Each check says
the contrary for contrary values. The document's sentences on sizes are computed or run.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from pipeline.store.examples import TRADEOFFS
from pipeline.tradeoffs.agreement import DEPENDS, HOLDS, REFUTED, Judged
from pipeline.tradeoffs.cases import BEHIND_A_SOURCE, RECOVERY, SNAPSHOT
from pipeline.tradeoffs.claims import CLAIMS, COLUMNS, METHODS
from pipeline.tradeoffs.table import Outcome, Table, table_from_json
from sim.core.delays import DelayRule
from sim.core.model import MARKER, MessageReference
from sim.core.topology import Topology
from sim.document import library
from sim.document.scenario import Initiation, Scenario, ScriptLine
from sim.run.costs import all_costs
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from sim.verify.checks import verdicts_of


@cache
def shipped() -> Table:
    return table_from_json(TRADEOFFS.read_text("utf-8"))


def judged(algorithm: str, column: str, table: Table | None = None) -> Judged:
    found = table or shipped()
    return CLAIMS[algorithm, column].judge(found, found.rows[algorithm])


def changed(algorithm: str, **values: float) -> Table:
    """The shipped table, in which all cases of an algorithm have these medians, or these counts (`right`)."""

    def with_values(own: Outcome) -> Outcome:
        counts = {name: value for name, value in values.items() if name in Outcome._fields}
        medians = [values.get(name, own.median(name)) for name in own.columns]
        return own._replace(medians=tuple(medians), **counts)  # type: ignore[arg-type]

    table = shipped()
    row = table.rows[algorithm]
    return replace(table, rows={
        **table.rows, algorithm: replace(row, outcomes=[with_values(own) for own in row.outcomes]),
    })  # fmt: skip


TOPOLOGY, SIZE, MARKERS, WORKLOAD = "topology", "number of processes", "delay of markers", "workload"
# Each cell of the documents: what the measured values say of it, and on which inputs that depends.
VERDICTS = {
    ("stop_the_world", "latency"): (HOLDS,),
    ("stop_the_world", "memory"): (HOLDS,),
    ("stop_the_world", "network"): (DEPENDS, TOPOLOGY, SIZE, WORKLOAD),
    ("stop_the_world", "topology"): (HOLDS,),
    ("stop_the_world", "recovery"): (HOLDS,),
    ("chandy_lamport", "latency"): (DEPENDS, MARKERS, SIZE, WORKLOAD, TOPOLOGY),
    ("chandy_lamport", "memory"): (DEPENDS, TOPOLOGY, SIZE, MARKERS, WORKLOAD),
    ("chandy_lamport", "network"): (DEPENDS, TOPOLOGY, SIZE, WORKLOAD),
    ("chandy_lamport", "topology"): (REFUTED,),
    ("chandy_lamport", "recovery"): (DEPENDS, TOPOLOGY, SIZE, WORKLOAD),
    ("aligned_barriers", "latency"): (DEPENDS, TOPOLOGY, MARKERS),
    ("aligned_barriers", "memory"): (DEPENDS, TOPOLOGY),
    ("aligned_barriers", "network"): (REFUTED,),
    ("aligned_barriers", "topology"): (DEPENDS, TOPOLOGY),
    ("aligned_barriers", "recovery"): (DEPENDS, TOPOLOGY),
    ("copy_on_write", "latency"): (HOLDS,),
    ("copy_on_write", "memory"): (HOLDS,),
    ("copy_on_write", "network"): (HOLDS,),
    ("copy_on_write", "topology"): (DEPENDS, SIZE, WORKLOAD, TOPOLOGY),
    ("copy_on_write", "recovery"): (HOLDS,),
}


def test_every_cell_of_the_documents_is_judged_over_all_topologies_and_sizes() -> None:
    assert set(CLAIMS) == {(row, column) for row in METHODS for column in COLUMNS} == set(VERDICTS)
    for cell, (verdict, *inputs) in VERDICTS.items():
        found = judged(*cell)
        assert (found.verdict, list(found.inputs)) == (verdict, inputs), (cell, found)
        assert found.remark or verdict == HOLDS, cell


@pytest.mark.parametrize(
    ("cell", "algorithm", "values", "verdict"),
    [
        ("stop_the_world latency", "stop_the_world", {"blocked_time": 0.0}, REFUTED),
        ("stop_the_world latency", "chandy_lamport", {"delayed": 1_000.0}, REFUTED),
        ("stop_the_world memory", "stop_the_world", {"recorded_messages": 2}, REFUTED),
        ("stop_the_world network", "stop_the_world", {"control_messages": 1}, HOLDS),
        ("stop_the_world network", "stop_the_world", {"control_messages": 999}, REFUTED),
        ("stop_the_world topology", "stop_the_world", {"right": 0}, REFUTED),
        ("stop_the_world recovery", "stop_the_world", {"recorded_messages": 4}, REFUTED),
        ("chandy_lamport latency", "chandy_lamport", {"delayed_most": 5.0}, HOLDS),
        ("chandy_lamport latency", "chandy_lamport", {"delayed_most": 5.1}, REFUTED),
        ("chandy_lamport latency", "chandy_lamport", {"blocked_time": 3.0}, REFUTED),
        ("chandy_lamport memory", "chandy_lamport", {"recorded_messages": 1_000}, HOLDS),
        ("chandy_lamport memory", "chandy_lamport", {"recorded_messages": 0}, REFUTED),
        ("chandy_lamport network", "chandy_lamport", {"markers": 10_000}, REFUTED),
        ("chandy_lamport network", "chandy_lamport", {"markers": 0}, REFUTED),
        ("chandy_lamport topology", "chandy_lamport", {"right": 0}, HOLDS),
        ("chandy_lamport recovery", "chandy_lamport", {"put_back": 0}, REFUTED),
        ("chandy_lamport recovery", "chandy_lamport", {"put_back": 1}, HOLDS),
        ("aligned_barriers latency", "aligned_barriers", {"blocked_time": 0.0, "delayed_most": 0.0}, HOLDS),
        ("aligned_barriers memory", "aligned_barriers", {"recorded_messages": 5}, REFUTED),
        ("aligned_barriers memory", "aligned_barriers", {"recorded_messages": 0}, HOLDS),
        ("aligned_barriers network", "aligned_barriers", {"markers": 1}, HOLDS),
        ("aligned_barriers recovery", "aligned_barriers", {"put_back": 2}, HOLDS),
        ("copy_on_write latency", "copy_on_write", {"blocked_time": 1.0}, REFUTED),
        ("copy_on_write memory", "copy_on_write", {"copied_pages": 7}, REFUTED),
        ("copy_on_write network", "copy_on_write", {"control_messages": 999}, REFUTED),
        ("copy_on_write topology", "copy_on_write", {"consistent": 5}, REFUTED),
        ("copy_on_write topology", "copy_on_write", {"consistent": 0}, HOLDS),
        ("copy_on_write recovery", "copy_on_write", {"recorded_messages": 1}, REFUTED),
    ],
)
def test_a_judge_says_the_contrary_of_values_that_are_the_contrary(
    cell: str, algorithm: str, values: dict[str, float], verdict: str
) -> None:
    assert judged(*cell.split(), changed(algorithm, **values)).verdict == verdict  # type: ignore[arg-type]


def test_remarks_say_what_was_measured() -> None:
    assert "ring, line, star, dag" in judged("chandy_lamport", "topology").remark
    assert "It does need FIFO channels." in judged("chandy_lamport", "topology").remark
    assert "Channels were blocked on dag." in judged("aligned_barriers", "latency").remark
    assert "A circle behind one is no obstacle" in judged("aligned_barriers", "topology").remark
    assert "cannot run on complete" in CLAIMS["stop_the_world", "topology"].judge(
        shipped(), shipped().rows["aligned_barriers"]
    ).remark.replace("It cannot", "cannot")


# ------------------------------------------------------------------ below the table, and on sizes


def test_the_standard_algorithm_is_for_any_directed_graph_cycles_included() -> None:
    """ "designed for any arbitrary directed graph topology (including cycles)": it is, against the table above it."""
    found = shipped().rows["chandy_lamport"].of_kind(SNAPSHOT)
    assert {"ring", "star", BEHIND_A_SOURCE} < {own.setting.topology for own in found}
    assert all(own.right == own.runs > 0 for own in found)


def test_aligned_barriers_need_not_store_channel_message_streams() -> None:
    """ "completely eliminating the need to capture and store channel message streams": without circles only."""
    for own in shipped().rows["aligned_barriers"].of_kind(SNAPSHOT):
        assert bool(own.median("recorded_messages")) is (own.setting.topology == BEHIND_A_SOURCE), own
    snapshot = snapshots_of(run(library.load("barriers_cycle")))[0]
    assert len(list(snapshot.recorded_messages)) == 1


def test_flink_does_not_record_channel_states() -> None:
    """ "Modern streaming platforms like Apache Flink do not record channel states": unaligned checkpoints do."""
    assert shipped().rows["unaligned_barriers"].median("recorded_messages")


def test_barriers_put_nothing_back_where_there_is_no_circle() -> None:
    """ "Recovery Complexity: Medium": on a dag the states are enough, as after stop-the-world ("Low")."""
    for own in shipped().rows["aligned_barriers"].of_kind(RECOVERY):
        assert own.setting.topology == BEHIND_A_SOURCE or not own.median("put_back")


def test_a_mesh_of_100_nodes_has_9900_channels() -> None:
    """ "Total Channels = N x (N - 1) = 100 x 99 = 9,900 channels", "each node has 99 input channels"."""
    edges = Topology("complete").edges([f"P{number}" for number in range(100)], 0)
    assert len(edges) == 9_900
    assert sum(target == "P7" for _, target in edges) == 99


def buffered(per_time: int, late: str | None) -> tuple[int, int]:
    """Messages and bytes in the snapshot. P1 sends `per_time` messages of 200 bytes per time unit to P2, which starts
    it at 2; the marker on the channel `late` takes 2 time units longer than all else, which takes 1."""
    sends = [ScriptLine("P1", (number + 0.5) / per_time, to="P2", body="x" * 198) for number in range(10 * per_time)]
    marker = MessageReference(channel=late, kind=MARKER, snapshot="S1", ordinal=1)
    scenario = Scenario(
        name="late", processes=("P1", "P2"), script=tuple(sends), delay=DelayRule("fixed", 1.0, 1.0),
        snapshots=(Initiation("S1", "P2", 2.0),), delays={marker: 3.0} if late else {},
    )  # fmt: skip
    execution = run(scenario)
    assert all(verdict.holds is not False for verdict in verdicts_of(execution)["S1"])
    return all_costs(execution).persisted


@pytest.mark.parametrize("per_time", [5, 25])
def test_what_a_late_marker_makes_a_process_buffer(per_time: int) -> None:
    """ "If a network hiccup delays marker propagation by 2 seconds, a process must buffer the incoming messages":
    "Buffered Messages/Channel = 50,000 mps x 2 seconds". So many more, where the marker is late that the sender waits
    for. Where the marker on the channel itself is late, none: what was sent behind it is in no recorded channel."""
    usual, late = buffered(per_time, None), buffered(per_time, "P2->P1")
    assert late[0] - usual[0] == per_time * 2
    assert late[1] == late[0] * 200
    assert buffered(per_time, "P1->P2") == usual


def test_the_memory_of_a_node_while_a_marker_is_late_by_two_seconds() -> None:
    """ "100,000 messages", "20 MB" a channel, "1.98 GB of RAM" a node: right. Over the cluster it is 198 GB."""
    messages = 50_000 * 2
    assert messages == 100_000
    assert messages * 200 == 20e6
    assert 99 * messages * 200 == 1.98e9
    assert 100 * 99 * messages * 200 == 198e9


def test_the_peak_workload_of_500_000_events_is_not_that_of_the_sizes() -> None:
    """ "Under a peak workload of 500,000 events/second": with the sizes above a node has 4.95 million per second."""
    assert 99 * 50_000 == 4_950_000 != 500_000
