"""The section of trade-offs without a browser: its cells, its form, measuring in the background, and its files."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import nullcontext
from html import escape
from itertools import product

import pytest
from streamlit.testing.v1 import AppTest

from pipeline.tradeoffs.cases import Asked, typical_scenario
from pipeline.tradeoffs.cells import lines_of
from pipeline.tradeoffs.claims import COLUMNS
from pipeline.tradeoffs.table import Table
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.document.files import parse_toml
from sim.edit.link import Shared
from tests.waiting import until
from views.compare import measuring, tradeoffs
from views.compare.measuring import forget, made_by, measure, table_of_the_app
from views.compare.tradeoffs import (
    FIRST,
    FORMS,
    MOST_RUNS_IN_A_CLASS,
    PAGE,
    cell_html,
    file_of,
    in_the_forms_words,
    wanted,
)
from views.explore import page as explore
from views.server import visitors
from views.server.jobs import DONE, FAILED, JOBS, STOPPED, Job, nothing

SMALL = Asked(topologies=("dag",), processes=(3,), marker_delays=("same",), paces=(20.0,), runs=1)


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    yield
    forget(None)


def section() -> None:
    from views.compare.tradeoffs import tradeoffs

    tradeoffs()


@pytest.fixture
def page() -> AppTest:
    return AppTest.from_function(section, default_timeout=60).run()


def button(page: AppTest, key: str) -> AppTest:
    return next(own for own in page.button if own.key == key).click().run()


def htmls(page: AppTest) -> str:
    return " ".join(own.proto.body for own in page.get("html"))


def test_the_table_is_never_empty(page: AppTest) -> None:
    assert not page.exception
    shown = htmls(page)
    assert "This comes with the app." in shown
    for line in lines_of(table_of_the_app()):
        assert escape(line.title) in shown
        for cell in line.cells:
            assert cell_html(cell) in shown
            opens = any(own.key == f"tradeoff-open-{line.algorithm}-{cell.column}" for own in page.button)
            assert opens == (line.algorithm in table_of_the_app().rows), "an unmeasured row has no typical run"


def test_a_cell_has_the_claim_what_was_measured_and_a_remark_that_is_marked_by_words() -> None:
    cells = {(line.algorithm, cell.column): cell for line in lines_of(table_of_the_app()) for cell in line.cells}
    shown = cell_html(cells["aligned_barriers", "latency"])
    assert "Latency impact" in shown and "“Low (Zero-Pause)”" in shown and "Blocked for" in shown
    assert "<b>± Depends on topology and delay of markers.</b>" in shown, "and it says on what"
    assert "<summary>It holds in " in shown and "on dag" in shown
    shown = cell_html(cells["chandy_lamport", "topology"])
    assert "<b>≠ Does not hold.</b> No full mesh is needed" in shown and "<details>" not in shown
    assert "Claim" not in cell_html(cells["mattern", "memory"])


def test_what_a_form_asks_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    given = dict(FIRST)
    assert wanted(given).runs_of_each <= MOST_RUNS_IN_A_CLASS, "what stands there at first may be asked for in a class"
    with pytest.raises(InputError, match="are the most"):
        wanted({**given, "runs": "100"})
    monkeypatch.setenv(visitors.CLASS_VARIABLE, "1")
    assert wanted({**given, "runs": "8"})
    with pytest.raises(InputError, match="600 are the most"):
        wanted({**given, "runs": "9"})
    assert in_the_forms_words("--marker-delay: 'x' is no delay") == "Delay of markers: 'x' is no delay"


def test_a_grid_that_is_wrong_is_told_in_the_words_of_the_form(page: AppTest) -> None:
    field = next(own for own in page.text_input if own.key == "tradeoff-processes")
    shown = htmls(field.set_value("99").run())
    assert "Processes: the table is measured on systems of 3 to 20 processes" in shown
    assert not any(own.key == "tradeoff-measure" for own in page.button)


@pytest.mark.slow
def test_another_grid_is_measured_in_the_background_and_kept(page: AppTest) -> None:
    for option, text in {
        "topology": "dag",
        "processes": "3",
        "marker_delay": "same",
        "pace": "20",
        "runs": "1",
    }.items():
        page = next(own for own in page.text_input if own.key == f"tradeoff-{option}").set_value(text).run()
    button(page, "tradeoff-measure")
    job = JOBS.latest(PAGE)
    assert job is not None
    until(lambda: job.is_over, "it is measured")
    assert (job.state, job.done) == (DONE, job.total)
    page = AppTest.from_function(section, default_timeout=60).run()
    assert "You measured this." in htmls(page) and "Banks of 3 processes" in htmls(page)
    assert "This comes with the app." in htmls(button(page, "tradeoff-forget"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("state", "problem", "reason", "told"),
    [
        (FAILED, "--delay: 'x' is no delay", None, "Delay of messages: &#x27;x&#x27; is no delay."),
        (
            STOPPED,
            None,
            "after 10 minutes others have their turn",
            "The measurement was stopped before all runs were done: after",
        ),
    ],
)
def test_why_there_is_no_new_table(
    state: str, problem: str | None, reason: str | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job("trade-offs", nothing, PAGE, state=state, problem=problem, reason=reason)
    monkeypatch.setattr(JOBS, "latest", lambda page, owner: job)
    page = AppTest.from_function(section, default_timeout=60).run()
    assert told in htmls(page) and "This comes with the app." in htmls(page)


@pytest.mark.slow
def test_what_is_cancelled_is_not_kept() -> None:
    stop = threading.Event()
    stop.set()
    measure(SMALL, "somebody", lambda done, total: None, stop)
    assert made_by("somebody") is None


def test_tables_of_visitors_are_their_own_and_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "MOST_KEPT", 2)
    monkeypatch.setattr(measuring, "measured_at_once", lambda *_: table_of_the_app())
    for owner in "abc":
        measure(SMALL, owner, lambda done, total: None, threading.Event())
    assert [made_by(owner) is None for owner in "abcd"] == [True, False, False, True]
    for owner in "bc":
        forget(owner)


@pytest.mark.slow
def test_a_table_that_is_missing_or_of_another_version_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing:
        name = "tradeoffs.json"

        def read_text(self, encoding: str) -> str:
            raise FileNotFoundError(2, "No such file or directory")

    table_of_the_app.cache_clear()
    monkeypatch.setattr(measuring, "TRADEOFFS", Missing())
    page = AppTest.from_function(section, default_timeout=60).run()
    assert not page.exception and "run make tradeoffs" in htmls(page)
    table_of_the_app.cache_clear()


def opened_from(table: Table, algorithm: str, column: str, monkeypatch: pytest.MonkeyPatch) -> Shared:
    seen: list[Shared] = []
    monkeypatch.setattr(explore, "show", seen.append)
    monkeypatch.setattr(tradeoffs, "for_this_tab", lambda: nullcontext(lambda: True))
    (line,) = [own for own in lines_of(table) if own.algorithm == algorithm]
    (cell,) = [own for own in line.cells if own.column == column]
    tradeoffs._open(table, line, cell)
    (shared,) = seen
    return shared


@pytest.mark.slow
def test_a_measured_cell_opens_a_typical_run_in_explore(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of_the_app()
    for algorithm, column in product(("copy_on_write", "uncoordinated"), COLUMNS):
        shared = opened_from(table, algorithm, column, monkeypatch)
        assert shared.toml is not None
        opened = parse_toml(shared.toml, "opened")
        (line,) = [own for own in lines_of(table) if own.algorithm == algorithm]
        (where,) = [own.typical for own in line.cells if own.column == column]
        assert where is not None
        scenario = typical_scenario(table.asked, algorithm, where)
        assert (opened.algorithm, opened.seed, opened.topology) == (algorithm, where.seed, scenario.topology)
        assert opened.title == f"{line.title}: {COLUMNS[column].lower()}"


@pytest.mark.parametrize("form", [*FORMS])
def test_the_table_is_saved_in_each_form(form: str) -> None:
    text = file_of(table_of_the_app(), form).decode("utf-8")
    assert all(
        name.title.replace("'", "’") in text.replace("'", "’") for name in map(ALGORITHMS.__getitem__, ALGORITHMS)
    )
    assert "Zero-Pause" in text
