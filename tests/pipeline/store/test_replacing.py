"""A process that is killed while it replaces tables leaves all old or all new ones, and the next one goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow
import pytest

from pipeline.store import storage_lock
from pipeline.store.folder import Store
from pipeline.store.local_folder import LocalFolder
from pipeline.store.place import Place
from pipeline.store.schema import TABLES, arrow_schema
from tests.pipeline.s3 import BUCKET, s3
from tests.tools import ROOT

pytestmark = pytest.mark.slow

OLD, NEW, NEXT = 1, 2, 3  # the run_id of all rows of a generation
STEPS = ("write", "rename", "remove")


def table(name: str, run: int) -> pyarrow.Table:
    return pyarrow.Table.from_pylist([{"run_id": run}], arrow_schema(TABLES[name]))


def replace(store: Store, run: int) -> None:
    """Replaces two tables, each of two parts."""
    with store.replacing("audits", "channels") as new:
        for name in ("audits", "channels"):
            for part in "ab":
                new.keep(new.write_part(name, part, table(name, run)))


def runs_in(where: str) -> list[int]:
    """The run_ids of both tables."""
    store = Store(where)
    return [run for name in ("audits", "channels") for run in store.rows(name).to_table()["run_id"].to_pylist()]


def begun(where: str) -> Store:
    """A folder with tables that were never replaced."""
    store = Store.create(where, "trace", {})
    for name in ("audits", "channels"):
        for part in "abc":
            store.write_part(name, part, table(name, OLD))
    store.finish()
    return store


def check_whole_and_go_on(where: str, is_new: bool) -> None:
    assert runs_in(where) == ([NEW] * 4 if is_new else [OLD] * 6)
    replace(Store(where), NEXT)
    assert runs_in(where) == [NEXT] * 4
    seen = [file for name in ("audits", "channels") for file in Store(where).place.names(name) if file[0] != "_"]
    assert len(seen) == 4, "a reader that knows nothing of generations sees what counts"


class At:
    """Calls `die` before the step of a number at a place; `put` tells whether the tables had been put in place."""

    def __init__(self, place: Place, number: int, die: object) -> None:
        self.left, self.put = number, False
        for name in STEPS:
            setattr(place, name, self._counted(getattr(place, name), die))

    def _counted(self, act, die):  # type: ignore[no-untyped-def]
        def step(name: str, *given: object) -> None:
            self.left -= 1
            if self.left == -1:  # once
                die()
            act(name, *given)
            self.put |= name == "_tables.json"

        return step


# ------------------------------------------------------------------ killed, for good

KILLED = """
import os, signal, sys
from tests.pipeline.store.test_replacing import At, NEW, replace
from pipeline.store.folder import Store
from pipeline.store.local_folder import LocalFolder
kill = lambda: os.kill(os.getpid(), signal.SIGKILL)
for number, folder in enumerate(sys.argv[1:]):
    if not os.fork():
        store = Store(folder)
        At(store.place, number, kill)
        replace(store, NEW)
        os._exit(0)
for _ in sys.argv[1:]:
    print(os.waitstatus_to_exitcode(os.wait()[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_killed_at_each_step_on_a_file_system(tmp_path: Path) -> None:
    steps = 4 + 1 + 6 + 4  # new parts, the file of generations, old parts, new names
    folders = [begun(str(tmp_path / f"{number}")).address for number in range(steps + 1)]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *folders], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert sorted(map(int, done.stdout.split())) == [-signal.SIGKILL] * steps + [0], done.stderr
    for number, folder in enumerate(folders):
        check_whole_and_go_on(folder, is_new=number > 4)


# ------------------------------------------------------------------ interrupted, at a storage too


@pytest.fixture(scope="module", params=["here", "s3"])
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if request.param == "here":
        yield str(tmp_path_factory.mktemp("root"))
        return
    with s3(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(storage_lock, "SETTLE_S", 0.0)
        yield f"s3://{BUCKET}/replacing"


def interrupt() -> None:
    raise KeyboardInterrupt


OTHERS = pytest.param((0, 9, 11), marks=pytest.mark.long("interrupted at further steps of replacing tables"))


@pytest.mark.parametrize("numbers", [(4, 5, 14), OTHERS])  # of 15
def test_interrupted_at_a_step(root: str, numbers: Sequence[int]) -> None:
    for number in numbers:
        store = begun(f"{root}/{number}")
        at = At(store.place, number, interrupt)
        with pytest.raises(KeyboardInterrupt):
            replace(store, NEW)
        check_whole_and_go_on(store.address, at.put)


def test_an_answer_that_is_lost_loses_no_table(root: str) -> None:
    """The storage has written which tables count, and this process does not get to know it."""
    store = begun(f"{root}/answer")
    write = store.place.write

    def write_and_fail(name: str, *given: object) -> None:
        write(name, *given)  # type: ignore[arg-type]
        if name == "_tables.json":
            raise OSError("the connection was reset")

    store.place.write = write_and_fail  # type: ignore[method-assign]
    with pytest.raises(Exception, match="cannot be written"):
        replace(store, NEW)
    check_whole_and_go_on(store.address, is_new=True)


def test_what_is_written_late_adds_nothing_to_tables_that_were_replaced(root: str) -> None:
    store = begun(f"{root}/late")
    late = store.adding()
    replace(store, NEW)
    late.write_part("audits", "late", table("audits", OLD))
    assert runs_in(store.address) == [NEW] * 4
    now = store.adding()
    now.write_part("audits", "more", table("audits", NEW))
    assert runs_in(store.address) == [NEW] * 5
    replace(store, NEXT)
    now.write_part("audits", "more", table("audits", NEW))
    assert runs_in(store.address) == [NEXT] * 4


def test_two_that_replace_tables_of_one_folder_do_not_lose_each_others(tmp_path: Path) -> None:
    """The second began before the first had ended: both tables count, and no part that counts is removed."""
    store = Store.create(tmp_path / "one", "ensemble", {})
    for table in ("audits", "channels", "runs"):
        store.write_part(table, "old", arrow_schema(TABLES[table]).empty_table())
    with store.replacing("runs") as first:
        with Store(tmp_path / "one").replacing("audits", "channels") as second:
            second.keep(second.write_part("audits", "new", arrow_schema(TABLES["audits"]).empty_table()))
            with Store(tmp_path / "one").replacing("audits", "channels") as third:
                third.keep(third.write_part("audits", "newer", arrow_schema(TABLES["audits"]).empty_table()))
        first.keep(first.write_part("runs", "new", arrow_schema(TABLES["runs"]).empty_table()))
    names = {table: [part.name for part in store.parts(table)] for table in ("audits", "channels", "runs")}
    assert names == {"audits": ["new"], "channels": ["empty"], "runs": ["new"]}
    for table in names:
        (file,) = (store.path / table).iterdir()
        assert file.name[0] != "_", "readers that know nothing of generations see what counts"


def test_who_is_killed_while_it_tidies_leaves_more_rather_than_less_and_the_next_one_finishes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.create(tmp_path / "one", "ensemble", {})
    empty = arrow_schema(TABLES["audits"]).empty_table()
    store.write_part("audits", "old", empty)
    with monkeypatch.context() as patch, pytest.raises(SystemExit), store.replacing("audits") as new:
        for name in ("a", "b"):
            new.keep(new.write_part("audits", name, empty))

        def killed(*_: object) -> None:
            raise SystemExit

        patch.setattr(LocalFolder, "remove", killed)
    files = {file.name for file in (store.path / "audits").iterdir()}
    assert files == {f"{name}.{new.generation}.parquet" for name in ("a", "b")} | {"old.parquet"}
    assert [part.name for part in store.parts("audits")] == ["a", "b"]
    with store.replacing("channels"):
        pass
    assert len(list((store.path / "audits").iterdir())) == 2
