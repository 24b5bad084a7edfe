"""The codec between a recorded state and storage, and the chains of stored snapshots.

A state is stored in full, or as its difference to the same process's state in an earlier snapshot, its *base*. A base
may be a difference itself; the *chain* of a snapshot leads from it over the bases down to one that is stored in full.
To restore a snapshot, all of its chain is needed. So an old snapshot has to stay in the storage while it is in the
chain of one that is kept.

Apache Flink's incremental checkpoints have earlier ones as bases. An old one is deleted when it is the base of no other
(documentation, "State Backends", section "Incremental Checkpoints"). Redis rewrites its log of changes in full when it
has become long (documentation, "Redis persistence", section "Log rewriting"); a long chain ends in the same way here.

A stored state is a JSON document: {"whole": state}, or {"set": {key: value}, "gone": [keys]}. A state is a JSON value,
so the keys of a mapping are texts. The order of its keys is not stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import zstandard

from sim.core.log import to_json

TYPES = FULL, INCREMENTAL = "full", "incremental"  # of snapshots
COMPRESSION_LEVEL = 3  # zstandard's own default

Document = Mapping[str, Any]


# ------------------------------------------------------------------ documents


def whole(state: Any) -> Document:
    """Return `state` as a stored state of its own."""
    return {"whole": state}


def difference(base: Any, state: Any) -> Document:
    """Return the difference that makes `state` of `base`, or the complete state if a difference would not be smaller.

    The keys of two mappings are compared one by one; any other state is stored in full.
    """
    entire = whole(state)
    if not (isinstance(base, Mapping) and isinstance(state, Mapping)):
        return entire
    new = {key: value for key, value in state.items() if key not in base or not _same(base[key], value)}
    found = {"set": new, "gone": [key for key in base if key not in state]}
    return found if size_of(found) < size_of(entire) else entire


def _same(one: Any, other: Any) -> bool:
    """Whether two values are one JSON text. Python's == takes 1, 1.0 and true for equal."""
    return one is other or to_json(one) == to_json(other)


def restored(base: Any, document: Document) -> Any:
    """The state of `document`, whose base had the state `base`.

    Raises ValueError for a document of another form, and for a difference whose base is no mapping (None: there is
    none).
    """
    if document.keys() == {"whole"}:
        return document["whole"]
    if document.keys() != {"set", "gone"}:
        raise ValueError(f'a stored state has the key "whole", or "set" and "gone"; this one has {sorted(document)}')
    if not isinstance(base, Mapping):
        raise ValueError(f"a difference needs the mapping that it was made from; its base is {to_json(base)}")
    gone = set(document["gone"])
    return {key: value for key, value in base.items() if key not in gone} | document["set"]


def size_of(document: Document, compressed: bool = False) -> int:
    """Return the bytes of the JSON text of `document` in UTF-8, or of this text under zstandard."""
    text = to_json(document).encode()
    return len(zstandard.compress(text, COMPRESSION_LEVEL)) if compressed else len(text)


def changed_keys(document: Document) -> int:
    """Return the number of values stored: of a complete state all its keys, or 1 if it is no mapping."""
    values = document["whole"] if "whole" in document else document["set"]
    return len(values) if isinstance(values, Mapping) else 1


# ------------------------------------------------------------------ chains


class Stored(NamedTuple):
    """A snapshot in the storage: its id, and that of its base (None: it is stored in full)."""

    id: str
    base: str | None


class Storage(NamedTuple):
    """The stored snapshots.

    `parts` are all of them, in the order in which they began. `committed` are the ids of those that were committed and
    are kept, in the order of their commits. `under_way` are the ids of those that are neither committed nor aborted.
    Any other part is stored because one of these needs it.
    """

    parts: tuple[Stored, ...] = ()
    committed: tuple[str, ...] = ()
    under_way: tuple[str, ...] = ()


def chain_of(storage: Storage, snapshot: str) -> tuple[str, ...]:
    """Return the ids needed to restore `snapshot`: its own, its base's, and so on to the one stored in full.

    Raises ValueError if one of them is not stored.
    """
    bases = dict(storage.parts)
    found: list[str] = []
    needed: str | None = snapshot
    while needed is not None:
        if needed not in bases:
            raise ValueError(f"to restore {snapshot}, {needed} is needed, and it is not stored")
        found.append(needed)
        needed = bases[needed]
    return tuple(found)


def base_for(storage: Storage, longest_chain: int = 0) -> str | None:
    """Return the base of a snapshot that begins now: the one committed last (None: store it in full).

    A snapshot is stored in full if it has no base, or if its chain would get more than `longest_chain` members (0: no
    limit).
    """
    if not storage.committed:
        return None
    last = storage.committed[-1]
    is_full = 0 < longest_chain <= len(chain_of(storage, last))
    return None if is_full else last


def deletable(storage: Storage, retained: int) -> tuple[str, ...]:
    """Return the ids of the parts to delete if only the `retained` snapshots committed last are kept (0: all are kept).

    A part stays while it is in the chain of a snapshot that is kept, or under way.
    """
    kept = storage.committed[-retained:] if retained else storage.committed
    needed = {own for snapshot in (*kept, *storage.under_way) for own in chain_of(storage, snapshot)}
    return tuple(own.id for own in storage.parts if own.id not in needed)
