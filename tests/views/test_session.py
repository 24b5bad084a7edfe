"""The history of scenarios behind the Explore page, without a browser."""

from __future__ import annotations

import pytest

from sim import library
from sim.files import parse_toml
from sim.scenario import ScenarioError
from views.session import ExploreSession, sentence

ADD = {"do": "internal", "process": "P1", "at": 50}
IMPOSSIBLE = {"do": "internal", "process": "Nobody", "at": 50}


def entry(seq: int, edit: dict[str, object]) -> dict[str, object]:
    return {"seq": seq, "step": 0, "time": 0.0, "edit": edit}


@pytest.fixture
def session() -> ExploreSession:
    session = ExploreSession()
    session.open(library.load("lecture"))
    return session


def test_an_edit_makes_a_new_version_and_a_new_revision(session):
    before = session.data()
    session.absorb([entry(1, ADD)])
    after = session.data()
    assert (after["ack"], after["undo"], len(after["edits"])) == (1, 1, 1)
    assert after["revision"] > before["revision"]
    assert len(after["scene"]["steps"]) == len(before["scene"]["steps"]) + 1


def test_an_outbox_that_comes_twice_is_applied_once(session):
    session.absorb([entry(1, ADD)])
    session.absorb([entry(1, ADD), entry(2, ADD)])
    session.absorb([entry(1, ADD), entry(2, ADD)])
    assert (session.ack, len(session.history)) == (2, 3)


def test_a_refused_edit_leaves_everything_and_says_why(session):
    before = session.data()
    session.absorb([entry(1, IMPOSSIBLE)])
    after = session.data()
    assert after["notice"]["level"] == "error"
    assert "Nobody" in after["notice"]["text"]
    assert after["ack"] == 1
    assert {**after, "ack": 0, "notice": None} == before


def test_the_next_good_edit_clears_the_notice(session):
    session.absorb([entry(1, IMPOSSIBLE), entry(2, ADD)])
    assert session.notice is None


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


def test_a_scenario_that_cannot_run_is_not_opened(session, monkeypatch):
    before = session.data()

    def refuse(scenario, **_options):
        raise ScenarioError("P1 has no money")

    monkeypatch.setattr("views.session.run", refuse)
    with pytest.raises(ScenarioError):
        session.open(library.load("lecture"))
    assert session.data() == before


@pytest.mark.parametrize("outbox", [None, "x", [None], [{"seq": "1"}], [{"seq": 1, "time": 0, "edit": []}]])
def test_what_is_no_outbox_is_ignored(session, outbox):
    session.absorb(outbox)
    assert (session.ack, session.notice) == (0, None)


@pytest.mark.parametrize("edit", [{"do": ["delay"]}, {"do": "delay", "message": "H", "delay": 1}])
def test_what_is_no_edit_is_ignored(session, edit):
    session.absorb([entry(1, edit)])
    assert (session.ack, session.notice) == (0, None)


@pytest.mark.parametrize("edit", [{"do": "fly"}, {"do": "delay", "message": {}}, {"do": "send", "to": 7}])
def test_a_malformed_edit_is_refused_in_one_sentence(session, edit):
    session.absorb([entry(1, edit)])
    assert "\n" not in session.data()["notice"]["text"]


def test_sentences_begin_with_a_capital_unless_with_a_name():
    assert sentence("there is none") == "There is none."
    assert sentence("bad.toml: is empty") == "bad.toml: is empty."
    assert sentence("Done!") == "Done!"


def test_what_is_too_big_for_a_page_is_refused_and_the_page_keeps_what_it_had(session):
    before = session.data()
    crowd = parse_toml("processes = 102", "crowd")
    with pytest.raises(ScenarioError, match="10302 channels"):
        session.open(crowd)
    text = 'processes = 2\nworkload = { kind = "bank", transfers = 20000 }'
    with pytest.raises(ScenarioError, match="bound its workload"):
        session.open(parse_toml(text, "endless"))
    assert session.data() == before


def test_edits_that_cannot_be_drawn_are_taken_back(session, monkeypatch):
    def refuse(scenario):
        raise ScenarioError("too big")

    before = session.data()
    monkeypatch.setattr("views.session.draw", refuse)
    session.absorb([entry(1, {"do": "internal", "process": "P1", "at": 5})])
    after = session.data()
    assert (after["edits"], after["scene"], after["ack"]) == (before["edits"], before["scene"], 1)
    assert after["notice"]["text"] == "Too big."
