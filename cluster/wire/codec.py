"""Values on the wire and in the storage: msgpack, with extension types for further types of Python.

Nothing is unpickled. Extension types stand for tuples, frozensets, named tuples, channels and messages, and for whole
numbers of more than 64 bits. A named tuple travels by its name: only those of the rule books and services that this
process has loaded are accepted. A value nested in more than MOST_NESTED extensions is refused.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from typing import Any

import msgpack

from sim.core.model import APP, CONTROL, MARKER, Channel, Message

MOST_NESTED = 100  # extensions in each other: each holds a copy of those inside
_TUPLE, _SET, _NAMED, _CHANNEL, _MESSAGE, _LONG = range(1, 7)
_MESSAGE_FIELDS = (
    "id", "channel", "kind", "body", "snapshot", "stamp", "sent_index", "label", "receive_label", "origin", "epoch",
    "is_again",
)  # fmt: skip
# The beginnings of a timestamp, an extension of msgpack's own, which no value here has.
_TIMESTAMPS = (b"\xd6\xff", b"\xd7\xff", b"\xc7\x0c\xff")


class BadValue(ValueError):
    """Bytes that are no value of this system, or a value that cannot be packed."""


class Codec:
    """Packs and unpacks the values of one system, whose channels are known by number."""

    def __init__(self, channels: Iterable[Channel]) -> None:
        self._channels: dict[int, Channel] = {channel.number: channel for channel in channels}

    def channel(self, number: int) -> Channel:
        """The channel with a number."""
        return self._channels[number]

    @cached_property
    def _named(self) -> Mapping[str, type]:
        """The named tuples that the loaded modules of sim define, by name."""
        found = {}
        for name, module in list(sys.modules.items()):
            if not name.startswith("sim."):
                continue
            for own in list(vars(module).values()):
                if isinstance(own, type) and issubclass(own, tuple) and hasattr(own, "_fields"):
                    found[f"{own.__module__}.{own.__qualname__}"] = own
        return {name: own for name, own in found.items() if name.startswith("sim.")}

    def pack(self, value: Any) -> bytes:
        """The bytes of `value`. Raises BadValue."""
        return self._pack(value, 0)

    def _pack(self, value: Any, depth: int) -> bytes:
        if depth > MOST_NESTED:
            raise BadValue(f"a value has at most {MOST_NESTED} tuples, sets or messages inside each other")
        try:
            packed: bytes = msgpack.packb(value, default=partial(self._default, depth=depth + 1), strict_types=True)
        except BadValue:
            raise
        except (TypeError, ValueError, OverflowError, RecursionError) as problem:
            raise BadValue(f"this value cannot be sent or stored: {problem}") from problem
        return packed

    def unpack(self, content: bytes) -> Any:
        """The value of `content`. Raises BadValue."""
        return self._unpack(content, 0)

    def _unpack(self, content: bytes, depth: int) -> Any:
        if depth > MOST_NESTED:
            raise BadValue(f"a value has at most {MOST_NESTED} extensions in each other")
        try:
            hook = partial(self._hook, depth=depth + 1)
            value = msgpack.unpackb(content, ext_hook=hook, strict_map_key=False)
            if any(begin in content for begin in _TIMESTAMPS):
                _check_no_timestamp(value)
        except BadValue:
            raise
        except Exception as problem:  # msgpack's own kinds, and what a constructor makes of wrong fields
            raise BadValue(f"these bytes are no value: {type(problem).__name__} {problem}") from problem
        return value

    def _default(self, value: Any, depth: int) -> Any:
        pack = partial(self._pack, depth=depth)
        if isinstance(value, Channel):
            return msgpack.ExtType(_CHANNEL, pack(value.number))
        if isinstance(value, Message):
            return msgpack.ExtType(_MESSAGE, pack([getattr(value, name) for name in _MESSAGE_FIELDS]))
        if isinstance(value, tuple):
            if hasattr(value, "_fields"):
                name = f"{type(value).__module__}.{type(value).__qualname__}"
                return msgpack.ExtType(_NAMED, pack([name, *value]))
            return msgpack.ExtType(_TUPLE, pack(list(value)))
        if isinstance(value, frozenset | set):
            return msgpack.ExtType(_SET, pack(sorted(value, key=pack)))
        if isinstance(value, Mapping):
            return dict(value)
        if type(value) is int:
            return msgpack.ExtType(_LONG, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))
        for plain in (int, float, str):  # a kind of its own, such as an enumeration's member
            if isinstance(value, plain):
                return plain(value)
        raise TypeError(f"{type(value).__name__} has no bytes")

    def _hook(self, code: int, content: bytes, depth: int) -> Any:
        if code == _LONG:
            return int.from_bytes(content, "big", signed=True)
        value = self._unpack(content, depth)
        if code == _CHANNEL:
            if type(value) is not int or value not in self._channels:
                raise BadValue(f"there is no channel number {value!r}")
            return self._channels[value]
        if not isinstance(value, list):
            raise BadValue(f"extension {code} holds a list, not {type(value).__name__}")
        if code == _TUPLE:
            return tuple(value)
        if code == _SET:
            return frozenset(value)
        if code == _NAMED:
            kind = self._named.get(value[0]) if value else None
            if kind is None:
                raise BadValue(f"no rule book here has a {value[:1]}")
            return kind(*value[1:])
        if code == _MESSAGE:
            return checked_message(Message(**dict(zip(_MESSAGE_FIELDS, value, strict=True))))
        raise BadValue(f"there is no extension {code}")


def checked_message(message: Message) -> Message:
    """The message itself, if its fields are what those of a message are. Raises BadValue."""
    whole = (message.id, message.epoch, message.sent_index or 0, message.origin or 0)
    texts = (message.snapshot or "", message.label or "", message.receive_label or "")
    is_one = (
        isinstance(message.channel, Channel) and message.kind in (APP, MARKER, CONTROL)
        and all(type(own) is int for own in whole) and all(type(own) is str for own in texts)
        and type(message.is_again) is bool
    )  # fmt: skip
    if not is_one:
        raise BadValue("these are no fields of a message")
    return message


def _check_no_timestamp(value: Any) -> None:
    if isinstance(value, msgpack.Timestamp):
        raise BadValue("there is no extension -1")
    for own in (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ():
        _check_no_timestamp(own)
