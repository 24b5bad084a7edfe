"""Dijkstra's page: the row of white and red actions, what is drawn of it, and what the browser makes of both."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given

from diagrams.browser.payload import payload
from diagrams.browser.scripts import EXPLORE
from diagrams.export import exporter
from diagrams.panels.proof import panel as proof_module
from diagrams.panels.proof.figure import figure
from diagrams.panels.proof.panel import STRAIGHT, Proof, proof_of
from diagrams.panels.proof.picture import read_swaps, row_after
from diagrams.scene.composition import compose
from diagrams.scene.view import View
from sim.core.errors import InputError
from sim.document import library
from sim.document.files import parse_toml
from sim.document.scenario import ORIENTATIONS, Scenario
from sim.edit.edits import apply_edit
from sim.explain.actions import why_first
from sim.explain.words import capital
from sim.run.execution import Execution, run
from sim.run.rearranged import ColouredRun
from sim.run.snapshots import snapshots_of
from sim.theory.interchange import ColouredAction, forbids, inversions, rearranged
from sim.theory.positions import ACTS
from tests.cases import each
from tests.diagrams.tools import exported, scene
from tests.javascript import IN_BOTH
from tests.sim.strategies import scenarios
from tests.tools import drawn

ROW = EXPLORE / "proof" / "row.js"


def broken() -> Execution:
    """The state that never occurred, where M overtakes the marker: it is red, and accepted in a white action."""
    execution = run(library.load("never_occurred"))
    for edit in (
        {"do": "fifo", "channel": "p->q", "fifo": False},
        {"do": "delay", "message": {"label": "e0"}, "delay": 20},
    ):
        execution = apply_edit(execution, edit, 0.0)
    return execution


# Red are b and the loss of 40, which follows it; the crash and the losses of others come later, and are white.
FAULTS = """
processes = ["P1", "P2", "P3"]
breaks = ["fifo"]
topology = { kind = "complete" }
network = { layer = "raw" }
workload = { kind = "bank", balance = { P1 = 500, P2 = 300, P3 = 200 } }
delay = { kind = "fixed", value = 3 }
marker_delay = { kind = "fixed", value = 9 }
snapshots = [{ id = "S1", process = "P1", at = 4.5 }]
script = [
    { process = "P1", at = 1, to = "P2", body = 30, label = "a" },
    { process = "P1", at = 5, to = "P2", body = 40, label = "b" },
    { process = "P2", at = 7, to = "P1", body = 20, label = "c" },
    { process = "P3", at = 12.5, to = "P2", body = 5, label = "d" },
]
faults = [
    { kind = "copy", message = "a" }, { kind = "lose", message = "b", at = 6 },
    { kind = "lose", message = "c", at = 8.5 },
    { kind = "crash", process = "P3", at = 9 }, { kind = "restart", process = "P3", at = 11 },
]
"""


def with_faults() -> Execution:
    return run(parse_toml(FAULTS, "faults"))


def named(proof: Proof, row: Sequence[ColouredAction]) -> str:
    return "".join(proof.told(action).label for action in row)


def labels(proof: Proof, swaps: int | str = 0) -> tuple[str, str]:
    """The names of white and of red actions, each in the order of the row."""
    row = row_after(proof, swaps)
    names = [named(proof, [action for action in row if action.is_red == is_red]) for is_red in (False, True)]
    return names[0], names[1]


def texts(plot: dict[str, Any]) -> set[str]:
    """All that is written in a figure."""
    return {text for trace in plot["data"] if trace.get("mode") == "text" for text in trace["text"]}


# --------------------------------------------------------------------------- the lecture's example


def test_the_lecture_has_one_inversion_and_ends_with_all_white_actions_before_all_red_ones():
    proof = proof_of(run(library.load("lecture")))
    assert named(proof, proof.actions) == "ABIFGCHJDEK"
    assert labels(proof) == ("ABIFGH", "CJDEK")
    assert (proof.inversions, len(proof.swaps), proof.forbidden) == (1, 1, [])
    assert named(proof, row_after(proof, 1)) == "ABIFGHCJDEK"


def test_the_engine_meets_what_the_lecture_recorded_process_by_process_and_channel_by_channel():
    compared = proof_of(run(library.load("lecture"))).compared()
    assert [(own["name"], own["recorded"], own["found"]) for own in compared] == [
        ("P1", "{A, B}", "{A, B}"), ("P2", "{F, G, H}", "{F, G, H}"), ("P3", "{I}", "{I}"),
        ("C12", "<empty>", "<empty>"), ("C13", "<empty>", "<empty>"), ("C21", "<H->D>", "<H->D>"),
        ("C23", "<empty>", "<empty>"), ("C31", "<empty>", "<empty>"), ("C32", "<empty>", "<empty>"),
    ]  # fmt: skip
    assert all(own["equal"] for own in compared)


def test_straightened_all_processes_turn_red_between_the_last_white_action_and_the_first_red_one():
    proof = proof_of(run(library.load("lecture")))
    assert proof.places().turns == [4.5, 8.5, 4.5]  # as the run happened
    assert proof.places(1).turns == [4.5, 8.5, 4.5]  # nobody has to record at another moment yet
    straight = proof.places(STRAIGHT)
    assert straight.turns == [6.5, 6.5, 6.5]
    by_colour = {is_red: [at for at, own in zip(straight.actions, proof.actions, strict=True) if own.is_red == is_red]
                 for is_red in (False, True)}  # fmt: skip
    assert max(by_colour[False]) < 6.5 < min(by_colour[True])


def test_the_picture_names_the_states_before_the_snapshot_of_it_and_after_it():
    proof = proof_of(run(library.load("lecture")))
    assert (proof.begin, proof.whites + 0.5, proof.end) == (4.5, 6.5, 10.5)
    for orientation in ORIENTATIONS:
        assert {"<b>S0</b>", "<b>SSS</b>", "<b>S1</b>"} <= texts(figure(scene("lecture"), proof, orientation))


def test_faults_are_actions_with_a_sign_and_a_sentence():
    proof = proof_of(with_faults())
    row = " ".join(proof.told(action).label for action in proof.actions)
    assert row == "a +30 P2.1 b ×40 c P2.3 ×20 P3† P3↑ d P2.4"
    assert named(proof, [action for action in proof.actions if action.is_red]) == "b×40P2.4"
    assert (proof.inversions, len(proof.swaps), proof.forbidden) == (12, 12, [])
    assert all(own["equal"] for own in proof.compared())
    told = {proof.told(action).name: proof.told(action).sentence for action in proof.actions}
    assert told["the loss of 20"] == "20 on C21 is lost. P1 never receives it."
    whole = compose(proof.execution)
    page = payload(whole, proofs=["S1"])["proofs"]["S1"]
    loss, copied = page["actions"][4], page["actions"][6]
    assert (loss["lane"], loss["after"]) == (None, [[3, "b sends 40 before it can be lost"]])
    assert copied["after"] == [[1, "the network copies 30 before P2.3 accepts the copy of 30"]]
    assert {"\u00a0\u00a0P3†\u00a0\u00a0", "\u00a0\u00a0×20\u00a0\u00a0"} <= texts(page["figures"]["down"])
    picture = exporter("svg").export(whole, View.of(whole, drawing="proof", swaps="straight")).decode()
    assert "×40" in picture and "P3†" in picture


def test_white_and_red_are_told_apart_without_colours():
    """Rings and squares, open heads and filled ones."""
    traces = figure(scene("lecture"), proof_of(run(library.load("lecture"))), "down")["data"]
    symbols = {trace["marker"]["symbol"]: len(trace["x"]) for trace in traces if trace.get("mode") == "markers"}
    assert (symbols["circle"], symbols["square"]) == (6, 5)
    heads = [trace["marker"]["color"] for trace in traces if trace.get("mode") == "lines+markers"]
    assert heads == ["@paper", "@red"]


# --------------------------------------------------------------------------- any run


@pytest.mark.slow
@given(scenarios(schedulers=("timed", "tick", "random")))
def test_the_swaps_keep_the_order_of_every_process_and_end_at_the_recorded_state(scenario: Scenario) -> None:
    execution = run(scenario)
    whole = [own for own in snapshots_of(execution) if len(own.local) == len(scenario.processes)]
    assume(whole)
    proof = Proof(ColouredRun(execution, whole[0]))
    assert proof.forbidden == [] and len(proof.swaps) == proof.inversions
    for swaps in {0, len(proof.swaps) // 2, len(proof.swaps)}:
        row = row_after(proof, swaps)
        assert inversions(row) == proof.inversions - swaps
        at = proof.places(swaps)
        for name, turn in zip(scenario.processes, at.turns, strict=True):
            assert [own for own in row if own.process == name] == [own for own in proof.actions if own.process == name]
            own = [(place, action.is_red) for place, action in zip(at.actions, proof.actions, strict=True)
                   if action.process == name]  # fmt: skip
            assert all((place > turn) == is_red for place, is_red in own)
    assert all(own["equal"] is not False for own in proof.compared())
    assert json.dumps(payload(compose(execution), proofs=[whole[0].id])["proofs"])


def pages(count: int) -> list[tuple[Proof, dict[str, Any], list[dict[str, Any]]]]:
    """Runs with their page, and their figures after some interchanges."""
    found = []
    runs = [run(scenario) for scenario in drawn(scenarios(), count)]
    for execution in [run(library.load("lecture")), run(library.load("star")), broken(), with_faults(), *runs]:
        whole = compose(execution)
        try:
            proof = proof_of(execution)
        except InputError:
            continue
        numbers = {0, 1, len(proof.swaps) // 2, len(proof.swaps)}
        asked = [*sorted(swaps for swaps in numbers if swaps <= len(proof.swaps)), STRAIGHT]
        own = [{"swaps": swaps, "figure": figure(whole, proof, "right", swaps)} for swaps in asked]
        page = payload(whole, ("right",), [proof.snapshot.id])["proofs"][proof.snapshot.id]
        found.append((proof, page, own))
    return found


@pytest.mark.slow
def test_the_browser_moves_the_diagram_to_where_python_draws_it(run_module):
    """Places, turns to red, and the coordinates of every point of the figure, after any number of interchanges."""
    made = pages(40)
    asked = [(page, [one["swaps"] for one in own]) for _, page, own in made]
    answers = run_module(
        """(module, pages) => pages.map(([page, all]) => all.map((swaps) => {
            const isStraight = swaps === module.STRAIGHT;
            const order = module.interchanged(page, module.asItHappened(page), isStraight ? Infinity : swaps);
            const places = module.placesOf(page, order, isStraight && !page.forbidden.length);
            const data = page.figures.right.data;
            const xs = data.map(({ x, meta }) => module.movedCoordinates(x, meta, page, places));
            return { places, xs, left: module.inversions(page, order), next: module.firstChange(page, order) };
        }))""",
        [ROW], asked,
    )  # fmt: skip
    assert len(made) > 10
    for (proof, _, own), moved in zip(made, answers, strict=True):
        for one, answer in zip(own, moved, strict=True):
            places = proof.places(one["swaps"])
            assert answer["places"]["actions"] == pytest.approx(places.actions)
            assert answer["places"]["turns"] == pytest.approx(places.turns)
            assert answer["left"] == inversions(row_after(proof, one["swaps"]))
            is_end = one["swaps"] in (STRAIGHT, len(proof.swaps))
            assert (answer["next"] == -1) == is_end
            for trace, x in zip(one["figure"]["data"], answer["xs"], strict=True):
                never_arrives = "places" in trace.get("meta", {}) and trace.get("line", {}).get("dash") == "dot"
                if trace["mode"] == "text" or never_arrives:
                    continue  # texts find other spots in another picture; stubs end at its edge
                assert [value for value in x if value is not None] == pytest.approx(
                    [value for value in trace["x"] if value is not None], abs=1e-3
                )


def why_not(proof: Proof, one: ColouredAction, other: ColouredAction) -> str | None:
    """Why two neighbours stay as they are, or how that sentence begins; None if they may be interchanged."""
    first, second = proof.told(one).name, proof.told(other).name
    first = first if one.kind == ACTS else capital(first)
    both = f"{first} and {second} are both "
    if one.process and one.process == other.process:
        return f"{both}of {one.process}: its own order stays."
    if forbids(one, other) is not None:
        return f"{STAY}{why_first(proof.execution, one, other)}."
    if one.is_red == other.is_red:
        return f"{both}{'red' if one.is_red else 'white'}: they are no inversion and stay as they are."
    return None if one.is_red else f"{first} is white and {second} is red: that is the order we want."


STAY = "They stay in this order: "
KINDS = ("its own order stays.", STAY, "no inversion and stay as they are.", "the order we want.")


@pytest.mark.slow
def test_it_is_said_why_two_neighbours_stay_as_they_are(run_module):
    made = pages(6)
    asked = []
    for proof, page, _ in made:
        asked.append((page, [*proof.execution.scenario.processes]))
    answers = run_module(
        """({ whyNot }, pages) => pages.map(([page, processes]) => {
            const order = page.actions.map((_, place) => place);
            return order.slice(1).map((_, place) => whyNot(page, { processes }, order, place));
        })""",
        [EXPLORE / "proof" / "words.js"], asked,
    )  # fmt: skip
    told: set[str] = set()
    for (proof, _, _), sentences in zip(made, answers, strict=True):
        for (one, other), sentence in zip(pairwise(proof.actions), sentences, strict=True):
            expected = why_not(proof, one, other)
            if expected is not None:
                assert sentence.startswith(expected)
                told |= {kind for kind in KINDS if kind in expected}
    assert told == set(KINDS)


def clicked(proof: Proof, draw: random.Random) -> list[ColouredAction]:
    """The row after a few interchanges that the user has clicked, in any order."""
    row = list(proof.actions)
    for _ in range(draw.randint(1, proof.inversions)):
        both = enumerate(pairwise(row))
        free = [at for at, (one, other) in both if one.is_red and not other.is_red and forbids(one, other) is None]
        if not free:
            break
        row = rearranged(row, [draw.choice(free)])
    return row


@IN_BOTH
def test_a_link_keeps_the_row_that_somebody_has_clicked(run_module):
    draw = random.Random(1975)
    execution = run(library.load("overlapping"))
    page = payload(compose(execution), ("right",), ["S2"])["proofs"]["S2"]
    proof = proof_of(execution, "S2")
    rows = [clicked(proof, draw) for _ in range(20)]
    orders = [[proof.actions.index(action) for action in row] for row in rows]
    answers = run_module(
        """(module, page, orders) => orders.map((order) => {
            const text = module.written(page, order);
            return [text, module.read(page, text), module.read(page, `${text}-99`), module.read(page, "at-0")];
        })""",
        [ROW], page, orders,
    )  # fmt: skip
    for row, order, (text, again, *damaged) in zip(rows, orders, answers, strict=True):
        assert again == order
        assert row_after(proof, read_swaps(proof, text)) == row
        assert damaged == [list(range(len(order)))] * 2, "what does not fit is ignored"
    assert sum(text.startswith("at-") for text, *_ in answers) > 10


# --------------------------------------------------------------------------- where it fails


def test_a_red_message_in_a_white_action_forbids_every_order():
    proof = proof_of(broken())
    (found,) = proof.forbidden
    assert (proof.told(found.red).name, proof.told(found.white).name, found.red.process) == ("e0", "q.2", "p")
    assert (proof.inversions, len(proof.swaps)) == (2, 1)
    assert proof.places(STRAIGHT) == proof.places(1)  # it cannot be straightened
    page = payload(compose(proof.execution), proofs=["S1"])["proofs"]["S1"]
    assert page["compared"] == []
    assert "<b>SSS</b>" not in texts(page["figures"]["down"])  # that cut is no state


def test_a_snapshot_that_some_process_has_not_recorded_has_no_page():
    execution = run(library.load("lecture"))
    held = execution
    for channel in ("P1->P3", "P2->P3"):
        marker = {"channel": channel, "kind": "marker", "snapshot": "S1"}
        held = apply_edit(held, {"do": "hold", "message": marker}, 0.0)
    problem = payload(compose(held), proofs=["S1"])["proofs"]["S1"]["problem"]
    assert problem.startswith("S1: P3 has not recorded") and problem.endswith(".")
    with pytest.raises(InputError, match="there is none called 'S7'; did you mean 'S1'"):
        proof_of(execution, "S7")


def test_a_long_row_is_cropped_to_what_happens_around_the_snapshot(monkeypatch):
    whole = "ABIFGCHJDEK"
    monkeypatch.setattr(proof_module, "MOST_ACTIONS", 10)
    proof = proof_of(run(library.load("lecture")))
    assert named(proof, proof.actions) == whole[1:]  # from S0 to S1, with three before and after
    monkeypatch.setattr(proof_module, "MOST_ACTIONS", 9)
    proof = proof_of(run(library.load("lecture")))
    assert named(proof, proof.actions) == whole[2:10]  # C and H, with three before and after
    assert (proof.first, proof.total, proof.is_whole, proof.inversions) == (3, 11, False, 1)
    assert proof.places(STRAIGHT).turns == [6.5] * 3
    assert figure(scene("lecture"), proof, "right")["layout"]["xaxis"]["range"] == [2.3, 10.7]
    monkeypatch.setattr(proof_module, "MOST_ACTIONS", 7)
    with pytest.raises(InputError, match="there are 8, and a page holds 7"):
        proof_of(run(library.load("lecture")))


# --------------------------------------------------------------------------- exports


def test_the_page_is_exported_after_any_number_of_interchanges():
    before, after = (exported("lecture", "svg", drawing="proof", swaps=swaps).decode() for swaps in ("0", "straight"))
    assert "1 inversion left" in before and "S0" in before
    assert "Its state lies between them" in after
    assert exported("overlapping", "tikz", drawing="proof", snapshot="S2", swaps="15").startswith(b"% Two")
    assert exported("lecture", "pdf", drawing="proof").startswith(b"%PDF")


@each(
    ("swaps", "told"),
    [("2", "from 0 to 1 or straight"), ("-1", "'-1'"), ("twice", "'twice'"), ("at-1", "such as at-5-4")],
)
def test_impossible_interchanges_are_refused(swaps, told):
    with pytest.raises(InputError, match=told):
        exported("lecture", "svg", drawing="proof", swaps=swaps)


def test_a_page_of_its_own_holds_the_argument_for_every_snapshot():
    whole = payload(scene("overlapping"), proofs=[own.id for own in scene("overlapping").snapshots])
    assert {name: page["inversions"] for name, page in whole["proofs"].items()} == {"S1": 3, "S2": 15}
    assert all(set(page["figures"]) == set(ORIENTATIONS) for page in whole["proofs"].values())


# --------------------------------------------------------------------------- the guided walk


def test_the_walk_of_the_state_that_never_occurred_leads_from_the_run_to_the_straightened_one():
    scenario = library.load("never_occurred")
    execution = run(scenario)
    assert [stop.swaps for stop in scenario.walk] == [0] * 6 + [1, STRAIGHT]
    assert all(stop.step is not None and stop.step <= execution.steps for stop in scenario.walk)
    proof = proof_of(execution)
    assert (named(proof, row_after(proof, 1)), len(proof.swaps)) == ("e1e0e2", 1)
    assert payload(compose(execution), ())["walk"][6]["swaps"] == 1
    edited = apply_edit(execution, {"do": "internal", "process": "p", "at": 30}, 30.0)
    assert edited.scenario.walk == ()  # it tells of another run
