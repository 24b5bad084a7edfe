"""The checkpoint store of a cluster: the parts and manifests of its snapshots, under configured roots.

A root holds PREFIX/SNAPSHOT.json (the manifest) and PREFIX/SNAPSHOT/NODE.part. PREFIX is the id of the cluster, so
clusters may share a root. The manifest is written last and deleted first: without it a snapshot does not exist. All
methods block, so a service calls them in a thread.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote, unquote

from cluster.model import Problem, Unavailable
from cluster.store.manifest import Manifest, PartEntry, decoded, encoded
from cluster.store.places import TEMPORARY, Listing, Place, place_at, reason
from sim.core.errors import InputError, brief

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")  # of a snapshot and of a prefix: it has no dot and no slash
MANIFEST, PART = ".json", ".part"  # how the names of files end
MOST_BYTES = 64_000_000  # of a manifest
MOST_OF_A_NAME = 200  # bytes of a node's name, as that of a file


class Damaged(Problem):
    """The error for a file of a snapshot that is missing, or differs from what was written."""

    def __init__(self, sentence: str) -> None:
        super().__init__(409, sentence)


@dataclass(frozen=True)
class Found:
    """The contents of a root.

    `manifests` has the ids of the snapshots with a manifest. `parts` has the nodes with a part, by snapshot (none, if
    only the folder is left). `temporary` has the names of temporary files.
    """

    manifests: frozenset[str]
    parts: Mapping[str, frozenset[str]]
    temporary: tuple[str, ...]

    @property
    def snapshots(self) -> frozenset[str]:
        """The ids of all snapshots with a manifest, a part or a folder."""
        return self.manifests | self.parts.keys()


class CheckpointStore:
    """The parts and manifests of the cluster with the id `prefix`.

    `roots` has the names of the roots; the first is the default. Methods raise Problem, and Unavailable if a root does
    not answer.
    """

    def __init__(self, roots: Mapping[str, str], prefix: str) -> None:
        """`roots` has a path for each name, or a URI file:///... or s3://bucket/folder.

        Raises InputError for an address that cannot be used, for two names of one place, and for no root at all.
        """
        if not roots:
            raise InputError("no storage root is given; give a path, or a URI such as s3://bucket/folder")
        if not NAME.fullmatch(prefix):
            raise InputError(f"{brief(prefix)} is no id of a cluster; it has letters, digits, - and _ only")
        self.roots = tuple(roots)
        self._prefix = prefix
        self._places: dict[str, Place] = {}
        for name, address in roots.items():
            place = place_at(address)
            other = next((one for one, known in self._places.items() if known.uri == place.uri), None)
            if other is not None:
                raise InputError(f"the storage roots {other!r} and {name!r} are one place, {place.uri}; leave one out")
            self._places[name] = place

    def check(self) -> None:
        """Raise InputError unless each root exists and can be written. Makes no root."""
        for name, place in self._places.items():
            probe = f"{self._prefix}/.{secrets.token_hex(6)}{TEMPORARY}"
            try:
                if not place.is_there():
                    raise InputError(f"storage root {name!r}: {place.uri} is not there; make it, or name another")
                place.write(probe, b"probe")
                place.remove(probe)
            except OSError as problem:
                raise InputError(
                    f"storage root {name!r}: {place.uri} cannot be written ({reason(problem)}); "
                    "allow that, or name another"
                ) from None

    def root_of(self, uri: str) -> str:
        """The name of the root with the address or the name `uri`. Raises Problem 422, which lists all roots."""
        for name, place in self._places.items():
            if uri == name or uri.rstrip("/") in place.addresses:
                return name
        listed = ", ".join(f"{name} ({place.uri})" for name, place in self._places.items())
        raise Problem(422, f"{brief(uri)} is none of the storage roots of this cluster: {listed}")

    def uri(self, root: str, snapshot: str) -> str:
        """The address of the manifest of a snapshot, without secrets."""
        return f"{self._place(root).uri}/{self._manifest(snapshot)}"

    # ------------------------------------------------------------------ writing

    def write_part(self, root: str, snapshot: str, node: str, data: bytes, is_whole: bool = False) -> PartEntry:
        """Store a part. Returns its entry for the manifest. `is_whole` is that of PartEntry."""
        name = self._part(snapshot, node)
        with self._asking(root, name, "written"):
            self._place(root).write(name, data)
        return PartEntry.of(node, data, is_whole)

    def write_manifest(self, root: str, manifest: Manifest) -> str:
        """Commit a snapshot whose parts are stored. Returns the URI of the manifest."""
        if manifest.cluster != self._prefix:
            raise ValueError(f"a manifest of the cluster {manifest.cluster} in the checkpoint store of {self._prefix}")
        name = self._manifest(manifest.snapshot_id)
        with self._asking(root, name, "written"):
            self._place(root).write(name, encoded(manifest))
        return self.uri(root, manifest.snapshot_id)

    # ------------------------------------------------------------------ reading

    def read_manifest(self, root: str, snapshot: str) -> Manifest:
        """The manifest of a snapshot. Raises Damaged if it is missing, or differs from what was written."""
        name = self._manifest(snapshot)
        content = self._read(root, name, MOST_BYTES + 1)
        try:
            manifest = decoded(content) if len(content) <= MOST_BYTES else None
        except ValueError as problem:
            raise Damaged(f"{self._shown(root, name)} {problem}") from None
        if manifest is None:
            raise Damaged(f"{self._shown(root, name)} is no manifest: it has more than {MOST_BYTES} bytes")
        if (manifest.cluster, manifest.snapshot_id) != (self._prefix, snapshot):
            own = f"{brief(manifest.snapshot_id)} of the cluster {brief(manifest.cluster)}"
            raise Damaged(f"{self._shown(root, name)} is the manifest of another snapshot, {own}")
        return manifest

    def read_part(self, root: str, snapshot: str, entry: PartEntry) -> bytes:
        """The content of a part. Raises Damaged if it is missing, or differs from `entry`."""
        name = self._part(snapshot, entry.node)
        data = self._read(root, name, max(entry.size, 0) + 1)
        if len(data) != entry.size:
            found = f"more than {entry.size}" if len(data) > entry.size else f"{len(data)} of {entry.size}"
            raise Damaged(f"{self._shown(root, name)} is damaged: it has {found} bytes")
        if PartEntry.of(entry.node, data).sha256 != entry.sha256:
            raise Damaged(f"{self._shown(root, name)} is damaged: its checksum differs")
        return data

    def found(self, root: str) -> Found:
        """The contents of a root, without files that no checkpoint store has written."""
        place = self._place(root)
        with self._asking(root, self._prefix, "read"):
            self._check_there(root)
            top = place.listing(self._prefix)
            manifests = {name.removesuffix(MANIFEST) for name in top.files if name.endswith(MANIFEST)}
            parts = {}
            temporary = [f"{self._prefix}/{name}" for name in top.files if _is_temporary(name)]
            for snapshot in filter(NAME.fullmatch, top.folders):
                inside = place.listing(f"{self._prefix}/{snapshot}")
                hidden = [f"{self._prefix}/{snapshot}/{name}" for name in inside.files if _is_temporary(name)]
                nodes = frozenset(_nodes(inside.files))
                temporary += hidden
                if nodes or hidden or inside == Listing():
                    parts[snapshot] = nodes
        return Found(frozenset(filter(NAME.fullmatch, manifests)), parts, tuple(temporary))

    # ------------------------------------------------------------------ deleting

    def delete(self, root: str, snapshot: str) -> None:
        """Delete a snapshot: its manifest first, then all of its parts. Does nothing if there is none."""
        name, folder = self._manifest(snapshot), f"{self._prefix}/{snapshot}"
        place = self._place(root)
        with self._asking(root, name, "deleted"):
            place.remove(name)
            for file in place.listing(folder).files:
                if file.endswith(PART) or _is_temporary(file):
                    place.remove(f"{folder}/{file}")
            place.remove_folder(folder)

    def delete_parts(self, root: str, snapshot: str, nodes: Iterable[str]) -> None:
        """Delete the parts of some nodes, if there are any. The manifest stays."""
        for node in nodes:
            name = self._part(snapshot, node)
            with self._asking(root, name, "deleted"):
                self._place(root).remove(name)
        with self._asking(root, snapshot, "deleted"):
            self._place(root).remove_folder(f"{self._prefix}/{snapshot}")

    def delete_temporary(self, root: str, names: Iterable[str]) -> None:
        """Delete temporary files that `found` has listed."""
        for name in names:
            with self._asking(root, name, "deleted"):
                self._place(root).remove(name)

    # ------------------------------------------------------------------ names

    def _place(self, root: str) -> Place:
        return self._places[self.root_of(root)]

    def _manifest(self, snapshot: str) -> str:
        return f"{self._prefix}/{_checked(snapshot)}{MANIFEST}"

    def _part(self, snapshot: str, node: str) -> str:
        return f"{self._prefix}/{_checked(snapshot)}/{_file_of(node)}"

    def _shown(self, root: str, name: str) -> str:
        return f"{self._place(root).uri}/{name}"

    # ------------------------------------------------------------------ failures

    def _read(self, root: str, name: str, most: int) -> bytes:
        with self._asking(root, name, "read"):
            try:
                return self._place(root).read(name, most)
            except FileNotFoundError:
                self._check_there(root)
                raise Damaged(f"{self._shown(root, name)} is missing") from None

    def _check_there(self, root: str) -> None:
        """Raise Unavailable if the root itself is gone, such as a disk that is not mounted: no file of it is lost."""
        place = self._place(root)
        if not place.is_there():
            raise Unavailable(f"storage root {root!r}: {place.uri} is not there; bring it back")

    @contextmanager
    def _asking(self, root: str, name: str, done: str) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise Unavailable(
                f"{self._shown(root, name)} cannot be {done} ({reason(problem)}); see that its storage works"
            ) from None


def _checked(snapshot: str) -> str:
    if not NAME.fullmatch(snapshot):
        raise Problem(422, f"{brief(snapshot)} is no id of a snapshot; it has letters, digits, - and _ only")
    return snapshot


def _file_of(node: str) -> str:
    """The name of the file of a node's part. Special characters in a node's name are escaped, above all a slash."""
    try:
        name = quote(node, safe="")
    except UnicodeEncodeError:
        name = ""
    if not 0 < len(name) <= MOST_OF_A_NAME:
        raise Problem(422, f"{brief(node)} cannot name a file of a node; give it 1 to {MOST_OF_A_NAME} plain letters")
    return f"{name}{PART}"


def _nodes(files: Iterable[str]) -> Iterator[str]:
    """The nodes to which the files of a snapshot belong."""
    for name in files:
        node = unquote(name.removesuffix(PART))
        if name.endswith(PART) and node and quote(node, safe="") == name.removesuffix(PART):
            yield node


def _is_temporary(name: str) -> bool:
    return name.startswith(".") and name.endswith(TEMPORARY)
