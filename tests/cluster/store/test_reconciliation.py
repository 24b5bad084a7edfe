"""After any crash the registry and the storage agree, and nothing is lost that was committed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.model import Status
from cluster.node.folder import LOCK, locked
from cluster.start.reconciliation import ENDED, reconcile
from cluster.store.chains import chain_of, needed_by
from cluster.store.checkpoints import CheckpointStore, Damaged
from cluster.store.holder import Holder
from cluster.store.manifest import PartEntry
from cluster.store.registry import Registry
from sim.core.errors import InputError
from tests.cluster.store.dying import killed_after
from tests.cluster.store.stored import CLUSTER, NODES, begin, content, manifest, row, store, take, unkeep
from tests.tools import ROOT, examples


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    opened = Registry.open_folder(tmp_path)
    begin(opened)
    yield opened
    opened.close()


@pytest.fixture
def checkpoints(tmp_path: Path) -> CheckpointStore:
    (tmp_path / "root").mkdir()
    return CheckpointStore({"main": str(tmp_path / "root")}, CLUSTER)


def agree(registry: Registry, checkpoints: CheckpointStore) -> None:
    """Every snapshot that is kept reads back whole, every other one has ended, and nothing else is stored."""
    needed: dict[str, set[str]] = {}
    for kept in registry.kept():
        assert kept.status is Status.COMPLETED
        stored = checkpoints.read_manifest("main", kept.id)
        assert (kept.size, kept.manifest_uri) == (stored.size, checkpoints.uri("main", kept.id))
        needed.setdefault(kept.id, set())
        for part in needed_by(stored, lambda id: checkpoints.read_manifest("main", id)):
            found = checkpoints.read_part("main", part.snapshot, part.entry)
            assert found == content(part.snapshot, part.entry.node)
            needed.setdefault(part.snapshot, set()).add(part.entry.node)
    assert registry.running() == []
    assert checkpoints.found("main").parts == needed
    assert checkpoints.found("main").manifests == needed.keys()
    assert checkpoints.found("main").temporary == ()
    assert reconcile(registry, checkpoints) == []


def kept(registry: Registry) -> set[str]:
    return {snapshot.id for snapshot in registry.kept()}


def failed(registry: Registry, id: str) -> str:
    """The reason of a snapshot that is FAILED, and not kept."""
    found = registry.snapshot(id)
    assert found and found.status is Status.FAILED and not found.is_kept and found.ended_at
    return found.reason


# ---------------------------------------------------------------------- one crash each


def test_nothing_is_mended_where_nothing_is_wrong(registry: Registry, checkpoints: CheckpointStore) -> None:
    take(registry, checkpoints, "snap-1")
    take(registry, checkpoints, "snap-2", "snap-1")
    unkeep(registry, checkpoints, take(registry, checkpoints, "snap-3"))
    registry.put(row("snap-4", Status.CANCELLED, reason="asked for"))
    before = registry.page(None, 10)
    assert reconcile(registry, checkpoints) == []
    assert registry.page(None, 10) == before
    agree(registry, checkpoints)


@pytest.mark.parametrize("status", [Status.INITIATED, Status.IN_PROGRESS])
def test_what_was_under_way_has_failed_and_its_parts_are_deleted(
    registry: Registry, checkpoints: CheckpointStore, status: Status
) -> None:
    registry.put(row("snap-1", status))
    checkpoints.write_part("main", "snap-1", "P1", b"half")
    assert reconcile(registry, checkpoints) == [
        f"snap-1 is FAILED: {ENDED}",
        "snap-1: deleted from main, since it has no manifest",
    ]
    assert failed(registry, "snap-1") == ENDED
    agree(registry, checkpoints)


def test_what_was_committed_is_completed_though_the_registry_did_not_hear_of_it(
    registry: Registry, checkpoints: CheckpointStore
) -> None:
    registry.put(row("snap-1", Status.IN_PROGRESS, nodes=NODES))
    stored = store(checkpoints, "snap-1", number=3)
    assert reconcile(registry, checkpoints) == ["snap-1 was committed when the cluster ended: it is COMPLETED"]
    done = row(
        "snap-1", Status.COMPLETED, nodes=NODES, completed=NODES, size=stored.size, is_kept=True, initiator="P1",
        ended_at=stored.committed_at, manifest_uri=checkpoints.uri("main", "snap-1"),
    )  # fmt: skip
    assert registry.snapshot("snap-1") == done
    agree(registry, checkpoints)


def test_a_manifest_that_was_damaged_when_the_cluster_ended_commits_nothing(
    registry: Registry, checkpoints: CheckpointStore
) -> None:
    registry.put(row("snap-1", Status.IN_PROGRESS))
    store(checkpoints, "snap-1")
    file(checkpoints, "snap-1.json").write_text("{")
    mends = reconcile(registry, checkpoints)
    assert len(mends) == 2 and "snap-1.json is no JSON" in mends[0]
    assert failed(registry, "snap-1").startswith(ENDED)
    agree(registry, checkpoints)


def test_what_a_controller_writes_after_it_has_lost_its_registry_is_deleted(
    registry: Registry, checkpoints: CheckpointStore
) -> None:
    """The first one stands still in front of its manifest; the second has begun meanwhile, and found no manifest."""
    take_lease = [registry.take_lease(replace(Holder.here(Path("/a")), pid=pid), registry.lease()) for pid in (1, 2)]
    assert take_lease == [True, True]
    registry.put(row("snap-1", nodes=NODES))
    assert reconcile(registry, checkpoints) == ["snap-1 is FAILED: the cluster ended while it was under way"]
    for number, lease in ((1, 1), (2, 1), (3, 2)):
        parts = tuple(checkpoints.write_part("main", f"snap-{number}", node, b"x") for node in NODES)
        own = replace(manifest(f"snap-{number}", parts, number=number), details={"lease": lease})
        checkpoints.write_manifest("main", own)
    reconcile(registry, checkpoints)
    found = {name: registry.snapshot(name) for name in ("snap-1", "snap-2", "snap-3")}
    assert {name: own.status if own else None for name, own in found.items()} == {
        "snap-1": Status.FAILED, "snap-2": None, "snap-3": Status.COMPLETED,
    }  # fmt: skip
    assert checkpoints.found("main").snapshots == {"snap-3"}


def test_manifests_without_a_row_are_taken_in_in_the_order_of_their_commits(
    registry: Registry, checkpoints: CheckpointStore
) -> None:
    for id, number in (("snap-0003-a", 1), ("snap-0001-b", 2), ("snap-0002-c", 3)):
        store(checkpoints, id, number=number)
    parts = (checkpoints.write_part("main", "snap-0004-d", "P1", content("snap-0004-d", "P1")),)
    checkpoints.write_manifest("main", manifest("snap-0004-d", parts, number=4, epoch=5))
    assert len(reconcile(registry, checkpoints)) == 4
    assert [each.id for each in registry.page(None, 9)] == ["snap-0004-d", "snap-0002-c", "snap-0001-b", "snap-0003-a"]
    last, of_0, epoch = registry.last_completed(), registry.last_completed(0), registry.last_epoch()
    assert last and last.id == "snap-0004-d" and of_0 and of_0.id == "snap-0002-c"
    assert epoch and epoch.number == 5
    assert registry.reserve(1)[0] == 5
    agree(registry, checkpoints)


def test_temporary_files_are_deleted(registry: Registry, checkpoints: CheckpointStore) -> None:
    take(registry, checkpoints, "snap-1")
    for name in (".1.tmp", "snap-1/.2.tmp"):
        file(checkpoints, name).write_text("half")
    assert reconcile(registry, checkpoints) == ["main: 2 temporary files deleted"]
    agree(registry, checkpoints)


def test_what_is_kept_no_longer_is_deleted(registry: Registry, checkpoints: CheckpointStore) -> None:
    registry.put(replace(take(registry, checkpoints, "snap-1"), is_kept=False))
    assert reconcile(registry, checkpoints) == ["snap-1: deleted from main, since it is not kept"]
    found = registry.snapshot("snap-1")
    assert found and found.status is Status.COMPLETED
    agree(registry, checkpoints)


def test_a_stray_part_of_a_kept_snapshot_is_deleted(registry: Registry, checkpoints: CheckpointStore) -> None:
    take(registry, checkpoints, "snap-1")
    checkpoints.write_part("main", "snap-1", "P3", b"stray")
    assert reconcile(registry, checkpoints) == ["snap-1: 1 part deleted from main, since nothing needs them"]
    agree(registry, checkpoints)


# ---------------------------------------------------------------------- damage


def file(checkpoints: CheckpointStore, name: str) -> Path:
    """A file of the cluster in the root."""
    return Path(checkpoints.uri("main", "x").removeprefix("file://")).parent / name


def lose(path: Path) -> None:
    path.unlink()


def turn(path: Path) -> None:
    found = bytearray(path.read_bytes())
    found[len(found) // 2] ^= 1
    path.write_bytes(bytes(found))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [lose, turn, cut])
@pytest.mark.parametrize("name", ["snap-1.json", "snap-1/P2.part"])
def test_what_cannot_be_read_back_is_failed_with_the_reason_and_the_rest_is_kept(
    registry: Registry, checkpoints: CheckpointStore, damage: Callable[[Path], None], name: str
) -> None:
    take(registry, checkpoints, "snap-0")
    take(registry, checkpoints, "snap-1")
    damage(file(checkpoints, name))
    mends = reconcile(registry, checkpoints)
    assert mends[0] == f"snap-1 is FAILED: {failed(registry, 'snap-1')}"
    assert f"{CLUSTER}/{name} is " in mends[0]
    assert kept(registry) == {"snap-0"}
    agree(registry, checkpoints)


@pytest.mark.parametrize("name", ["snap-1.json", "snap-1/P2.part"])
def test_what_is_built_on_what_is_damaged_is_failed_too(
    registry: Registry, checkpoints: CheckpointStore, name: str
) -> None:
    take(registry, checkpoints, "snap-1")
    take(registry, checkpoints, "snap-2", "snap-1")
    take(registry, checkpoints, "snap-3", "snap-2")
    take(registry, checkpoints, "snap-4", "snap-1", whole=NODES)
    turn(file(checkpoints, name))
    reconcile(registry, checkpoints)
    for id in ("snap-1", "snap-2", "snap-3"):
        assert name in failed(registry, id)
    assert kept(registry) == {"snap-4"}
    agree(registry, checkpoints)


def test_what_a_kept_snapshot_is_built_on_stays_part_by_part(registry: Registry, checkpoints: CheckpointStore) -> None:
    one = take(registry, checkpoints, "snap-1")
    two = take(registry, checkpoints, "snap-2", "snap-1", whole=("P1",))
    take(registry, checkpoints, "snap-3", "snap-2")
    for each in (one, two):
        registry.put(replace(each, is_kept=False))
    assert reconcile(registry, checkpoints) == ["snap-1: 1 part deleted from main, since nothing needs them"]
    assert checkpoints.found("main").parts == {"snap-1": {"P2"}, "snap-2": set(NODES), "snap-3": set(NODES)}
    assert kept(registry) == {"snap-3"}
    agree(registry, checkpoints)
    registry.put(replace(take(registry, checkpoints, "snap-4"), is_kept=False))
    found = registry.snapshot("snap-3")
    assert found
    registry.put(replace(found, is_kept=False))
    assert len(reconcile(registry, checkpoints)) == 4
    assert checkpoints.found("main").snapshots == set()


def test_bases_that_lead_in_a_circle_are_damaged(registry: Registry, checkpoints: CheckpointStore) -> None:
    take(registry, checkpoints, "snap-1", "snap-2")
    take(registry, checkpoints, "snap-2", "snap-1")
    reconcile(registry, checkpoints)
    assert "in a circle" in failed(registry, "snap-1")
    agree(registry, checkpoints)


def test_a_chain_ends_at_a_whole_part_or_where_the_base_has_none() -> None:
    p1, p2, whole = PartEntry.of("P1", b"1"), PartEntry.of("P2", b"2"), PartEntry.of("P1", b"3", is_whole=True)
    known = {
        "a": manifest("a", (p1,)),
        "b": manifest("b", (p1, p2), "a"),
        "c": manifest("c", (whole, p2), "b"),
        "d": manifest("d", (p1,), "c"),
        "e": manifest("e", (p1,), "none"),
    }

    def chain(id: str, node: str) -> list[str]:
        return [each.snapshot for each in chain_of(known[id], node, lambda base: known[base])]

    assert (chain("a", "P1"), chain("b", "P1"), chain("b", "P2")) == (["a"], ["b", "a"], ["b"])
    assert (chain("c", "P1"), chain("c", "P2"), chain("d", "P1")) == (["c"], ["c", "b"], ["d", "c"])
    assert chain("a", "P7") == []

    def none(base: str) -> None:
        raise Damaged(f"{base} is missing")

    with pytest.raises(Damaged, match="none is missing"):
        needed_by(known["e"], none)  # type: ignore[arg-type]


# ---------------------------------------------------------------------- roots that are not as they were


def test_roots_that_are_not_as_they_were_are_refused_and_nothing_is_touched(
    registry: Registry, checkpoints: CheckpointStore, tmp_path: Path
) -> None:
    take(registry, checkpoints, "snap-1")
    root, other = tmp_path / "root", tmp_path / "other"
    other.mkdir()
    cases = (
        ({"backup": str(root)}, "root 'main', which is not given now"),
        ({"main": str(other), "backup": str(root)}, "is a snapshot of the root 'main'; give the roots as they were"),
        ({"main": str(tmp_path / "none")}, "is not there; bring it back"),
    )
    before = sorted(root.rglob("*"))
    for roots, words in cases:
        with pytest.raises(InputError, match=words):
            reconcile(registry, CheckpointStore(roots, CLUSTER))
    assert kept(registry) == {"snap-1"}
    assert sorted(root.rglob("*")) == before
    agree(registry, checkpoints)


def test_a_snapshot_under_two_roots_is_refused(
    registry: Registry, checkpoints: CheckpointStore, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    both = CheckpointStore({"main": str(tmp_path / "root"), "other": str(tmp_path / "other")}, CLUSTER)
    store(checkpoints, "snap-1")
    store(CheckpointStore({"main": str(tmp_path / "other")}, CLUSTER), "snap-1")
    with pytest.raises(InputError, match="give the roots as they were, or move it away"):
        reconcile(registry, both)
    assert registry.snapshot("snap-1") is None


# ---------------------------------------------------------------------- any storage, any database


@pytest.mark.parametrize(
    ("root", "url"),
    [("folder", "sqlite"), pytest.param("s3", "postgresql", marks=pytest.mark.slow)],
    indirect=True,
)
def test_it_works_on_any_storage_and_in_any_database(root: str, url: str) -> None:
    registry, checkpoints = Registry(url), CheckpointStore({"main": root}, CLUSTER)
    begin(registry)
    take(registry, checkpoints, "snap-1")
    take(registry, checkpoints, "snap-2", "snap-1")
    registry.put(row("snap-3", Status.IN_PROGRESS))
    store(checkpoints, "snap-3")
    registry.put(row("snap-4", Status.IN_PROGRESS))
    checkpoints.write_part("main", "snap-4", "P1", b"half")
    store(checkpoints, "snap-5")
    registry.put(replace(take(registry, checkpoints, "snap-6"), is_kept=False))
    take(registry, checkpoints, "snap-7")
    checkpoints.delete_parts("main", "snap-7", ["P2"])
    assert len(reconcile(registry, checkpoints)) == 7
    assert kept(registry) == {"snap-1", "snap-2", "snap-3", "snap-5"}
    assert "snap-7/P2.part is missing" in failed(registry, "snap-7")
    agree(registry, checkpoints)
    registry.close()


# ---------------------------------------------------------------------- killed at any moment

STEPS = st.lists(st.sampled_from(["take", "build", "build on whole P1", "give up"]), min_size=1, max_size=5)


def live(
    registry: Registry, checkpoints: CheckpointStore, steps: list[str], sure: set[str], given_up: set[str]
) -> None:
    """Takes snapshots and gives them up. `sure` gets those that are COMPLETED."""
    for number, step in enumerate(steps):
        last = registry.last_completed()
        if step == "give up" and last:
            given_up.add(last.id)
            unkeep(registry, checkpoints, last)
        elif step != "give up":
            base = last.id if last and step != "take" else None
            take(registry, checkpoints, f"snap-{number}", base, ("P1",) if "whole" in step else ())
            sure.add(f"snap-{number}")


@pytest.mark.slow
@examples(15)
@given(steps=STEPS, operations=st.integers(0, 130), more=st.integers(0, 30))
def test_killed_after_any_operation_nothing_committed_is_lost(steps: list[str], operations: int, more: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "root").mkdir()
        registry, checkpoints = Registry.open_folder(Path(folder)), CheckpointStore({"main": f"{folder}/root"}, CLUSTER)
        begin(registry)
        sure: set[str] = set()
        given_up: set[str] = set()
        with killed_after(operations, registry):
            live(registry, checkpoints, steps, sure, given_up)
        with killed_after(more, registry):
            reconcile(registry, checkpoints)
        reconcile(registry, checkpoints)
        assert kept(registry) >= sure - given_up
        agree(registry, checkpoints)
        registry.close()


def test_there_is_an_operation_to_be_killed_at(registry: Registry, checkpoints: CheckpointStore) -> None:
    """Otherwise the property above would kill no process."""
    with killed_after(1_000, registry) as life:
        take(registry, checkpoints, "snap-1")
        used = 1_000 - life.left
    assert used > 20
    with killed_after(used - 1, registry):
        take(registry, checkpoints, "snap-2")
    assert [each.id for each in registry.running()] == ["snap-2"]
    with killed_after(5, registry):
        take(registry, checkpoints, "snap-3")
    assert checkpoints.found("main").temporary


@pytest.mark.slow
@pytest.mark.parametrize(
    "few", [True, pytest.param(False, marks=pytest.mark.long("a storage that is killed again and again"))]
)
def test_a_process_that_is_killed_loses_nothing_that_it_has_committed(tmp_path: Path, few: bool) -> None:
    (tmp_path / "root").mkdir()
    done: set[str] = set()
    gone: set[str] = set()
    for lines in (2, 40) if few else (1, 2, 7, 19, 40):
        writer = [sys.executable, "-m", "tests.cluster.store.writer", str(tmp_path)]
        with subprocess.Popen(writer, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout
            for _ in range(lines):
                _note(process.stdout.readline(), done, gone)
            with pytest.raises(InputError, match=f"process {process.pid}"), locked(tmp_path):
                pass
            process.kill()
            _rest(process.stdout, done, gone)
        with locked(tmp_path):
            registry = Registry.open_folder(tmp_path)
            checkpoints = CheckpointStore({"main": str(tmp_path / "root")}, CLUSTER)
            reconcile(registry, checkpoints)
            assert kept(registry) >= done - gone
            agree(registry, checkpoints)
            registry.close()
    assert len(done) > 20 and gone


def _note(line: str, done: set[str], gone: set[str]) -> None:
    what, id = line.split()
    (done if what == "done" else gone).add(id)


def _rest(lines: IO[str], done: set[str], gone: set[str]) -> None:
    for line in lines:
        if line.endswith("\n"):
            _note(line, done, gone)


# ---------------------------------------------------------------------- the lock


def test_a_second_cluster_in_one_folder_is_told_who_has_it(tmp_path: Path) -> None:
    with locked(tmp_path):
        with (
            pytest.raises(InputError, match=rf"a cluster is running in it \(process {os.getpid()}\)"),
            locked(tmp_path),
        ):
            pass
        with pytest.raises(InputError), locked(tmp_path):  # the one that was refused has not freed it
            pass
    with locked(tmp_path):
        pass


def test_a_program_that_was_started_meanwhile_does_not_hold_the_lock(tmp_path: Path) -> None:
    with locked(tmp_path):
        program = [sys.executable, "-c", "print('begun', flush=True); input()"]
        child = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=False)
        assert child.stdout and child.stdout.readline() == b"begun\n"  # before, it may still be a copy of this process
    try:
        with locked(tmp_path):
            pass
    finally:
        child.communicate(b"\n")


def test_a_folder_that_cannot_be_locked_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be locked"), locked(tmp_path / "none"):
        pass
    assert not (tmp_path / "none").exists()
    (tmp_path / LOCK).mkdir()
    with pytest.raises(InputError, match="cannot be locked"), locked(tmp_path):
        pass
