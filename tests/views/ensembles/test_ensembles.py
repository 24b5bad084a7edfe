"""The Ensembles page without a browser: its form, its sentences, and the way from a row to the run."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from contextlib import nullcontext

import pyarrow
import pytest
from streamlit.testing.v1 import AppTest

from diagrams.charts import measures
from pipeline import examples
from pipeline.ensembles.cells import cells_of, is_busy
from pipeline.ensembles.grid import Grid
from pipeline.ensembles.measure import describe, measure
from pipeline.ensembles.options import DEFAULTS, NONE
from pipeline.ensembles.rerun import scenario_of
from pipeline.store import schema
from pipeline.store.folder import Store
from pipeline.store.schema import RUN_TYPES, arrow_schema
from sim import VERSION
from sim.core.algorithm import ALGORITHMS
from sim.core.errors import InputError
from sim.core.workload import WORKLOADS
from sim.document.files import parse_toml
from sim.edit.link import Shared
from sim.run.execution import run
from sim.run.snapshots import snapshots_of
from sim.verify.checks import verdicts_of
from tests.tools import ROOT
from views.ensembles import words as texts
from views.ensembles.form import in_the_forms_words
from views.ensembles.results import in_a_sentence, who_was_slowest
from views.ensembles.single_runs import outcome, story
from views.explore import opening
from views.explore import page as explore
from views.explore.session import ExploreSession

GIVEN = {"workload": "bank", "processes": "3", "topology": "line", "marker_delay": "4", "runs": "2", "seed": "5"}


@pytest.mark.slow
def test_no_page_brings_spark_with_it():
    modules = (
        "views.explore.page, views.ensembles.page, views.ensembles.results, views.history.page, views.explore.opening"
    )
    program = f"import sys, {modules}\nsys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False).returncode == 0


# ------------------------------------------------------------------ the form


def form() -> None:
    import streamlit as st

    from sim.core.errors import InputError
    from views.ensembles.form import FormState, grid_form

    def start(wanted: FormState) -> None:
        if wanted.name == "taken":
            raise InputError("name: there is one already")
        st.session_state["wanted"] = wanted

    grid_form(start)


@pytest.fixture
def page() -> AppTest:
    return AppTest.from_function(form, default_timeout=60).run()


def field(page: AppTest, label: str):
    return next(widget for widget in page.text_input if widget.label == label)


def complaints(page: AppTest) -> list[str]:
    return [element.proto.body for element in page.get("html") if 'role="alert"' in element.proto.body]


def test_one_click_asks_for_a_thousand_runs_under_a_name_of_its_own(page):
    page.button[0].click().run()
    wanted = page.session_state["wanted"]
    assert wanted.grid.run_count == 1_000
    assert wanted.name.startswith("bank-20")
    assert any("1,000 runs" in caption.value for caption in page.caption)


def test_one_click_asks_for_what_the_example_shows(page):
    page.button[0].click().run()
    asked = dataclasses.replace(page.session_state["wanted"].grid, events=NONE)
    assert asked == Grid.read(examples.GRID, examples.PARAMETERS)


def test_what_is_wrong_is_said_beside_the_form_and_nothing_is_lost(page):
    field(page, "Processes").set_value("3, many").run()
    (complaint,) = complaints(page)
    assert "Processes: " in complaint
    assert "many" in complaint
    assert "--" not in complaint
    assert field(page, "Processes").value == "3, many"
    field(page, "Processes").set_value("3, 4").run()
    assert complaints(page) == []


def test_what_the_page_says_against_it_is_said_there_too(page):
    field(page, "Name").set_value("taken")
    page.button[0].click().run()
    assert "there is one already" in complaints(page)[0]
    assert field(page, "Name").value == "taken"


def test_a_scenario_is_tried_with_markers_around_its_own(page):
    page.selectbox[0].set_value(("scenario", "two_banks")).run()
    page.button[0].click().run()
    grid = page.session_state["wanted"].grid
    assert grid.name == "two_banks"
    assert grid.cell_count == 5
    assert [widget.label for widget in page.text_input][:3] == ["Delay of messages", "Delay of markers", "Runs of each"]


def test_what_a_storage_is_told_is_part_of_the_grid(page):
    page.selectbox[0].set_value(("scenario", "saturated_storage")).run()
    field(page, "Jitter of uploads").set_value("0..0.5:0.25")
    field(page, "Uploads at a time").set_value("2, 3").run()
    page.button[0].click().run()
    grid = page.session_state["wanted"].grid
    assert (grid.storage_jitter, grid.storage_limit, grid.storage_bandwidth) == ((0.0, 0.25, 0.5), (2, 3), ())
    field(page, "Uploads at a time").set_value("many").run()
    assert "Uploads at a time: " in complaints(page)[0] and "--" not in complaints(page)[0]


def test_parameters_of_the_workload_are_part_of_the_grid(page):
    field(page, "Pace").set_value("2, 8").run()
    page.button[0].click().run()
    assert page.session_state["wanted"].grid.parameters["pace"] == (2.0, 8.0)


def chosen(page: AppTest, label: str):
    return next(widget for widget in page.multiselect if widget.label == label)


def test_the_algorithms_there_are_may_be_chosen_and_several_of_them(page):
    assert chosen(page, "Algorithm").options == [ALGORITHMS[name].title for name in ALGORITHMS]
    assert chosen(page, "Algorithm").value == [DEFAULTS["algorithm"]]
    chosen(page, "Algorithm").set_value(list(ALGORITHMS)).run()
    page.button[0].click().run()
    assert page.session_state["wanted"].grid.algorithms == tuple(ALGORITHMS)
    page.selectbox[0].set_value(("scenario", "two_banks")).run()
    assert chosen(page, "Algorithm").value == []
    page.button[0].click().run()
    assert page.session_state["wanted"].grid.algorithms == ()


def test_channels_may_be_fifo_or_not(page):
    assert chosen(page, "Channels").value == ["yes"]
    chosen(page, "Channels").set_value(["yes", "no"]).run()
    page.button[0].click().run()
    grid = page.session_state["wanted"].grid
    assert grid.fifo == ("yes", "no")
    with pytest.raises(InputError) as refusal:
        cells_of(grid)
    told = in_the_forms_words(str(refusal.value))
    assert told.startswith("Channels: Chandy-Lamport needs FIFO channels and cannot be combined with")


@pytest.mark.slow
def test_a_workload_says_itself_with_what_the_form_starts(page):
    for name in WORKLOADS:
        if is_busy(name):
            page.selectbox[0].set_value(("workload", name)).run()
            shown = {p: field(page, p.replace("_", " ").capitalize()).value for p in WORKLOADS[name].parameters}
            assert {parameter: text for parameter, text in shown.items() if text} == WORKLOADS[name].busy_at_first


def test_complaints_have_the_labels_of_the_form():
    assert in_the_forms_words("--marker-delay: 'x' is no delay") == "Delay of markers: 'x' is no delay"
    assert in_the_forms_words("give fewer --runs") == "give fewer runs"


def test_how_much_a_grid_is_in_words():
    grid = Grid.read(GIVEN)
    assert texts.size(grid.cell_count, grid.runs, grid.run_count) == "1 combination × 2 = **2 runs**"


# ------------------------------------------------------------------ what came of it


def cell(**more):
    nothing = {f"{column}_{share}": None for column in ("latency", "recorded_messages") for share in (0, 100)}
    return {"snapshots": 50, "failures": 0, "errors": 0, **nothing, **more}


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([cell(), cell()], "No check fails in 100 snapshots."),
        ([cell(failures=3), cell()], '<span class="cut-bad">3 of 100 snapshots fail a check.</span>'),
        ([cell(failures=5, errors=5)], '<span class="cut-bad">5 runs could not be carried out.</span>'),
        (
            [cell(latency_0=2.0, latency_100=9.5, recorded_messages_0=0.0, recorded_messages_100=4.0), cell()],
            "They took 2 to 9.5 time units and found 0 to 4 messages in the channels.",
        ),
        (
            [cell(latency_0=2.0, latency_100=2.0, recorded_messages_0=1.0, recorded_messages_100=1.0)],
            "They took 2 time units and found 1 message in the channels. All runs are alike",
        ),
    ],
)
def test_what_came_of_it_in_a_sentence(cells, words):
    assert words in in_a_sentence(cells)


def test_no_failure_is_told_where_only_errors_are():
    assert "fail a check" not in in_a_sentence([cell(failures=5, errors=5)])


# ------------------------------------------------------------------ from a row to the run


@pytest.fixture
def rows():
    document = cells_of(Grid.read(GIVEN, {"transfers": "6"}))[0].document
    found = []
    for run_id in range(2):
        row = {
            "run_id": run_id,
            "cell": 0,
            "seed": 5 + run_id,
            "document": document,
            "scenario": None,
            "error": None,
            "version": VERSION,
        }
        scenario = scenario_of(row)
        found += [{**row, **describe(scenario), **each} for each in measure(run(scenario))]
    return found


@pytest.fixture
def store(tmp_path, rows):
    store = Store.create(tmp_path / "bank-8", "ensemble", {})
    store.write_part("runs", "all", pyarrow.Table.from_pylist(rows, arrow_schema(RUN_TYPES)))
    return store


def test_a_row_opens_as_the_very_run_where_its_snapshot_is_complete(store, rows, monkeypatch):
    opened: list[Shared] = []
    monkeypatch.setattr(explore, "show", opened.append)
    monkeypatch.setattr(opening, "for_this_tab", lambda: nullcontext(lambda: True))
    opening.open_run(store, 1, "S1", story(rows[1], store.name))
    (shared,) = opened
    original, found = run(scenario_of(rows[1])), run(shared.base())
    assert found.events == original.events
    assert verdicts_of(found) == verdicts_of(original)
    (snapshot,) = snapshots_of(found)
    assert shared.step == snapshot.completed
    assert shared.base().title == "Run 1 of bank-8"
    assert "seed 6" in shared.base().story
    assert "FIFO" not in shared.base().story
    assert "Not every channel is FIFO." in story(rows[1] | {"fifo": False}, store.name)


def test_what_another_page_opens_is_a_session_of_its_own_that_the_browser_does_not_replace():
    session = ExploreSession(is_chosen=True)
    session.open(Shared(scenario="lecture", step=3))
    data = session.data()
    assert data["chosen"]
    assert (data["undo"], data["redo"], data["step"]) == (0, 0, 3)


def test_a_run_in_words(rows):
    words = outcome(rows[0])
    assert words.startswith("S1: it took ")
    assert words.endswith("every check holds")
    assert "1 message in" in outcome(rows[0] | {"recorded_messages": 1})
    assert "did not complete" in outcome(rows[0] | {"latency": None})
    assert outcome(rows[0] | {"failed": True, "witness": "consistency: message A"}).endswith(
        "but consistency: message A"
    )
    assert outcome(rows[0] | {"error": "no money"}) == "could not run: no money"


HELD = """
processes = ["P1", "P2"]
snapshots = [{ id = "S1", process = "P1", at = 1 }]
delays = [{ channel = "P1->P2", kind = "marker", snapshot = "S1", delay = inf }]
"""


def test_a_run_that_never_completes_opens_at_its_end():
    scenario = parse_toml(HELD, "held")
    assert snapshots_of(run(scenario))[0].completed is None
    assert opening.step_of(scenario, "S1") == run(scenario).steps
    assert opening.step_of(scenario, None) == 0


def test_who_was_slowest_in_words():
    assert who_was_slowest([{"process": "P1", "snapshots": 3}, {"process": "<P2>", "snapshots": 1}]) == (
        "<b>P1</b> was slowest most often: it finished last in 3 of 4 snapshots."
    )
    told = who_was_slowest([{"process": "P1", "snapshots": 2}, {"process": "<P2>", "snapshots": 2}])
    assert told == "<b>P1</b> and <b>&lt;P2&gt;</b> were slowest most often: each finished last in 2 of 4 snapshots."


def test_measures_of_a_storage_are_offered_where_there_is_one():
    without = [{f"{name}_50": None if name in ("refusals", "stored_bytes") else 1.0 for name in measures.MEASURES}]
    offered = [own.column for own in measures.measured(without)]
    assert offered == [name for name in measures.MEASURES if name not in ("refusals", "stored_bytes")]
    assert measures.measured([*without, {"refusals_50": 0.0}])[offered.index("faults") + 2].column == "refusals"
    assert measures.measured([{"failed": True}]) == list(measures.MEASURES.values())


def test_every_measure_that_can_be_drawn_is_in_the_summaries():
    assert set(measures.MEASURES) <= set(schema.MEASURES)
