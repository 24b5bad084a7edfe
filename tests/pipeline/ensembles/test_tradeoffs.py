"""The table of trade-offs: what runs, what is summed up, and that it can be kept, remade and opened.

Its comparison is fair: one law for all that the network carries, the same cases for all, and nothing has drained.
Blocked times, messages and orphans are counted again from the rows of runs, by code that shares nothing with theirs.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from statistics import median_low
from typing import ClassVar

import pytest

from pipeline import jobs
from pipeline.ensembles.measure import measure
from pipeline.ensembles.run_costs import with_costs
from pipeline.store.examples import TRADEOFFS
from pipeline.tradeoffs.cases import (
    BEHIND_A_SOURCE,
    MOST_RUNS,
    ONE_NODE,
    RECOVERY,
    SNAPSHOT,
    Asked,
    Setting,
    Where,
    cases_of,
    run_count,
    typical_scenario,
)
from pipeline.tradeoffs.cells import as_text_table, asked_in_words, lines_of
from pipeline.tradeoffs.table import COSTS, Table, measured_at_once, table_from_json
from sim import VERSION
from sim.algorithms.chandy_lamport import ChandyLamport
from sim.core.algorithm import ALGORITHMS
from sim.core.delays import DelayRule
from sim.core.errors import InputError
from sim.core.model import Event
from sim.run.execution import run

SMALL = Asked(("ring", "dag"), (4,), marker_delays=("same", "uniform:1:30"), paces=(8.0,), runs=2)
SHIPPED = table_from_json(TRADEOFFS.read_text("utf-8"))  # with the app: what is newer is in no row of it
ALWAYS_TRIED = ("chandy_lamport", "stop_the_world", "aligned_barriers")


@pytest.fixture(scope="module")
def table() -> Table:
    found = measured_at_once(SMALL)
    assert found is not None
    return found


def rows_of(algorithm: str, setting: Setting, seed: int, control: DelayRule | None = None) -> list[Event]:
    """The rows of a run of the table that comes with the app; `control`: with other delays of control messages."""
    scenario = typical_scenario(SHIPPED.asked, algorithm, Where(SNAPSHOT, setting, seed))
    return list(run(replace(scenario, control_delay=control or scenario.control_delay)).table)


def shipped(algorithm: str, setting: Setting, column: str) -> float | None:
    outcome = SHIPPED.outcome(algorithm, SNAPSHOT, setting)
    return None if outcome is None else outcome.median(column)


# ------------------------------------------------------------------ a fair comparison, counted again


@pytest.mark.slow
def test_one_law_draws_the_delays_of_all_that_the_network_carries() -> None:
    """And a slow marker is an input of its own."""
    for case in cases_of(SMALL):
        if case.document is not None and case.kind != ONE_NODE:
            scenario = typical_scenario(SMALL, case.algorithm, Where(case.kind, case.setting, 0))
            assert scenario.delay == scenario.control_delay == DelayRule("uniform", 1.0, 9.0), case
            slow = DelayRule("uniform", 1.0, 30.0)
            assert scenario.marker_delay == (None if case.setting.marker_delay == "same" else slow), case


def blocked(rows: Iterable[Event]) -> float:
    """For how long processes pause and channels are blocked, added up."""
    since: dict[str, float] = {}
    total = 0.0
    for row in rows:
        where = row.process if row.kind in ("paused", "resumed") else row.channel or ""
        if row.kind in ("paused", "blocked"):
            since[where] = row.time
        elif row.kind in ("resumed", "unblocked"):
            total += row.time - since.pop(where)
    assert not since
    return total


@pytest.mark.slow
def test_stop_the_world_blocks_longer_than_barriers_where_all_delays_follow_one_law() -> None:
    """On a dag of 4 about five times as long. Control messages that always take 1 make it a third of that."""
    setting = Setting("dag", 4, "same", 2.0)
    found = {}
    for name in ("stop_the_world", "aligned_barriers"):
        found[name] = [blocked(rows_of(name, setting, seed)) for seed in range(SHIPPED.asked.runs)]
        assert shipped(name, setting, "blocked_time") == pytest.approx(median_low(found[name]), abs=1e-3)
    assert all(stopped > 3 * barriers for stopped, barriers in zip(*found.values(), strict=True))
    favoured = blocked(rows_of("stop_the_world", setting, 0, DelayRule("fixed", 1.0)))
    assert favoured < found["stop_the_world"][0] / 2


@pytest.mark.slow
@pytest.mark.parametrize(("topology", "count", "is_less"), [("complete", 20, True), ("ring", 20, False)])
def test_which_of_two_sends_less_depends_on_the_topology(topology: str, count: int, is_less: bool) -> None:
    """On a complete graph of 20 stop-the-world sends about 110 control messages, and there are 380 markers."""
    setting = Setting(topology, count, "same", 20.0)
    sent = {}
    for name, kind in (("stop_the_world", "control_send"), ("chandy_lamport", "marker_send")):
        runs = [Counter(row.kind for row in rows_of(name, setting, seed))[kind] for seed in range(SHIPPED.asked.runs)]
        sent[name] = median_low(runs)
        column = "control_messages" if kind == "control_send" else "markers"
        assert shipped(name, setting, column) == sent[name]
    assert (sent["stop_the_world"] < sent["chandy_lamport"]) is is_less


def orphans(rows: list[Event]) -> set[int | None]:
    """Messages that the last copies contain as received and not as sent, while every sender still has work to do."""
    until = min({row.process: row.step for row in rows if row.kind == "send"}.values())
    then = [row for row in rows if row.step <= until]
    copied = {row.process: row.index or 0 for row in then if row.kind == "record"}
    inside = [row for row in then if row.index is not None and row.index <= copied[row.process]]
    return {row.message_id for row in inside if row.kind == "receive"} - {
        row.message_id for row in inside if row.kind == "send"
    }


@pytest.mark.slow
def test_copies_that_nobody_coordinates_are_not_judged_after_all_is_done() -> None:
    """On a ring, too, some are no consistent cut. After the run they were: the last copies had all that happened."""
    own = [each for each in SHIPPED.rows["uncoordinated"].of_kind(SNAPSHOT) if each.setting.topology == "ring"]
    assert any(each.consistent < each.runs for each in own)
    for each in own:
        if each.setting.processes == 4:
            wrong = []
            for seed in range(SHIPPED.asked.runs):
                execution = run(typical_scenario(SHIPPED.asked, "uncoordinated", Where(SNAPSHOT, each.setting, seed)))
                wrong += [seed] if orphans(list(execution.table)) else []
                (row,) = with_costs(execution, measure(execution))
                assert row["consistent_cut"] is (seed not in wrong), (each.setting, seed)
            assert (each.consistent, each.seed) == (each.runs - len(wrong), [*wrong, 0][0]), each.setting


@pytest.mark.slow
@pytest.mark.parametrize("topology", SHIPPED.asked.places)
def test_no_run_has_drained_before_its_snapshot_is_complete(topology: str) -> None:
    """The slowest case: 20 processes, and slow markers."""
    for name in ALWAYS_TRIED:
        setting = Setting(topology, 20, "uniform:1:40", 2.0)
        if SHIPPED.outcome(name, SNAPSHOT, setting):
            rows = rows_of(name, setting, 1)
            last = {row.process: row.time for row in rows if row.kind == "send"}
            assert min(last.values()) > max(row.time for row in rows if row.kind == "snapshot_complete"), name


# ------------------------------------------------------------------ what is summed up


def test_the_table_that_comes_with_the_app_is_of_this_version_and_has_these_inputs() -> None:
    assert SHIPPED.version == VERSION, "make tradeoffs"
    assert SHIPPED.asked == Asked()
    assert set(SHIPPED.rows) <= set(ALGORITHMS), "make tradeoffs, since an algorithm is gone"


@pytest.mark.slow
def test_the_table_that_comes_with_the_app_is_what_this_version_makes() -> None:
    """One case of each algorithm and kind, made again."""
    for name, own in SHIPPED.rows.items():
        wanted = {each.kind: each for each in own.outcomes if each.setting.processes <= 8}
        for each in wanted.values():
            found = []
            for seed in range(SHIPPED.asked.runs):
                execution = run(typical_scenario(SHIPPED.asked, name, Where(each.kind, each.setting, seed)))
                found += with_costs(execution, measure(execution))
            column = "rolled_back" if each.kind == RECOVERY else "state_bytes"
            assert each.median(column) == median_low(row[column] for row in found), (name, each.setting)


@pytest.mark.slow
def test_every_algorithm_runs_in_every_case_that_it_accepts(table: Table) -> None:
    assert set(table.rows) == set(ALGORITHMS)
    for name, own in table.rows.items():
        tried = {each.setting.topology for each in own.of_kind(SNAPSHOT)}
        assert tried | {*own.refused} == {"ring", "dag", BEHIND_A_SOURCE}
        assert all(each.runs == each.right == 2 for each in own.of_kind(SNAPSHOT)), name
        assert bool(own.of_kind(ONE_NODE)) is ALGORITHMS[name].one_node
        assert bool(own.no_recovery) is not ALGORITHMS[name].allows_recovery
        assert ("recovery_time" in own.usual) is ALGORITHMS[name].allows_recovery
    refused = {(name, shape) for name, own in table.rows.items() for shape in own.refused}
    assert {(name, shape) for name, shape in refused if name in SHIPPED.rows} == {("aligned_barriers", "ring")}


@pytest.mark.slow
def test_a_figure_is_the_median_of_the_cases_and_its_typical_run_has_it(table: Table) -> None:
    own = table.rows["chandy_lamport"]
    for delay in SMALL.marker_delays:
        cases = [each for each in own.of_kind(SNAPSHOT) if each.setting.marker_delay == delay]
        for column in ("recorded_messages", "delayed_most", "end_to_end"):
            medians = []
            for each in cases:
                values = []
                for seed in range(2):
                    execution = run(typical_scenario(SMALL, own.algorithm, Where(SNAPSHOT, each.setting, seed)))
                    (row,) = with_costs(execution, measure(execution))
                    values.append(row[column])
                medians.append(median_low(values))
            figure = own.figures[delay][column]
            assert figure[:3] == pytest.approx((median_low(medians), min(medians), max(medians)), abs=1e-3)
            execution = run(typical_scenario(SMALL, own.algorithm, figure.typical))
            assert with_costs(execution, measure(execution))[0][column] == pytest.approx(figure.median, abs=1e-3)


@pytest.mark.slow
def test_every_cell_opens_a_run_of_its_algorithm(table: Table) -> None:
    for line in lines_of(table):
        for cell in line.cells:
            assert cell.typical is not None, (line.title, cell.column)
            assert typical_scenario(SMALL, line.algorithm, cell.typical).algorithm == line.algorithm
    with pytest.raises(InputError, match="no such run"):
        typical_scenario(SMALL, "lai_yang", Where(SNAPSHOT, Setting("ring", 5, "same", 8.0), 0))


def test_the_topology_opens_a_run_that_says_something() -> None:
    cells = {(line.algorithm, cell.column): cell for line in lines_of(SHIPPED) for cell in line.cells}
    ring, wrong = (cells[name, "topology"].typical for name in ("chandy_lamport", "uncoordinated"))
    assert ring is not None and ring.setting.topology == "ring", "no full mesh"
    assert wrong is not None and orphans(rows_of("uncoordinated", wrong.setting, wrong.seed))


@pytest.mark.slow
def test_a_table_is_read_back_as_it_was_written(table: Table) -> None:
    assert table_from_json(table.to_json()) == table
    with pytest.raises(InputError, match=r"was made by version 0\.0\.1"):
        table_from_json(replace(table, version="0.0.1").to_json())
    for wrong in ("", "[]", "{}", '{"asked": 3}', table.to_json().replace("no_recovery", "other")):
        with pytest.raises(InputError, match="no table of trade-offs"):
            table_from_json(wrong)


@pytest.mark.slow
def test_it_ends_early_and_progress_counts_runs() -> None:
    stop = threading.Event()
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        if done == 5:
            stop.set()

    assert measured_at_once(SMALL, progress, stop) is None
    assert seen[-1] == (5, run_count(SMALL, cases_of(SMALL)))


@pytest.mark.slow
def test_workers_make_the_same_table(workers_here: object, table: Table) -> None:
    asked = {"topology": "ring,dag", "processes": "4", "marker_delay": "same,uniform:1:30", "pace": "8", "runs": "2"}
    assert jobs.tradeoffs(on_spark=True, **asked).to_json() == table.to_json()


@pytest.mark.slow
def test_another_algorithm_is_a_row_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    class Other(ChandyLamport):
        name: ClassVar[str] = "other"  # type: ignore[misc]
        title = "Another one"

    monkeypatch.setitem(ALGORITHMS._found, "other", Other)
    found = measured_at_once(replace(SMALL, topologies=("dag",), marker_delays=("same",), runs=1))
    assert found is not None
    (line,) = [line for line in lines_of(found) if line.algorithm == "other"]
    assert line.title == "Another one" and line.method == ""
    assert all(cell.judged is None and not cell.claim and cell.measured for cell in line.cells)
    (line,) = [line for line in lines_of(SHIPPED) if line.algorithm == "other"]
    assert all("measure the table again" in cell.measured[0] for cell in line.cells)


def test_what_may_be_asked() -> None:
    assert Asked.read({}) == Asked()
    given = {"processes": "3,5", "topology": "ring", "delay": "2", "marker_delay": "1,same", "pace": "4", "runs": "7"}
    assert Asked.read(given) == Asked(("ring",), (3, 5), "fixed:2", ("fixed:1", "same"), (4.0,), 7, 0)
    for given, sentence in (
        ({"processes": "2"}, "--processes: the table is measured on systems of 3 to 20"),
        ({"processes": "21"}, "--processes: the table is measured on systems of 3 to 20"),
        ({"runs": str(MOST_RUNS)}, "--runs: this comes to"),
        ({"delay": "1,2"}, "--delay: expected one value, not 2"),
        ({"marker_delay": "fixed:1000"}, "--pace: a process would make about"),
        ({"pace": "0"}, "--pace: expected numbers of at least 0.1"),
        ({"topology": "moebius"}, "--topology: 'moebius' is unknown"),
        ({"algorithm": "mattern"}, "algorithm: is no option of the table"),
    ):
        with pytest.raises(InputError, match=sentence):
            Asked.read(given)


@pytest.mark.slow
def test_the_number_of_runs_is_not_more_than_announced() -> None:
    for asked in (SMALL, Asked()):
        announced = asked.runs_of_each * len(list(ALGORITHMS)) + 2 * asked.runs  # and those of one process alone
        assert run_count(asked, cases_of(asked)) <= announced <= 2 * run_count(asked, cases_of(asked))


@pytest.mark.slow
def test_the_inputs_in_words_and_the_table_in_rows(table: Table) -> None:
    assert asked_in_words(SMALL).startswith(
        "Banks of 4 processes on each of these topologies: ring, dag, ring behind a source. A process sends every 8 "
        "time units, until the snapshot is complete. Messages and control messages take 1 to 9 time units, markers as "
        "long as messages or 1 to 30. Each combination has 2 runs, with seeds from 0."
    )
    text = as_text_table(table)
    assert len(text.rows) == 5 * len(list(ALGORITHMS))
    assert all(len(row) == len(text.header) for row in text.rows)
    assert all(bool(row[5]) is (row[4] == "depends") for row in text.rows), "what depends says on what"


@pytest.mark.slow
def test_what_a_recovery_costs_is_not_mixed_with_what_a_snapshot_costs(table: Table) -> None:
    for own in table.rows.values():
        for each in own.outcomes:
            is_measured = any(each.median(column) is not None for column in COSTS)
            assert is_measured is (each.kind != RECOVERY)
