"""The lattice of a run: what is drawn of it, where, and what is said; figures of the lecture and of Coulouris."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagrams.panels.lattice import panel as lattice_module
from diagrams.panels.lattice.document import lattice_payload, whole_lattice
from diagrams.panels.lattice.figure import figure, strokes
from diagrams.panels.lattice.layout import apart, places
from diagrams.panels.lattice.panel import Lattice, ask
from diagrams.panels.lattice.words import cut_in_words, snapshots, summary
from diagrams.scene.composition import compose
from sim.document import library
from sim.document.scenario import Scenario
from sim.edit.edits import apply_edit
from sim.run.execution import run
from sim.theory.lattice import successors
from tests.diagrams.tools import scene
from tests.sim.strategies import scenarios
from tests.tools import examples


def of(name: str, step: int = 0, predicate: str = "") -> Lattice:
    return Lattice(scene(name), step, predicate)


def states(lattice: Lattice, snapshot: str = "S1") -> dict[str, tuple[int, ...]]:
    return {mark.role: mark.cut for mark in lattice.marks if mark.snapshot == snapshot}


# ------------------------------------------------------------------ what there is


def test_the_lecture_has_31_of_96_cuts_and_130_orders() -> None:
    lattice = of("lecture")
    assert (*lattice.counts, lattice.orders) == (96, 31, True, 130)
    assert len(lattice.cuts) == lattice.graph.number_of_nodes() == 31
    assert summary(lattice)[0] == "31 of 96 cuts are consistent."
    assert "there are 130" in summary(lattice)[1]


def test_the_lattice_of_coulouris_has_eleven_states_and_four_orders() -> None:
    lattice = of("lattice")
    assert ["".join(map(str, cut)) for cut in sorted(lattice.cuts, key=lambda cut: (sum(cut), -cut[0]))] == [
        "00", "10", "20", "30", "21", "31", "22", "32", "23", "33", "43",
    ]  # fmt: skip
    assert lattice.orders == 4


def test_the_recorded_state_of_the_lecture_lies_off_the_path_between_s0_and_s1() -> None:
    lattice = of("lecture")
    assert states(lattice) == {"begins": (2, 1, 1), "recorded": (2, 3, 1), "ends": (5, 3, 2)}
    assert (2, 3, 1) not in [cut for _, cut in lattice.own]
    assert snapshots(lattice) == [
        "S1 recorded 2.3.1. The run was never in this state, but it could have been. 2 events lead to it from the "
        "state in which the snapshot began. 4 events lead from it to the state in which the snapshot ended: Dijkstra's "
        "S0, SSS and S1."
    ]


def test_a_state_that_the_run_went_through_is_on_its_path() -> None:
    assert snapshots(of("single_token"))[0].endswith("The run went through this state.")


def test_the_state_that_never_occurred_could_have_been() -> None:
    lattice = of("never_occurred")
    assert len(lattice.cuts) == 5 and states(lattice)["recorded"] not in dict(lattice.own).values()
    assert "The run was never in this state, but it could have been." in snapshots(lattice)[0]


def marker(channel: str) -> dict[str, Any]:
    return {"channel": channel, "kind": "marker", "snapshot": "S1", "ordinal": 1, "label": None}


def edited(*edits: dict[str, Any]) -> Lattice:
    """The lattice of the lecture after some edits."""
    execution = scene("lecture").execution
    for edit in edits:
        execution = apply_edit(execution, edit, 0.0)
    return Lattice(compose(execution), 0)


def test_a_cut_that_markers_overtaken_by_k_have_spoiled_is_not_in_the_lattice() -> None:
    lattice = edited(
        {"do": "fifo", "channel": "P1->P3", "fifo": False},
        {"do": "delay", "message": marker("P1->P3"), "delay": 600},
        {"do": "delay", "message": marker("P2->P3"), "delay": 400},
    )
    assert states(lattice)["recorded"] == (2, 3, 3) not in lattice.cuts
    assert snapshots(lattice) == ["S1 recorded 2.3.3. This cut is not consistent, so the lattice does not hold it."]


def test_losses_and_copies_on_their_way_are_signs_after_the_numbers_of_a_cut() -> None:
    lattice = of("lost_and_copied")
    assert {"1.1", "1.1+", "1.1×", "1.1+×"} <= {lattice.written(cut) for cut in lattice.cuts}
    assert snapshots(lattice)[0].startswith("S1 recorded 1.2+×. ")
    assert "is one event more, a message lost (×) or a message copied (+)." in summary(lattice)[1]


def test_what_happens_to_a_process_is_a_sign_after_its_number() -> None:
    """P2 crashes, what comes to it is lost, and it starts again; then it goes on."""
    lattice = of("crash")
    written = [lattice.written(cut) for cut in lattice.cuts]
    assert {"2.0.1", "2.0†.1", "2.0†×.1", "2.0†×↑.1", "2.1.1"} <= {*written} and len({*written}) == len(written)
    told = {lattice.written(cut): cut_in_words(lattice, cut) for cut in lattice.cuts}
    assert told["2.0†.1"] == "P1 up to B, P2 nothing, P3 up to A', the crash of P2"
    assert "one event more, a crash (†), a restart (↑) or a message lost (×)." in summary(lattice)[1]


def test_a_snapshot_that_is_not_done_says_so() -> None:
    lattice = edited(*({"do": "hold", "message": marker(channel)} for channel in ("P1->P2", "P3->P2")))
    assert list(states(lattice)) == ["begins"]
    assert snapshots(lattice) == ["S1 has no state in the lattice: not every process has recorded."]


@pytest.mark.slow
@examples(20)
@given(scenarios(), st.integers(0, 30))
def test_of_any_run_all_that_is_drawn_is_consistent_and_every_line_is_one_event(scenario: Scenario, step: int) -> None:
    lattice = Lattice(compose(run(scenario)), step)
    for cut in lattice.cuts:
        frontier = dict(zip(lattice.order.processes, lattice.order.inside(cut), strict=True))
        assert lattice.order.is_consistent(cut) and not lattice.execution.history.violations(frontier)
    assert all(sum(high) == sum(low) + 1 for low, high in lattice.graph.edges)
    assert lattice.own[0][1] == (0,) * len(lattice.order.lines)
    assert all(high in successors(lattice.order, low) for (_, low), (_, high) in pairwise(lattice.own))
    json.dumps(lattice_payload(compose(run(scenario)), step, ""), allow_nan=False)


# ------------------------------------------------------------------ parts of a large one


@pytest.mark.slow
def test_of_a_lattice_that_is_too_large_the_part_around_the_snapshot_is_drawn() -> None:
    lattice = of("hundred")
    recorded = states(lattice)["recorded"]
    assert not lattice.counts.is_all and lattice.orders is None
    assert recorded in lattice.cuts and 1 < len(lattice.cuts) <= lattice_module.MOST_AROUND
    assert summary(lattice)[0] == "There are about 10⁸³ cuts, too many to count the consistent ones."
    assert "nearest to the state that S1 recorded" in summary(lattice)[1]
    assert whole_lattice(scene("hundred"), 0, "") is None


def test_from_s0_to_s1_if_that_is_small_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice_module, "MOST_DRAWN", 20)
    lattice = Lattice(compose(run(library.load("lecture"))), 0)
    assert (lattice.part, lattice.cuts[0], lattice.cuts[-1]) == ("snapshot", (2, 1, 1), (5, 3, 2))
    assert summary(lattice)[0] == "31 of 96 cuts are consistent: too many to draw."
    assert "from the state in which S1 began to the one in which it ended" in summary(lattice)[1]


def test_around_the_state_at_the_step_where_there_is_no_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice_module, "MOST_DRAWN", 2)
    monkeypatch.setattr(lattice_module, "MOST_AROUND", 6)
    lattice = Lattice(compose(run(replace(library.load("lattice"), snapshots=(), expect={}))), 5)
    assert (lattice.part, lattice.marks) == ("step", [])
    assert lattice.state_at(5) in lattice.cuts and 1 < len(lattice.cuts) <= 6
    assert "nearest to the state of the run after step 5" in summary(lattice)[1]


def test_around_the_first_snapshot_that_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice_module, "MOST_DRAWN", 20)
    lecture = library.load("lecture")
    later = replace(lecture.snapshots[0], snapshot="S2", at=5000.0)
    execution = run(replace(lecture, snapshots=(*lecture.snapshots, later), expect={}))
    for edit in ({"do": "fifo", "channel": "P1->P2", "fifo": False}, {"do": "hold", "message": marker("P1->P2")}):
        execution = apply_edit(execution, edit, 0.0)
    lattice = Lattice(compose(execution), 0)
    assert [snapshot.completed is None for snapshot in lattice.scene.snapshots] == [True, False]
    assert (lattice.part, lattice.around) == ("snapshot", "S2")


@pytest.mark.parametrize("text", ["P1.events == 0 or P1.last + 1 > 2", "P1.events < 3 or P1.last + 1 > 2"])
def test_a_predicate_that_fails_at_a_cut_that_decides_nothing_is_a_sentence(text: str) -> None:
    """It holds at the empty cut, so nothing else is asked to know that it possibly and definitely holds."""
    told = lattice_payload(scene("lecture"), 0, text)
    assert told["predicate"]["problem"] and len(told["cuts"]) == 31


def test_a_page_asks_nothing_of_a_lattice_that_it_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diagrams.panels.lattice.document.Lattice", None)
    assert whole_lattice(scene("hundred"), 0, "P1.events > 1") is None


# ------------------------------------------------------------------ predicates


def test_a_predicate_that_holds_possibly_but_not_definitely() -> None:
    lattice = of("lecture", predicate="P1.events == 3 and P2.events == 1")
    told = lattice_payload(scene("lecture"), 0, "P1.events == 3 and P2.events == 1")["predicate"]
    assert told["possibly"] == {
        "holds": True, "told": "It holds at 3 of the 31 consistent cuts (squares).", "cut": (3, 1, 0),
    }  # fmt: skip
    assert not told["definitely"]["holds"]
    way = told["definitely"]["avoiding"]
    assert (way[0], way[-1], len(way)) == ((0, 0, 0), (5, 3, 3), 12)
    assert lattice.answers and not any(lattice.answers.holds(cut) for cut in way)
    (dashed,) = [trace for trace in figure(lattice)["data"] if trace.get("line", {}).get("dash") == "dash"]
    assert dashed["x"].index(None) == 12, "all of the way is drawn"


def test_a_predicate_that_definitely_holds() -> None:
    told = lattice_payload(scene("lecture"), 0, "C21.messages == 1")["predicate"]
    assert told["definitely"] == {"holds": True, "told": "Every way up meets a cut at which it holds.", "avoiding": []}


def test_a_predicate_that_never_holds() -> None:
    told = lattice_payload(scene("lecture"), 0, "P1.events > 5")["predicate"]
    assert told["possibly"] == {"holds": False, "told": "It holds at no consistent cut.", "cut": None}


def test_a_wrong_predicate_is_a_sentence_and_the_lattice_is_drawn() -> None:
    told = lattice_payload(scene("lecture"), 0, "P9.events == 1")
    assert told["predicate"]["problem"].startswith("'P9' is no process and no channel of this run")
    assert len(told["cuts"]) == 31


def test_too_large_a_lattice_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    told = "this run has more than {} consistent cuts, too many to evaluate all of them here; use a shorter run"
    events = scene("hundred").whole_run.cut_space
    most = lattice_module.MOST_LOOKED_AT // (events.predicates.read("channels.messages > 99").work + 1)
    assert ask(events, "channels.messages > 99").problem == told.format(f"{most:,}")
    assert most < lattice_module.MOST_ASKED
    monkeypatch.setattr(lattice_module, "MOST_ASKED", 30)
    assert ask(scene("lecture").whole_run.cut_space, "P1.events > 5").problem == told.format("30")


def test_what_possibly_has_found_is_kept_where_definitely_is_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice_module, "MOST_ASKED", 8)
    asked = ask(scene("lecture").whole_run.cut_space, "P1.events == 0 and P3.events == 1")
    assert asked.possibly and asked.possibly.cut == (0, 0, 1)
    assert asked.definitely is None and asked.problem.startswith("this run has more than 8 consistent cuts")


# ------------------------------------------------------------------ where it is drawn


def test_the_lattice_of_two_processes_is_a_grid() -> None:
    at = places(of("lattice").cuts)
    ways = {(round(at[high][0] - at[low][0], 2), high[0] - low[0]) for low, high in of("lattice").graph.edges}
    assert len(ways) == 2, "edges of the same process are parallel"


@given(st.lists(st.floats(-50, 50), max_size=12).map(sorted))
def test_numbers_that_are_too_close_are_moved_apart_as_little_as_can_be(wished: list[float]) -> None:
    found = apart(wished)
    assert all(after - before >= 1 - 1e-9 for before, after in pairwise(found))
    if all(after - before >= 1 for before, after in pairwise(wished)):
        assert found == pytest.approx(wished)
    assert sum(found) == pytest.approx(sum(wished), abs=1e-6), "a block stays where its middle was"


@examples(15)
@given(scenarios())
def test_the_dots_of_any_run_are_apart_and_higher_with_each_event(scenario: Scenario) -> None:
    lattice = Lattice(compose(run(scenario)), 0)
    at = places(lattice.cuts)
    for level in {sum(cut) for cut in lattice.cuts}:
        across = sorted(x for cut, (x, _) in at.items() if sum(cut) == level)
        assert all(after - before > 0.99 for before, after in pairwise(across))
    assert all(at[high][1] == at[low][1] + 1 for low, high in lattice.graph.edges)
    drawn = [edge for way in strokes(lattice.graph) for edge in pairwise(way)]
    assert sorted(drawn) == sorted(lattice.graph.edges)


def test_the_ring_of_the_run_is_at_its_state_after_each_step() -> None:
    lattice = of("lecture")
    data = figure(lattice)["data"]
    (now,) = [trace for trace in data if trace.get("meta", {}).get("show")]
    at = places(lattice.cuts)
    for step in range(scene("lecture").last + 1):
        seen = [
            i
            for i, (first, until) in enumerate(now["meta"]["show"])
            if first <= step and (until is None or step < until)
        ]
        assert [(now["x"][i], now["y"][i]) for i in seen] == [at[lattice.state_at(step)]]


def test_every_dot_knows_its_cut() -> None:
    told = lattice_payload(scene("lecture"), 0, "")
    (dots,) = [trace for trace in told["figure"]["data"] if len(trace.get("meta", {}).get("nodes", ())) > 1]
    assert [told["cuts"][number] for number in dots["meta"]["nodes"]] == told["cuts"]
    assert dots["hovertext"][told["cuts"].index((2, 3, 1))] == "2.3.1: P1 up to B, P2 up to H, P3 up to I"
