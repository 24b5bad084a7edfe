"""The figures of the design document, sentence by sentence: each is reproduced, or refuted, by what was measured.

Those of its table "Technical Trade-offs & Strategic Compromises" are judged by the table that comes with the app, and
each judge says the contrary of values that are the contrary. Its sentences on sizes are worked out, or run.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from pipeline.ensembles.claims import CLAIMS, COLUMNS, DEPENDS, HOLDS, METHODS, REFUTED, Judged, delay_in_words, said
from pipeline.ensembles.tradeoff_grids import BEHIND_A_SOURCE
from pipeline.ensembles.tradeoffs import Measured, Table, Tried, table_from_json
from pipeline.store.examples import TRADEOFFS
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
    """The shipped table, in which all runs of an algorithm have these values, by column."""
    return with_row(algorithm, lambda own: replace(own, figures={
        **own.figures, **{name: own.figures["blocked_time"]._replace(median=v, least=v, most=v)
                          for name, v in values.items()},
    }, groups=[group._replace(medians={**group.medians, **values}) for group in own.groups]))  # fmt: skip


def with_row(algorithm: str, change: Any) -> Table:
    table = shipped()
    return replace(table, rows={**table.rows, algorithm: change(table.rows[algorithm])})


def tried_on(algorithm: str, **tried: Tried) -> Table:
    names = {"behind_a_source": BEHIND_A_SOURCE}
    own = {names.get(name, name): each for name, each in tried.items()}
    return with_row(algorithm, lambda row: replace(row, tried=own))


def numbers(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


# ------------------------------------------------------------------ the table, cell by cell


def test_stop_the_world_has_a_catastrophic_latency_and_pauses_the_cluster() -> None:
    """ "Synchronous Stop-The-World | Catastrophic (Pauses cluster)": it pauses, but slow barriers are worse."""
    found = judged("stop_the_world", "latency")
    assert found.verdict == DEPENDS and "Aligned barriers" in found.remark
    assert judged("stop_the_world", "latency", changed("aligned_barriers", delayed=0.0)).verdict == HOLDS
    assert judged("stop_the_world", "latency", changed("stop_the_world", blocked_time=0.0)).verdict == REFUTED


def test_stop_the_world_needs_zero_memory() -> None:
    """ "Memory Overhead: Zero": no message is buffered, but the states are kept until they are stored."""
    found = judged("stop_the_world", "memory")
    assert found.verdict == DEPENDS and numbers(found.remark) == [
        shipped().rows["stop_the_world"].median("state_bytes")
    ]
    assert judged("stop_the_world", "memory", changed("stop_the_world", recorded_messages=2)).verdict == REFUTED
    assert judged("stop_the_world", "memory", changed("stop_the_world", state_bytes=0)).verdict == HOLDS


def test_stop_the_world_has_a_low_network_overhead() -> None:
    """ "Network Overhead: Low": its coordinator sends several times as many messages as there are markers."""
    found = judged("stop_the_world", "network")
    own, standard = shipped().rows["stop_the_world"], shipped().rows["chandy_lamport"]
    assert found.verdict == REFUTED
    assert numbers(found.remark)[0] == own.median("control_messages") > 3 * (standard.median("markers") or 0)
    assert judged("stop_the_world", "network", changed("stop_the_world", control_messages=1)).verdict == HOLDS


def test_stop_the_world_has_no_topology_constraint() -> None:
    """ "Network Topology Constraint: None"."""
    assert judged("stop_the_world", "topology") == (HOLDS, "")
    found = judged("stop_the_world", "topology", tried_on("stop_the_world", ring=Tried(3, 3), star=Tried(3, 2)))
    assert found.verdict == REFUTED and "star" in found.remark and "ring" not in found.remark


def test_stop_the_world_has_a_low_recovery_complexity() -> None:
    """ "Recovery Complexity: Low": there is nothing to put back into channels."""
    assert judged("stop_the_world", "recovery").verdict == HOLDS
    assert judged("stop_the_world", "recovery", changed("stop_the_world", recorded_messages=4)).verdict == REFUTED


def test_chandy_lamport_has_a_low_latency_and_no_pause() -> None:
    """ "Standard Chandy-Lamport | Low (Zero-Pause)": nothing stands still, but a late marker holds messages back."""
    found = judged("chandy_lamport", "latency")
    assert found.verdict == DEPENDS and "Nothing stood still" in found.remark and "FIFO" in found.remark
    assert judged("chandy_lamport", "latency", changed("chandy_lamport", delayed_most=0.0)).verdict == HOLDS
    assert judged("chandy_lamport", "latency", changed("chandy_lamport", blocked_time=3.0)).verdict == REFUTED
    fast, slow = (group.medians["delayed"] for group in shipped().rows["chandy_lamport"].groups)
    assert slow > 10 * fast, "slow markers delay messages, fast ones hardly do"


def test_chandy_lamport_has_a_high_memory_overhead_for_it_buffers_in_flight_channels() -> None:
    """ "Memory Overhead: High (Buffers in-flight channels)"."""
    assert judged("chandy_lamport", "memory") == (HOLDS, "")
    assert judged("chandy_lamport", "memory", changed("aligned_barriers", recorded_messages=1_000)).verdict == REFUTED
    assert judged("chandy_lamport", "memory", changed("chandy_lamport", recorded_messages=0)).verdict == REFUTED


def test_chandy_lamport_has_a_medium_network_overhead() -> None:
    """ "Network Overhead: Medium": one marker on each channel; some send less, some more."""
    assert judged("chandy_lamport", "network") == (HOLDS, "")
    assert judged("chandy_lamport", "network", changed("chandy_lamport", markers=10_000)).verdict == REFUTED
    assert judged("chandy_lamport", "network", changed("chandy_lamport", markers=0)).verdict == REFUTED


def test_chandy_lamport_needs_a_fully_connected_graph_and_fifo() -> None:
    """ "Network Topology Constraint: Fully Connected FIFO": no full mesh is needed; FIFO channels are."""
    found = judged("chandy_lamport", "topology")
    assert found.verdict == REFUTED and "ring, line, star, dag" in found.remark
    assert "It does need FIFO channels." in found.remark
    refused = Tried(refused="no")
    only = tried_on("chandy_lamport", complete=Tried(3, 3), ring=refused, star=Tried(3, 1))
    assert judged("chandy_lamport", "topology", only).verdict == HOLDS


def test_chandy_lamport_has_a_medium_recovery_complexity() -> None:
    """ "Recovery Complexity: Medium": beside the states, messages are put back."""
    assert judged("chandy_lamport", "recovery") == (HOLDS, "")
    assert judged("chandy_lamport", "recovery", changed("chandy_lamport", put_back=0)).verdict != HOLDS


def test_barriers_have_a_low_latency_and_no_pause() -> None:
    """ "Asynchronous Barrier (Flink ABS) | Low (Zero-Pause)": alignment is not pause-free, the channel waits."""
    found = judged("aligned_barriers", "latency")
    assert found.verdict == REFUTED
    (blocked,) = numbers(found.remark)
    assert blocked == pytest.approx(shipped().rows["aligned_barriers"].median("blocked_time"), rel=0.05)
    better = changed("aligned_barriers", blocked_time=0.0, delayed_most=0.0)
    assert judged("aligned_barriers", "latency", better).verdict == HOLDS


def test_barriers_have_a_minimal_memory_overhead_since_they_use_back_pressure() -> None:
    """ "Memory Overhead: Minimal (Uses backpressure)": nothing is recorded without circles, but messages wait."""
    found = judged("aligned_barriers", "memory")
    circle = shipped().rows["aligned_barriers"].tried[BEHIND_A_SOURCE]
    waiting = shipped().rows["aligned_barriers"].median("delayed_messages")
    assert found.verdict == DEPENDS and numbers(found.remark) == [waiting, circle.recorded]
    assert judged("aligned_barriers", "memory", changed("aligned_barriers", recorded_messages=5)).verdict == REFUTED
    table = changed("aligned_barriers", delayed_messages=0)
    table = replace(table, rows={**table.rows, "aligned_barriers": replace(table.rows["aligned_barriers"], tried={})})
    assert judged("aligned_barriers", "memory", table).verdict == HOLDS


def test_barriers_have_a_low_network_overhead() -> None:
    """ "Network Overhead: Low": there are as many barriers as markers of Chandy and Lamport, which is called medium."""
    found = judged("aligned_barriers", "network")
    assert found.verdict == REFUTED and "as many as Chandy-Lamport" in found.remark
    assert judged("aligned_barriers", "network", changed("aligned_barriers", markers=1)).verdict == HOLDS


def test_barriers_need_a_directed_acyclic_graph() -> None:
    """ "Network Topology Constraint: Directed Acyclic Graph (DAG)": a source is needed; a circle behind it is none."""
    found = judged("aligned_barriers", "topology")
    assert found.verdict == DEPENDS and "source" in found.remark
    refused = tried_on("aligned_barriers", dag=Tried(3, 3), behind_a_source=Tried(refused="no"))
    assert judged("aligned_barriers", "topology", refused).verdict == HOLDS


def test_barriers_have_a_medium_recovery_complexity() -> None:
    """ "Recovery Complexity: Medium": without circles the states are enough, as after stop-the-world ("Low")."""
    found = judged("aligned_barriers", "recovery")
    assert found.verdict == DEPENDS and BEHIND_A_SOURCE in found.remark
    assert judged("aligned_barriers", "recovery", changed("aligned_barriers", put_back=2)).verdict == HOLDS
    assert judged("aligned_barriers", "recovery", tried_on("aligned_barriers", dag=Tried(3, 3))).verdict == REFUTED


def test_copy_on_write_has_a_minimal_latency_since_it_uses_a_fork() -> None:
    """ "Redis RDB (Copy-on-Write) | Minimal (Uses OS fork)"."""
    assert judged("copy_on_write", "latency").verdict == HOLDS
    assert judged("copy_on_write", "latency", changed("copy_on_write", blocked_time=1.0)).verdict == REFUTED


def test_copy_on_write_has_a_medium_memory_overhead_that_increases_during_writes() -> None:
    """ "Memory Overhead: Medium (Increases during writes)"."""
    assert judged("copy_on_write", "memory") == (HOLDS, "")
    fast, slow = sorted(shipped().rows["copy_on_write"].groups, key=lambda group: group.pace)
    assert fast.pace < slow.pace and fast.medians["copied_pages"] > slow.medians["copied_pages"] > 0
    assert judged("copy_on_write", "memory", changed("copy_on_write", copied_pages=7)).verdict == REFUTED


def test_copy_on_write_has_a_low_network_overhead() -> None:
    """ "Network Overhead: Low": nothing is sent."""
    assert judged("copy_on_write", "network") == (HOLDS, "")
    assert judged("copy_on_write", "network", changed("copy_on_write", control_messages=99)).verdict == REFUTED


def test_copy_on_write_is_for_a_single_node() -> None:
    """ "Network Topology Constraint: Single Node": the copies of several processes are mostly no consistent cut."""
    found = judged("copy_on_write", "topology")
    consistent, runs = numbers(found.remark)
    assert found.verdict == HOLDS and 0 < consistent < runs / 2
    assert judged("copy_on_write", "topology", tried_on("copy_on_write", ring=Tried(3, 3, 3))).verdict == REFUTED


def test_copy_on_write_has_a_low_recovery_complexity() -> None:
    """ "Recovery Complexity: Low": it is the state of one process."""
    assert judged("copy_on_write", "recovery").verdict == HOLDS
    assert judged("copy_on_write", "recovery", changed("copy_on_write", recorded_messages=1)).verdict == REFUTED


def test_every_cell_of_the_documents_has_a_claim_and_a_remark_where_it_does_not_hold() -> None:
    assert set(CLAIMS) == {(row, column) for row in METHODS for column in COLUMNS}
    for row, column in CLAIMS:
        found = judged(row, column)
        assert found.remark or found.verdict == HOLDS, (row, column)


# ------------------------------------------------------------------ below the table, and on sizes


def test_the_standard_algorithm_is_for_any_directed_graph_cycles_included() -> None:
    """ "designed for any arbitrary directed graph topology (including cycles)": it is, against the table above it."""
    own = shipped().rows["chandy_lamport"]
    assert all(own.tried[name].right == own.tried[name].runs > 0 for name in ("ring", "star", BEHIND_A_SOURCE))


def test_aligned_barriers_need_not_store_channel_message_streams() -> None:
    """ "completely eliminating the need to capture and store channel message streams": without circles only."""
    own: Measured = shipped().rows["aligned_barriers"]
    assert own.figures["recorded_messages"].most == 0
    assert own.tried[BEHIND_A_SOURCE].recorded > 0
    snapshot = snapshots_of(run(library.load("barriers_cycle")))[0]
    assert len(list(snapshot.recorded_messages)) == 1


def test_flink_does_not_record_channel_states() -> None:
    """ "Modern streaming platforms like Apache Flink do not record channel states": unaligned checkpoints do."""
    assert shipped().rows["unaligned_barriers"].median("recorded_messages")


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


# ------------------------------------------------------------------ how values are read


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.0139, "0.014"), (4.593, "4.6"), (9.96, "10"), (3.0, "3"), (1235.4, "1,235")]
)
def test_a_value_as_it_is_read(value: float, text: str) -> None:
    assert said(value) == text


@pytest.mark.parametrize(
    ("delay", "text"),
    [
        ("same", "as long as messages"), ("fixed:3", "3"), ("uniform:1:9", "1 to 9"),
        ("exponential:4", "4 on average"), ("whole:0:4", "whole 0 to 4"),
    ],
)  # fmt: skip
def test_a_delay_as_it_is_read(delay: str, text: str) -> None:
    assert delay_in_words(delay) == text
