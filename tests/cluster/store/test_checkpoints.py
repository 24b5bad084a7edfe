"""The storage of a cluster's snapshots, in a folder and on S3."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.model import Problem
from cluster.store import places
from cluster.store.checkpoints import CheckpointStore, Damaged, Unavailable
from cluster.store.manifest import Manifest, PartEntry, decoded, encoded
from sim.core.errors import InputError
from tests.cases import check_each
from tests.cluster.store.conftest import ON_S3_TOO
from tests.cluster.store.stored import CLUSTER, NODES, content, manifest, store
from tests.pipeline.s3 import BUCKET, losing
from tests.tools import examples


@pytest.fixture
def checkpoints(root: str) -> CheckpointStore:
    return CheckpointStore({"main": root}, CLUSTER)


@pytest.fixture
def local(tmp_path: Path) -> CheckpointStore:
    return CheckpointStore({"main": str(tmp_path)}, CLUSTER)


def entry(stored: Manifest, node: str) -> PartEntry:
    found = stored.part(node)
    assert found
    return found


# ---------------------------------------------------------------------- writing and reading


@ON_S3_TOO
def test_what_was_stored_is_read_back(checkpoints: CheckpointStore) -> None:
    checkpoints.check()
    stored = store(checkpoints, "snap-1")
    assert checkpoints.read_manifest("main", "snap-1") == stored
    for node in NODES:
        assert checkpoints.read_part("main", "snap-1", entry(stored, node)) == content("snap-1", node)
    assert checkpoints.found("main").manifests == {"snap-1"}
    assert checkpoints.found("main").parts == {"snap-1": set(NODES)}
    assert checkpoints.found("main").temporary == ()


@pytest.mark.slow
def test_the_uri_of_a_manifest_names_its_file_and_no_secret(
    local: CheckpointStore, tmp_path: Path, service: str
) -> None:
    stored = store(local, "snap-1")
    uri = local.write_manifest("main", stored)
    assert uri == (tmp_path / CLUSTER / "snap-1.json").as_uri()
    assert (tmp_path / CLUSTER / "snap-1.json").stat().st_size + sum(part.size for part in stored.parts) == stored.size
    secret = CheckpointStore({"s3": f"s3://somebody:secret@{BUCKET}/some?{service}"}, CLUSTER)
    assert secret.uri("s3", "snap-1") == f"s3://{BUCKET}/some/{CLUSTER}/snap-1.json"
    with pytest.raises(Problem) as caught:
        secret.root_of("s3://elsewhere/some")
    assert "secret" not in str(caught.value)


@ON_S3_TOO
def test_a_part_is_replaced_by_a_later_one(checkpoints: CheckpointStore) -> None:
    checkpoints.write_part("main", "snap-1", "P1", b"first")
    later = checkpoints.write_part("main", "snap-1", "P1", b"second")
    assert checkpoints.read_part("main", "snap-1", later) == b"second"


@ON_S3_TOO
def test_an_empty_part_is_a_part(checkpoints: CheckpointStore) -> None:
    assert checkpoints.read_part("main", "snap-1", checkpoints.write_part("main", "snap-1", "P1", b"")) == b""


# Up to 12 letters each in the name of a file, which has at most 200.
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=16)


@examples(30)
@given(st.sets(NAMES | st.sampled_from(["..", "../../up", "/etc/passwd", "%2e", ".tmp", "a\\b", "con"]), max_size=4))
def test_the_part_of_any_node_stays_in_the_folder_of_its_snapshot(nodes: set[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        local = CheckpointStore({"main": folder}, CLUSTER)
        stored = {node: local.write_part("main", "snap-1", node, node.encode()) for node in nodes}
        for node, part in stored.items():
            assert local.read_part("main", "snap-1", part) == node.encode()
        assert local.found("main").parts == ({"snap-1": nodes} if nodes else {})
        files = [path for path in Path(folder).rglob("*") if path.is_file()]
        assert len(files) == len(nodes)
        assert {path.parent for path in files} <= {Path(folder) / CLUSTER / "snap-1"}


def test_the_id_of_a_snapshot_that_could_leave_the_folder_is_refused(local: CheckpointStore) -> None:
    def check(snapshot: str) -> None:
        for act in (
            lambda: local.write_part("main", snapshot, "P1", b""),
            lambda: local.read_manifest("main", snapshot),
            lambda: local.delete("main", snapshot),
        ):
            with pytest.raises(Problem) as caught:
                act()
            assert caught.value.status == 422

    check_each(["", "..", "../up", "a/b", "/a", "a.b", "a\n", "a\0", "ä", "-a", "a" * 101], check)


def test_a_node_that_can_name_no_file_is_refused(local: CheckpointStore) -> None:
    def check(node: str) -> None:
        with pytest.raises(Problem, match="cannot name a file"):
            local.write_part("main", "snap-1", node, b"")

    check_each(["", "a" * 201, "\ud800"], check)


@ON_S3_TOO
def test_clusters_that_share_a_root_see_nothing_of_each_other(root: str) -> None:
    one, other = CheckpointStore({"main": root}, CLUSTER), CheckpointStore({"main": root}, "cluster-2")
    store(one, "snap-1")
    assert other.found("main").snapshots == set()
    with pytest.raises(Damaged):
        other.read_manifest("main", "snap-1")


def test_files_are_for_their_owner_alone_and_durable_before_they_are_named(
    local: CheckpointStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def noted(name: str) -> None:
        own = getattr(os, name)

        def note(*arguments: object, **options: object) -> object:
            done.append(name)
            return own(*arguments, **options)

        monkeypatch.setattr(places.os, name, note)

    local.write_part("main", "snap-1", "P1", b"some")
    for name in ("write", "fsync", "replace"):
        noted(name)
    local.write_part("main", "snap-1", "P2", b"some")
    assert done == ["write", "fsync", "replace", "fsync", "fsync", "fsync"]
    file = tmp_path / CLUSTER / "snap-1" / "P2.part"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


# ---------------------------------------------------------------------- deleting and finding


@ON_S3_TOO
def test_a_deleted_snapshot_leaves_nothing(checkpoints: CheckpointStore) -> None:
    store(checkpoints, "snap-1")
    store(checkpoints, "snap-2")
    checkpoints.delete("main", "snap-1")
    checkpoints.delete("main", "snap-1")
    assert checkpoints.found("main").snapshots == {"snap-2"}
    with pytest.raises(Damaged):
        checkpoints.read_manifest("main", "snap-1")


@ON_S3_TOO
def test_single_parts_can_be_deleted(checkpoints: CheckpointStore) -> None:
    stored = store(checkpoints, "snap-1")
    checkpoints.delete_parts("main", "snap-1", ["P1", "P7"])
    assert checkpoints.found("main").parts == {"snap-1": {"P2"}}
    assert checkpoints.read_manifest("main", "snap-1") == stored
    checkpoints.delete_parts("main", "snap-1", ["P2"])
    assert checkpoints.found("main").parts == {}
    assert checkpoints.found("main").manifests == {"snap-1"}


def test_temporary_files_are_found_and_what_is_foreign_is_left_alone(local: CheckpointStore, tmp_path: Path) -> None:
    store(local, "snap-1")
    own = tmp_path / CLUSTER
    for name in (".1.tmp", "snap-1/.2.tmp", "notes.txt", "snap-1/notes.txt", "README"):
        (own / name).write_text("x")
    (own / "pictures").mkdir()
    (own / "pictures" / "one.png").write_text("x")
    found = local.found("main")
    assert found.temporary == (f"{CLUSTER}/.1.tmp", f"{CLUSTER}/snap-1/.2.tmp")
    assert found.snapshots == {"snap-1"}
    local.delete_temporary("main", found.temporary)
    local.delete("main", "snap-1")
    left = {str(path.relative_to(own)) for path in own.rglob("*") if path.is_file()}
    assert left == {"notes.txt", "snap-1/notes.txt", "README", "pictures/one.png"}
    assert local.found("main").snapshots == set()


# ---------------------------------------------------------------------- roots


@pytest.mark.slow
def test_a_root_that_is_missing_is_an_error_and_is_not_made(tmp_path: Path, service: str) -> None:
    for address in (str(tmp_path / "none"), f"s3://no-such-bucket/some?{service}"):
        with pytest.raises(InputError, match=r"storage root 'b': .* is not there; make it"):
            CheckpointStore({"a": str(tmp_path), "b": address}, CLUSTER).check()
    assert not (tmp_path / "none").exists()


def test_a_root_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / CLUSTER).write_text("a file where a folder has to be")
    with pytest.raises(InputError, match="cannot be written"):
        CheckpointStore({"a": str(tmp_path)}, CLUSTER).check()


def test_an_address_that_cannot_be_used_is_one_sentence() -> None:
    def check(address: str) -> None:
        with pytest.raises(InputError) as caught:
            CheckpointStore({"a": address}, CLUSTER)
        assert "\n" not in str(caught.value)

    check_each(["", "ftp://host/a", "s3://", "s3://b/c?nonsense=1", "a\0b", "file://host.example/a"], check)


def test_a_checkpoint_store_has_a_root_and_a_prefix_and_no_two_names_for_one_place(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no storage root"):
        CheckpointStore({}, CLUSTER)
    with pytest.raises(InputError, match="no id of a cluster"):
        CheckpointStore({"a": str(tmp_path)}, "../up")
    with pytest.raises(InputError, match="are one place"):
        CheckpointStore({"a": str(tmp_path), "b": f"{tmp_path.as_uri()}/"}, CLUSTER)


@pytest.mark.slow
def test_a_request_names_a_configured_root_and_nothing_else(tmp_path: Path, service: str) -> None:
    checkpoints = CheckpointStore({"main": str(tmp_path), "cloud": f"s3://{BUCKET}/deep?{service}"}, CLUSTER)
    for uri in ("main", str(tmp_path), f"{tmp_path}/", tmp_path.as_uri()):
        assert checkpoints.root_of(uri) == "main"
    for uri in ("cloud", f"s3://{BUCKET}/deep", f"s3://{BUCKET}/deep/", f"s3://{BUCKET}/deep?{service}"):
        assert checkpoints.root_of(uri) == "cloud"
    for uri in ("", f"{tmp_path}/..", str(tmp_path.parent), f"s3://{BUCKET}", f"s3://{BUCKET}/deep?scheme=http", "x"):
        with pytest.raises(Problem) as caught:
            checkpoints.root_of(uri)
        assert caught.value.status == 422
        assert f"main ({tmp_path.as_uri()}), cloud (s3://{BUCKET}/deep)" in str(caught.value)


# ---------------------------------------------------------------------- damage


def _damaged(content: bytes) -> list[bytes]:
    turned = bytearray(content)
    turned[len(turned) // 2] ^= 1
    return [bytes(turned), content[:-1], content + b"x", b""]


def test_a_damaged_part_is_noticed(local: CheckpointStore, tmp_path: Path) -> None:
    stored = store(local, "snap-1")
    file = tmp_path / CLUSTER / "snap-1" / "P2.part"

    def check(damaged: bytes) -> None:
        file.write_bytes(damaged)
        with pytest.raises(Damaged, match=r"snap-1/P2.part is damaged: it(s checksum| has)") as caught:
            local.read_part("main", "snap-1", entry(stored, "P2"))
        assert caught.value.status == 409
        assert local.read_part("main", "snap-1", entry(stored, "P1")) == content("snap-1", "P1")

    check_each(_damaged(file.read_bytes()), check)


@given(data=st.data())
def test_a_manifest_with_any_byte_changed_is_noticed_or_says_the_same(data: st.DataObject) -> None:
    own = manifest("snap-1", (PartEntry.of("P1", b"one"), PartEntry.of("P2", b"two")), "snap-0")
    good = encoded(own)
    assert decoded(good) == own
    place = data.draw(st.integers(0, len(good) - 1))
    bad = good[:place] + bytes([data.draw(st.integers(0, 255))]) + good[place + 1 :]
    try:
        assert decoded(bad) == own
    except ValueError as problem:
        assert len(str(problem)) < 200


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["sha256", "parts", "node", "x"]), inner),
    )
)
def test_any_json_in_the_place_of_a_manifest_is_one_sentence(value: object) -> None:
    with pytest.raises(ValueError):
        decoded(json.dumps(value).encode())


def test_what_is_no_manifest_is_damaged(local: CheckpointStore, tmp_path: Path) -> None:
    store(local, "snap-1")

    def check(content: bytes) -> None:
        (tmp_path / CLUSTER / "snap-1.json").write_bytes(content)
        with pytest.raises(Damaged, match=r"cluster-1/snap-1.json "):
            local.read_manifest("main", "snap-1")

    no_texts = [b"", b"[" * 100_000, b"\xff\xfe"]
    check_each([*no_texts, b"{", b"null", b'{"sha256": 1}', b'{"sha256": "", "a": NaN}'], check)


def test_the_manifest_of_another_snapshot_is_damaged(local: CheckpointStore, tmp_path: Path) -> None:
    store(local, "snap-1")
    own = tmp_path / CLUSTER
    (own / "snap-2.json").write_bytes((own / "snap-1.json").read_bytes())
    with pytest.raises(Damaged, match="is the manifest of another snapshot, 'snap-1'"):
        local.read_manifest("main", "snap-2")


@ON_S3_TOO
def test_what_is_missing_is_damaged(checkpoints: CheckpointStore) -> None:
    stored = store(checkpoints, "snap-1")
    checkpoints.delete_parts("main", "snap-1", ["P1"])
    with pytest.raises(Damaged, match=r"snap-1/P1.part is missing"):
        checkpoints.read_part("main", "snap-1", entry(stored, "P1"))
    with pytest.raises(Damaged, match=r"snap-2.json is missing"):
        checkpoints.read_manifest("main", "snap-2")


def test_a_root_that_has_gone_is_unavailable_and_nothing_in_it_is_damaged(
    local: CheckpointStore, tmp_path: Path
) -> None:
    stored = store(local, "snap-1")
    away = tmp_path.rename(tmp_path.with_name("away"))
    for act in (
        lambda: local.read_manifest("main", "snap-1"),
        lambda: local.read_part("main", "snap-1", entry(stored, "P1")),
        lambda: local.found("main"),
        lambda: local.write_part("main", "snap-2", "P1", b""),
    ):
        with pytest.raises(Unavailable):
            act()
    assert not tmp_path.exists()
    away.rename(tmp_path)
    assert local.read_manifest("main", "snap-1") == stored


@pytest.mark.slow
def test_a_storage_that_refuses_is_unavailable_and_nothing_in_it_is_damaged(service: str) -> None:
    checkpoints = CheckpointStore({"main": f"s3://{BUCKET}/refusing?{service}"}, CLUSTER)
    stored = store(checkpoints, "snap-1")
    with losing() as lose:
        lose()
        for act in (
            lambda: checkpoints.read_manifest("main", "snap-1"),
            lambda: checkpoints.read_part("main", "snap-1", entry(stored, "P1")),
            lambda: checkpoints.found("main"),
            lambda: checkpoints.delete("main", "snap-1"),
        ):
            with pytest.raises(Unavailable):
                act()
    assert checkpoints.read_manifest("main", "snap-1") == stored
