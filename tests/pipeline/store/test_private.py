"""Data folders are private to their owner with any umask, except if workers on a cluster are other users."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pyarrow
import pytest

from pipeline.store.folder import Store
from pipeline.store.schema import AUDIT_TYPES, RUN_TYPES, arrow_schema

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such modes")

ROWS = pyarrow.Table.from_pylist([{"run_id": 0}], arrow_schema(RUN_TYPES))
AUDITS = pyarrow.Table.from_pylist([{"run_id": 0}], arrow_schema(AUDIT_TYPES))


@pytest.fixture(params=[0, 0o022, 0o077, 0o177], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(path: Path) -> set[str]:
    """The modes of a folder and of all that is in it."""
    return {stat.filemode(one.lstat().st_mode) for one in (path, *path.rglob("*"))}


def test_all_that_is_written_is_for_its_owner_alone(
    tmp_path: Path, umask: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    store = Store.create(tmp_path / "new" / "root" / "bank", "ensemble", {})
    store.write_part("runs", "all", ROWS)
    with store.replacing("audits") as new:
        new.keep(new.write_part("audits", "all", AUDITS))
    assert modes(tmp_path / "new") == {"drwx------", "-rw-------"}
    store.finish()
    assert modes(tmp_path / "new") == {"drwx------", "-rw-------"}


def test_a_folder_of_a_version_before_is_closed_when_it_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    store = Store.create(tmp_path / "bank", "ensemble", {})
    store.finish("stopped")
    store.path.chmod(0o755)
    again = Store.open(store.path)
    again.mark_running()
    again.write_part("runs", "all", ROWS)
    assert modes(tmp_path / "bank") == {"drwx------", "-rw-------"}
    again.finish()
    store.path.chmod(0o755)
    with again.replacing("audits") as new:  # as summarize and audit do
        new.keep(new.write_part("audits", "all", AUDITS))
    assert modes(tmp_path / "bank") == {"drwx------", "-rw-------"}


def test_on_a_cluster_the_owner_decides_and_parts_follow_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_REMOTE", "sc://somewhere")
    before = os.umask(0o002)
    try:
        store = Store.create(tmp_path / "bank", "ensemble", {})
    finally:
        os.umask(before)
    assert modes(store.path) == {"drwxrwxr-x", "-rw-rw-r--"}
    store.path.chmod(0o2770)
    Store(store.path).write_part("runs", "all", ROWS)  # as a worker does
    assert modes(store.path / "runs") == {"drwxrws---", "-rw-rw----"}
    store.finish()
    assert store.path.stat().st_mode & 0o7777 == 0o2770


def test_the_table_of_another_user_is_written_as_far_as_that_user_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.create(tmp_path / "bank", "ensemble", {})
    (store.path / "audits").mkdir()
    change = os.chmod

    def only_files(path: object, mode: int, **options: bool) -> None:
        if Path(str(path)).is_dir():
            raise PermissionError(1, "Operation not permitted")
        change(str(path), mode, **options)

    monkeypatch.setattr(os, "chmod", only_files)
    with store.replacing("audits") as new:
        new.keep(new.write_part("audits", "all", AUDITS))
    store.write_part("audits", "more", AUDITS)
    assert len(store.parts("audits")) == 2
