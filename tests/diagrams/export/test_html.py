"""The stand-alone page as a file; what it does in a browser is in tests/e2e/pages/test_export_page.py."""

from __future__ import annotations

import base64
import gzip
import json
import re

import pytest

from diagrams.export import read_options
from diagrams.export.html import MOST_STEPS, export
from diagrams.scene.composition import compose
from diagrams.scene.view import View
from sim.core.errors import InputError
from sim.document import library
from sim.document.files import parse_toml
from sim.run.execution import run
from tests.cases import each_of


def page_of(scenario, **view) -> str:
    scene = compose(run(scenario))
    return export(scene, View.of(scene, **view)).decode()


def data_in(page: str) -> dict:
    found = re.search(r'<script type="application/gzip" id="run">([A-Za-z0-9+/=]+)</script>', page)
    assert found is not None
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


@pytest.mark.slow
@each_of(12, "the pages of all scenarios", lambda: [name for name in library.names() if name != "hundred"])
def test_every_scenario_is_one_file_under_six_megabytes(name):
    page = page_of(library.load(name))
    assert len(page.encode()) < 6_000_000
    assert "default-src 'none'" in page
    assert not re.search(r"""<(?:link|img|iframe|object|embed)\b|<script[^>]*\bsrc=|@import""", page)
    data = data_in(page)
    assert set(data["scene"]["figures"]) == {"down", "right"}


@pytest.mark.slow
def test_it_starts_at_the_step_and_orientation_that_were_chosen():
    data = data_in(page_of(library.load("lecture"), step=7, orientation="right"))
    assert (data["step"], data["scene"]["orientation"]) == (7, "right")


@pytest.mark.slow
def test_it_holds_the_lattice_where_that_is_small():
    told = data_in(page_of(library.load("lecture"), tab="lattice", predicate="C21.messages == 1"))
    assert told["shown"] == {"tab": "lattice", "predicate": "C21.messages == 1"}
    assert len(told["scene"]["lattice"]["cuts"]) == 31
    assert told["scene"]["lattice"]["predicate"]["definitely"]["holds"]
    assert data_in(page_of(library.load("hundred")))["scene"]["lattice"] is None


@pytest.mark.slow
def test_it_opens_with_what_is_on_show():
    lecture = library.load("lecture")
    assert data_in(page_of(lecture))["shown"] == {}
    assert data_in(page_of(lecture, cut="P1=2,P2=3"))["shown"] == {"tab": "cut", "cut": "2.3.0"}
    shown = {"tab": "lattice", "cut": "2.3.1", "predicate": "P1.events > 1"}
    assert data_in(page_of(lecture, **shown))["shown"] == shown


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"tab": "xyz"}, "--tab 'xyz' is not known; say cut or lattice or proof"),
        ({"swaps": "banana"}, "such as at-5-4"),
    ],
)
def test_what_it_cannot_open_with_is_refused(said, told):
    with pytest.raises(InputError, match=told):
        read_options("html", said)
    assert read_options("html", {"tab": "proof", "swaps": "at-5-4", "snapshot": "S1"})


def test_it_opens_with_the_page_of_a_snapshot():
    shown = data_in(page_of(library.load("lecture"), tab="proof", snapshot="S1", swaps="1"))["shown"]
    assert shown == {"tab": "proof", "proof": "S1", "swaps": "1"}


def test_no_text_of_a_scenario_can_become_markup():
    title = "</script><script>alert(1)</script>\u2028<!--"
    text = f'title = "{title}"\nprocesses = ["P1", "P2"]\nstory = "</style><b>&amp;"'
    page = page_of(parse_toml(text, "evil"))
    assert "alert(1)</script>" not in page
    assert page.count("<script") == 3
    assert data_in(page)["scene"]["title"] == title


def test_what_is_too_long_says_what_to_choose_instead(monkeypatch):
    monkeypatch.setattr("diagrams.export.html.MOST_STEPS", 5)
    with pytest.raises(InputError, match=r"at most 5 steps.*choose"):
        page_of(library.load("lecture"))
    assert MOST_STEPS == 5_000
