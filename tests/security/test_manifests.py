"""Odd manifests, requests and parts: each is listed with its problem, breaks nothing else, and can be deleted."""

from __future__ import annotations

import io
import json
import os
import shutil
from contextlib import redirect_stdout
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from pipeline.__main__ import main
from pipeline.ensembles.grid import Grid
from pipeline.store import catalog
from pipeline.store.folder import Store
from pipeline.store.schema import RUN_TYPES, TRACE_TYPES, arrow_schema
from sim.core.errors import InputError
from tests.cases import check_each
from tests.security.odd_folders import ABOUT, GOOD, GRID, ODD, PLACED, RAW, folder
from tests.tools import examples
from views.history.fields import details, settings_of
from views.history.page import in_a_line

EVERY = {**ODD, **RAW, **PLACED}


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path))
    return tmp_path


pytestmark = pytest.mark.usefixtures("no_spark")


def history() -> None:
    from views.history.page import page

    page({})


def ensembles() -> None:
    from views.ensembles.page import page

    page()


def traces() -> None:
    from views.traces.page import page

    page()


def shown(page: Any, name: str) -> str:
    """The texts of a page whose address names a folder; it must not fail."""
    test = AppTest.from_function(page, default_timeout=60)
    test.query_params["data"] = name
    test.run()
    assert not test.exception
    return " ".join(element.proto.body for element in test.get("html"))


def test_an_odd_manifest_is_listed_with_its_problem_and_can_be_deleted(root: Path) -> None:
    folder(root, "good", GOOD)

    def check(name: str, manifest: Any) -> None:
        odd = folder(root, name, manifest)
        good, bad = (own for own in catalog.entries() if own.name in ("good", name))
        assert (good.name, good.problem, good.status) == ("good", None, "complete")
        assert bad.name == name
        assert str(bad.problem).startswith(str(odd))
        with pytest.raises(InputError):
            Store.open(odd)
        with pytest.raises(InputError):
            catalog.find(name)
        catalog.delete(name)
        assert not odd.exists()

    check_each({name: (f"odd-{number}", manifest) for number, (name, manifest) in enumerate(EVERY.items())}, check)


@pytest.mark.slow
def test_the_command_and_the_pages_hold_with_all_odd_manifests_at_once(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder(root, "good", GOOD)
    for number, manifest in enumerate([*EVERY.values(), *(GOOD | {"about": about} for about in ABOUT.values())]):
        folder(root, f"odd-{number}", manifest)
    assert main(["catalog"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == len(EVERY) + len(ABOUT) + 1
    assert main(["catalog", "list", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(EVERY) + len(ABOUT) + 1
    for page in (history, ensembles, traces):
        assert "cannot be listed" not in shown(page, "good")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(root: Path) -> None:
    path = folder(root, "pipe", lambda file: os.mkfifo(file))
    os.mkfifo(path / "_lock")
    assert "is no file" in str(catalog.entries()[0].problem)
    good = folder(root, "good", GOOD)
    (good / "runs").mkdir()
    os.mkfifo(good / "runs" / "part.parquet")
    with pytest.raises(InputError, match="is cut off or no Parquet file"):
        Store(good).rows("runs")
    catalog.delete("pipe")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates().map(str),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
CHANGES = st.dictionaries(st.sampled_from([*GOOD, "owner"]), JSON, max_size=3)
GRID_CHANGES = st.dictionaries(st.sampled_from(sorted(GRID)), JSON, max_size=3)


@examples(15)
@given(changes=CHANGES, about=GRID_CHANGES, kind=st.sampled_from(["ensemble", "trace"]))
def test_whatever_json_a_manifest_holds_it_is_read_or_has_a_problem(
    tmp_path_factory: pytest.TempPathFactory, changes: dict[str, Any], about: dict[str, Any], kind: str
) -> None:
    root = tmp_path_factory.mktemp("root")
    folder(root, "odd", {**GOOD, "kind": kind, "about": {**GRID, **about}, **changes})
    (entry,) = catalog.entries(root)
    assert isinstance(in_a_line(entry), str)
    if entry.problem is None:
        assert all(isinstance(text, str) for text in {**settings_of(entry), **details(entry)}.values())
        assert entry.store.status in ("running", "stopped", "complete")
        catalog.outcome(entry)
    with redirect_stdout(io.StringIO()):
        assert main(["catalog", "list", "--root", str(root), "--json"]) == 0


@given(JSON.filter(lambda value: isinstance(value, dict)) | GRID_CHANGES.map(lambda changes: {**GRID, **changes}))
def test_whatever_json_a_grid_is_read_from_it_is_a_grid_or_refused(values: dict[str, Any]) -> None:
    try:
        assert Grid.from_json(values).run_count >= 0
    except InputError as problem:
        assert "describes no grid" in str(problem)


def test_an_odd_request_is_listed_and_told(root: Path) -> None:
    """Every one in the list of History; that a page tells of it too, the next test sees."""

    def check(name: str, kind: str, about: Any) -> None:
        folder(root, name, GOOD | {"kind": kind, "about": about, "status": "stopped"})
        entry = catalog.find(name)
        assert all(isinstance(text, str) for text in settings_of(entry).values())
        assert isinstance(in_a_line(entry), str)

    cases = product(("ensemble", "trace"), ABOUT.items())
    named = {f"{kind}, {name}": (kind, about) for kind, (name, about) in cases}
    check_each({name: (f"odd-{number}", *own) for number, (name, own) in enumerate(named.items())}, check)


SOME = [("ensemble", "processes of texts"), ("ensemble", "too many runs"), ("trace", "a log's options lists")]
ALL = pytest.param([*product(("ensemble", "trace"), ABOUT)], marks=pytest.mark.long("every odd request on its page"))


@pytest.mark.slow
@pytest.mark.parametrize("requests", [SOME, ALL], ids=["some", "all"])
def test_an_odd_request_breaks_no_page(root: Path, requests: list[tuple[str, str]]) -> None:
    def check(kind: str, about: str) -> None:
        odd = folder(root, "odd", GOOD | {"kind": kind, "about": ABOUT[about], "status": "stopped"})
        assert 'role="alert"' in shown(ensembles if kind == "ensemble" else traces, "odd")
        shutil.rmtree(odd)

    check_each(requests, check)


WITHOUT_TABLES = pytest.mark.long("folders without tables, of each kind and status, on each page")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("ensemble", "complete"), ("trace", "running"),
        *(pytest.param(*own, marks=WITHOUT_TABLES) for own in product(("ensemble", "trace"), ("stopped",))),
        pytest.param("ensemble", "running", marks=WITHOUT_TABLES),
        pytest.param("trace", "complete", marks=WITHOUT_TABLES),
    ],
)  # fmt: skip
def test_a_folder_without_tables_is_told_on_each_page(root: Path, kind: str, status: str) -> None:
    folder(root, "bare", GOOD | {"kind": kind, "status": status, "rows": {}})
    assert ("holds an ensemble; open it" if kind == "ensemble" else 'role="alert"') in shown(traces, "bare")
    if kind == "trace":
        assert "holds a log; open it on the page Traces" in shown(ensembles, "bare")
    elif status == "complete":
        assert "holds no runs" in shown(ensembles, "bare")
    shown(history, "bare")


@pytest.mark.slow
def test_a_log_without_a_whole_execution_is_told(root: Path) -> None:
    def check(name: str, rows: list[dict[str, Any]]) -> None:
        store = Store.create(root / name, "trace", {"files": [], "format": "shiviz"})
        store.write_part("traces", "traces", pyarrow.Table.from_pylist(rows, arrow_schema(TRACE_TYPES)))
        store.finish()
        assert f"{name}: holds no complete execution" in shown(traces, name)

    nothing, set_aside, unknown = [], [{"run_id": 0, "problem": "it contradicts itself"}], [{"run_id": 0, "name": None}]
    check_each([("no-rows", nothing), ("all-set-aside", set_aside), ("nothing-known", unknown)], check)


def cut_off(part: Path) -> None:
    part.write_bytes(part.read_bytes()[:-9])


def damage(part: Path) -> None:
    """Overwrites the pages, and leaves the end of the file, which says what is in it."""
    found = part.read_bytes()
    part.write_bytes(found[:4] + b"\xff" * (len(found) // 4) + found[4 + len(found) // 4 :])


def replace_by_a_folder(part: Path) -> None:
    part.unlink()
    part.mkdir()


@pytest.mark.slow
@pytest.mark.parametrize("harm", [cut_off, damage, replace_by_a_folder])
def test_a_damaged_part_is_one_sentence_at_every_door(
    root: Path, capsys: pytest.CaptureFixture[str], harm: Any
) -> None:
    for name in ("a", "b"):
        store = Store.create(root / name, "ensemble", GRID)
        rows = [{"run_id": run, "snapshot_id": "S1", "latency": run * 1.0, "seed": run} for run in range(2000)]
        store.write_part("runs", "all", pyarrow.Table.from_pylist(rows, arrow_schema(RUN_TYPES)))
        store.finish()
    harm(root / "a" / "runs" / "all.parquet")
    for command in (["compare", "a", "b"], ["open", "a"]):
        assert main(["catalog", *command]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert main(["catalog"]) == 0
    if harm is damage:
        shown(ensembles, "a")
    catalog.delete("a")


@pytest.mark.slow
def test_clocks_that_jump_change_the_order_and_no_more(root: Path) -> None:
    folder(root, "later", GOOD | {"created": "2027-01-01T00:00:00+00:00", "finished": "2026-12-31T23:00:00+00:00"})
    folder(root, "no-zone", GOOD | {"created": "2026-12-31", "finished": None})
    folder(root, "far-east", GOOD | {"created": "2026-12-31T08:00:00+09:00"})
    assert [entry.name for entry in catalog.entries()] == ["later", "no-zone", "far-east"]
    told = details(catalog.find("later"))
    assert told["Begun"] == "2027-01-01 00:00 UTC"
    assert told["Finished"] == "2026-12-31 23:00 UTC (the computer's clock was set back meanwhile)"
    assert details(catalog.find("far-east"))["Begun"] == "2026-12-30 23:00 UTC"
    shown(history, "later")
