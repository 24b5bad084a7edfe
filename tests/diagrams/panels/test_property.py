"""Stable properties and wait-for graphs as the browser gets them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from diagrams.panels.property.panel import MOST_STEPS, properties
from diagrams.panels.property.wait_for_graph import MOST_DRAWN, places, waiting
from diagrams.scene.arrangement import Arrangement
from diagrams.scene.composition import compose
from diagrams.still.caption import of_run
from sim.core.delays import DelayRule
from sim.core.detector import Finding
from sim.document import library
from sim.document.scenario import Initiation, Scenario
from sim.edit.edits import apply_edit
from sim.run.execution import run
from tests.cases import each
from tests.diagrams.tools import scene


def own(name: str) -> dict[str, Any]:
    (found,) = properties(scene(name))
    return found


def edges(graph: dict[str, Any]) -> dict[str, tuple[str, bool]]:
    """By who waits for whom: the kind of an edge, and whether it is in a circle; told by where the edge lies."""
    at = {(node["x"], node["y"]): node["name"] for node in graph["nodes"]}

    def nearest(x: float, y: float) -> str:
        return at[min(at, key=lambda place: (place[0] - x) ** 2 + (place[1] - y) ** 2)]

    return {
        f"{nearest(edge['x0'], edge['y0'])}->{nearest(edge['x1'], edge['y1'])}": (edge["kind"], edge["in_circle"])
        for edge in graph["edges"]
    }


def test_there_are_none_where_the_workload_has_none() -> None:
    assert properties(scene("lecture")) == []


@pytest.mark.slow
def test_a_long_run_is_not_followed_step_by_step_but_its_history_and_its_snapshots_are_told() -> None:
    scenario = Scenario(
        "long",
        ("P1", "P2"),
        snapshots=(Initiation("S1", "P1", 3),),
        workload="token",
        parameters={"rounds": MOST_STEPS},
        delay=DelayRule("fixed", 1),
    )
    drawn = compose(run(scenario))
    found = properties(drawn)[0]
    assert found["truths"] == [] and found["not_followed"].startswith("This run has more than 2,000 steps")
    told = {"text": "The token is not lost, in the whole run.", "since": drawn.last, "step": None}
    assert found["history"] == [told] and not found["answers"]["S1"]["whole"]["holds"]
    assert "By S1, the token is not lost" in of_run(drawn, drawn.last)
    assert own("token_gone")["not_followed"] == ""


def test_the_edge_that_closes_the_circle_is_known_from_a_channel_only() -> None:
    answer = own("deadlock")["answers"]["S2"]
    known, closing = ("known", True), ("channel", True)
    assert edges(answer["whole"]["graph"]) == {"P1->P2": known, "P2->P3": known, "P3->P1": closing}
    assert edges(answer["alone"]["graph"]) == {"P1->P2": ("known", False), "P2->P3": ("known", False)}
    assert answer["whole"]["notes"] == ["P3 waits for P1: its request is on its way."]
    assert (answer["whole"]["holds"], answer["alone"]["holds"]) == (True, False)


def test_the_circle_of_a_phantom_deadlock_is_broken_by_a_channel() -> None:
    found = own("phantom_deadlock")
    for seen in (found["answers"]["S1"], *found["glances"]):
        circle = {"T->U": ("known", True), "U->V": ("known", True), "V->T": ("known", True)}
        assert edges(seen["alone"]["graph"]) == circle
        rest = {"U->V": ("known", False), "V->T": ("known", False)}
        assert edges(seen["whole"]["graph"]) == {"T->U": ("gone", False), **rest}
        assert seen["whole"]["notes"] == ["T no longer waits for U: what U has released is on its way."]
    assert [glance["ended"] for glance in found["glances"]] == [8]


def test_the_same_process_lies_at_the_same_place_in_every_graph() -> None:
    found = own("phantom_deadlock")
    graphs = [truth["graph"] for _, truth in found["truths"]] + [found["answers"]["S1"]["alone"]["graph"]]
    at = {(node["name"], node["x"], node["y"]) for graph in graphs for node in graph["nodes"]}
    assert sorted(name for name, _, _ in at) == ["T", "U", "V"], "not the sites, who wait for nobody"


def test_what_is_true_is_told_from_the_step_on_at_which_it_becomes_so() -> None:
    found = own("token_gone")
    assert [step for step, truth in found["truths"] if truth["holds"]] == [17]
    assert found["history"] == [
        {"text": "The token is lost from step 17 on (time 138).", "since": 17, "step": 17},
        {"text": "S3 is the first to show it, at step 21: 36 time units later.", "since": 21, "step": 21},
    ]
    last = scene("phantom_deadlock").last
    whole = {"text": "No process is in a deadlock, in the whole run.", "since": last, "step": None}
    assert own("phantom_deadlock")["history"] == [whole]


def test_a_caption_says_what_a_snapshot_says_once_it_is_complete() -> None:
    told = "By S1, no process is in a deadlock: U waits for V, V waits for T: there is no circle."
    drawn = scene("phantom_deadlock")
    ended = own("phantom_deadlock")["answers"]["S1"]["ended"]
    assert told in of_run(drawn, ended) and "By S1" not in of_run(drawn, ended - 1)
    without_t = drawn.arranged(Arrangement(hidden=("T",)))
    for part in (without_t, drawn.window(9, drawn.last)):
        assert "By S1" not in of_run(part, ended), "what is not in the picture is not told"


def test_nothing_follows_from_a_snapshot_that_fails_a_check() -> None:
    """The initiator records no channel, so S1 misses the message that will make p1 active again."""
    edit = {"do": "break", "rule": "deaf_initiator"}
    broken = apply_edit(run(library.load("termination")), edit, 0.0)
    (found,) = properties(compose(broken))
    answer = found["answers"]["S1"]
    assert answer["whole"]["holds"] and not answer["proves"], "a false alarm"
    assert answer["theorem"] == "S1 is not right, so nothing follows from what it says."


def test_of_many_processes_there_is_no_picture() -> None:
    names = [f"P{number}" for number in range(MOST_DRAWN + 2)]
    chain = Finding(False, "", tuple(pairwise(names)))
    assert places([chain], names) == {} and waiting(chain, chain, {}) is None


def test_two_who_wait_for_each_other_have_two_arrows_side_by_side() -> None:
    both = Finding(True, "", (("P1", "P2"), ("P2", "P1")), ("P1", "P2"))
    graph = waiting(both, both, places([both], ["P1", "P2"]))
    assert graph is not None and [edge["in_circle"] for edge in graph["edges"]] == [True, True]
    (one, other) = graph["edges"]
    assert one["x0"] == one["x1"] == -other["x0"] != 0


@each("name", ["termination", "deadlock", "phantom_deadlock", "token_gone"])
def test_every_snapshot_that_is_complete_has_an_answer(name: str) -> None:
    found = scene(name)
    assert list(own(name)["answers"]) == [snapshot.id for snapshot in found.snapshots]
