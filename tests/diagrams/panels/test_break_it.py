"""Rules broken on purpose: the page and every export say so, so that no reader takes them for the right algorithm."""

from __future__ import annotations

from urllib.parse import parse_qsl

import pytest

from diagrams.export import exporter
from diagrams.figure.spacetime import figure
from diagrams.panels.break_it.switches import broken
from diagrams.panels.legend import signs
from diagrams.panels.record.panel import record_of
from diagrams.scene.composition import Scene, compose
from diagrams.scene.view import View
from diagrams.still.caption import of_run
from sim.core.broken_rule import BROKEN_RULES
from sim.document import library
from sim.edit.edits import apply_edit
from sim.edit.link import read_query
from sim.exchange import cos418
from sim.run.execution import Execution, run
from tests.broken_rules import shown
from tests.cases import each


def opened(scenario: str, *rules: str) -> Execution:
    execution = run(library.load(scenario))
    for rule in rules:
        execution = apply_edit(execution, {"do": "break", "rule": rule}, 0.0)
    return execution


def harmful(rule: str) -> Scene:
    return compose(shown(BROKEN_RULES[rule])[1])


def drawn(scene: Scene, sign: str) -> list[list[object]]:
    """Where a figure has traces of this sign: at which steps they are seen."""
    return [trace["meta"]["show"] for trace in figure(scene, "right")["data"] if trace["meta"].get("sign") == sign]


def test_every_broken_rule_of_the_algorithm_has_a_switch_the_ten_of_the_page_first() -> None:
    switches = broken(compose(opened("two_banks")))["switches"]
    assert {own["name"] for own in switches} == set(BROKEN_RULES) and len(
        [own for own in switches if not own["is_more"]]
    ) == 10
    assert [own["is_more"] for own in switches] == sorted(own["is_more"] for own in switches)
    assert switches[0]["name"] == "fifo" and not any(own["is_on"] for own in switches)


def test_another_algorithm_has_no_switches_and_says_whose_they_are() -> None:
    told = broken(compose(opened("lai_yang")))
    assert told["switches"] == [] and told["of_others"] == ["Chandy-Lamport"]


def test_where_scripts_run_by_ticks_no_rule_is_offered_by_which_messages_overtake() -> None:
    case = cos418.read_case("2\nN1 1\nN2 0\nN1 N2\nN2 N1\n", "send N1 N2 1\nsnapshot N2\n", None, 0, "case")
    switches = broken(compose(run(case)))["switches"]
    assert switches and not {"fifo", "out_of_band"} & {own["name"] for own in switches}
    for own in switches:
        apply_edit(run(case), {"do": "break", "rule": own["name"]}, 0.0)  # what is offered is not refused


def test_the_harm_the_goods_and_the_message_that_forbids_the_swaps() -> None:
    told = broken(harmful("slips_in"))
    assert [own["check"] for own in told["harm"]] == ["Not a consistent cut", "Not conserved"]
    assert [own["told"] for own in told["refused"]] == ["the message that S1 sends to S2 at step 3"]
    assert told["recorded"] == [
        {"snapshot": "audit", "goods": [{"unit": "money", "total": 800, "inProcesses": 770, "inChannels": 80}]}
    ]


def test_a_broken_rule_that_does_no_harm_here_opens_where_it_does() -> None:
    (rule,) = broken(compose(opened("lecture", "slips_in")))["rules"]
    shared = read_query(dict(parse_qsl(rule["elsewhere"]["link"])))
    assert (shared.scenario, shared.edits) == ("two_banks", (({"do": "break", "rule": "slips_in"}, 0.0),))
    (own,) = broken(compose(opened("two_banks", "slips_in")))["rules"]
    assert own["elsewhere"] is None


def test_a_right_run_has_neither_rules_nor_harm() -> None:
    told = broken(compose(opened("lecture")))
    assert [told[key] for key in ("rules", "harm", "refused", "recorded")] == [[], [], [], []]


@each(("rule", "sign"), [("slips_in", "orphan"), ("deaf_initiator", "lost"), ("out_of_band", "lost")])
def test_the_harm_is_marked_in_the_diagram_once_it_is_known(rule: str, sign: str) -> None:
    scene = harmful(rule)
    keys = {own["key"] for own in signs(scene)}
    assert sign in keys and keys & {"orphan", "lost"} == {sign}
    words = {"orphan": "speaks against the cut", "lost": "lost message"}[sign]
    (snapshot,) = scene.snapshots
    assert [[snapshot.completed, None]] in [[list(span) for span in show] for show in drawn(scene, words)]


def test_the_record_shows_that_and_when_a_state_recorded_by_reference_changes() -> None:
    (snapshot,) = record_of(compose(opened("two_banks", "by_reference")))
    assert snapshot["processes"][0]["text"] == [[0, "not recorded yet"], [2, "550"], [4, "630 (changed, was 550)"]]


def test_a_deaf_initiator_is_not_shown_as_recording() -> None:
    (snapshot,) = record_of(compose(opened("two_banks", "deaf_initiator")))
    assert snapshot["channels"][1]["text"] == [[7, "C21 = <empty>"]]


def test_nothing_is_marked_in_a_right_run() -> None:
    scene = compose(opened("lecture"))
    assert not {own["key"] for own in signs(scene)} & {"orphan", "lost"}
    assert not drawn(scene, "lost message") and not drawn(scene, "speaks against the cut")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("deaf_initiator", "; all channels are empty; 80 is missing."),
        ("slips_in", "50 is received inside the cut, but sent outside it"),
    ],
)
def test_a_caption_says_what_is_wrong(rule: str, said: str) -> None:
    scene = harmful(rule)
    assert said in of_run(scene, scene.last) and "is lost" not in of_run(scene, scene.last - 2)


@pytest.mark.slow
def test_captions_and_titles_say_that_a_rule_is_broken() -> None:
    scene = compose(opened("two_banks", "one_flag"))
    assert "A rule is broken on purpose: one flag for all snapshots." in of_run(scene, scene.last)
    title = "Two banks; broken on purpose: One flag for all snapshots"
    assert scene.execution.scenario.headline == title
    for form in ("svg", "html", "caption"):
        text = exporter(form).export(scene, View.of(scene)).decode()
        assert "roken on purpose: " in text, form
