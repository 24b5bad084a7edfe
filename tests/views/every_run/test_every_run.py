"""The page Every run without a browser: what an address asks for, an exploration in the background, and its words."""

from __future__ import annotations

import random
import threading
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from diagrams.charts.state_graph import state_svg
from sim.core.broken_rule import BROKEN_RULES
from sim.core.errors import InputError
from sim.document import library
from sim.edit.link import Shared
from sim.explore.replay import by_hand
from sim.run.execution import run
from sim.verify.checks import verdicts_of
from views.every_run import exploration as background
from views.every_run import findings
from views.every_run.component import states_of
from views.every_run.exploration import Exploring, Result, key_of
from views.every_run.form import rule_title, subjects
from views.every_run.form_state import BOUNDS, SMALL, FormState
from views.every_run.tables import about_snapshots, checks_table, snapshots_table

BANKS = FormState(Shared(scenario="two_banks"))
DEAF = replace(BANKS, rule="deaf_initiator")
STORING = "processes = 2\n[storage]\n"
LEAVING = 'processes = 3\nfaults = [{ kind = "leave", process = "P3", at = 2 }]\n'
LOSING = 'processes = ["A", "B"]\nfaults = [{ kind = "lose", message = "A.1" }]\n'
CRASHING = FormState(rule="two_markers", crashes=1, restarts=True)


def explored(asked: FormState) -> Result:
    exploring = Exploring(asked)
    exploring.run()
    assert exploring.problem is None
    assert exploring.result is not None
    return exploring.result


# ------------------------------------------------------------------ what is asked


@pytest.mark.parametrize(
    "asked",
    [
        BANKS,
        DEAF,
        FormState(processes=3, sends=2, fifo=False, most_states=BOUNDS[1]),
        replace(BANKS, own_order=True),
        replace(BANKS, crashes=1),
        FormState(crashes=2, restarts=True),
        FormState(crashes=1, losses=2),
        FormState(Shared(scenario="two_banks", edits=(({"do": "delete", "item": {"script": 1}}, 0.0),))),
        FormState(Shared(toml='processes = ["A", "B"]\n', name="mine")),
    ],
)
def test_an_address_asks_for_the_same_again(asked):
    assert FormState.read(asked.query()) == asked


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({}, "either `scenario` or `run`, or else `complete`"),
        ({"scenario": "lecture", "complete": "2"}, "either"),
        ({"complete": "40"}, "complete: expected a whole number from 2 to 4, not '40'"),
        ({"complete": "0"}, "complete: expected a whole number from 2 to 4, not '0'"),
        ({"complete": "2", "states": "0"}, "states: expected a whole number from 1 to 2,500,000"),
        ({"complete": "2", "fifo": "banana"}, "fifo: expected 'no' or nothing, not 'banana'"),
        ({"scenario": "lecture", "order": "x"}, "order: expected 'own' or nothing"),
        ({"scenario": "lecture", "rule": "magic"}, "rule: there is none with the name 'magic'; choose one in the menu"),
        ({"complete": "2", "sends": "²"}, "sends: expected"),
        ({"complete": "2", "states": "9" * 30}, "states: expected"),
        ({"complete": "2", "crashes": "3"}, "crashes: expected a whole number from 0 to 2, not '3'"),
        ({"complete": "2", "crashes": "-1"}, "crashes: expected a whole number from 0 to 2, not '-1'"),
        ({"complete": "2", "losses": "3"}, "losses: expected a whole number from 0 to 2, not '3'"),
        ({"complete": "2", "crashes": "1", "restarts": "1"}, "restarts: expected 'yes' or nothing, not '1'"),
    ],
)
def test_a_bad_address_is_one_sentence(query, told):
    with pytest.raises(InputError, match=told.replace("(", r"\(")):
        FormState.read(query)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (FormState(Shared(scenario="nowhere")), "nowhere"),
        (FormState(Shared(scenario="hundred")), "100 processes are more than this page explores"),
        (replace(BANKS, rule="magic"), "no such algorithm"),
        (replace(BANKS, rule="lai_yang", crashes=1), "the rules of Lai-Yang do not support a crash yet"),
        (FormState(Shared(scenario="crash"), crashes=1), "the scenario has faults of its own"),
        (replace(BANKS, restarts=True), "only a process that has crashed can start again"),
        (
            FormState(Shared(toml=LEAVING, name="leaving")),
            "faults: exploration does not support processes that join or leave",
        ),
        (
            FormState(Shared(toml=LOSING, name="losing"), losses=1),
            "does not support messages that the scenario loses or copies",
        ),
        (FormState(Shared(scenario="recovery_tutorial")), "recovery: exploration does not support recoveries yet"),
        (FormState(Shared(toml=STORING, name="storing")), "storage: exploration does not support a storage yet"),
    ],
)
def test_what_cannot_be_explored_is_one_sentence(asked, told):
    exploring = Exploring(asked)
    exploring.run()
    assert exploring.is_over and exploring.result is None
    assert told in (exploring.problem or "")
    assert "--" not in findings.in_the_forms_words(exploring.problem or "")


def test_the_command_line_for_the_same():
    assert DEAF.command(DEAF.scenario()) == "python -m sim explore two_banks --algorithm deaf_initiator"
    graph = FormState(processes=3, sends=2, fifo=False)
    assert graph.command(graph.scenario()) == "python -m sim explore --complete 3 --sends 2 --not-fifo"
    own = replace(BANKS, own_order=True)
    assert own.command(own.scenario()) == "python -m sim explore two_banks --own-order"
    crashes = replace(BANKS, crashes=2, restarts=True)
    assert crashes.command(crashes.scenario()) == "python -m sim explore two_banks --crashes 2 --restarts"
    losses = replace(BANKS, losses=1)
    assert losses.command(losses.scenario()) == "python -m sim explore two_banks --losses 1"


def test_what_is_too_long_for_a_link_is_explored_without_one():
    names = ", ".join(f'"{random.Random(own).randbytes(20).hex()}"' for own in range(200))
    long = FormState(Shared(toml=f"processes = ['A', 'B']\nx = [{names}]\n", name="long"))
    assert long.query() == {}
    assert BANKS.query() == {"scenario": "two_banks"}


def test_the_edits_of_a_link_are_explored():
    edits = (({"do": "delete", "item": {"script": 1}}, 0.0),)
    assert len(FormState(Shared(scenario="two_banks", edits=edits)).scenario().script) == (
        len(library.load("two_banks").script) - 1
    )


def test_every_rule_that_is_registered_is_in_the_menu():
    for is_run, first in ((True, "as in the run"), (False, "Chandy-Lamport")):
        assert all(rule_title(name, is_run=is_run) == f"Broken: {BROKEN_RULES[name].switch}" for name in BROKEN_RULES)
        assert rule_title("", is_run=is_run) == first
    assert "hundred" not in subjects(BANKS, None)
    mine = FormState(Shared(toml='processes = ["A", "B"]\n', name="mine"))
    assert subjects(mine, None)["carried"].title.startswith("mine")


# ------------------------------------------------------------------ in the background


def test_two_banks():
    found = explored(BANKS)
    assert (found.states, found.transitions, found.problem) == (17, 21, "")
    assert [own.states for own in found.depths] == [1, 1, 2, 2, 3, 4, 2, 2]
    assert [depth for depth, own in enumerate(found.depths) if own.completes] == [5, 6, 7]
    assert "The snapshot is right in all of them" in findings.headline(found)
    assert findings.headline(found).endswith("right in all of them.</span>")


def test_each_depth_that_completes_a_snapshot_is_one_at_which_the_graph_has_one():
    found = explored(FormState(Shared(scenario="termination")))
    ends = {found.nodes[own.target].depth for own in found.edges
            if set(found.nodes[own.target].complete) > set(found.nodes[own.source].complete)}  # fmt: skip
    assert {depth for depth, own in enumerate(found.depths) if own.completes} == ends


def test_the_snapshot_of_the_run_itself_is_among_those_that_are_possible():
    for name in ("two_banks", "lecture", "phones"):
        found = explored(FormState(Shared(scenario=name)))
        keys = {key_of(own.id, own.processes, own.channels) for own in found.recorded}
        assert len(found.taken) == 1
        assert found.taken < keys


def test_a_broken_rule_comes_as_its_shortest_run_in_words():
    found = explored(DEAF)
    assert list(found.runs) == ["channel_states", "conservation"]
    assert findings.together(found) == [["channel_states", "conservation"]]
    assert "2 checks fail in some runs" in findings.headline(found)
    assert len(found.sentences["conservation"]) == 1 + 7
    assert found.sentences["conservation"][-1] == "Not conserved: 720 money recorded of 800."
    failed = {verdict.check for own in verdicts_of(run(found.runs["conservation"])).values() for verdict in own
              if verdict.holds is False}  # fmt: skip
    assert "conservation" in failed


def test_every_check_holds_with_a_crash():
    found = explored(replace(BANKS, crashes=1, restarts=True))
    assert (found.states, found.transitions) == (152, 234)
    assert "Every order was tried, with at most 1 crash: 152 states" in findings.headline(found)
    told = findings.system(found.scenario, found.may)
    assert told == "Two banks. Chandy-Lamport. In a run: at most 1 crash; a crashed process may restart"
    table = checks_table(found)
    assert table.count("✓ holds in every run without a crash") == 2 and table.count("✓ holds in every run<") == 2
    assert findings.at_most(replace(found.may, crashes=2)) == "at most 2 crashes"


def test_a_sum_that_a_crash_has_changed_is_not_called_wrong():
    found = explored(replace(BANKS, crashes=1, restarts=True))
    table = snapshots_table(found)
    assert "750 money, not 800" in table and "✓ 800 money" in table and "✗" not in table
    assert "After a crash, a sum may be too small, or count a message twice." in about_snapshots(found)
    assert "✗ 720 money, not 800" in snapshots_table(explored(DEAF))
    assert "crash" not in about_snapshots(explored(DEAF))


def test_a_wrong_run_that_needs_a_crash_is_told_and_runs():
    found = explored(CRASHING)
    assert findings.headline(found).startswith(
        '<span class="cut-bad">1 check fails in some runs</span>, with at most 1 crash'
    )
    assert "P2 starts again" in " ".join(found.sentences["channel_states"])
    wrong = run(found.runs["channel_states"])
    assert wrong.steps == 7
    assert "channel_states" in {own.check for own in verdicts_of(wrong)["S1"] if own.holds is False}
    assert explored(replace(CRASHING, restarts=False)).runs == {}


def test_every_check_holds_with_a_loss():
    found = explored(replace(BANKS, losses=1))
    assert "Every order was tried, with at most 1 loss: " in findings.headline(found)
    told = findings.system(found.scenario, found.may)
    assert told == "Two banks. Chandy-Lamport. In a run: at most 1 loss; lost messages are not resent"
    both = findings.system(found.scenario, replace(found.may, crashes=1, losses=2))
    end = "In a run: at most 1 crash and 2 losses; a crashed process stays down; lost messages are not resent"
    assert both.endswith(end)
    table = checks_table(found)
    assert table.count("✓ holds in every run without a loss") == 2 and table.count("✓ holds in every run<") == 2
    assert "After a loss, a sum may be too small." in about_snapshots(found)
    assert "✗" not in snapshots_table(found)
    assert findings.takes_away(explored(FormState(sends=0, crashes=1, losses=1))) == "a crash or a loss"


def test_a_recorded_message_that_is_lost_makes_no_run_wrong():
    assert explored(FormState(rule="unaligned_barriers", losses=1)).runs == {}


def test_the_faults_of_a_run_itself_are_crashes_too():
    assert explored(FormState(Shared(scenario="crash"))).has_crashes
    assert not explored(BANKS).has_crashes
    assert not explored(FormState(Shared(scenario="partition"))).has_crashes


def test_not_all_is_said_honestly():
    found = explored(FormState(processes=3, sends=2, most_states=1_000))
    assert found.problem == "more than 1,000 states"
    assert findings.headline(found).startswith("Not every order was tried (more than 1,000 states). ")
    assert findings.headline(found).endswith("in 2,342 states.")
    assert len(found.depths) == len([own for own in found.depths if own.states])


def test_stop_and_a_tab_that_goes_away_end_it(monkeypatch):
    monkeypatch.setattr(background, "LOST_S", 0.0)
    for end, why in (("stop", "you stopped it"), ("tab", "the connection was lost")):
        is_open = threading.Event()
        is_open.set()
        exploring = Exploring(FormState(processes=3, sends=2, most_states=BOUNDS[-1]), is_open.is_set)
        note = exploring._note

        def watched(found, exploring=exploring, is_open=is_open, end=end, note=note):
            note(found)
            if len(found.levels) == 6:
                exploring.stop.set() if end == "stop" else is_open.clear()

        exploring._note = watched  # type: ignore[method-assign]
        exploring.run()
        assert exploring.result is None or exploring.result.problem == why
        assert exploring.states < 5_000


def test_a_connection_that_comes_back_ends_nothing():
    looks = iter([True, False, False])
    exploring = Exploring(BANKS, lambda: next(looks, True))
    exploring.run()
    assert exploring.result is not None and exploring.result.problem == ""


def test_each_wrong_state_says_what_shows_it():
    for asked in (FormState(fifo=False), DEAF, FormState(sends=0, rule="lost_marker")):
        found = explored(asked)
        wrong = [number for number, node in enumerate(found.nodes) if node.wrong]
        assert wrong and list(found.why) == wrong
        for number in wrong:
            assert len(found.why[number]) == len(found.nodes[number].wrong)
            assert all(": " in own and own.endswith(".") for own in found.why[number])


def test_the_clock_ends_it_where_the_machine_is_busy(monkeypatch):
    monkeypatch.setattr(background, "PATIENCE", 0.0)
    found = explored(FormState(processes=3, sends=2, most_states=BOUNDS[-1]))
    assert found.problem.endswith("seconds: the machine is busy")


def test_a_time_that_is_spent_ends_it(monkeypatch):
    monkeypatch.setattr(background, "MOST_S", 0.05)
    monkeypatch.setattr(background, "PATIENCE", 1_000.0)
    found = explored(FormState(processes=3, sends=2, most_states=BOUNDS[-1]))
    assert found.problem.startswith("after ")
    assert found.problem.endswith("seconds of work")


@pytest.mark.slow
def test_a_big_one_waits_for_its_turn_and_gives_it_back(monkeypatch):
    monkeypatch.setattr(background, "SMALL", 100)
    asked = FormState(processes=2, sends=2)
    with background._big_ones:
        exploring = Exploring(asked).start()
        while not exploring.waits:
            assert not exploring.is_over
            exploring.wait(0.01)
        exploring.stop.set()
        exploring.wait(20)
        assert exploring.is_over
    assert explored(asked).problem == ""
    assert background._big_ones.acquire(blocking=False)
    background._big_ones.release()


def test_small_ones_wait_for_their_turn_and_give_it_back(monkeypatch):
    turns = threading.Semaphore(1)
    monkeypatch.setattr(background, "_small_ones", turns)
    with turns:
        exploring = Exploring(BANKS).start()
        while not exploring.waits:
            exploring.wait(0.01)
        assert not exploring.states
    exploring.wait(20)
    assert exploring.result is not None
    assert turns.acquire(blocking=False)


# ------------------------------------------------------------------ what is told


@pytest.mark.slow
def test_the_rule_that_was_explored_is_named():
    assert findings.system(explored(BANKS).scenario) == "Two banks. Chandy-Lamport"
    told = findings.system(explored(DEAF).scenario)
    assert told == "Two banks. Chandy-Lamport, broken: The initiator does not record its channels"
    told = findings.system(explored(FormState(fifo=False)).scenario)
    assert told == "2 processes that send 1 message each. Chandy-Lamport, broken: Channels are not FIFO"
    told = findings.system(explored(FormState(fifo=False, rule="lai_yang")).scenario)
    assert told.endswith(". Lai-Yang, channels not FIFO")


def test_the_way_to_each_state_leads_there():
    found = explored(DEAF)
    told = states_of(found)
    for number, node in enumerate(found.nodes):
        way = [found.edges[own] for own in told[number]["way"]]
        assert len(way) == node.depth
        assert not way or way[-1].target == number
        execution = run(by_hand(found.scenario, tuple(own.action for own in way)))
        assert execution.steps == node.depth
        assert {own.name: own.state for own in execution.final.processes} == {
            name: int(text.split(",")[0]) for name, text in node.processes.items()
        }


def test_the_arrow_keys_lead_to_every_state_and_back():
    found = explored(FormState(Shared(scenario="termination")))
    told = states_of(found)
    reached, new = {0}, {0}
    while new:
        new = {own[key] for own in map(told.__getitem__, new) for key in ("before", "after", "above", "below")}
        new = {own for own in new if own is not None} - reached
        reached |= new
    assert reached == set(range(len(found.nodes)))


def test_a_snapshot_that_does_not_add_up_says_so():
    found = explored(DEAF)
    workload = found.scenario.engine().workload
    first = workload.total()
    sums = {findings.total_of(own, workload, first) for own in found.recorded}
    assert sums == {("800 money", True), ("720 money, not 800", False)}
    (most, *_) = found.recorded
    assert findings.ways(most, 11) == f"{most.ways} of 11"


def test_texts_of_users_are_no_html():
    scenario = 'processes = ["<b>A", "B"]\nscript = [{ process = "<b>A", at = 0, to = "B", body = "<i>" }]\n'
    found = explored(
        FormState(Shared(toml=scenario + 'snapshots = [{ id = "<S>", process = "B", at = 1 }]\n', name="odd"))
    )
    shown = [own["about"] for own in states_of(found)] + [state_svg(found.nodes, found.edges)]
    assert not any(tag in text for text in shown for tag in ("<b>A", "<i>", "<S>"))


# ------------------------------------------------------------------ the form


def form() -> None:
    import streamlit as st

    from sim.edit.link import Shared
    from views.every_run.form import every_run_form
    from views.every_run.form_state import FormState

    def press(asked: FormState) -> None:
        st.session_state["asked"] = asked

    every_run_form(FormState(Shared(scenario="two_banks")), None, press)


@pytest.fixture
def page() -> AppTest:
    return AppTest.from_function(form, default_timeout=60).run()


def pressed(page: AppTest) -> FormState:
    page.button[0].click().run()
    assert not page.exception
    asked: FormState = page.session_state["asked"]
    return asked


def test_the_form_asks_for_what_it_shows(page):
    assert pressed(page) == BANKS
    page.selectbox[1].set_value("deaf_initiator")
    page.checkbox[1].set_value(True).run()
    assert pressed(page) == replace(DEAF, own_order=True)


def test_crashes_have_fields_and_starting_again_needs_a_crash(page):
    assert all(own.label != "A crashed process may restart" for own in page.checkbox)
    page.number_input(key="every-crashes").set_value(1).run()
    page.checkbox(key="every-restarts").set_value(True).run()
    assert pressed(page) == replace(BANKS, crashes=1, restarts=True)
    page.number_input(key="every-crashes").set_value(0).run()
    assert pressed(page) == BANKS


def test_losses_have_a_field(page):
    page.number_input(key="every-losses").set_value(2).run()
    assert pressed(page) == replace(BANKS, losses=2)


def test_a_complete_graph_has_its_own_fields(page):
    assert [own.label for own in page.number_input] == ["Crashes", "Losses", "Freezes"]
    page.selectbox[0].set_value(next(key for key, own in subjects(BANKS, None).items() if own.shared is None)).run()
    page.number_input[0].set_value(3)
    page.checkbox[0].set_value(True).run()
    assert page.selectbox[1].options[0] == "Chandy-Lamport"
    assert page.selectbox[1].options.count("Chandy-Lamport") == 1
    assert pressed(page) == FormState(processes=3, sends=1, fifo=False, most_states=SMALL)
