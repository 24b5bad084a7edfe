"""Opening a user's own files."""

from __future__ import annotations

import pytest

from sim.core.errors import InputError
from sim.document.scenario import Scenario
from sim.run.execution import run
from views.server.uploads import shared_from


def scenario_from(files: dict[str, bytes]) -> Scenario:
    return shared_from(files).base()


TOP = b"2\nN1 1\nN2 0\nN1 N2\nN2 N1\n"
EVENTS = b"send N1 N2 1\nsnapshot N2\ntick 8\n"
TOML = b'title = "Two"\nprocesses = ["P1", "P2"]\n'


def test_a_toml_file_is_named_by_its_stem():
    assert scenario_from({"two.toml": TOML}).name == "two"


def test_a_case_is_a_top_and_an_events_file():
    assert run(scenario_from({"a.top": TOP, "a.events": EVENTS})).steps > 0


def test_a_case_may_bring_its_delays():
    delayed = scenario_from({"a.top": TOP, "a.events": EVENTS, "d.json": b"[0, 1, 2, 3]"})
    assert list(delayed.delay.values) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"a.top": TOP},
        {"a.toml": TOML, "b.toml": TOML},
        {"a.toml": TOML, "a.top": TOP, "a.events": EVENTS},
        {"a.pickle": b"cos\nsystem\n"},
        {"a.toml": b"\xff\xfe"},
        {"a.toml": b"x" * 1_000_001},
        {"a.toml": b"processes = ["},
        {"a.toml": b"processes = true"},
        {"a.top": TOP, "a.events": b"fly N1\n"},
        {"a.top": TOP, "a.events": EVENTS, "d.json": b"{}"},
        {"a.top": TOP, "a.events": EVENTS, "d.json": b"[" * 5000},
    ],
)
def test_what_is_no_scenario_is_refused_in_one_sentence(files):
    with pytest.raises(InputError) as problem:
        scenario_from(files)
    text = str(problem.value)
    assert text
    assert "\n" not in text
    assert len(text) < 300
    assert all(name in text for name in list(files)[-1:])
