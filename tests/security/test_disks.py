"""Disks that are full, read-only or gone: one sentence, nothing half-made, nothing lost, and an honest status."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pyarrow
import pytest
from streamlit.testing.v1 import AppTest

from pipeline.__main__ import main
from pipeline.ensembles import run
from pipeline.ensembles.grid import Grid
from pipeline.spark import session as spark_session
from pipeline.store import catalog
from pipeline.store.folder import Store
from pipeline.store.schema import AUDIT_TYPES, RUN_TYPES, arrow_schema
from sim.core.errors import InputError
from tests.security.odd_folders import GRID
from tests.tools import ROOT
from views.ensembles import page as ensembles
from views.server.jobs import FAILED, Job

ROWS = pyarrow.Table.from_pylist([{"run_id": 0}], arrow_schema(RUN_TYPES))
SMALL = ["ensemble", "--processes", "2", "--runs", "1", "--out"]


@pytest.fixture(autouse=True)
def root(no_spark: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("CONSISTENT_CUT_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.setattr(spark_session, "session", lambda stop=None: None)
    monkeypatch.setattr(spark_session, "is_own", lambda spark: True)
    return tmp_path / "data"


def fails_with(number: int) -> Callable[..., NoReturn]:
    def fail(*_: Any, **__: Any) -> NoReturn:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No file can be written to the disk any more."""
    monkeypatch.setattr(os, "fsync", fails_with(errno.ENOSPC))
    return monkeypatch


def everything(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() if path.is_file() else b"" for path in root.rglob("*")}


# ------------------------------------------------------------------ a start


@pytest.mark.parametrize(
    ("where", "number"),
    [("os.fsync", errno.ENOSPC), ("os.mkdir", errno.EROFS), ("os.open", errno.EACCES), ("os.chmod", errno.EIO)],
)
@pytest.mark.parametrize("out", ["bank", "deep/in/folders"])
def test_a_start_that_fails_leaves_nothing_behind(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    where: str, number: int, out: str,
) -> None:  # fmt: skip
    log = ROOT / "examples" / "order.log"
    for command in ([*SMALL, str(root / out)], ["ingest", str(log), "--format", "shiviz", "--out", str(root / out)]):
        with monkeypatch.context() as patch:
            patch.setattr(where, fails_with(number))
            assert main(command) == 2
        told = capsys.readouterr().err
        assert told == f"{root / out}: cannot be written ({os.strerror(number)}); make room, or name another folder\n"
        assert everything(tmp_path) == {}


def test_nor_does_one_that_is_interrupted(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(number: int) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Store.create(root / "bank", "ensemble", GRID)
    assert everything(tmp_path) == {}


def test_a_start_into_an_empty_folder_leaves_it_as_it_was(root: Path, full: pytest.MonkeyPatch) -> None:
    (root / "mine").mkdir(parents=True)
    with pytest.raises(InputError, match="No space left on device"):
        Store.create(root / "mine", "ensemble", GRID)
    assert everything(root) == {"mine": b""}


def test_a_folder_that_a_version_before_left_empty_is_deleted(root: Path) -> None:
    for name in ("empty", "with-a-hidden-file", "with-tables"):
        (root / name).mkdir(parents=True)
    (root / "with-a-hidden-file" / "_0123456789ab-manifest.json").write_text("{")
    (root / "with-tables" / "_found-01234567" / "violates=false").mkdir(parents=True)
    (root / "with-tables" / "events").mkdir()
    (root / "with-tables" / "events" / "part.parquet").write_text("")
    for name in ("empty", "with-a-hidden-file", "with-tables"):
        assert "its writing never began" in str(catalog.entry_of(root / name).problem)
        assert main(["catalog", "delete", name]) == 0
    assert everything(root) == {}


def test_what_is_not_ours_is_never_deleted(root: Path) -> None:
    for name, file in (("notes", "thesis.txt"), ("photos", "events/beach.jpg"), ("code", "src/main.py")):
        (root / name / file).parent.mkdir(parents=True)
        (root / name / file).write_text("mine")
        with pytest.raises(InputError, match="no data folder of ours; delete it yourself"):
            catalog.delete(name)
        assert (root / name / file).read_text() == "mine"


# ------------------------------------------------------------------ while it is written


def test_a_full_disk_on_resume_is_one_sentence(
    root: Path, full: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda number: None)
        Store.create(root / "bank", "ensemble", GRID).finish("stopped")
    before = everything(root)
    assert main(["ensemble", "--resume", "--out", str(root / "bank")]) == 2
    assert capsys.readouterr().err.endswith("make room, or name another folder\n")
    assert everything(root) == before
    assert catalog.find("bank").status == "stopped"


def test_the_status_is_honest_when_the_end_cannot_be_written(root: Path, full: pytest.MonkeyPatch) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda number: None)
        store = Store.create(root / "bank", "ensemble", GRID)
    assert catalog.find("bank").status == "running"
    for write in (lambda: store.write_part("runs", "all", ROWS), store.finish):
        with pytest.raises(InputError, match="No space left on device"):
            write()
    assert catalog.find("bank").status == "stopped"
    assert not any(path.name.startswith("_") for path in store.path.rglob("*"))


ATTEMPTS = """
import sys
from pathlib import Path
from pipeline.store.folder import Store
from sim.core.errors import InputError
path = Path(sys.argv[1])
for attempt in (lambda: Store.create(path / "new", "ensemble", {}), lambda: Store.open(path).mark_running()):
    try:
        attempt()
    except InputError as problem:
        print(problem)
"""


@pytest.mark.slow
def test_a_disk_that_is_really_full(root: Path) -> None:
    """No file may grow: the program is a process of its own, whose limit the system enforces."""
    resource = pytest.importorskip("resource")
    made = Store.create(root / "bank", "ensemble", GRID)
    made.finish("stopped")
    done = subprocess.run(
        [sys.executable, "-B", "-c", ATTEMPTS, str(made.path)], cwd=ROOT, capture_output=True, text=True, check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )  # fmt: skip
    told = done.stdout.splitlines()
    assert len(told) == 2
    assert all("cannot be written (File too large); make room" in line for line in told)
    assert [path.name for path in made.path.iterdir()] == ["manifest.json"]
    assert catalog.find("bank").status == "stopped"


def test_a_folder_that_is_deleted_while_it_is_written_stays_deleted(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def delete_at_once(*_: Any) -> Any:
        shutil.rmtree(root / "bank")
        Store(root / "bank").write_part("runs", "all", ROWS)
        yield

    monkeypatch.setattr(run, "run_on_workers", delete_at_once)
    job = Job(
        "bank", lambda progress, stop: ensembles._begin(root / "bank", Grid.from_json(GRID), None, progress, stop)
    )
    job.run()
    assert (job.state, "cannot be written (No such file or directory)" in str(job.problem)) == (FAILED, True)
    assert everything(root) == {}


def test_one_that_is_made_anew_meanwhile_is_left_alone(root: Path) -> None:
    store = Store.create(root / "bank", "ensemble", GRID)
    shutil.rmtree(root / "bank")
    again = Store.create(root / "bank", "ensemble", GRID)
    with pytest.raises(InputError, match="bank: was deleted while it was written; begin anew"):
        store.finish()
    assert again.status == "running"
    assert again.is_being_written


def test_a_table_stays_when_its_successor_cannot_take_its_place(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.create(root / "bank", "ensemble", GRID)
    rows = pyarrow.Table.from_pylist([{"run_id": 7}], arrow_schema(AUDIT_TYPES))
    store.write_part("audits", "old", rows)
    with pytest.raises(InputError, match="No space left on device"), store.replacing("audits") as new:
        new.keep(new.write_part("audits", "new", rows))
        monkeypatch.setattr(os, "fsync", fails_with(errno.ENOSPC))
    assert [part.name for part in store.parts("audits")] == ["old"]
    assert store.rows("audits").to_table(["run_id"]).to_pylist() == [{"run_id": 7}]


# ------------------------------------------------------------------ deleting


def test_what_cannot_be_deleted_is_told_and_never_taken_for_whole(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store.create(root / "bank", "ensemble", GRID)
    store.write_part("runs", "all", ROWS)
    assert main(["catalog", "delete", "bank"]) == 2
    assert "is being written; stop that first" in capsys.readouterr().err
    store.finish()
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", fails_with(errno.EIO))
        assert main(["catalog", "delete", "bank"]) == 2
        assert capsys.readouterr().err.startswith(f"{store.path}: cannot be deleted (Input/output error)")
    assert "deleted in part" in str(catalog.entry_of(store.path).problem)
    assert main(["catalog", "delete", "bank"]) == 0
    assert everything(root) == {}


# ------------------------------------------------------------------ the data root


def pages() -> None:
    import streamlit as st

    from views.ensembles import page as ensembles
    from views.history import page as history
    from views.traces import page as traces

    {"ensembles": ensembles.page, "traces": traces.page, "history": lambda: history.page({})}[st.query_params["page"]]()


def told(page: str, data: str = "") -> list[str]:
    """The errors on a page whose address names a folder."""
    test = AppTest.from_function(pages, default_timeout=60)
    test.query_params["page"] = page
    test.query_params["data"] = data
    test.run()
    assert not test.exception
    return [html for element in test.get("html") if 'role="alert"' in (html := element.proto.body)]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["ensembles", "traces", "history"])
def test_a_data_root_that_is_a_file_is_told_on_each_page(root: Path, page: str) -> None:
    root.write_text("")
    (problem,) = told(page)
    assert "The data folder: cannot be listed (Not a directory)" in problem
    assert main(["catalog"]) == 2


@pytest.mark.slow
@pytest.mark.parametrize("page", ["ensembles", "traces"])
def test_a_data_root_or_a_folder_that_vanishes_while_it_is_on_show_is_told(root: Path, page: str) -> None:
    Store.create(root / "bank", "ensemble" if page == "ensembles" else "trace", GRID).finish()
    shutil.rmtree(root / "bank")
    assert "There is no data folder &#x27;bank&#x27;" in told(page, "bank")[0]
    root.rmdir()
    assert "There is no data folder &#x27;bank&#x27;" in told(page, "bank")[0]
    assert told("history") == []
    Store.create(root / "bank", "ensemble", GRID)
    assert [entry.name for entry in catalog.entries()] == ["bank"]
