"""Copy-on-write: which pages are copied, counted again from the event table, and the law of their mean."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.algorithms.copy_on_write import CopyOnWrite
from sim.core.algorithm import Graph
from sim.core.delays import DelayRule
from sim.core.effects import Out
from sim.core.errors import InputError
from sim.core.model import APPLICATION_KINDS, CONTROL_SEND, MARKER_SEND, NOTED, RECORD, TIMER, LocalSnapshot, Process
from sim.document.scenario import Scenario, ScriptLine
from sim.explain.narration import sentences
from sim.run.execution import Execution, run
from tests.cases import each
from tests.sim.tools import failing, rows_of, send, start, system
from tests.tools import examples

NAME = CopyOnWrite.name
Key = tuple[str, str | None]


def store(script: tuple[ScriptLine, ...] = (), saving: float = 10.0, **fields: Any) -> Scenario:
    fields = {"parameters": {"keys": 5}, "snapshots": (start("P1", 5),), **fields}
    given = {"algorithm": NAME, "algorithm_parameters": {"saving": saving}, "workload": "key_store", "script": script}
    return system(fields.pop("processes", "P1"), **given, **fields)


def write(at: float, key: str, value: int, process: str = "P1") -> ScriptLine:
    return ScriptLine(process, at, body={"key": key, "value": value})


def noted(execution: Execution) -> dict[Key, dict[str, int]]:
    """What each process noted for each snapshot."""
    return {(row.process, row.snapshot_id): execution.body_of(row) for row in rows_of(execution, NOTED)}


def counted_again(execution: Execution) -> dict[Key, dict[str, int]]:
    """The same, from the event table alone: bodies of writes between a recording and the timer of its snapshot."""
    open_: dict[Key, tuple[dict[str, int], set[str]]] = {}
    found: dict[Key, dict[str, int]] = {}
    for row in execution.events:
        body = json.loads(row.body) if row.body else None
        if row.kind == RECORD:
            open_[row.process, row.snapshot_id] = body, set()
        elif row.kind in APPLICATION_KINDS and body:
            for (process, _), (recorded, copied) in open_.items():
                if process == row.process and recorded[body["key"]] != body["value"]:
                    copied.add(body["key"])
        elif row.kind == TIMER:
            recorded, copied = open_.pop((row.process, row.snapshot_id))
            found[row.process, row.snapshot_id] = {"copied": len(copied), "of": len(recorded)}
    return found


def test_a_page_is_copied_at_its_first_write_while_the_copy_is_saved() -> None:
    """k1 before the fork, k2 twice, k3 there and back, k4 with the value that it has, k5 after the end."""
    script = (
        write(1, "k1", 1), write(6, "k2", 2), write(7, "k2", 3), write(8, "k3", 1), write(9, "k3", 0),
        write(10, "k4", 0), write(16, "k5", 1),
    )  # fmt: skip
    execution = run(store(script))
    assert noted(execution) == counted_again(execution) == {("P1", "S1"): {"copied": 2, "of": 5}}
    assert failing(execution) == {} and rows_of(execution, MARKER_SEND, CONTROL_SEND) == []
    told = sentences(execution)
    assert told[2] == (
        "P1 begins to save: it forks a copy of its state <5 keys, 1 written>, which shares all pages with it. "
        "Every process has made a copy."
    )
    assert told[8] == "The copy of P1 is saved. Meanwhile P1 copied 2 of 5 pages."


def test_each_snapshot_counts_its_own_pages() -> None:
    script = (write(6, "k1", 1), write(12, "k1", 2), write(13, "k2", 1), write(16, "k3", 1))
    execution = run(store(script, snapshots=(start("P1", 5), start("P1", 11, "S2"))))
    assert noted(execution) == {("P1", "S1"): {"copied": 2, "of": 5}, ("P1", "S2"): {"copied": 3, "of": 5}}
    assert "Every process has made a copy for S2." in sentences(execution)[3]


def test_a_state_that_is_no_mapping_is_one_page() -> None:
    execution = run(
        system("P1 P2", workload="bank", algorithm=NAME, script=(send("P1", "P2", 6, 20),),
               snapshots=(start("P1", 5), start("P2", 5)), delay=DelayRule("fixed", 30.0))
    )  # fmt: skip
    assert noted(execution) == {("P1", "S1"): {"copied": 1, "of": 1}, ("P2", "S1"): {"copied": 0, "of": 1}}
    assert "The copy of P2 is saved. Meanwhile P2 copied 0 of 1 page." in sentences(execution)


def test_a_page_that_is_gone_was_written_and_a_new_one_is_not_shared() -> None:
    process, algorithm = Process("P1", 0, {"a": 1, "b": 2}), CopyOnWrite(Graph(("P1",), ()))
    process.snapshots = {"S1": LocalSnapshot(process.state, 0, {}, frozenset(), True)}
    process.memory = {"S1": frozenset()}
    process.state = {"b": 2, "c": 3}
    algorithm.on_acted(process, Out())
    assert process.memory == {"S1": {"a"}}


def test_saved_at_once_nothing_is_copied() -> None:
    execution = run(store((write(5, "k1", 1), write(6, "k1", 2)), saving=0.0))
    assert noted(execution)["P1", "S1"]["copied"] == 0


def test_every_process_saves_its_own_copy_when_it_is_asked() -> None:
    with pytest.raises(InputError, match="Copy-on-write needs every process to initiate S1; add one at P2"):
        store(processes="P1 P2")
    shared = send("P1", "P2", 6, {"key": "k1", "value": 1})
    execution = run(store((shared,), processes="P1 P2", snapshots=(start("P1", 5), start("P2", 20))))
    assert noted(execution)["P1", "S1"]["copied"] == 1 and noted(execution)["P2", "S1"]["copied"] == 0


@examples(40)
@given(
    processes=st.sampled_from(["P1", "P1 P2 P3"]), keys=st.integers(1, 12), writes=st.integers(0, 20),
    shared=st.sampled_from([0.0, 0.5]), saving=st.sampled_from([0.0, 3.0, 30.0]), seed=st.integers(0, 999),
)  # fmt: skip
def test_what_is_noted_is_what_the_event_table_says(
    processes: str, keys: int, writes: int, shared: float, saving: float, seed: int
) -> None:
    parameters = {"keys": keys, "writes": writes, "pace": 2.0, "shared": shared}
    snapshots = tuple(start(name, at, own) for name in processes.split() for own, at in (("S1", 5.0), ("S2", 15.0)))
    execution = run(
        store(processes=processes, parameters=parameters, saving=saving, seed=seed, snapshots=snapshots,
              delay=DelayRule("uniform", low=1, high=9))
    )  # fmt: skip
    assert noted(execution) == counted_again(execution)
    assert len(noted(execution)) == len(snapshots) and failing(execution) == {}


# ------------------------------------------------------------------ the law

PAGES, SEEDS = 50, 200


def mean(pages: int, writes: int) -> float:
    """The law: each page escapes all writes with the probability (1 - 1/n)^w."""
    return pages * (1 - (1 - 1 / pages) ** writes)


def variance(pages: int, writes: int) -> float:
    """Of the number of pages written, which is that of the pages not written: two escape with (1 - 2/n)^w."""
    one, two = (1 - 1 / pages) ** writes, (1 - 2 / pages) ** writes
    return pages * one + pages * (pages - 1) * two - (pages * one) ** 2


def saved(seed: int) -> tuple[int, int]:
    """The pages copied in a run, and the writes while the copy was saved."""
    parameters = {"keys": PAGES, "writes": 80, "pace": 1.0}
    execution = run(store(parameters=parameters, saving=40.0, seed=seed, snapshots=(start("P1", 20),)))
    (timer,) = rows_of(execution, TIMER)
    (record,) = rows_of(execution, RECORD)
    writes = [row for row in rows_of(execution, *APPLICATION_KINDS) if record.row < row.row < timer.row]
    assert noted(execution) == counted_again(execution)
    return noted(execution)["P1", "S1"]["copied"], len(writes)


@pytest.mark.slow
def test_the_mean_number_of_pages_copied_is_that_of_the_law() -> None:
    """Runs are independent, so the sum of their deviations has the sum of their variances; it is within 4 sigmas.

    Of the writes themselves, each of which would copy a page if pages were not shared once only, it is far off.
    """
    found = [saved(seed) for seed in range(SEEDS)]
    sigma = math.sqrt(sum(variance(PAGES, writes) for _, writes in found))
    assert abs(sum(copied - mean(PAGES, writes) for copied, writes in found)) < 4 * sigma
    assert 4 * sigma < 0.025 * sum(copied for copied, _ in found), "the bound is narrow"
    assert sum(writes - copied for copied, writes in found) > 40 * sigma


@each("pages, writes", [(1, 3), (2, 2), (3, 4), (4, 3)])
def test_mean_and_variance_are_those_of_all_sequences_of_writes(pages: int, writes: int) -> None:
    """Counted out: every sequence of writes is equally likely."""
    counts = [len({number // pages**place % pages for place in range(writes)}) for number in range(pages**writes)]
    average = sum(counts) / len(counts)
    assert average == pytest.approx(mean(pages, writes))
    assert sum((count - average) ** 2 for count in counts) / len(counts) == pytest.approx(variance(pages, writes))
