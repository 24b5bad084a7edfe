"""Audits on Spark, held against the simulator's own checks and against a self-join that knows no partner's index."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pipeline import audits, cuts
from pipeline.__main__ import main
from pipeline.schema import CUT_TYPES, spark_schema
from pipeline.store import DataError
from sim import library
from sim.execution import run
from sim.model import Event
from tests.pipeline.tables import folder_of, numbered

NAMES = ("lecture", "two_banks", "overlapping", "token", "star")


@pytest.fixture(scope="module")
def executions() -> list[Any]:
    return [run(library.load(name)) for name in library.names() if name != "hundred"]


@pytest.fixture(scope="module")
def store(executions, tmp_path_factory):
    return folder_of(tmp_path_factory.mktemp("data"), numbered(executions), parts=3)


@pytest.fixture(scope="module")
def wanted(executions) -> dict[tuple[int, str], dict[str, int]]:
    """Twelve cuts of each run: some inside, some at an end, half of them consistent or nearly."""
    draw = random.Random(7)
    found = {}
    for number, execution in enumerate(executions):
        history = execution.history
        ends = {name: len(events) for name, events in history.of.items()}
        for place in range(12):
            cut = {
                name: draw.choice((0, end, draw.randint(0, end), draw.randint(0, end))) for name, end in ends.items()
            }
            if place % 2:
                cut = history.consistent_below(cut)
            found[number, f"cut-{place}"] = cut
    return found


def lines(cuts_by_name) -> list[tuple[int, str, str, int]]:
    return [(number, cut, name, count) for (number, cut), ends in cuts_by_name.items() for name, count in ends.items()]


@pytest.fixture(scope="module")
def audited(spark, store, wanted):
    outcome = audits.audit(spark, store, spark.createDataFrame(lines(wanted), spark_schema(CUT_TYPES)))
    return outcome, store.read(spark, "audits").collect(), store.read(spark, "channels").collect()


def test_verdicts_and_witnesses_are_those_of_the_simulator(executions, wanted, audited) -> None:
    found = {(row.run_id, row.cut_id): (row.consistent, row.witness) for row in audited[1]}
    own = {
        key: (executions[key[0]].history.is_consistent(cut), executions[key[0]].history.violation(cut))
        for key, cut in wanted.items()
    }
    assert found == own
    assert len(audited[1]) == len(wanted)
    assert 20 < sum(consistent for consistent, _ in own.values()) < len(own) - 20  # both kinds are there


def test_channels_are_those_of_the_simulator(executions, wanted, audited) -> None:
    found: dict[tuple[int, str], dict[str, list[int]]] = {key: {} for key in wanted}
    for row in audited[2]:
        found[row.run_id, row.cut_id][row.channel] = list(row.messages)
    own = {key: executions[key[0]].history.in_channels(cut) for key, cut in wanted.items()}
    assert found == own


def test_the_summary_counts_what_was_written(audited) -> None:
    outcome, verdicts, channels = audited
    assert outcome.cuts == len(verdicts)
    assert outcome.inconsistent == sum(not row.consistent for row in verdicts)
    assert outcome.messages == sum(len(row.messages) for row in channels)
    assert outcome.first == min((row.run_id, row.cut_id, row.witness) for row in verdicts if not row.consistent)


def test_a_self_join_of_sends_and_receives_says_the_same(spark, store, wanted, audited) -> None:
    """The textbook's plan, which pairs messages by their ids: it reads no peer_index."""
    spark.createDataFrame(lines(wanted), spark_schema(CUT_TYPES)).createOrReplaceTempView("cuts")
    store.read(spark, "events").createOrReplaceTempView("events")
    found = spark.sql("""
        SELECT s.run_id, a.cut_id, MIN(s.message_id) AS witness
        FROM events s JOIN events r ON s.run_id = r.run_id AND s.message_id = r.message_id
        JOIN cuts a ON a.run_id = s.run_id AND a.process = s.process
        JOIN cuts b ON b.run_id = s.run_id AND b.process = r.process AND a.cut_id = b.cut_id
        WHERE s.kind = 'send' AND r.kind = 'receive' AND s.index > a.index AND r.index <= b.index
        GROUP BY s.run_id, a.cut_id
    """).collect()
    own = {(row.run_id, row.cut_id): row.witness for row in audited[1] if not row.consistent}
    assert {(row.run_id, row.cut_id): row.witness for row in found} == own


def test_no_event_is_shuffled_before_it_is_known_to_cross_a_cut(spark, store, wanted) -> None:
    frame = spark.createDataFrame(lines(wanted), spark_schema(CUT_TYPES))
    plan = audits.crossing(store.read(spark, "events"), audits._numbered(frame))._explain_string(mode="formatted")
    scan_of_events = plan.index("Scan parquet")
    tree = plan.split("\n\n\n")[0]
    path = tree[: tree.index("Scan parquet")]
    assert "SortMergeJoin" not in tree
    assert scan_of_events
    # From the scan upwards there are only broadcast joins: every exchange lies on the side of the cuts.
    assert "Exchange hashpartitioning" not in "\n".join(line for line in path.splitlines() if line.startswith("+-"))


# ------------------------------------------------------------------ small tables, cell by cell


def event(row: int, process: str, index: int, kind: str, **more: Any) -> Event:
    plain = {"channel": None, "peer_index": None, "message_id": None}
    others = {"label": None, "body": None, "snapshot_id": None, "state_size": None}
    named = {"run_id": 0, "row": row, "step": row + 1, "time": float(row), "process": process, "index": index}
    return Event(**{**named, "kind": kind, **plain, **others, **more})


A_TO_B = [
    event(0, "A", 1, "send", channel="A->B", peer_index=1, message_id=0),
    event(1, "B", 1, "receive", channel="A->B", peer_index=1, message_id=0),
    event(2, "A", 2, "send", channel="A->B", peer_index=None, message_id=1),
]


def judged(spark, events: list[Event], cut: dict[str, int], tmp_path) -> tuple[Any, dict[str, list[int]]]:
    table = folder_of(tmp_path / "data", events).read(spark, "events")
    frame = spark.createDataFrame([(0, "c", name, count) for name, count in cut.items()], spark_schema(CUT_TYPES))
    verdict = audits.verdicts(table, frame).collect()
    assert len(verdict) == 1
    held = {row.channel: list(row.messages) for row in audits.contents(table, frame).collect()}
    return (verdict[0].consistent, verdict[0].witness), held


@pytest.mark.parametrize(
    ("cut", "verdict", "held"),
    [
        ({"A": 0, "B": 0}, (True, None), {}),
        ({"A": 1, "B": 0}, (True, None), {"A->B": [0]}),
        ({"A": 2, "B": 1}, (True, None), {"A->B": [1]}),
        ({"A": 0, "B": 1}, (False, 0), {}),
        ({"B": 1}, (False, 0), {}),  # A is missing: none of its events is inside
        ({"A": 2}, (True, None), {"A->B": [0, 1]}),
        ({"A": 9, "B": 9}, (True, None), {"A->B": [1]}),  # beyond the end: all of them
    ],
)
def test_every_side_of_a_message(spark, tmp_path, cut, verdict, held) -> None:
    assert judged(spark, A_TO_B, cut, tmp_path) == (verdict, held)


def test_an_event_with_several_partners(spark, tmp_path) -> None:
    """One send event, two receivers: a row for each."""
    events = [
        event(0, "A", 1, "send", channel="A->B", peer_index=1, message_id=0),
        event(1, "A", 1, "send", channel="A->C", peer_index=1, message_id=1),
        event(2, "B", 1, "receive", channel="A->B", peer_index=1, message_id=0),
        event(3, "C", 1, "receive", channel="A->C", peer_index=1, message_id=1),
    ]
    assert judged(spark, events, {"A": 1, "B": 1, "C": 0}, tmp_path) == ((True, None), {"A->C": [1]})
    assert judged(spark, events, {"A": 0, "B": 0, "C": 1}, tmp_path / "2") == ((False, 1), {})


def test_runs_with_the_same_names_are_kept_apart(spark, tmp_path) -> None:
    table = folder_of(tmp_path, A_TO_B + [row._replace(run_id=1) for row in A_TO_B]).read(spark, "events")
    frame = spark.createDataFrame(
        [(0, "c", "A", 0), (0, "c", "B", 1), (1, "c", "A", 1), (1, "c", "B", 0)], spark_schema(CUT_TYPES)
    )
    found = {row.run_id: row.witness for row in audits.verdicts(table, frame).collect()}
    assert found == {0: 0, 1: None}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "there are no cuts to audit"),
        ([(0, "c", "A", -1)], "run 0, cut c, process A has a negative index"),
        ([(0, "c", "A", 1), (0, "c", "A", 2)], "run 0, cut c, process A is there twice"),
        ([(0, "c", None, 1)], "1 lines of the cuts lack a run_id, cut_id, process or index"),
        ([(7, "c", "A", 1)], "the cuts name run 7, of which there are no events"),
        ([(0, "c", "AA", 1), (0, "c", "A", 1)], "the cuts name a process 'AA' that has no events; did you mean 'A'"),
    ],
)
def test_cuts_that_make_no_sense(spark, tmp_path, given, told) -> None:
    store = folder_of(tmp_path, A_TO_B)
    with pytest.raises(DataError, match=told):
        audits.audit(spark, store, spark.createDataFrame(given, spark_schema(CUT_TYPES)))
    assert [path.name for path in store.path.iterdir()] == ["events"]


# ------------------------------------------------------------------ where cuts come from


def test_the_cuts_of_snapshots_find_what_the_snapshots_recorded(spark, executions, store) -> None:
    found = cuts.from_snapshots(store.read(spark, "events"))
    by_name: dict[tuple[int, str], dict[str, int]] = {}
    for row in found.cuts.collect():
        by_name.setdefault((row.run_id, row.cut_id), {})[row.process] = row["index"]
    own, others = {}, 0
    for number, execution in enumerate(executions):
        for snapshot in snapshots(execution):
            if len(snapshot.local) == len(execution.scenario.processes):
                own[number, snapshot.id] = snapshot.frontier
            elif snapshot.local:
                others += 1
    assert by_name == own
    assert found.left_out == others


def snapshots(execution):
    from sim.snapshots import snapshots_of

    return snapshots_of(execution)


def test_random_cuts_are_the_same_each_time_and_within_the_run(spark, executions, store) -> None:
    events = store.read(spark, "events")
    first, again, other = (
        {(row.run_id, row.cut_id, row.process): row["index"] for row in cuts.at_random(events, 30, seed).collect()}
        for seed in (1, 1, 2)
    )
    assert first == again != other
    for number, execution in enumerate(executions):
        for name, own in execution.history.of.items():
            drawn = [first[number, f"random-{place}", name] for place in range(1, 31)]
            assert all(0 <= count <= len(own) for count in drawn)
            assert len(set(drawn)) > 1 or not own


def test_cuts_from_files(spark, tmp_path) -> None:
    import pandas

    table = pandas.DataFrame({"run_id": [0, 0], "cut_id": ["c", "c"], "process": ["A", "B"], "index": [1, 0]})
    table.to_csv(tmp_path / "cuts.csv", index=False)
    table[["index", "process", "cut_id", "run_id"]].to_parquet(tmp_path / "cuts.parquet")
    wanted = [(0, "c", "A", 1), (0, "c", "B", 0)]
    for name in ("cuts.csv", "cuts.parquet"):
        read = cuts.from_file(spark, tmp_path / name)
        assert sorted(map(tuple, read.collect())) == wanted
        assert read.columns == list(CUT_TYPES)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("run_id,cut_id,process\n0,c,A\n", "cuts.csv: its first line names no column index"),
        ("run_id,cut_id,process,index,colour\n0,c,A,1,red\n", "'colour' is no column of cuts"),
        ("run_id,cut_id,process,index\n0,c,A,one\n", "the line '0,c,A,one' has no number as index"),
        ("run_id,cut_id,process,index\n0,c,,1\n", "the line '0,c,,1' has no text as process"),
    ],
)
def test_files_that_hold_no_cuts(spark, tmp_path, text, told) -> None:
    (tmp_path / "cuts.csv").write_text(text)
    with pytest.raises(DataError, match=told):
        cuts.from_file(spark, tmp_path / "cuts.csv")


def test_the_command(spark, tmp_path, capsys) -> None:
    folder_of(tmp_path, A_TO_B)
    (tmp_path / "cuts.csv").write_text("run_id,cut_id,process,index\n0,c,A,0\n0,c,B,1\n")
    assert main(["audit", str(tmp_path), "--cuts", str(tmp_path / "cuts.csv")]) == 0
    assert "1 cuts, 1 of them inconsistent" in (told := capsys.readouterr().out)
    assert "cut c of run 0; message 0 was received inside it" in told
    assert main(["audit", str(tmp_path), "--cuts", str(tmp_path / "none.csv")]) == 2
    assert main(["audit", str(tmp_path), "--random", "0"]) == 2
    assert main(["audit", str(tmp_path / "nowhere"), "--snapshots"]) == 2
    assert capsys.readouterr().err.count("\n") == 3
