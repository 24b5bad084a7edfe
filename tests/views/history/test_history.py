"""The History page: fields and words, and two entries as a table of what differs."""

from __future__ import annotations

import re

import pyarrow
import pytest
from streamlit.testing.v1 import AppTest

from pipeline.ensembles.grid import Grid
from pipeline.store import catalog
from pipeline.store.folder import Store
from pipeline.store.schema import RUN_TYPES, arrow_schema
from views.history.fields import compared, details, outcome_of, settings_of
from views.history.page import _key, as_table, in_a_line

GIVEN = {"workload": "bank", "processes": "3,5", "topology": "ring", "marker_delay": "exponential:2", "runs": "2"}


@pytest.fixture(autouse=True)
def root(monkeypatch, tmp_path):
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path))
    return tmp_path


def ensemble(root, name: str, **given: str) -> catalog.Entry:
    store = Store.create(root / name, "ensemble", Grid.read({**GIVEN, **given}).to_json())
    rows = [{"run_id": run, "snapshot_id": "S1", "failed": False, "latency": run * 10.0} for run in range(3)]
    store.write_part("runs", "all", pyarrow.Table.from_pylist(rows, arrow_schema(RUN_TYPES)))
    store.finish()
    return catalog.find(name)


def log(root) -> catalog.Entry:
    about = {"format": "shiviz", "files": ["/home/ada/logs/node.log"], "pattern": None, "delimiter": None}
    Store.create(root / "node", "trace", about).finish()
    return catalog.find("node")


def test_what_an_ensemble_was_settings_of_has_the_words_of_the_form(root):
    assert settings_of(ensemble(root, "a")) == {
        "What runs": "Bank (workload)", "Processes": "3, 5", "Topology": "ring", "Delay of messages": "1 to 9",
        "Delay of markers": "exponential 2", "Channels": "FIFO", "Algorithm": "Chandy-Lamport", "Initiators": "1",
        "Snapshots": "1", "Runs of each": "2", "First seed": "0",
        "Events kept": "of the first run of each combination, and of runs that fail",
    }  # fmt: skip


def test_a_scenario_is_named_and_not_written_out(root):
    store = Store.create(root / "s", "ensemble", Grid.read({"scenario": "lecture", "runs": "3"}).to_json())
    fields = settings_of(catalog.find(store.name))
    assert fields["What runs"] == "lecture (scenario)"
    assert not any("\n" in text or "[" in text for text in fields.values())


def test_a_log_is_told_without_the_folders_of_the_server(root):
    fields = settings_of(log(root))
    assert fields["Files"] == "node.log"
    assert "Lines" not in fields, "it was not given"


@pytest.mark.parametrize("make", [lambda root: ensemble(root, "a"), log], ids=["ensemble", "log"])
def test_nothing_is_told_in_the_words_of_a_program(root, make):
    entry = make(root)
    told = [in_a_line(entry), *details(entry).values(), *outcome_of(catalog.outcome(entry)).values()]
    assert not re.search(r"None|null|NULL|[{}\[\]\"]", " ".join(told))
    assert str(root) not in " ".join(told)


def test_two_entries_are_compared_field_by_field(root):
    first, second = ensemble(root, "a"), ensemble(root, "b", processes="3,7", seed="4")
    rows = compared(settings_of(first), settings_of(second))
    assert rows == [("Processes", "3, 5", "3, 7"), ("First seed", "0", "4")]
    assert compared(settings_of(first), settings_of(first)) == []
    assert ("Topology", "ring", "–") in compared(settings_of(first), settings_of(log(root)))
    came = [outcome_of(catalog.outcome(entry)) for entry in (first, second)]
    assert ("Time taken, the longest", "20", "20") in compared(*came, all_fields=True)


def test_names_are_texts_not_markup():
    assert "<b>" not in as_table([("<b>", "<b>")], ("", "<b>"))


def history() -> None:
    from views.history.page import page

    page({})


@pytest.mark.slow
def test_a_folder_that_cannot_be_read_is_told_without_its_path(root):
    (root / "strange").mkdir()
    page = AppTest.from_function(history, default_timeout=60).run()
    (row,) = page.dataframe[0].value.to_dict("records")
    assert (row["Name"], row["Status"]) == ("strange", "cannot be read")
    assert row["Settings"].startswith("strange: has no manifest, so its writing never began")
    assert str(root) not in str(row)


def test_another_list_is_another_table_in_which_nothing_is_ticked(root):
    (root / "first").mkdir()
    before = _key(catalog.entries())
    assert _key(catalog.entries()) == before
    (root / "another").mkdir()
    assert _key(catalog.entries()) != before
