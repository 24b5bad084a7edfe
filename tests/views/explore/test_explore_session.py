"""The history of scenarios behind the Explore page, without a browser."""

from __future__ import annotations

import json
import math
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest

from sim.core.deadline import OutOfTime
from sim.core.errors import InputError
from sim.edit.link import Shared, in_round, query_of, read_query
from views.explore.session import ExploreSession
from views.server.plain_words import sentence

ADD = {"do": "internal", "process": "P1", "at": 50}
IMPOSSIBLE = {"do": "internal", "process": "Nobody", "at": 50}


def entry(seq: int, edit: dict[str, object]) -> dict[str, object]:
    return {"seq": seq, "step": 0, "time": 0.0, "edit": edit}


@pytest.fixture
def session() -> ExploreSession:
    session = ExploreSession()
    session.open(Shared(scenario="lecture"))
    return session


def scene(session: ExploreSession) -> dict[str, Any]:
    """The drawing of the browser."""
    document: dict[str, Any] = json.loads(session.drawn)
    return document


def assert_refused(session: ExploreSession, edit: dict[str, object]) -> str:
    """An edit is refused in one sentence, and leaves everything as it was. Returns the sentence."""
    before = session.data()
    session.absorb([entry(1, edit)])
    after = session.data()
    assert after["notice"]["level"] == "error" and "\n" not in after["notice"]["text"]
    assert {**after, "ack": 0, "notice": None} == before
    assert after["ack"] == 1
    return str(after["notice"]["text"])


def test_an_edit_makes_a_new_version_and_a_new_revision(session):
    before, steps = session.data(), len(scene(session)["steps"])
    session.absorb([entry(1, ADD)])
    after = session.data()
    assert (after["ack"], after["undo"], len(after["edits"])) == (1, 1, 1)
    assert after["revision"] > before["revision"]
    assert len(scene(session)["steps"]) == steps + 1


def test_an_outbox_that_comes_twice_is_applied_once(session):
    session.absorb([entry(1, ADD)])
    session.absorb([entry(1, ADD), entry(2, ADD)])
    session.absorb([entry(1, ADD), entry(2, ADD)])
    assert (session.ack, len(session.versions)) == (2, 3)


def test_a_refused_edit_leaves_everything_and_says_why(session):
    assert "Nobody" in assert_refused(session, IMPOSSIBLE)


def test_the_next_good_edit_clears_the_notice(session):
    session.absorb([entry(1, IMPOSSIBLE)])
    session.absorb([entry(2, ADD)])
    assert session.notice is None


def test_a_refusal_is_told_although_a_good_edit_came_with_it(session):
    """The browser hears once of both; the number is that of the refused one."""
    session.absorb([entry(1, ADD), entry(2, IMPOSSIBLE), entry(3, ADD), entry(4, IMPOSSIBLE), entry(5, {"do": "undo"})])
    assert (session.ack, session.notice["seq"]) == (5, 2)
    assert "Nobody" in session.notice["text"] and session.notice["text"].endswith("1 more change was refused.")
    assert (len(session.versions), session.at) == (3, 1)


def test_undo_is_the_scenario_before_and_reset_can_be_undone(session):
    opened = session.scenario
    session.absorb([entry(1, ADD), entry(2, ADD)])
    edited = session.scenario
    session.absorb([entry(3, {"do": "reset"})])
    assert session.scenario == opened
    session.absorb([entry(4, {"do": "undo"})])
    assert session.scenario == edited
    session.absorb([entry(n, {"do": "undo"}) for n in (5, 6, 7, 8)])
    assert (session.scenario, session.data()["undo"], session.ack) == (opened, 0, 8)


NO_OUTBOX = [
    None, "x", [None], [{"seq": "1"}], [{"seq": 1, "time": 0, "edit": []}], [entry(1, {"do": ["delay"]})],
    [entry(1, {"do": "delay", "message": "H", "delay": 1})],
]  # fmt: skip


@pytest.mark.parametrize("outbox", NO_OUTBOX)
def test_what_is_no_outbox_of_edits_is_ignored(session, outbox):
    session.absorb(outbox)
    assert (session.ack, session.notice) == (0, None)


def test_a_fault_names_its_message_by_a_label(session):
    """As the browser sends it; whether such an edit makes sense is said in a sentence, and not by silence."""
    session.absorb([entry(1, {"do": "fault", "kind": "no such fault", "message": "H", "at": 1})])
    assert session.ack == 1 and "no such fault" in session.notice["text"]


def test_sentences_begin_with_a_capital_unless_with_a_name():
    assert sentence("there is none") == "There is none."
    assert sentence("bad.toml: is empty") == "bad.toml: is empty."
    assert sentence("Done!") == "Done!"


def test_what_is_too_big_for_a_page_is_refused_and_the_page_keeps_what_it_had(session, monkeypatch):
    before = session.data()
    with pytest.raises(InputError, match="10302 channels"):
        session.open(Shared(toml="processes = 102", name="crowd"))
    monkeypatch.setattr("views.server.budget.MOST_STEPS", 100)
    text = 'processes = 2\nworkload = { kind = "bank", transfers = 200 }'
    with pytest.raises(InputError, match="its workload makes about 800 events"):
        session.open(Shared(toml=text, name="endless"))
    assert session.data() == before


def test_edits_that_cannot_be_drawn_are_taken_back(session, monkeypatch):
    def refuse(scene, look):
        raise InputError("too big")

    before, drawn = session.data(), session.drawn
    monkeypatch.setattr("views.explore.session.draw", refuse)
    session.absorb([entry(1, {"do": "internal", "process": "P1", "at": 5})])
    after = session.data()
    assert (after["edits"], session.drawn, after["ack"]) == (before["edits"], drawn, 1)
    assert after["notice"]["text"] == "Too big."


LONG = """
processes = 4
workload = { kind = "bank", transfers = 2000 }
snapshots = [{ id = "S1", process = "P1", at = 500.0 }]
"""


def test_redo_brings_back_what_undo_took_and_a_new_edit_ends_that(session):
    session.absorb([entry(1, ADD), entry(2, {**ADD, "process": "P2"})])
    edited = session.scenario
    session.absorb([entry(3, {"do": "undo"}), entry(4, {"do": "undo"})])
    assert (session.data()["undo"], session.data()["redo"]) == (0, 2)
    session.absorb([entry(5, {"do": "redo"}), entry(6, {"do": "redo"}), entry(7, {"do": "redo"})])
    assert session.scenario == edited
    session.absorb([entry(8, {"do": "undo"}), entry(9, ADD)])
    assert session.data()["redo"] == 0


def test_a_link_opens_the_same_run_with_its_edits(session):
    session.absorb([entry(1, ADD), entry(2, {"do": "hold", "message": {"label": "H"}})])
    other = ExploreSession()
    other.absorb([entry(1, {"do": "restore", "link": session.link() + "&step=7"})])
    assert other.scenario == session.scenario
    assert (other.data()["edits"], other.data()["step"]) == (session.data()["edits"], 7)


def test_a_change_to_a_line_that_has_another_number_by_now_is_refused(session):
    seen = {"revision": session.revision}
    move = {"do": "change", "item": {"script": 3}, "at": 1.0}
    session.absorb([{**entry(1, {"do": "delete", "item": {"script": 1}}), **seen}, {**entry(2, move), **seen}])
    assert len(session.version.edits) == 1
    assert "again" in session.notice["text"]
    session.absorb([{**entry(3, {"do": "internal", "process": "P2", "at": 3}), "revision": session.revision}])
    assert len(session.version.edits) == 2


def test_what_fifo_does_is_told(session):
    session.absorb([entry(1, {"do": "hold", "message": {"label": "H"}})])
    assert session.notice["level"] == "info"


@pytest.mark.slow
def test_a_long_run_is_seen_through_a_window_that_can_be_moved():
    session = ExploreSession()
    session.open(Shared(toml=LONG, name="long"))
    shown = scene(session)
    assert (shown["first"], len(shown["steps"])) == (0, 301)
    session.absorb([entry(1, {"do": "look", "step": 2000, "width": 100})])
    shown = scene(session)
    assert (shown["first"], shown["until"], len(shown["steps"])) == (1950, 2050, 101)
    assert all(step["sentence"] for step in shown["steps"])
    sent = {message["id"]: message for message in shown["messages"]}
    assert all(message["sent"] <= 2050 and (message["received"] or 0) >= 1950 for message in sent.values())
    assert session.data()["undo"] == 0, "looking elsewhere is no edit"


def test_an_arrangement_of_the_processes_is_a_look_and_outlives_edits(session):
    arranged = {"order": ["P3", "P1", "P2"], "hidden": ["P2"], "folded": ["P1"]}
    session.absorb([entry(1, {"do": "look", **arranged})])
    shown = scene(session)["arrangement"]
    assert {key: shown[key] for key in arranged} == arranged
    assert session.data()["undo"] == 0, "a view is no edit"
    session.absorb([entry(2, ADD)])
    assert scene(session)["arrangement"] == shown
    session.absorb([entry(3, {"do": "look", "hidden": ["P1", "P2", "P3"]})])
    assert scene(session)["arrangement"]["hidden"] == [], "one is always shown"
    session.open(Shared(scenario="ring"))
    assert scene(session)["arrangement"]["folded"] == []


def test_the_lattice_is_drawn_while_its_tab_is_open(session):
    assert "lattice" not in scene(session)
    session.absorb([entry(1, {"do": "look", "lattice": True, "predicate": "C21.messages == 1"})])
    assert len(scene(session)["lattice"]["cuts"]) == 31
    assert scene(session)["lattice"]["predicate"]["definitely"]["holds"]
    session.absorb([entry(2, ADD)])
    assert len(scene(session)["lattice"]["cuts"]) > 31, "it follows the edits"
    drawn = session.revision
    session.absorb([entry(3, {"do": "look", "lattice": False})])
    assert session.revision == drawn, "what is on show has all that is asked"
    session.absorb([entry(4, {"do": "look", "lattice": True, "predicate": "C21.messages == 1"})])
    assert session.revision == drawn
    session.absorb([entry(5, {"do": "look"}), entry(6, {"do": "undo"})])
    assert "lattice" not in scene(session)
    assert session.data()["undo"] == 0


def test_a_wrong_predicate_is_told_in_the_lattice_and_is_no_refusal(session):
    session.absorb([entry(1, {"do": "look", "lattice": True, "predicate": "P9.events > 1"})])
    assert session.notice is None
    assert scene(session)["lattice"]["predicate"]["problem"].startswith("'P9' is no process")


@pytest.mark.parametrize("names", ["P1", 7, None, {"P1": 1}, [1, ["P1"], None, "\ud800"]], ids=repr)
def test_an_arrangement_that_names_nobody_changes_nothing(session, names):
    before = scene(session)["arrangement"]
    session.absorb([entry(1, {"do": "look", "order": names, "hidden": names, "folded": names})])
    assert session.notice is None
    assert scene(session)["arrangement"] == before


def test_wishes_are_noted_and_nothing_else_changes(session):
    before = session.data()
    session.absorb([entry(1, {"do": "scenarios"})])
    assert session.wish == "scenarios"
    assert session.data() == {**before, "ack": 1}


def test_an_edit_whose_lattice_takes_too_long_is_drawn_without_it(session, monkeypatch):
    def forever(scene, step, text):
        raise OutOfTime

    session.absorb([entry(1, {"do": "look", "lattice": True, "predicate": "P1.events > 1"})])
    monkeypatch.setattr("views.widgets.look.lattice_payload", forever)
    session.absorb([entry(2, ADD)])
    assert len(session.versions) == 2 and session.data()["notice"] is None
    told = scene(session)["lattice"]
    assert told == {
        "text": "P1.events > 1",
        "problem": "Drawing this takes too long; use fewer processes or messages.",
    }


def test_the_page_of_a_snapshot_is_drawn_while_somebody_looks_at_it_and_follows_the_edits(session):
    session.absorb([entry(1, {"do": "look", "proof": "S1"})])
    assert scene(session)["proofs"]["S1"]["inversions"] == 1
    session.absorb([entry(2, {"do": "internal", "process": "P3", "at": 800})])
    assert scene(session)["proofs"]["S1"]["total"] == 12
    for number, unknown in enumerate(("S9", 7, None), start=3):
        session.absorb([entry(number, {"do": "look", "proof": unknown, "step": number})])
        assert scene(session)["proofs"] == {}


@pytest.mark.slow
def test_only_the_sessions_that_looked_at_a_big_run_last_keep_it(monkeypatch):
    sessions = [ExploreSession() for _ in range(3)]
    sessions[0].open(Shared(toml=LONG, name="long"))
    monkeypatch.setattr("views.explore.kept_run.MOST_KEPT", 2 * sessions[0].kept.steps)
    for session in sessions[1:]:
        session.open(Shared(toml=LONG, name="long"))
    assert [session.kept.steps > 0 for session in sessions] == [False, True, True]
    sessions[0].absorb([entry(1, {"do": "look", "step": 2000})])
    assert scene(sessions[0])["first"] > 0


def test_a_look_beyond_the_run_is_a_look_at_its_nearest_part(session):
    for step in (-5, 10**9, 1e308, math.inf, math.nan):
        session.absorb([entry(session.ack + 1, {"do": "look", "step": step, "width": step})])
        assert session.notice is None


def test_an_edit_that_comes_with_a_link_is_drawn_too(session):
    session.absorb([entry(1, {"do": "restore", "link": "scenario=two_banks"}), entry(2, {**ADD, "process": "S1"})])
    assert session.data()["undo"] == 1
    assert len(scene(session)["steps"]) == session.scene.last + 1
    assert scene(session)["last"] == session.scene.last


def test_an_undo_where_nothing_is_left_to_undo_is_nothing(session):
    """The diagram on show is still the one that the next change was made in."""
    session.absorb([entry(1, {"do": "undo"}), entry(2, {"do": "redo"}), entry(3, {"do": "reset"})])
    move = {"do": "change", "item": {"snapshots": 0}, "at": 1.0}
    session.absorb([{**entry(4, move), "revision": session.revision}])
    assert (session.notice["level"], session.data()["undo"]) == ("info", 1)
    session.absorb([entry(5, {"do": "undo"}), entry(6, {"do": "redo"})])
    session.absorb([{**entry(7, {**move, "at": 2.0}), "revision": session.revision}])
    assert (session.notice, session.data()["undo"]) == (None, 2)


LOOKS = [
    {"step": "7"}, {"step": None}, {"step": [1]}, {"step": True}, {"step": 10**400}, {"width": "wide"},
    {"lattice": True, "predicate": 7}, {"lattice": True, "predicate": "\ud800"},
]  # fmt: skip
MALFORMED = [
    {"do": "fly"}, {"do": "delay", "message": {}}, {"do": "send", "to": 7},
    {"do": "restore", "link": "scenario=lecture&edits=AAAA"}, *({"do": "look", **look} for look in LOOKS),
]  # fmt: skip


@pytest.mark.parametrize("edit", MALFORMED, ids=lambda edit: str(edit)[:40])
def test_a_malformed_edit_is_refused_in_one_sentence(session, edit):
    assert_refused(session, edit)


FORGED = [
    {"do": "fly"}, {"do": "send"}, {"do": "internal"}, {"do": "delay", "message": {"label": "H"}, "delay": "x"},
    {"do": "manual", "after": "x"}, {"do": "choose"}, {"do": "change", "item": {"script": -1}}, {"do": "restore"},
]  # fmt: skip


@pytest.mark.parametrize("edit", FORGED, ids=str)
def test_a_link_with_an_edit_that_is_none_is_refused_in_one_sentence(session, edit):
    link = urlencode(query_of(Shared("lecture", edits=((edit, 1.0),))))
    assert_refused(session, {"do": "restore", "link": link})


def test_a_link_with_too_many_edits_is_refused_and_so_is_an_edit_too_many(session, monkeypatch):
    monkeypatch.setattr("views.explore.versions.MOST_EDITS", 2)
    edits = tuple(({**ADD, "at": 50 + n}, 1.0) for n in range(3))
    with pytest.raises(InputError, match="as a file"):
        session.open(Shared("lecture", edits=edits))
    session.open(Shared("lecture", edits=edits[:2]))
    session.absorb([entry(1, ADD)])
    assert (len(session.version.edits), session.notice["level"]) == (2, "error")


def test_an_export_of_a_run_that_is_not_kept_changes_nothing(session, monkeypatch):
    """It asks from another thread, while an edit may be under way."""
    session.kept.forget()
    assert session.scene.execution.scenario == session.scenario
    assert session.kept.scene is None


@pytest.mark.parametrize("time", [1e18, 1e308, 1.7976931348623157e308])
def test_a_time_that_no_diagram_can_hold_is_refused(session, time):
    drawn = session.drawn
    release = {"do": "release", "message": {"label": "H"}}
    edits = [{**ADD, "at": time}, {"do": "delay", "message": {"label": "H"}, "delay": time}]
    session.absorb([entry(n, edit) for n, edit in enumerate(edits, 1)])
    session.absorb([{**entry(3, release), "time": time}, {**entry(4, {**ADD, "at": 5}), "time": time}])
    assert session.drawn == drawn
    assert session.notice["level"] == "error"


def test_what_a_run_works_out_goes_with_the_run(session):
    """Else a long history would hold every run's plan."""
    session.absorb([entry(n, {**ADD, "at": 50 + n}) for n in range(1, 4)])
    session.absorb([entry(4, {"do": "undo"})])
    assert all("agenda" not in vars(version.scenario) for version in session.versions[1:])


# --------------------------------------------------------------------------- another run, and a class's round


def another(number: int, **of_round: str) -> dict[str, object]:
    return {"do": "another", "number": number, **of_round}


def test_another_run_is_an_edit_that_can_be_undone_and_shared(session):
    first = session.scenario
    session.absorb([entry(1, another(7))])
    drawn = session.scenario
    assert drawn != first and session.data()["undo"] == 1
    assert session.data()["edits"] == ["another run, number 7"]
    other = ExploreSession()
    other.open(read_query(dict(parse_qsl(session.link()))))
    assert other.scenario == drawn
    session.absorb([entry(1, another(7)), entry(2, {"do": "undo"})])
    assert session.scenario == first


def test_another_run_leaves_no_ghosts_and_an_edit_of_it_does(session):
    session.absorb([entry(1, ADD), entry(2, another(7))])
    assert not session.scene.ghosts
    session.absorb([entry(3, {"do": "delete", "item": {"script": 0}})])
    moved = len(session.scene.ghosts)
    session.absorb([entry(4, {"do": "undo"}), entry(5, {"do": "undo"})])
    assert not session.scene.ghosts, "those of the first run"
    assert moved <= 1


@pytest.mark.slow
def test_runs_drawn_one_after_the_other_are_drawn_from_the_same_run(session):
    session.absorb([entry(1, another(7)), entry(2, another(8))])
    other = ExploreSession()
    other.open(Shared(scenario="lecture", edits=((another(8), 0.0),)))
    assert session.scenario == other.scenario
    assert session.data()["edits"] == ["another run, number 8"]
    assert session.link() == other.link()


@pytest.mark.slow
def test_an_edit_of_a_drawn_run_stays_with_it(session):
    session.absorb([entry(1, another(7)), entry(2, ADD), entry(3, another(8))])
    other = ExploreSession()
    other.open(read_query(dict(parse_qsl(session.link()))))
    assert session.scenario == other.scenario


def test_a_run_of_a_round_says_so_until_it_is_changed(session):
    assert session.data()["round"] is None
    session.open(in_round(Shared(scenario="lecture"), "K7QF", 4711))
    assert session.data()["round"] == {"name": "K7QF", "number": 4711}
    session.absorb([entry(1, ADD)])
    assert session.data()["round"] is None
    session.absorb([entry(2, {"do": "undo"}), entry(3, another(5))])
    assert session.data()["round"] is None, "a run for practice"


def test_another_run_where_no_snapshot_is_taken_is_refused_in_one_sentence(session):
    session.absorb([entry(1, {"do": "delete", "item": {"snapshots": 0}})])
    session.absorb([entry(2, another(1))])
    assert session.data()["notice"]["text"] == (
        "There is no snapshot in this run; start one before you ask for another run."
    )


@pytest.mark.parametrize("number", [-1, "many", 1.5, None])
def test_the_number_of_a_run_is_a_whole_one(session, number):
    assert "number" in assert_refused(session, another(number))


STRAY = """
processes = 2
script = [{ process = "P1", at = 1, to = "P2", label = "H" }]
delays = [{ label = "H", delay = 3 }, { label = "P2.1", delay = 7 }, { label = "P1.2", delay = 7 }]
"""


def test_a_stray_delay_is_told_when_the_run_is_opened_and_not_after_an_edit_or_a_reload(session):
    session.open(Shared(toml=STRAY, name="stray"))
    assert session.notice["level"] == "info"
    assert session.notice["text"].startswith("The delay of the message sent at P2.1 has no effect: no message")
    assert session.notice["text"].endswith(". 1 more delay has no effect either.")
    session.absorb([entry(1, {"do": "delete", "item": {"script": 0}})])
    assert session.notice is None
    session.absorb([entry(2, {"do": "restore", "link": session.link()})])
    assert (session.scenario.name, session.notice) == ("stray", None)


def test_repeated_snapshots_say_when_they_found_the_property_and_are_undone_together() -> None:
    session = ExploreSession()
    session.open(Shared(scenario="termination"))
    before = len(scene(session)["snapshots"])
    edit = {"do": "watch", "property": "terminated", "process": "p1", "every": 2}
    session.absorb([entry(1, edit)])
    assert session.notice["level"] == "info"
    assert session.notice["text"].startswith(
        f"{len(scene(session)['snapshots']) - before} snapshots. It became true at step"
    )
    assert session.data()["edits"] == ["p1 starts snapshots until one shows: the computation has terminated"]
    session.absorb([entry(2, {"do": "undo"})])
    assert len(scene(session)["snapshots"]) == before


def broken_rule(name: str, *, on: bool = True) -> dict[str, object]:
    return {"do": "break", "rule": name, "on": on}


SEARCH = {"do": "lay_bare"}


def test_the_smallest_edit_is_made_told_and_pointed_at_and_undo_takes_it_back(session):
    session.open(Shared(scenario="two_banks"))
    session.absorb([entry(1, broken_rule("slips_in"))])
    assert scene(session)["broken"]["harm"] == [] and session.data()["pointer"] is None
    session.absorb([entry(2, SEARCH)])
    told = session.data()
    assert told["edits"] == ["broken: a message goes out before the marker", "S1 sends 50 to S2 at 36"]
    assert told["notice"]["text"] == "Changed: S1 sends 50 to S2 at 36."
    harm = scene(session)["broken"]["harm"][0]
    assert told["pointer"] == {"seq": 2, "step": harm["step"], "message": harm["message"]}
    session.absorb([entry(3, {"do": "undo"})])
    assert scene(session)["broken"]["harm"] == [] and session.data()["redo"] == 1


def test_a_link_to_a_broken_run_breaks_the_rule_again(session):
    session.absorb([entry(1, broken_rule("one_flag"))])
    other = ExploreSession()
    other.open(read_query(dict(parse_qsl(session.link()))))
    assert other.scenario.breaks == ("one_flag",)
    assert [own["name"] for own in scene(other)["broken"]["rules"]] == ["one_flag"]


@pytest.mark.slow
def test_where_no_single_edit_is_a_counterexample_the_run_stays_and_the_page_says_so(session):
    session.absorb([entry(1, broken_rule("by_reference")), entry(2, SEARCH)])
    assert session.data()["edits"] == ["broken: the state is recorded by reference"]
    assert session.data()["notice"]["text"].startswith("No single change of this run makes a check fail")


def test_a_run_that_is_a_counterexample_stays(session):
    session.open(Shared(scenario="star"))
    session.absorb([entry(1, broken_rule("records_late")), entry(2, SEARCH)])
    assert session.data()["edits"] == ["broken: the initiator records late"]
    assert session.data()["notice"]["text"].startswith("This run is a counterexample already: a check fails")


def test_an_edit_that_is_not_found_in_time_is_said_and_the_run_stays(session, monkeypatch):
    monkeypatch.setattr("views.explore.counterexample.SEARCH_S", 0.0)
    session.absorb([entry(1, broken_rule("by_reference")), entry(2, SEARCH), entry(3, broken_rule("one_flag"))])
    assert session.data()["edits"] == [
        "broken: the state is recorded by reference",
        "broken: one flag for all snapshots",
    ]
    session.absorb([entry(4, SEARCH)])
    assert session.data()["notice"]["text"].startswith("No counterexample was found in 0 seconds")


def test_a_rule_that_is_kept_has_no_counterexample(session):
    session.absorb([entry(1, SEARCH)])
    assert session.data()["undo"] == 0


def test_one_broken_rule_replaces_another_and_fifo_goes_with_any(session):
    names = ("fifo", "one_flag", "slips_in")
    session.absorb([entry(seq, broken_rule(name)) for seq, name in enumerate(names, 1)])
    assert session.scenario.breaks == ("fifo", "slips_in")
    session.absorb([entry(4, broken_rule("fifo", on=False))])
    assert session.scenario.breaks == ("slips_in",)


# --------------------------------------------------------------------------- the question


@pytest.mark.slow
def test_the_question_is_drawn_once_somebody_predicts_and_stays_through_other_runs(session):
    session.absorb([entry(1, ADD)])
    assert scene(session)["questions"] == {}, "an edit does not wait for it"
    session.absorb([entry(2, {"do": "look", "question": True})])
    assert scene(session)["questions"].keys() == {"down"}
    session.absorb([entry(3, {"do": "undo"})])
    assert scene(session)["questions"], "no outcome is shown in between"
    session.open(Shared(scenario="two_banks"))
    assert scene(session)["questions"]
    session.open(Shared(scenario="lecture"))
    session.absorb([entry(4, {"do": "look"}), entry(5, ADD)])
    assert session.notice is None and scene(session)["questions"] == {}


def test_a_run_of_a_round_comes_with_its_question(session):
    session.open(in_round(Shared(scenario="lecture"), "K7QF", 4711))
    assert scene(session)["questions"]
