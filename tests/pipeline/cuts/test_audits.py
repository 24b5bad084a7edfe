"""Audits on Spark, compared with the simulator's own checks and with a self-join that does not use peer_index."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from pipeline.__main__ import main
from pipeline.cuts import audits, cut_lines
from pipeline.cuts.event_columns import DECIDE
from pipeline.store.folder import Store
from pipeline.store.schema import CUT_TYPES, TRACE_TYPES, arrow_schema, spark_schema
from sim.core.errors import InputError
from sim.document import library
from sim.run.execution import Execution, run
from sim.theory.causality import Frontier
from tests.bundled import small
from tests.pipeline.cuts.here import audited_here, tables_of
from tests.pipeline.cuts.random_tables import as_table
from tests.pipeline.cuts.sql_oracle import by_sql
from tests.pipeline.some_tables import folder_of, numbered
from tests.sim.tools import row_of


@pytest.fixture(scope="module")
def executions() -> list[Any]:
    return [run(library.load(name)) for name in small()]


@pytest.fixture(scope="module")
def store(executions, tmp_path_factory):
    return folder_of(tmp_path_factory.mktemp("data"), numbered(executions), parts=3)


@pytest.fixture(scope="module")
def wanted(executions) -> dict[tuple[int, str], dict[str, int]]:
    """Twelve cuts of each run: some in the middle, some at the ends, every second one consistent."""
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


def in_table(execution: Execution, cut: Frontier) -> dict[str, int]:
    """A cut by the indices of the table, which go on after a recovery; `cut` counts the events that survive."""
    own = execution.history.of
    last = {name: own[name][inside - 1].row if inside else None for name, inside in cut.items()}
    return {name: 0 if row is None else execution.table[row].index or 0 for name, row in last.items()}


@pytest.fixture(scope="module")
def asked(executions, wanted) -> dict[tuple[int, str], dict[str, int]]:
    return {key: in_table(executions[key[0]], cut) for key, cut in wanted.items()}


def lines(cuts_by_name) -> list[tuple[int, str, str, int]]:
    return [(number, cut, name, count) for (number, cut), ends in cuts_by_name.items() for name, count in ends.items()]


@pytest.fixture(scope="module")
def audited(spark, store, asked):
    outcome = audits.audit(spark, store, spark.createDataFrame(lines(asked), spark_schema(CUT_TYPES)))
    return outcome, store.read(spark, "audits").collect(), store.read(spark, "channels").collect()


def test_verdicts_and_witnesses_are_those_of_the_simulator(executions, wanted, audited) -> None:
    found = {(row.run_id, row.cut_id): (row.consistent, row.witness) for row in audited[1]}
    own = {
        key: (executions[key[0]].history.is_consistent(cut), executions[key[0]].history.violation(cut))
        for key, cut in wanted.items()
    }
    assert found == own
    assert len(audited[1]) == len(wanted)
    assert 20 < sum(consistent for consistent, _ in own.values()) < len(own) - 20  # many of both kinds


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


def test_a_self_join_of_sends_and_receives_says_the_same(executions, spark, store, asked, audited) -> None:
    """The textbook plan pairs messages by their ids and does not read peer_index. It knows nothing of recoveries."""
    plain = {key for key in asked if not executions[key[0]].engine.has_lives}
    spark.createDataFrame(lines(asked), spark_schema(CUT_TYPES)).createOrReplaceTempView("cuts")
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
    by_join = {(row.run_id, row.cut_id): row.witness for row in found}
    assert {key: by_join[key] for key in plain & by_join.keys()} == {key: own[key] for key in plain & own.keys()}


def test_the_plan_in_sql_says_the_same(spark, store, asked, audited) -> None:
    frame = spark.createDataFrame(lines(asked), spark_schema(CUT_TYPES))
    assert by_sql(store.read(spark, "events"), frame) == tables_of(store)


def test_seven_columns_are_enough(executions, spark, store, asked, audited, tmp_path) -> None:
    """Others may be missing, the epochs too where nothing is rolled back, and there may be an index of pandas."""
    own = pyarrow.concat_tables(parquet.read_table(store.path / part.file) for part in store.parts("events")).select(
        [*DECIDE]
    )
    own = own.append_column("__index_level_0__", pyarrow.array(range(len(own))))
    few = Store(tmp_path)
    few.write_part("events", "all", own)
    audits.audit(spark, few, as_table(lines(asked)))
    plain = {number for number, execution in enumerate(executions) if not execution.engine.has_lives}
    ours, others = ([{k: v for k, v in own.items() if k[0] in plain} for own in tables_of(s)] for s in (few, store))
    assert ours == others and ours[0] and ours[1]


# ------------------------------------------------------------------ small tables, cell by cell


A_TO_B = [
    row_of(0, "A", 1, "send", channel="A->B", peer_index=1, message=0),
    row_of(1, "B", 1, "receive", channel="A->B", peer_index=1, message=0),
    row_of(2, "A", 2, "send", channel="A->B", peer_index=None, message=1),
]


Found = tuple[bool, int | None, dict[str, list[int]]]


def judged(store, cuts: list[dict[str, int]]) -> list[Found]:
    """The verdict, the witness and the content of the channels for each of several cuts of run 0."""
    given = [(0, f"{place:02}", name, count) for place, cut in enumerate(cuts) for name, count in cut.items()]
    _, verdicts, channels = audited_here(store, as_table(given))
    held: dict[str, dict[str, list[int]]] = {f"{place:02}": {} for place in range(len(cuts))}
    for (_, cut, channel), messages in channels.items():
        held[cut][channel] = messages
    assert [cut for _, cut in verdicts] == list(held)
    return [(witness is None, witness, held[cut]) for (_, cut), witness in verdicts.items()]


def test_every_side_of_a_message(tmp_path) -> None:
    wanted: list[tuple[dict[str, int], Found]] = [
        ({"A": 0, "B": 0}, (True, None, {})),
        ({"A": 1, "B": 0}, (True, None, {"A->B": [0]})),
        ({"A": 2, "B": 1}, (True, None, {"A->B": [1]})),
        ({"A": 0, "B": 1}, (False, 0, {})),
        ({"B": 1}, (False, 0, {})),  # A is missing: none of its events is inside
        ({"A": 2}, (True, None, {"A->B": [0, 1]})),
        ({"A": 9, "B": 9}, (True, None, {"A->B": [1]})),  # beyond the end: all of them
    ]
    assert judged(folder_of(tmp_path, A_TO_B), [cut for cut, _ in wanted]) == [found for _, found in wanted]


def test_the_order_of_receipt_is_not_that_of_the_ids(tmp_path) -> None:
    """Messages are received in another order than sent. One is never received: it comes last."""
    sends = [(1, 3), (2, None), (3, 2), (4, 1)]
    table = folder_of(
        tmp_path,
        [row_of(i, "A", i, "send", channel="A->B", peer_index=peer, message=10 + i) for i, peer in sends],
    )
    assert judged(table, [{"A": 4}, {"A": 4, "B": 1}]) == [
        (True, None, {"A->B": [14, 13, 11, 12]}), (True, None, {"A->B": [13, 11, 12]}),
    ]  # fmt: skip


def test_an_event_with_several_partners(tmp_path) -> None:
    """One send event, two receivers: a row for each."""
    events = [
        row_of(0, "A", 1, "send", channel="A->B", peer_index=1, message=0),
        row_of(1, "A", 1, "send", channel="A->C", peer_index=1, message=1),
        row_of(2, "B", 1, "receive", channel="A->B", peer_index=1, message=0),
        row_of(3, "C", 1, "receive", channel="A->C", peer_index=1, message=1),
    ]
    assert judged(folder_of(tmp_path, events), [{"A": 1, "B": 1, "C": 0}, {"A": 0, "B": 0, "C": 1}]) == [
        (True, None, {"A->C": [1]}), (False, 1, {}),
    ]  # fmt: skip


def test_runs_with_the_same_names_are_kept_apart(tmp_path) -> None:
    store = folder_of(tmp_path, A_TO_B + [row._replace(run_id=1) for row in A_TO_B])
    given = [(0, "c", "A", 0), (0, "c", "B", 1), (1, "c", "A", 1), (1, "c", "B", 0)]
    assert audited_here(store, as_table(given))[1] == {(0, "c"): 0, (1, "c"): None}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], "there are no cuts to audit"),
        ([(0, "c", "A", -1)], "run 0, cut c, process A has a negative index"),
        ([(0, "c", "A", 1), (0, "c", "A", 2)], "run 0, cut c, process A is there twice"),
        ([(0, "c", None, 1)], "1 lines of the cuts lack a run_id, cut_id, process or index"),
        ([(7, "c", "A", 1)], "the cuts name run 7, of which there are no events"),
        ([(0, "c", "AA", 1), (0, "c", "A", 1)], "the cuts name a process 'AA' that has no events; did you mean 'A'"),
    ],
)
def test_cuts_that_make_no_sense(spark, tmp_path, given, sentence) -> None:
    store = folder_of(tmp_path, A_TO_B)
    with pytest.raises(InputError, match=sentence):
        audits.audit(spark, store, spark.createDataFrame(given, spark_schema(CUT_TYPES)))
    assert [path.name for path in store.path.iterdir()] == ["events"]


def test_a_cut_of_a_run_without_messages_is_judged_too(spark, tmp_path) -> None:
    """If no message crosses a cut, the table channels is there, and empty."""
    store = folder_of(tmp_path, [row_of(0, "A", 1, "internal")])
    outcome = audits.audit(spark, store, spark.createDataFrame([(0, "c", "A", 1)], spark_schema(CUT_TYPES)))
    assert outcome == audits.Audit(1, 0, 0, None)
    assert list(map(tuple, store.read(spark, "audits").collect())) == [(0, "c", True, None)]
    assert store.read(spark, "channels").collect() == []


def test_a_second_audit_replaces_the_first(spark, tmp_path) -> None:
    store = folder_of(tmp_path, A_TO_B)
    for cut in ("first", "second"):
        audits.audit(spark, store, spark.createDataFrame([(0, cut, "A", 1)], spark_schema(CUT_TYPES)))
    assert [row.cut_id for row in store.read(spark, "audits").collect()] == ["second"]
    assert [row.cut_id for row in store.read(spark, "channels").collect()] == ["second"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["_tables.json", "audits", "channels", "events"]


def test_a_relative_path(spark, tmp_path, monkeypatch) -> None:
    """Spark's server has another working directory."""
    folder_of(tmp_path / "data", A_TO_B)
    monkeypatch.chdir(tmp_path)
    cut = spark.createDataFrame([(0, "c", "A", 1)], spark_schema(CUT_TYPES))
    assert audits.audit(spark, Store(Path("data")), cut).messages == 1


def test_the_messages_of_unknown_channels_are_null(spark, tmp_path) -> None:
    """Verdicts on cuts are exact all the same."""
    store = folder_of(tmp_path, A_TO_B)
    trace = dict.fromkeys(TRACE_TYPES) | {"run_id": 0, "unknown_channels": ["A->B", "B->A"]}
    store.write_part("traces", "traces", pyarrow.Table.from_pylist([trace], arrow_schema(TRACE_TYPES)))
    given = [(0, "early", "A", 1), (0, "late", "B", 1)]
    outcome = audits.audit(spark, store, spark.createDataFrame(given, spark_schema(CUT_TYPES)))
    assert outcome == audits.Audit(2, 1, 0, (0, "late", 0))
    held = {(row.cut_id, row.channel): row.messages for row in store.read(spark, "channels").collect()}
    assert held == {(cut, channel): None for cut in ("early", "late") for channel in ("A->B", "B->A")}


def test_cuts_in_slices_get_the_same_answer(spark, store, wanted, audited, tmp_path, monkeypatch) -> None:
    """The slices are a range of runs, a run with many cuts in parts, and the rest; as a table and as a Spark frame."""
    some = {(run, cut): ends for (run, cut), ends in wanted.items() if run < 4 and (run == 1 or cut == "cut-0")}
    own = Store(tmp_path)
    for part in store.parts("events"):
        own.write_part("events", part.name, parquet.read_table(store.path / part.file))
    monkeypatch.setattr(cut_lines, "MOST_LINES", -(-len(lines(some)) // 4))
    assert len(list(cut_lines.slices_of(as_table(lines(some))))) > 3
    verdicts, channels = tables_of(store)
    for given in (as_table(lines(some)), spark.createDataFrame(lines(some), spark_schema(CUT_TYPES))):
        steps: list[tuple[int, int]] = []
        assert audits.audit(spark, own, given, lambda *step, steps=steps: steps.append(step)).cuts == len(some)
        assert steps == sorted(steps)
        assert steps[-1][0] == steps[-1][1] > 3
        assert tables_of(own) == (
            {key: witness for key, witness in verdicts.items() if key in some},
            {key: messages for key, messages in channels.items() if key[:2] in some},
        )


@pytest.mark.parametrize("run_ids", [(-(2**63), 2**63 - 1), (5, -5)])
def test_any_number_may_name_a_run(spark, tmp_path, run_ids) -> None:
    table = folder_of(tmp_path, [row._replace(run_id=run) for run in sorted(run_ids) for row in A_TO_B])
    given = [(run, "c", "B", 1) for run in run_ids]
    outcome = audits.audit(spark, table, spark.createDataFrame(given, spark_schema(CUT_TYPES)))
    assert outcome == audits.Audit(2, 2, 0, (min(run_ids), "c", 0))


# ------------------------------------------------------------------ the command


def test_the_command(spark, tmp_path, capsys) -> None:
    folder_of(tmp_path, A_TO_B)
    (tmp_path / "cuts.csv").write_text("run_id,cut_id,process,index\n0,c,A,0\n0,c,B,1\n")
    assert main(["audit", str(tmp_path), "--cuts", str(tmp_path / "cuts.csv")]) == 0
    assert "1 cuts, 1 of them inconsistent" in (sentence := capsys.readouterr().out)
    assert "cut c of run 0; message 0 was received inside it" in sentence
    assert main(["audit", str(tmp_path), "--cuts", str(tmp_path / "none.csv")]) == 2
    assert main(["audit", str(tmp_path), "--random", "0"]) == 2
    assert main(["audit", str(tmp_path / "nowhere"), "--snapshots"]) == 2
    assert main(["audit", str(tmp_path / "nowhere"), "--random", "1"]) == 2
    assert capsys.readouterr().err.count("\n") == 4
    shuffled = [row._replace(run_id=run) for run in (1, 0) for row in A_TO_B]
    folder_of(tmp_path / "shuffled", shuffled)
    assert main(["audit", str(tmp_path / "shuffled"), "--random", "3"]) == 0
    found = capsys.readouterr()
    assert found.out.startswith("6 cuts, ")
    assert found.err == f"{audits.UNSORTED}\n"


def test_what_can_be_checked_without_spark_starts_none(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setattr("pipeline.jobs.ask", None)  # calling it would raise
    folder_of(tmp_path / "full", A_TO_B)
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.csv").write_text("run_id,cut_id,process,index\n0,c,A,one\n")
    for folder, asked, sentence in (
        ("none", ["--snapshots"], "there is no such folder"),
        ("empty", ["--random", "1"], "holds no events"),
        ("full", ["--cuts", str(tmp_path / "none.csv")], "there is no such file"),
        ("full", ["--cuts", str(tmp_path / "bad.csv")], "the line '0,c,A,one' has no number as index"),
        ("full", ["--random", "10001"], "ask for 1 to 10000 cuts"),
    ):
        assert main(["audit", str(tmp_path / folder), *asked]) == 2
        assert sentence in capsys.readouterr().err


def test_the_cuts_of_snapshots_by_the_command(spark, store, capsys) -> None:
    assert main(["audit", str(store.path), "--snapshots"]) == 0
    assert "cuts, " in capsys.readouterr().out
