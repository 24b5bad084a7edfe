"""Differences of states, their sizes, and which stored snapshots have to stay."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from sim.services.increments import (
    Storage,
    Stored,
    base_for,
    chain_of,
    changed_keys,
    deletable,
    difference,
    restored,
    size_of,
    whole,
)
from tests.cases import each
from tests.tools import examples

TABLE = {f"k{number}": 0 for number in range(1, 1_001)}
CHANGED = {**TABLE, "k3": 7, "k500": 1, "k1000": 2}

scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-1, 1) | st.text("ab\n\u00e9", max_size=2)
values = st.recursive(
    scalars,
    lambda own: st.lists(own, max_size=2) | st.dictionaries(st.text("ab", max_size=2), own, max_size=3),
    max_leaves=4,
)

# How a storage changes, in the simplest way: what sim/services/storage.py does beside all else.


def begun(storage: Storage, snapshot: str, base: str | None) -> Storage:
    """The storage with `snapshot` under way. Raises ValueError if its id is taken, or its base not committed."""
    if snapshot in dict(storage.parts):
        raise ValueError(f"{snapshot} is stored already; a snapshot begins once")
    if base is not None and base not in storage.committed:
        raise ValueError(f"{snapshot} cannot be built on {base}, which is not committed")
    return storage._replace(parts=(*storage.parts, Stored(snapshot, base)), under_way=(*storage.under_way, snapshot))


def committed(storage: Storage, snapshot: str) -> Storage:
    """The storage in which `snapshot` is committed. Raises ValueError if it was not under way."""
    return _ended(storage, snapshot)._replace(committed=(*storage.committed, snapshot))


def aborted(storage: Storage, snapshot: str) -> Storage:
    """The storage without `snapshot`, which was under way: nothing is built on it. Raises ValueError if it was not."""
    return _without(_ended(storage, snapshot), {snapshot})


def _ended(storage: Storage, snapshot: str) -> Storage:
    if snapshot not in storage.under_way:
        raise ValueError(f"{snapshot} is not under way; only such a snapshot is committed or aborted")
    return storage._replace(under_way=tuple(own for own in storage.under_way if own != snapshot))


def trimmed(storage: Storage, retained: int) -> Storage:
    """The storage that keeps the `retained` snapshots committed last (0: all), and the parts that are still needed."""
    kept = storage.committed[-retained:] if retained else storage.committed
    return _without(storage, deletable(storage, retained))._replace(committed=kept)


def _without(storage: Storage, ids: Collection[str]) -> Storage:
    return storage._replace(parts=tuple(own for own in storage.parts if own.id not in ids))


# Large enough that a difference is often smaller than the whole state.
tables = st.dictionaries(st.sampled_from([f"key {number}" for number in range(12)]), values, max_size=12)


def as_json(value: Any) -> str:
    """Tells 1, 1.0 and true apart, and no orders of keys."""
    return json.dumps(value, sort_keys=True)


# ------------------------------------------------------------------ documents


def test_only_what_has_changed_is_stored() -> None:
    document = difference(TABLE, CHANGED)
    assert document == {"set": {"k3": 7, "k500": 1, "k1000": 2}, "gone": []}
    assert (changed_keys(whole(TABLE)), changed_keys(document)) == (1_000, 3)
    assert restored(TABLE, document) == CHANGED


def test_keys_that_are_gone_are_named_and_new_ones_are_set() -> None:
    base = {f"k{number}": "as before" for number in range(9)}
    state = {**{key: value for key, value in base.items() if key != "k4"}, "new": 1}
    document = difference(base, state)
    assert document == {"set": {"new": 1}, "gone": ["k4"]}
    assert restored(base, document) == state


@each("base, state", [(5, 6), ([1, 2, 3], [1, 2]), (None, TABLE), (TABLE, None), (TABLE, {})])
def test_what_are_no_two_mappings_or_no_smaller_is_stored_whole(base: Any, state: Any) -> None:
    assert difference(base, state) == {"whole": state}


def test_a_difference_as_large_as_the_state_is_stored_whole() -> None:
    """{"whole":{"a":1,...}} has 10 bytes around the state; {"set":{...},"gone":[]} has 18 around what has changed."""
    base = {"a": 1, "b": 2, "c": 3}
    assert size_of(difference(base, {**base, "c": 4})) == size_of({"set": {"c": 4}, "gone": []}) == 25
    assert difference({"a": 1, "b": 2}, {"a": 1, "b": 3}) == {"whole": {"a": 1, "b": 3}}


def test_values_that_python_takes_for_equal_are_told_apart() -> None:
    base = {"a": 1, "b": "a long value that stays as it is"}
    for value in (True, 1.0):
        assert type(restored(base, difference(base, {**base, "a": value}))["a"]) is type(value)


@examples(40)
@given(base=tables | values, state=tables | values)
def test_a_difference_gives_the_state_back_and_is_never_larger_than_the_whole(base: Any, state: Any) -> None:
    document = difference(base, state)
    stored = json.loads(json.dumps(document))
    assert as_json(restored(base, stored)) == as_json(state)
    assert size_of(document) <= size_of(whole(state))


@given(base=tables, keys=st.sets(st.sampled_from([f"key {number}" for number in range(14)])))
def test_a_few_changes_of_a_table_are_restored(base: Any, keys: set[str]) -> None:
    state = {key: value for key, value in base.items() if key not in keys} | dict.fromkeys(sorted(keys)[::2], "new")
    assert restored(base, difference(base, state)) == state


def test_a_difference_without_its_base_and_another_form_are_refused() -> None:
    document = difference(TABLE, CHANGED)
    for base in (None, 5):
        with pytest.raises(ValueError, match="a difference needs the mapping that it was made from; its base is"):
            restored(base, document)
    with pytest.raises(ValueError, match=r'has the key "whole", or "set" and "gone"; this one has \[\'set\'\]'):
        restored(TABLE, {"set": {}})


def test_sizes_are_those_of_the_json_text_and_of_zstandard() -> None:
    document = whole({"k1": "\u00e9"})
    text = '{"whole":{"k1":"\u00e9"}}'.encode()
    assert size_of(document) == len(text) == 21
    packed = zstandard.compress(json.dumps(whole(TABLE), separators=(",", ":")).encode(), 3)
    assert size_of(whole(TABLE), compressed=True) == len(packed) < size_of(whole(TABLE)) / 3
    assert json.loads(zstandard.decompress(packed)) == whole(TABLE)


def test_a_state_that_is_no_mapping_is_one_value() -> None:
    assert changed_keys(whole(5)) == changed_keys(whole([1, 2])) == 1


# ------------------------------------------------------------------ chains


def stored(*bases: str | None) -> Storage:
    """S1, S2, ... with these bases, all committed."""
    storage = Storage()
    for number, base in enumerate(bases, start=1):
        storage = committed(begun(storage, f"S{number}", base), f"S{number}")
    return storage


def test_the_newest_of_an_incremental_chain_of_two_keeps_two_parts() -> None:
    storage = stored(None, "S1")
    assert storage == Storage((Stored("S1", None), Stored("S2", "S1")), ("S1", "S2"))
    assert chain_of(storage, "S2") == ("S2", "S1")
    assert deletable(storage, 1) == () and trimmed(storage, 1) == Storage(storage.parts, ("S2",))


def test_a_chain_goes_when_nobody_needs_it() -> None:
    storage = stored(None, "S1", None)
    assert deletable(storage, 1) == ("S1", "S2") and deletable(storage, 2) == deletable(storage, 0) == ()
    assert trimmed(storage, 1) == Storage((Stored("S3", None),), ("S3",))


def test_what_a_snapshot_under_way_is_built_on_stays() -> None:
    storage = begun(stored(None), "S2", "S1")
    storage = committed(begun(storage, "S3", None), "S3")
    assert deletable(storage, 1) == ()
    assert deletable(aborted(storage, "S2"), 1) == ("S1",)


def test_a_snapshot_is_built_on_the_last_one_committed_until_the_chain_is_full() -> None:
    assert base_for(Storage()) is None
    storage = begun(begun(stored(None), "S2", "S1"), "S3", "S1")
    assert base_for(storage) == "S1"
    storage = committed(committed(storage, "S3"), "S2")
    assert base_for(storage) == base_for(storage, longest_chain=3) == "S2"
    assert base_for(storage, longest_chain=2) is base_for(storage, longest_chain=1) is None


def test_what_cannot_have_happened_is_refused() -> None:
    storage = begun(stored(None), "S2", "S1")
    with pytest.raises(ValueError, match="S2 is stored already"):
        begun(storage, "S2", None)
    with pytest.raises(ValueError, match="S3 cannot be built on S2, which is not committed"):
        begun(storage, "S3", "S2")
    for end in (committed, aborted):
        with pytest.raises(ValueError, match="S1 is not under way"):
            end(storage, "S1")
    with pytest.raises(ValueError, match="to restore S2, S1 is needed, and it is not stored"):
        chain_of(Storage((Stored("S2", "S1"),)), "S2")


# What may happen to the storage: a snapshot begins, one that is under way (by its place) ends.
steps = st.tuples(st.sampled_from(["begin", "commit", "commit", "abort"]), st.integers(0, 3))


@pytest.mark.slow
@examples(40)
@given(states=st.lists(tables, min_size=1, max_size=12), what=st.lists(steps, max_size=40),
       retained=st.integers(0, 3), longest_chain=st.integers(0, 4))  # fmt: skip
def test_whatever_happens_every_kept_snapshot_is_restored(
    states: list[Any], what: list[tuple[str, int]], retained: int, longest_chain: int
) -> None:
    """Against a model that knows every state. Documents are deleted with their parts."""
    storage, documents, known, order = Storage(), {}, {}, []
    for kind, place in what:
        if kind == "begin":
            name = f"S{len(known) + 1}"
            known[name] = states[len(known) % len(states)]
            base = base_for(storage, longest_chain)
            storage = begun(storage, name, base)
            documents[name] = whole(known[name]) if base is None else difference(known[base], known[name])
        elif storage.under_way:
            name = storage.under_way[place % len(storage.under_way)]
            storage = (committed if kind == "commit" else aborted)(storage, name)
            order += [name] if kind == "commit" else []
            gone = deletable(storage, retained)
            storage = trimmed(storage, retained)
            documents = {own: kept for own, kept in documents.items() if own not in gone and own in dict(storage.parts)}
        assert storage.committed == tuple(order[-retained:] if retained else order)
        assert documents.keys() == dict(storage.parts).keys()
        for name in (*storage.committed, *storage.under_way):
            chain = chain_of(storage, name)
            assert not longest_chain or len(chain) <= longest_chain
            state = None
            for own in reversed(chain):
                state = restored(state, documents[own])
            assert as_json(state) == as_json(known[name])
