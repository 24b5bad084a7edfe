"""Sizing: the documents' figures, reproduced or refuted; the law of each algorithm against runs; bad numbers."""

from __future__ import annotations

from itertools import product
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ensembles.measure import measure
from sim.core.algorithm import ALGORITHMS
from sim.core.cost_model import Load
from sim.core.errors import InputError
from sim.core.model import BLOCKED, FULL, PAUSED, RECORD
from sim.core.topology import Topology
from sim.document.files import parse_toml
from sim.explain.sizing import BOUND_ONLY, REFUTED, REPRODUCED, claims, in_bytes, in_messages, in_time, sizing_in_words
from sim.run.execution import Execution, run
from sim.run.snapshots import snapshots_of
from sim.run.stops import stops_of
from sim.theory.sizing import cost_model_of, costs, sizes, usual_estimate
from sim.theory.sizing_formulas import formulas
from sim.theory.sizing_inputs import CHOICES, INPUTS, TOPOLOGIES, System
from sim.theory.topology_shape import shape
from tests.cases import check_each, each
from tests.sim.tools import rows_of
from tests.tools import examples, thinned

LATE = {"message_delay": 0}  # only markers are late

# ------------------------------------------------------------------ the documents, sentence by sentence


@each(
    "says, key, value",
    [
        ("Total Channels = N × (N − 1) = 9,900 channels", "channels", 9_900),
        ("Buffered Messages/Channel = 100,000 messages", "messages_per_channel", 100_000),
        ("RAM Cost/Channel = 20 MB", "bytes_per_channel", 20_000_000),
        ("Total Node Memory Overhead ≈ 1.98 GB of RAM", "bytes_per_node", 1_980_000_000),
        ("1.98 GB at each of 100 nodes: 198 GB", "bytes_total", 198_000_000_000),
        ("99 input channels of 50,000 mps", "messages_per_node_per_second", 4_950_000),
    ],
)
def test_the_arithmetic_of_the_documents_is_reproduced(says: str, key: str, value: int) -> None:
    found = usual_estimate(System())[key]
    assert (found, type(found)) == (value, int), says


def test_each_node_has_99_uni_directional_input_output_channels() -> None:
    assert {own.channels for own in shape("complete", 100)} == {99}


def test_500_000_events_a_second_are_refuted() -> None:
    """“Under a peak workload of 500,000 events/second”: by the rates of the same lesson it is 9.9 times as much."""
    assert float(usual_estimate(System())["messages_per_node_per_second"]) / 500_000 == 9.9


def test_1_98_gb_are_right_for_the_initiator_and_for_no_other_node() -> None:
    """“a process must buffer the incoming messages on its input channels”: only who records before its senders does."""
    found = sizes(System.read(LATE))
    assert found is not None
    assert (found.at_initiator * 200, found.at_another) == (1_980_000_000, 0)
    assert found.recorded * 200 == 1_980_000_000


def test_198_gb_are_a_bound_reached_when_messages_are_as_late_as_markers() -> None:
    found = sizes(System.read({"message_delay": 2}))
    assert found is not None
    assert found.recorded * 200 == pytest.approx(198e9)
    assert found.at_initiator * 200 == pytest.approx(2 * 1.98e9)


@given(st.integers(2, 400), st.integers(1, 10**5), st.integers(1, 100), st.floats(0, 1))
@examples(30)
def test_the_documents_total_is_never_too_small_while_messages_are_no_later_than_markers(n, rate, delay, part) -> None:
    system = System.read({"nodes": n, "rate": rate, "delay": delay, "message_delay": part * delay})
    found, bound = sizes(system), usual_estimate(system)["messages_per_channel"]
    assert found is not None
    assert found.recorded <= (1 + 1e-9) * n * (n - 1) * bound


def test_just_10_seconds_are_millions_of_events_and_49_5_million_by_the_rate_of_the_lesson() -> None:
    """“delays a Marker's arrival by just 10 seconds, the node will accumulate millions of buffered events”."""
    bound = usual_estimate(System.read({"delay": 10}))
    assert (99 * bound["messages_per_channel"], bound["bytes_per_node"]) == (49_500_000, 9_900_000_000)


def test_aligned_barriers_do_not_do_without_waiting_messages() -> None:
    """“completely eliminating the need to buffer in-flight messages” is refuted: they wait in blocked channels."""
    found = sizes(System.read({"topology": "dag", "algorithm": "aligned_barriers", "nodes": 3, **LATE}))
    assert found is not None
    assert (found.recorded, found.blocked, found.on_blocked) == (0, 2, 200_000)  # on P1 → P3


def test_an_incremental_checkpoint_stores_a_tenth_and_is_fetched_whole() -> None:
    """“reducing S3 write volume by up to 90%”: of what is written; a recovery fetches everything."""
    system = System.read({"delay": 0, **LATE})
    found = sizes(system)
    assert found is not None
    own = costs(system, found)
    assert (own.checkpoint, own.complete, own.upload, own.download) == (10e9, 100e9, 10, 100)
    assert (own.age, own.recovery) == (30 + 10, 5 + 100 + 40)


def test_every_sentence_of_the_documents_with_a_figure_has_its_verdict() -> None:
    told = {claim.says: (claim.verdict, claim.computed) for claim in claims()}
    verdicts = [verdict for verdict, _ in told.values()]
    assert [verdicts.count(own) for own in (REPRODUCED, BOUND_ONLY, REFUTED)] == [10, 1, 5]
    for says, verdict, figure in (
        ("Total Channels", REPRODUCED, "9,900"),
        ("RAM Cost", REPRODUCED, "20 MB"),
        ("Total Node Memory", REPRODUCED, "1.98 GB at the initiator; 0 bytes at every other node"),
        ("198 GB", BOUND_ONLY, "198 GB if messages are as late as markers; 1.98 GB if only markers are late"),
        ("a peak workload of 500,000", REFUTED, "4.95 million messages/s through a node, 9.9 times as much"),
        ("just 10 seconds", REPRODUCED, "49.5 million messages and 9.9 GB"),
        ("Zero-Pause", REFUTED, "blocked for up to 3 min 16 s"),
        ("TTL", REPRODUCED, "4 s with markers 2 s late, 20 s with markers 10 s late"),
        ("90%", REPRODUCED, "10 GB instead of 100 GB"),
        ("0-500ms", REFUTED, "need 10 s: half a second spreads 5% of it"),
        ("duration_ms 1120", REPRODUCED, "107 MB a node; to store that in 1.12 s takes 9.59 GB/s"),
        ("bytes state_data", REFUTED, "20 MB a channel are 5 messages"),
        ("billions of updates", REPRODUCED, "4.32 billion a day"),
    ):
        (found,) = [own for name, own in told.items() if says in name]
        assert found[0] == verdict and figure in found[1], says


# ------------------------------------------------------------------ the law against runs


@each("topology", TOPOLOGIES)
@each("nodes", [1, 2, 3, 6])
def test_the_shape_of_a_topology_is_that_of_its_graph(topology: str, nodes: int) -> None:
    names = [f"P{number}" for number in range(1, nodes + 1)]
    graph: nx.DiGraph[str] = nx.DiGraph(Topology(topology).edges(names, 0))
    graph.add_nodes_from(names)
    near = nx.single_source_shortest_path_length(graph, "P1")
    expected = sorted((near[own], sorted(near[other] for other in graph.predecessors(own))) for own in names)
    found = [
        (own.place.nearest, sorted(place.nearest for place, count in own.incoming for _ in range(count)))
        for own in shape(topology, nodes)
        for _ in range(own.number)
    ]
    assert sorted(found) == expected
    if topology == "dag":
        longest = [max(map(len, nx.all_simple_paths(graph, "P1", own)), default=1) - 1 for own in names]
        assert [own.place.farthest for own in shape(topology, nodes)] == longest


def stream(topology: str, nodes: int, seed: int, more: str = "", **rules: Any) -> Execution:
    """A run in which each channel carries 4 messages per time unit; messages take 1.9, markers 6.3."""
    kind = rules.get("algorithm", "chandy_lamport")
    who = "coordinator" if kind == "stop_the_world" else "P1"
    return run(parse_toml(f"""
processes = {nodes}
seed = {seed}
algorithm = {{ kind = "{kind}" }}
topology = {{ kind = "{topology}"{rules.get("capacity", "")} }}
workload = {{ kind = "stream", every = 0.25, messages = {rules.get("messages", 250)} }}
delay = {{ value = 1.9 }}
marker_delay = {{ value = {rules.get("marker_delay", 6.3)} }}
control_delay = {{ value = {rules.get("marker_delay", 6.3)} }}
snapshots = [{{ id = "S1", process = "{who}", at = 12 }}]
{more}
""", "stream"))  # fmt: skip


def sized(topology: str, nodes: int, **given: Any) -> System:
    wanted = {"rate": 4, "size": 1, "message_delay": 1.9, "delay": 6.3, "nodes": nodes, "topology": topology}
    return System.read({**wanted, **given})


WITH_A_MODEL = [name for name in ALGORITHMS if ALGORITHMS[name].cost_model(Load(1, 1, 1))]


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


@pytest.mark.slow
@pytest.mark.parametrize("marker_delay", [0.4, 6.3])
@pytest.mark.parametrize("topology", ["dag", "line"])
def test_each_process_records_when_the_law_says(topology: str, marker_delay: float) -> None:
    """Fast and slow markers, near and far processes, under every algorithm that has a law and runs on the topology."""

    def check(algorithm: str) -> None:
        if algorithm == "aligned_barriers" and topology == "line":
            return
        model = cost_model_of(sized(topology, 4, algorithm=algorithm, delay=marker_delay))
        assert model is not None
        runs = [stream(topology, 4, seed, algorithm=algorithm, marker_delay=marker_delay) for seed in range(4)]
        kinds = [own for own in shape(topology, 4) for _ in range(own.number)]
        for number, own in enumerate(kinds, 1):
            times = [row.time - 12 for each in runs for row in rows_of(each, RECORD) if row.process == f"P{number}"]
            assert mean(times) == pytest.approx(model.records_at(own.place), rel=0.05, abs=0.03)

    check_each(WITH_A_MODEL, check)


RECORDING = product(["chandy_lamport", "unaligned_barriers", "lai_yang", "mattern"], ["complete", "line", "ring"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("algorithm", "topology"), thinned(RECORDING, 5, "the law of what is recorded, by algorithm and topology")
)
def test_what_each_node_records_is_what_the_law_says(algorithm: str, topology: str) -> None:
    snapshots = [snapshots_of(stream(topology, 4, seed, algorithm=algorithm))[0] for seed in range(8)]
    model = cost_model_of(sized(topology, 4, algorithm=algorithm))
    assert model is not None
    kinds = [own for own in shape(topology, 4) for _ in range(own.number)]
    for number, own in enumerate(kinds, 1):
        held = [
            sum(len(kept) for name, kept in each.channels.items() if name.endswith(f"->P{number}"))
            for each in snapshots
        ]
        hops = [(model.records_at(place) - model.records_at(own.place), count) for place, count in own.incoming]
        predicted = 4 * sum(count * max(0.0, apart + 1.9) for apart, count in hops)
        assert mean([float(count) for count in held]) == pytest.approx(predicted, rel=0.1, abs=1)


@pytest.mark.parametrize("marker_delay", [0.4, 6.3])
def test_channels_of_aligned_barriers_are_blocked_as_long_as_the_law_says(marker_delay: float) -> None:
    found = sizes(sized("dag", 4, algorithm="aligned_barriers", delay=marker_delay))
    assert found is not None
    blocked = []
    for seed in range(4):
        execution = stream("dag", 4, seed, algorithm="aligned_barriers", marker_delay=marker_delay)
        blocked.append(max(own.lasts or 0 for own in stops_of(execution) if own.kind == BLOCKED))
    assert mean(blocked) == pytest.approx(found.blocked, rel=0.06)


def test_messages_wait_in_a_blocked_channel_as_the_law_says() -> None:
    """Of the fullest channel, P1 → P3: those that have come and are not taken when P3 records."""
    found = sizes(sized("dag", 3, algorithm="aligned_barriers"))
    assert found is not None
    waiting = []
    for seed in range(8):
        execution = stream("dag", 3, seed, algorithm="aligned_barriers")
        (blocked,) = [own for own in stops_of(execution) if own.kind == BLOCKED]
        assert blocked.end is not None and blocked.channel == "P1->P3"
        on_channel = [row for row in execution.events if row.channel == "P1->P3"]
        come = [row for row in on_channel if row.kind == "send" and row.time + 1.9 <= blocked.end.time]
        taken = [row for row in on_channel if row.kind == "receive" and row.step < blocked.end.step]
        waiting.append(float(len(come) - len(taken)))
    assert mean(waiting) == pytest.approx(found.on_blocked, rel=0.05)


def test_a_full_channel_stops_its_sender_as_long_as_the_law_says() -> None:
    """P1 → P3 holds 30 messages: P1 stands still from when that many were sent after its barrier until P3 records."""
    found = sizes(sized("dag", 3, algorithm="aligned_barriers", capacity=30))
    assert found is not None
    assert found.on_blocked == 30
    stops = []
    for seed in range(4):
        execution = stream("dag", 3, seed, algorithm="aligned_barriers", capacity=', capacity = { "P1->P3" = 30 }')
        stops.append(max(own.lasts or 0 for own in stops_of(execution) if own.kind == FULL))
    assert mean(stops) == pytest.approx(found.sender_stops, rel=0.05)


def test_the_world_stands_still_as_long_as_the_law_says() -> None:
    found = sizes(sized("complete", 4, algorithm="stop_the_world"))
    assert found is not None
    pauses = [
        own.lasts
        for seed in range(4)
        for own in stops_of(stream("complete", 4, seed, algorithm="stop_the_world"))
        if own.kind == PAUSED
    ]
    assert pauses == [pytest.approx(found.stands_still, rel=0.01)] * 16


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", WITH_A_MODEL)
@pytest.mark.parametrize("topology", ["complete", "dag"])
def test_a_snapshot_takes_as_long_as_the_law_says(algorithm: str, topology: str) -> None:
    try:
        found = sizes(sized(topology, 4, algorithm=algorithm))
    except InputError:
        assert algorithm == "aligned_barriers" and topology == "complete"
        return
    assert found is not None
    if found.latency is None:
        assert algorithm == "mattern"
        return
    taken = []
    for seed in range(4):
        execution = stream(topology, 4, seed, algorithm=algorithm)
        (snapshot,) = snapshots_of(execution)
        times = execution.times
        assert snapshot.began is not None and snapshot.completed is not None
        taken.append(times[snapshot.completed] - times[snapshot.began])
    assert mean(taken) == pytest.approx(found.latency, rel=0.05)


def test_a_storage_takes_a_checkpoint_as_long_as_the_law_says() -> None:
    """All nodes are done at the same moment, and upload one after another."""
    storage = "storage = { bandwidth = 10, latency = 0, manifest = 0 }"
    execution = stream("complete", 4, 0, storage)
    (row,) = measure(execution)
    found = sizes(sized("complete", 4))
    assert found is not None
    state = (row["stored_bytes"] - found.recorded) / 4  # a message counts one byte here
    own = costs(sized("complete", 4, state=state / 1e6, share=1, bandwidth=10 / 1e6), found)
    assert found.latency is not None
    assert row["commit_latency"] == pytest.approx(found.latency + own.upload, rel=0.05)


def test_a_recovery_finds_the_crash_out_and_fetches_all_parts_as_long_as_the_law_says() -> None:
    more = """
storage = { bandwidth = 40, latency = 0, manifest = 0 }
recovery = { on = "crash", detect = 5 }
faults = [{ kind = "crash", process = "P2", at = 45 }]
"""
    (row,) = measure(stream("complete", 4, 0, more))
    found = sizes(sized("complete", 4))
    assert found is not None and row["committed"]
    state = (row["stored_bytes"] - found.recorded) / 4
    own = costs(sized("complete", 4, state=state / 1e6, bandwidth=40 / 1e6, detection=5), found)
    assert row["recovery_time"] == pytest.approx(5 + own.download, rel=0.05)


# ------------------------------------------------------------------ numbers and words


@each("name", INPUTS)
@each("bad", ["-1", "nan", "inf", "-inf", "1e400", "1e99", "x", "", "9" * 400])
def test_a_bad_number_is_one_sentence(name: str, bad: str) -> None:
    with pytest.raises(InputError) as caught:
        System.read({name: bad})
    assert str(caught.value).startswith(f"--{name.replace('_', '-')}: expected a ")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 200


@each(
    "wanted, told",
    [
        ({"nodes": "0"}, "--nodes: expected a whole number from 1 to 100,000, not '0'"),
        ({"nodes": "2.5"}, "--nodes: expected a whole number"),
        ({"share": "1.1"}, "--share: expected a number from 0 to 1"),
        ({"bandwidth": "0"}, "--bandwidth: expected a number from 1e-06 to"),
        ({"topology": "random"}, "--topology: expected one of complete, ring, line, star, dag"),
        ({"topology": "dag", "nodes": "401"}, "--nodes: in a dag no two channels are alike; use at most 400"),
        ({"algorithm": "magic"}, "--algorithm: expected one of chandy_lamport, "),
        ({"sizes": "1"}, "--sizes: is not an input of a sizing; did you mean 'size'"),
    ],
)
def test_what_cannot_be_sized_is_one_sentence(wanted: dict[str, str], told: str) -> None:
    with pytest.raises(InputError) as caught:
        System.read(wanted)
    assert str(caught.value).startswith(told)


@each("topology", ["complete", "ring", "line", "star"])
def test_barriers_that_start_at_sources_refuse_a_graph_without_one(topology: str) -> None:
    with pytest.raises(InputError, match=r"start at sources, and a .* has none; use dag"):
        sizes(System.read({"topology": topology, "algorithm": "aligned_barriers"}))


def test_decimals_are_exact() -> None:
    bound = usual_estimate(System.read({"nodes": "3", "rate": "0.1", "delay": "30", "size": "0.7"}))
    assert [bound[name] for name in ("messages_per_channel", "bytes_per_channel")] == [3, 2.1]


@given(st.sampled_from(TOPOLOGIES), st.sampled_from(sorted(ALGORITHMS)), st.integers(1, 60), st.floats(0, 1e6))
@examples(30)
def test_every_system_has_lines_and_formulas_or_one_sentence(topology, algorithm, nodes, number) -> None:
    system = System.read({
        "topology": topology, "algorithm": algorithm, "nodes": nodes, "rate": number, "delay": number / 7,
        "message_delay": number / 1000,
    })  # fmt: skip
    try:
        lines = sizing_in_words(system)
    except InputError as problem:
        assert "start at sources" in str(problem)
        return
    assert all(formula.source and formula.text for formula in formulas(system))
    assert any("no closed form" in line for line in lines) == (cost_model_of(system) is None)
    assert not any("nan" in line.split() or "inf" in line.split() for line in lines)


def test_the_first_values_are_those_of_the_documents() -> None:
    assert System.read({name: own.first for name, own in INPUTS.items()}) == System()
    assert System.read({name: own[0] for name, own in CHOICES.items()}) == System()


def test_numbers_have_units_by_powers_of_ten() -> None:
    assert [in_bytes(own) for own in (0, 1, 999, 20e6, 1.98e9, 198e9, 999_960)] == [
        "0 bytes", "1 byte", "999 bytes", "20 MB", "1.98 GB", "198 GB", "1 MB",
    ]  # fmt: skip
    assert [in_messages(own) for own in (0.5, 1, 100_000, 4.95e6, 2e9)] == [
        "0.5 messages", "1 messages", "100,000 messages", "4.95 million messages", "2 billion messages",
    ]  # fmt: skip
    assert [in_time(own) for own in (0, 2e-5, 0.02, 2, 155, 7200, 7500, 1e6)] == [
        "0 s", "20 µs", "20 ms", "2 s", "2 min 35 s", "2 h", "2 h 5 min", "278 h",
    ]  # fmt: skip
