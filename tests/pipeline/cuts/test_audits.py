"""Audits, compared with the reference and with a self-join that does not use peer_index."""

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
from pipeline.store.schema import TRACE_TYPES, arrow_schema
from sim.core.errors import InputError
from sim.document import library
from sim.run.execution import Execution, run
from sim.theory.causality import Frontier
from tests.bundled import small
from tests.pipeline.cuts.here import audited_here, tables_of
from tests.pipeline.cuts.oracles import Channels, Verdicts, by_duckdb, by_reference, unmarked, unordered
from tests.pipeline.cuts.random_tables import Line, as_table
from tests.pipeline.some_tables import folder_of, numbered
from tests.pipeline.without_spark import no_spark
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


def lines(cuts_by_name) -> list[Line]:
    return [(number, cut, name, count) for (number, cut), ends in cuts_by_name.items() for name, count in ends.items()]


@pytest.fixture(scope="module")
def audited(store, asked) -> tuple[audits.Audit, Verdicts, Channels]:
    with no_spark() as session:
        return audits.audit(session, store, as_table(lines(asked))), *tables_of(store)


def test_verdicts_and_channels_are_those_of_the_reference(executions, asked, audited) -> None:
    assert unordered(audited[1:]) == by_reference(numbered(executions), lines(asked))
    witnesses = list(audited[1].values())
    assert 20 < witnesses.count(None) < len(witnesses) - 20  # many of both kinds


def test_the_summary_counts_what_was_written(audited) -> None:
    outcome, verdicts, channels = audited
    inconsistent = [(*key, witness) for key, witness in verdicts.items() if witness is not None]
    assert outcome == (len(verdicts), len(inconsistent), sum(map(len, channels.values())), min(inconsistent), 0, True)


@pytest.mark.slow
def test_a_self_join_of_sends_and_receives_says_the_same(executions, asked, audited) -> None:
    """The textbook plan pairs messages by their ids and does not read peer_index; it knows no recoveries and losses."""
    rows = numbered(executions)
    plain = unmarked(rows)
    cuts = lines({key: own for key, own in asked.items() if key[0] in plain})
    found = by_duckdb([row for row in rows if row.run_id in plain], cuts)
    assert found == tuple({key: own for key, own in part.items() if key[0] in plain} for part in audited[1:])
    assert len(plain) > len(executions) // 3


def test_seven_columns_are_enough(executions, workers_here, store, asked, audited, tmp_path) -> None:
    """Others may be missing where nothing is lost or rolled back, and there may be an index of pandas."""
    own = pyarrow.concat_tables(parquet.read_table(store.path / part.file) for part in store.parts("events")).select(
        [*DECIDE]
    )
    own = own.append_column("__index_level_0__", pyarrow.array(range(len(own))))
    few = Store(tmp_path)
    few.write_part("events", "all", own)
    audits.audit(workers_here, few, as_table(lines(asked)))
    plain = unmarked(numbered(executions))
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


NO_CUTS: list[tuple[list[Line], str]] = [
    ([], "there are no cuts to audit"),
    ([(0, "c", "A", -1)], "run 0, cut c, process A has a negative index"),
    ([(0, "c", "A", 1), (0, "c", "A", 2)], "run 0, cut c, process A is there twice"),
    ([(0, "c", None, 1)], "1 lines of the cuts lack a run_id, cut_id, process or index"),  # type: ignore[list-item]
    ([(7, "c", "A", 1)], "the cuts name run 7, which has no events"),
    ([(0, "c", "AA", 1), (0, "c", "A", 1)], "the cuts name a process 'AA' that has no events; did you mean 'A'"),
]


def test_cuts_that_make_no_sense(workers_here, tmp_path) -> None:
    store = folder_of(tmp_path, A_TO_B)
    for given, sentence in NO_CUTS:
        with pytest.raises(InputError, match=sentence):
            audits.audit(workers_here, store, as_table(given))
        assert [path.name for path in store.path.iterdir()] == ["events"], given


def test_a_cut_of_a_run_without_messages_is_judged_too(workers_here, tmp_path) -> None:
    """If no message crosses a cut, the table channels is there, and empty."""
    store = folder_of(tmp_path, [row_of(0, "A", 1, "internal")])
    assert audits.audit(workers_here, store, as_table([(0, "c", "A", 1)])) == audits.Audit(1, 0, 0, None)
    assert tables_of(store) == ({(0, "c"): None}, {})


def test_a_second_audit_replaces_the_first(workers_here, tmp_path) -> None:
    store = folder_of(tmp_path, A_TO_B)
    for cut in ("first", "second"):
        audits.audit(workers_here, store, as_table([(0, cut, "A", 1)]))
    assert tables_of(store) == ({(0, "second"): None}, {(0, "second", "A->B"): [0]})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["_tables.json", "audits", "channels", "events"]


def test_the_messages_of_unknown_channels_are_null(workers_here, tmp_path) -> None:
    """Verdicts on cuts are exact all the same."""
    store = folder_of(tmp_path, A_TO_B)
    trace = dict.fromkeys(TRACE_TYPES) | {"run_id": 0, "unknown_channels": ["A->B", "B->A"]}
    store.write_part("traces", "traces", pyarrow.Table.from_pylist([trace], arrow_schema(TRACE_TYPES)))
    outcome = audits.audit(workers_here, store, as_table([(0, "early", "A", 1), (0, "late", "B", 1)]))
    assert outcome == audits.Audit(2, 1, 0, (0, "late", 0))
    held = {(row["cut_id"], row["channel"]): row["messages"] for row in store.rows("channels").to_table().to_pylist()}
    assert held == {(cut, channel): None for cut in ("early", "late") for channel in ("A->B", "B->A")}


def some_of(asked) -> list[Line]:
    """Lines of a range of runs, one of which has many cuts."""
    return lines({(run, cut): ends for (run, cut), ends in asked.items() if run < 4 and (run == 1 or cut == "cut-0")})


def check_slices(session, events: Store, given, own: list[Line], audited, folder: Path) -> None:
    """The audit of these cuts, which are too many for one slice, says what that of all cuts has said."""
    store = Store(folder)
    for part in events.parts("events"):
        store.write_part("events", part.name, parquet.read_table(events.path / part.file))
    steps: list[tuple[int, int]] = []
    some = {line[:2] for line in own}
    assert audits.audit(session, store, given, lambda *step: steps.append(step)).cuts == len(some)
    assert steps == sorted(steps)
    assert steps[-1][0] == steps[-1][1] > 3
    assert tables_of(store) == tuple({k: found for k, found in part.items() if k[:2] in some} for part in audited[1:])


def test_cuts_in_slices_get_the_same_answer(workers_here, store, asked, audited, tmp_path, monkeypatch) -> None:
    """The slices are a range of runs, a run with many cuts in parts, and the rest."""
    own = some_of(asked)
    monkeypatch.setattr(cut_lines, "MOST_LINES", -(-len(own) // 4))
    assert len(list(cut_lines.slices_of(as_table(own)))) > 3
    check_slices(workers_here, store, as_table(own), own, audited, tmp_path)


def test_any_number_may_name_a_run(workers_here, tmp_path) -> None:
    for run_ids in ((-(2**63), 2**63 - 1), (5, -5)):
        rows = [row._replace(run_id=run) for run in sorted(run_ids) for row in A_TO_B]
        outcome = audits.audit(
            workers_here, folder_of(tmp_path / str(run_ids[0]), rows), as_table([(run, "c", "B", 1) for run in run_ids])
        )
        assert outcome == audits.Audit(2, 2, 0, (min(run_ids), "c", 0))


# ------------------------------------------------------------------ the command


def test_the_command(workers_here, tmp_path, capsys) -> None:
    folder_of(tmp_path, A_TO_B)
    (tmp_path / "cuts.csv").write_text("run_id,cut_id,process,index\n0,c,A,0\n0,c,B,1\n")
    assert main(["audit", str(tmp_path), "--cuts", str(tmp_path / "cuts.csv")]) == 0
    assert "1 cuts, 1 of them inconsistent" in (sentence := capsys.readouterr().out)
    assert "cut c of run 0; message 0 is received inside the cut but sent outside" in sentence
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
