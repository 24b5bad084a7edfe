"""The route that answers with an export, without a browser."""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from urllib.parse import urlencode

import pytest
from starlette.applications import Starlette

from diagrams.export import draws_rows, exporter, formats
from diagrams.scene.composition import Scene, compose
from diagrams.scene.row import row_of
from sim.core.errors import InputError
from sim.document import library
from sim.edit.compared import all_compared
from sim.edit.link import Shared
from views.explore.session import ExploreSession
from views.widgets import exports
from views.widgets.look import Look
from views.widgets.outbox import SESSIONS

app = Starlette(routes=exports.ROUTES)


@dataclass
class Answer:
    """The answer of the app."""

    status_code: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()


def fetch(path: str, **asked: object) -> Answer:
    """Ask the app as a server does."""
    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "headers": [], "http_version": "1.1",
        "query_string": urlencode(asked).encode(), "scheme": "http", "root_path": "", "server": ("127.0.0.1", 80),
    }  # fmt: skip
    sent: list[dict] = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message):
        sent.append(message)

    with ThreadPoolExecutor(1) as thread:  # a browser test may have a loop running in this one
        thread.submit(asyncio.run, app(scope, receive, send)).result()
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], headers, b"".join(message.get("body", b"") for message in sent[1:]))


@pytest.fixture
def session() -> ExploreSession:
    session = ExploreSession()
    session.open(Shared(scenario="lecture"))
    return session


def get(session: ExploreSession, name: str, **asked: object):
    return fetch(f"/export/{session.id}/{name}", **asked)


@pytest.mark.slow
@pytest.mark.parametrize("name", formats())
def test_every_format_comes_as_a_file_of_its_kind(session, name):
    answer = get(session, name, step=3, orientation="right", theme="dark", **{"from": 2, "to": 4})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].startswith(exporter(name).MEDIA_TYPE)
    filename = re.fullmatch(r'attachment; filename="([\w.-]+)"', answer.headers["content-disposition"])
    assert filename is not None
    assert filename[1].startswith("lecture")
    assert filename[1].endswith(exporter(name).SUFFIX)
    assert answer.content


@pytest.mark.slow
def test_names_say_which_step_or_steps(session):
    named = {
        name: get(session, name, step=12, **steps).headers["content-disposition"]
        for name, steps in {"svg": {}, "gif": {"from": 2, "to": 3}, "toml": {}}.items()
    }
    assert 'filename="lecture-step-12.svg"' in named["svg"]
    assert 'filename="lecture-steps-2-3.gif"' in named["gif"]
    assert 'filename="lecture.toml"' in named["toml"]


def test_a_name_that_is_no_file_name_is_made_one(session):
    session.open(Shared(toml='processes = ["P1"]', name='../a"b\r\n/ü'))
    assert 'filename="a-b.toml"' in get(session, "toml").headers["content-disposition"]


def test_the_present_edits_are_exported(session):
    before = get(session, "toml").text
    edit = {"do": "internal", "process": "P1", "at": 50}
    session.absorb([{"seq": 1, "step": 0, "time": 0.0, "edit": edit}])
    after = get(session, "toml").text
    assert len(tomllib.loads(after)["script"]) == len(tomllib.loads(before)["script"]) + 1


def test_a_picture_arranges_the_processes_as_the_page_does_and_a_table_has_them_all(session):
    before = {name: get(session, name).text for name in ("svg", "csv")}
    session.absorb([{"seq": 1, "step": 0, "time": 0.0, "edit": {"do": "look", "hidden": ["P2"]}}])
    assert ">P2<" in before["svg"]
    assert ">P2<" not in get(session, "svg").text
    assert get(session, "csv").text == before["csv"]


@pytest.mark.slow
def test_a_picture_and_a_page_have_the_cut_that_is_on_show_and_one_of_another_run_is_refused(session):
    assert get(session, "svg", cut="2.3.1").content != get(session, "svg").content
    assert get(session, "html", cut="2.3.1", tab="cut").status_code == 200
    for name in ("svg", "html"):
        refused = get(session, name, cut="9.0.0")
        assert (refused.status_code, refused.text.count("\n")) == (400, 0)
        assert "P1 has 5 events" in refused.text


def test_a_picture_takes_what_the_page_asks_about_its_sheet(session):
    asked = {"width": "84mm", "font-size": "9pt", "crop": "9..13", "no-axis": "yes", "step": "12"}
    answer = get(session, "svg", **asked)
    assert answer.status_code == 200, answer.text
    assert 'filename="lecture-step-12-crop-9-13.svg"' in answer.headers["content-disposition"]
    assert 'width="238.11pt"' in answer.text
    for given in asked:
        assert get(session, "svg", **{key: value for key, value in asked.items() if key != given}).text != answer.text


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"width": "84"}, "give a length from 72pt to 2400pt with its unit, such as 84mm."),
        ({"width": "80pt", "font-size": "36pt"}, "is too narrow for letters of 36pt"),
        ({"crop": "3"}, "give the first and the last one, such as 3..7."),
        ({"crop": "13..9"}, "the first one first."),
        ({"legend": "perhaps"}, "is neither yes nor no; give one of them."),
    ],
)
def test_what_a_sheet_cannot_be_is_said_without_flags(session, asked, words):
    answer = get(session, "svg", **asked)
    assert answer.status_code == 400
    assert words in answer.text and "--" not in answer.text


def test_a_picture_of_too_many_dots_is_refused_and_without_dots_it_is_made(session):
    huge = {"width": "2400pt", "font-size": "36pt"}
    answer = get(session, "png", **huge)
    assert (answer.status_code, "--" in answer.text) == (400, False)
    assert answer.text.startswith("A PNG holds at most 20,000,000 dots, and this picture has 10,000 x ")
    assert [get(session, name, **huge).status_code for name in ("svg", "pdf")] == [200, 200]


def test_what_is_not_given_is_the_last_step_as_the_scenario_has_it(session):
    last = session.scene.last
    assert f"lecture-step-{last}.svg" in get(session, "svg").headers["content-disposition"]
    assert get(session, "svg").content == get(session, "svg", step=last, theme="light").content


@pytest.mark.parametrize(
    "asked",
    [
        {"step": "99999"}, {"step": "-1"}, {"step": "x"}, {"step": "1" * 50}, {"step": "1e3"}, {"orientation": "up"},
        {"theme": "pink"}, {"from": "1"}, {"to": "1"}, {"from": "0", "to": "99999"},
        {"from": "<b>", "to": "2"}, {"theme": "../x"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["svg", "deck"])
def test_bad_parameters_are_answered_in_one_sentence(session, name, asked):
    answer = get(session, name, **asked)
    assert answer.status_code == 400
    assert answer.headers["content-type"].startswith("text/plain")
    assert "\n" not in answer.text
    assert answer.text[0].isupper()
    assert answer.text.endswith(".")
    assert "--" not in answer.text, "a page has no command line"


def test_a_range_of_pages_has_its_first_step_first(session):
    answer = get(session, "deck", **{"from": 5, "to": 2})
    assert (answer.status_code, "give a range of them" in answer.text) == (400, True)


def test_unknown_sessions_and_formats_are_not_found(session):
    assert fetch("/export/nobody/svg").status_code == 404
    answer = get(session, "docx")
    assert answer.status_code == 404
    assert "svg" in answer.text
    assert get(session, "__init__").status_code == 404


def test_what_a_format_refuses_is_told(session, monkeypatch):
    def refuse(scene, view):
        raise InputError("too many steps; choose fewer")

    monkeypatch.setattr(exporter("svg"), "export", refuse)
    answer = get(session, "svg")
    assert (answer.status_code, answer.text) == (400, "Too many steps; choose fewer.")


# ------------------------------------------------------------------ several runs as one figure


@dataclass(eq=False)
class SeveralRuns:
    """A session that shows several runs, as far as exports know it."""

    row: tuple[tuple[str, Scene | str], ...]
    id: str = "several"
    look: Look = field(default_factory=Look)

    @property
    def scene(self) -> Scene:
        return next(own for _, own in self.row if isinstance(own, Scene))


@pytest.fixture
def several() -> Iterator[SeveralRuns]:
    found = all_compared(library.load("lecture"), ["aligned_barriers", "mattern", "lai_yang"])
    own = SeveralRuns(tuple((own.title, compose(own.execution) if own.execution else own.refused) for own in found))
    SESSIONS[own.id] = own
    yield own


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in formats() if draws_rows(name)])
def test_a_session_with_several_runs_is_exported_as_one_figure(several, name):
    answer = get(several, name, step=12, theme="dark", **{"from": 2, "to": 4})
    assert answer.status_code == 200, answer.text[:200]
    assert f'filename="lecture-compared-step-12{exporter(name).SUFFIX}"' in answer.headers["content-disposition"]
    alone = fetch(f"/export/{several.id}/{name}", step=12, theme="dark", orientation="right")
    assert name == "caption" or alone.content != answer.content


def test_its_figure_names_each_run_and_has_the_table_that_is_asked_for(several):
    text = get(several, "svg").text
    assert all(f">{title}<" in text for title, _ in several.row)
    assert ">Markers<" not in text and ">Markers<" in get(several, "svg", figures="yes").text
    assert "there is none." in text, "the refusal has its full stop"


def test_its_steps_are_those_of_all_its_runs(several):
    last = row_of(several.row).last
    assert last > max(own.last for _, own in several.row if isinstance(own, Scene))
    assert get(several, "svg").content == get(several, "svg", step=last).content
    assert f"compared-step-{last}.svg" in get(several, "svg").headers["content-disposition"]
    refused = get(several, "svg", step=last + 1)
    assert (refused.status_code, refused.text) == (400, f"Step {last + 1}: these runs have steps 0 to {last}.")


@pytest.mark.parametrize(
    ("name", "asked", "words"),
    [
        ("csv", {}, "The format csv holds one run; for several algorithms as one figure, use one of svg, png, pdf, "),
        ("deck", {}, "The format deck holds one run;"),
        ("svg", {"crop": "3..5"}, "crop: does not apply to several algorithms in one figure; leave it out."),
        ("svg", {"drawing": "proof"}, "drawing: does not apply to several algorithms in one figure; leave it out."),
    ],
)
def test_what_several_runs_cannot_be_is_said_in_a_sentence(several, name, asked, words):
    answer = get(several, name, **asked)
    assert answer.status_code == 400
    assert answer.text.startswith(words) and "--" not in answer.text and "\n" not in answer.text


def test_one_run_has_no_table_beside_it(session):
    assert session.row == ()
    assert get(session, "svg", figures="yes").content == get(session, "svg").content


def test_where_no_algorithm_can_run_there_is_nothing_to_draw(several):
    several.row = several.row[:1]
    answer = get(several, "svg")
    assert (answer.status_code, answer.text) == (
        400, "None of these algorithms can run this scenario; name another one.",
    )  # fmt: skip
