"""Values survive the wire exactly; bytes that are no value of this system are refused."""

from __future__ import annotations

import random
import struct
from collections import namedtuple
from collections.abc import Callable
from contextlib import suppress
from functools import reduce
from types import MappingProxyType
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.node.system import System, live
from cluster.wire.codec import MOST_NESTED, BadValue, Codec
from sim.core.errors import InputError
from sim.core.model import LocalSnapshot, Message
from sim.document import library
from sim.services.uploads import Part
from tests.cases import check_each
from tests.cluster.network import system_of
from tests.tools import examples

SYSTEM = system_of()
CODEC = SYSTEM.codec
CHANNELS = SYSTEM.engine.channels
SCENARIOS = ("tutorial", "lai_yang", "mattern", "unaligned", "deadlock", "token_gone", "recovery", "termination")

plain = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
)  # fmt: skip
keys = st.recursive(
    plain | st.sampled_from(CHANNELS),
    lambda own: st.lists(own, max_size=3).map(tuple) | st.frozensets(own, max_size=3),
    max_leaves=4,
)


def compound(own: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Values that hold other values."""
    kept = st.dictionaries(st.sampled_from(CHANNELS), st.lists(messages(own), max_size=2).map(tuple), max_size=2)
    some_channels = st.frozensets(st.sampled_from(CHANNELS))
    offsets = st.dictionaries(st.sampled_from(CHANNELS), st.integers(0, 9), max_size=2)
    return (
        st.lists(own, max_size=3)
        | st.lists(own, max_size=3).map(tuple)
        | st.dictionaries(keys, own, max_size=3)
        | messages(own)
        | st.builds(
            LocalSnapshot, own, st.integers(0, 9), kept, some_channels, st.booleans(), st.integers(0, 9), offsets
        )
        | st.builds(lambda first: Part(*[first, *[None] * (len(Part._fields) - 1)]), own)
    )


def messages(own: st.SearchStrategy[Any]) -> st.SearchStrategy[Message]:
    """Messages with such a body and stamp."""
    text, number = st.none() | st.text(max_size=3), st.none() | st.integers(0, 99)
    return st.builds(
        Message, st.integers(0, 99), st.sampled_from(CHANNELS), st.sampled_from(["app", "marker", "control"]), own,
        text, own, number, text, text, number, st.integers(0, 3), st.booleans(),
    )  # fmt: skip


values = st.recursive(keys, compound, max_leaves=8)


def shown(value: Any) -> Any:
    """A value with its types, as something that can be compared."""
    kind = type(value).__name__
    if isinstance(value, Message):
        return kind, [shown(getattr(value, name)) for name in Message.__dataclass_fields__]
    if isinstance(value, dict):
        return kind, [(shown(key), shown(own)) for key, own in value.items()]
    if isinstance(value, frozenset):
        return kind, sorted(map(repr, map(shown, value)))
    if isinstance(value, (list, tuple)):
        return kind, [shown(own) for own in value]
    return kind, repr(value)


@examples(60)
@given(values)
def test_a_value_survives_with_all_its_types(value: Any) -> None:
    back = CODEC.unpack(CODEC.pack(value))
    assert shown(back) == shown(value)
    assert CODEC.pack(back) == CODEC.pack(value)


def test_a_channel_is_the_very_channel_of_the_system() -> None:
    assert CODEC.unpack(CODEC.pack(CHANNELS[1])) is CHANNELS[1]


def test_all_that_rule_books_hold_and_send_survives() -> None:
    """In all bundled scenarios that a cluster can run."""
    found = [name for name in SCENARIOS if all_survives(name)]
    assert len(found) >= 8, found


def all_survives(name: str) -> bool:
    try:
        system = System(live(library.find(name), 0.01), 0.01)
    except InputError:
        return False
    engine, chance = system.engine, random.Random(name)
    state = engine.initial()
    for _ in range(150):
        actions = engine.enabled(state)
        if not actions:
            break
        sent = engine.perform(state, chance.choice(actions), [])
        held = [[own.state, own.snapshots] for own in state.processes]
        for value in (sent, held):
            assert shown(system.codec.unpack(system.codec.pack(value))) == shown(value), name
    return True


def test_a_whole_number_may_have_any_size() -> None:
    for value in (2**63 - 1, 2**63, 2**64, -(2**63), -(2**63) - 1, 2**70, -(2**70), 10**3000):
        assert CODEC.unpack(CODEC.pack([value, (value,)])) == [value, (value,)]


def test_other_mappings_become_dictionaries() -> None:
    assert CODEC.unpack(CODEC.pack(MappingProxyType({1: 2}))) == {1: 2}


def is_refused(act: Callable[[Any], Any]) -> Callable[..., None]:
    """A check that a value cannot be packed, or bytes cannot be unpacked."""

    def check(*value: Any) -> None:
        with pytest.raises(BadValue):
            act(*value)

    return check


def test_what_has_no_bytes_is_a_bad_value() -> None:
    check_each([object(), {1: print}, [..., 1], "\ud800"], is_refused(CODEC.pack))


def test_a_value_that_is_nested_too_deep_is_a_bad_one() -> None:
    def nested_by(nest: Callable[[Any], Any]) -> Any:
        return reduce(lambda value, _: nest(value), range(5_000), 1)

    nests = {"list": lambda own: [own], "tuple": lambda own: (own,), "dict": lambda own: {1: own}}
    check_each(nests, lambda nest: is_refused(CODEC.pack)(nested_by(nest)))


def nested(code: int, depth: int) -> bytes:
    """So many lists of one in each other, each in an extension."""
    content = msgpack.packb(1)
    for _ in range(depth):
        content = b"\xc9" + struct.pack(">Ib", len(content) + 1, code) + b"\x91" + content
    return content


def test_bytes_that_are_nested_too_deep_are_no_value() -> None:
    CODEC.unpack(nested(1, MOST_NESTED - 1))
    for content in (nested(1, MOST_NESTED + 1), nested(1, 3_000), b"\x91" * 100_000, b"\x81\x01" * 100_000):
        with pytest.raises(BadValue):
            CODEC.unpack(content)


MALFORMED = [
    b"", b"\xdd\xff\xff\xff\xff", b"\xdf\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff",
    b"\xc9\xff\xff\xff\xff\x01", b"\xdd\x00\x0f\xff\xff" * 1_000 + b"\x01" * 2**20, b"\xc1", b"\x01\x01",
    b"\xa2\xff\xff", b"\x81\x90\x01", b"\x81\x80\x01",
]  # fmt: skip


def test_huge_sizes_and_malformed_bytes_are_no_value() -> None:
    check_each(MALFORMED, is_refused(CODEC.unpack))


EXTENSIONS = [
    (0, []), (7, []), (127, []), (-2, []), (1, 5), (2, [[]]), (2, {}), (3, []), (3, [[]]), (3, [1]),
    (3, ["os.terminal_size", [1, 2]]), (3, ["sim.core.model.Message", 1]), (3, ["sim.core.model.Timer"]),
    (3, ["builtins.tuple"]), (3, ["sim.core.model.Timer", 1, 2, 3, 4, 5, 6]), (4, -1), (4, 10**6), (4, True),
    (4, 0.0), (4, "P1->P2"), (4, []), (5, []), (5, [1] * 12), (5, [1] * 13),
]  # fmt: skip


def test_extensions_that_are_unknown_or_wrong_are_no_value() -> None:
    def unpack(code: int, content: Any) -> None:
        CODEC.unpack(msgpack.packb([msgpack.ExtType(code, msgpack.packb(content))]) if code >= 0 else b"\xd4\xfe\x90")

    check_each(EXTENSIONS, is_refused(unpack))


def test_a_timestamp_is_no_value_wherever_it_is() -> None:
    def check(seconds: int) -> None:
        stamp = msgpack.packb(msgpack.Timestamp(seconds, 1))
        for content in (
            stamp,
            b"\x91" + stamp,
            b"\x81" + stamp + b"\x01",
            b"\x81\x01" + stamp,
            b"\xc7%c\x01\x91" % (len(stamp) + 1) + stamp,
        ):
            with pytest.raises(BadValue):
                CODEC.unpack(content)

    check_each([0, 1, 2**33, 2**40], check)
    assert CODEC.unpack(CODEC.pack(["\x00", 0xD6FF, -1, 0xD7FFFF])) == ["\x00", 0xD6FF, -1, 0xD7FFFF]


def test_a_named_tuple_of_an_unknown_module_is_no_value() -> None:
    foreign = namedtuple("foreign", "own")
    for value in (foreign(1), [(foreign(1), 2)], {foreign(1): 2}):
        with pytest.raises(BadValue, match="no rule book here"):
            CODEC.unpack(CODEC.pack(value))


def test_a_channel_of_another_system_is_no_value() -> None:
    with pytest.raises(BadValue, match="no channel"):
        Codec([]).unpack(CODEC.pack(CHANNELS[0]))


@examples(60)
@given(st.binary(max_size=60))
def test_any_bytes_are_a_value_or_a_bad_value(content: bytes) -> None:
    try:
        value = CODEC.unpack(content)
    except BadValue:
        return
    assert not isinstance(value, msgpack.Timestamp | msgpack.ExtType)


@examples(40)
@given(values, st.data())
def test_a_value_that_is_cut_or_changed_harms_no_other(value: Any, data: st.DataObject) -> None:
    content = CODEC.pack(value)
    with pytest.raises(BadValue):
        CODEC.unpack(content[: data.draw(st.integers(0, len(content) - 1))])
    changed = bytearray(content)
    changed[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with suppress(BadValue):
        CODEC.unpack(bytes(changed))


def test_a_named_tuple_that_a_module_of_sim_only_uses_is_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = namedtuple("foreign", "own")
    monkeypatch.setattr(library, "foreign", foreign, raising=False)
    codec = Codec([])
    with pytest.raises(BadValue, match="no rule book here"):
        codec.unpack(codec.pack(foreign(1)))
