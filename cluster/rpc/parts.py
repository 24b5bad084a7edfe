"""The part of a process as FlushChannelState hands it over: its own state, and the messages of each channel.

The state of the process is a map. Its `document` is that of sim.services.uploads.Part ({"whole": state}), and `inside`
is the number of its events inside the cut. `base`, `size`, `turn` and `offsets` may be left out. The state of a channel
is a list of maps, one for each message, with the fields in FIELDS. Every channel to the process has a state, even if it
is empty.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cluster.rpc import snapshot_pb2 as pb
from cluster.store.checkpoints import NAME
from cluster.wire.codec import BadValue, Codec, checked_message
from cluster.wire.frames import MOST_BYTES
from sim.core.errors import brief, nearest
from sim.core.log import to_json
from sim.core.model import APP, Channel, LocalSnapshot, Message
from sim.services.uploads import Part

CHUNK = 2**20  # bytes of state in a call: gRPC's own limit for a message is 4 MiB
MOST_STATES = 256  # of one part
MOST_PARTS = 4  # of one node that are not complete, or not asked for yet
FIELDS = ("id", "body", "stamp", "sent_index", "label", "receive_label", "origin", "epoch", "is_again")


def no_node(field: str, name: str, nodes: Sequence[str]) -> str:
    """The reason for refusing a call whose sender `name` is none of `nodes`."""
    return f"{field}: {brief(name)} is no node of this cluster; {nearest(name, nodes)}"


def no_id(snapshot: str) -> str:
    """The reason for refusing a call with this `snapshot_id` ("": it is accepted)."""
    if NAME.fullmatch(snapshot):
        return ""
    return f"snapshot_id: {brief(snapshot)} is no id; letters, digits, - and _, at most 100"


def calls(codec: Codec, snapshot: str, node: str, part: Part) -> Iterator[pb.FlushRequest]:
    """The calls that hand over a part of a snapshot, in their order."""
    local = part.local
    own = {
        "document": part.document, "base": part.base, "size": part.size, "inside": local.inside, "turn": local.turn,
        "offsets": dict(local.offsets),
    }  # fmt: skip
    states: dict[str, Any] = {"": own}
    for channel in sorted(local.closed | set(local.kept), key=lambda channel: channel.number):
        held = local.kept.get(channel, ())
        states[channel.name] = [{name: getattr(message, name) for name in FIELDS} for message in held]
    for name, state in states.items():
        content = codec.pack(state)
        chunks = -(-len(content) // CHUNK)
        for chunk in range(chunks):
            data = content[chunk * CHUNK : (chunk + 1) * CHUNK]
            yield pb.FlushRequest(
                snapshot_id=snapshot, node_id=node, channel_id=name, state_data=data, chunk=chunk, chunks=chunks,
                crc32=zlib.crc32(data),
            )  # fmt: skip


@dataclass
class _Pending:
    """A part of which something has come: by the name of its channel, or "" for the process."""

    states: dict[str, bytearray] = field(default_factory=dict)
    missing: dict[str, int] = field(default_factory=dict)  # the next chunk of a state that is not complete
    size: int = 0


class Parts:
    """The parts that have been handed over, until the message comes that brings each."""

    def __init__(self, codec: Codec, nodes: Sequence[str], channels: Mapping[str, Channel]) -> None:
        """`nodes` are the names of those that have parts; `channels` are those between them, by name."""
        self._codec, self._nodes, self._channels = codec, nodes, channels
        self._pending: dict[str, dict[str, _Pending]] = {}  # by node and snapshot

    def take(self, call: pb.FlushRequest) -> str:
        """Take a state, or a chunk of one. Returns the reason if it is refused ("": it is taken)."""
        name, chunks = call.channel_id, call.chunks or 1
        if call.node_id not in self._nodes:
            return no_node("node_id", call.node_id, self._nodes)
        if problem := no_id(call.snapshot_id):
            return problem
        if name and (name not in self._channels or self._channels[name].target_name != call.node_id):
            return f"{call.node_id} has no channel {name!r} that leads to it"
        if call.HasField("crc32") and zlib.crc32(call.state_data) != call.crc32:
            return f"chunk {call.chunk} of {name or 'the process'} is damaged: its checksum is another"
        if call.chunk >= chunks:
            return f"chunk {call.chunk} of {chunks}: chunks count from 0"
        parts = self._pending.setdefault(call.node_id, {})
        own = parts.setdefault(call.snapshot_id, _Pending())
        if call.chunk == 0:
            own.size -= len(own.states.get(name, b""))
            own.states[name] = bytearray()
            own.missing[name] = 0
        if own.missing.get(name) != call.chunk:
            return f"chunk {call.chunk} of {name or 'the process'} comes out of order; begin again with chunk 0"
        own.size += len(call.state_data)
        if own.size > MOST_BYTES or len(own.states) > MOST_STATES:
            del parts[call.snapshot_id]
            return f"a part has at most {MOST_BYTES} bytes and {MOST_STATES} channels"
        own.states[name] += call.state_data
        own.missing[name] = call.chunk + 1
        if call.chunk + 1 == chunks:
            del own.missing[name]
        for old in list(parts)[:-MOST_PARTS]:
            del parts[old]
        return ""

    def bring(self, node: str, snapshot: str) -> Part:
        """The part that `node` has handed over. It is returned once. Raises BadValue."""
        own = self._pending.get(node, {}).pop(snapshot, None)
        if own is None or "" not in own.states or own.missing:
            raise BadValue(f"the part of {node} in {snapshot} has not been handed over, or not all of it")
        state = self._codec.unpack(bytes(own.states[""]))
        state = state if isinstance(state, dict) else {}
        if not isinstance(state.get("document"), dict) or type(state.get("inside")) is not int:
            raise BadValue(f"the state of {node} needs its document, and `inside`, the number of its events in the cut")
        kept = {}
        for name, content in own.states.items():
            if name and (messages := self._messages(name, self._codec.unpack(bytes(content)))):
                kept[self._channels[name]] = messages
        closed = frozenset(self._channels[name] for name in own.states if name)
        local = LocalSnapshot(
            None, state["inside"], kept, closed, True, state.get("turn", 0), state.get("offsets", {})
        )  # fmt: skip
        held = [message.body for messages in kept.values() for message in messages]
        values = [state["document"].get("whole", state["document"]), *held]
        size = state.get("size", sum(len(to_json(value).encode()) for value in values))
        return Part(local, state["document"], state.get("base"), size)

    def _messages(self, name: str, state: Any) -> tuple[Message, ...]:
        channel = self._channels[name]
        if not isinstance(state, list) or not all(isinstance(own, dict) for own in state):
            raise BadValue(f"the state of {name} is a list of messages, each a map")
        usual = {"stamp": None, "label": None, "receive_label": None, "origin": None, "epoch": 0, "is_again": False}
        found = []
        for own in state:
            fields = {**usual, **own}
            if set(fields) != set(FIELDS):
                wrong = ", ".join(map(str, set(fields) ^ set(FIELDS)))
                raise BadValue(f"a message in the state of {name} has {', '.join(FIELDS)}: {wrong} is wrong or missing")
            found.append(checked_message(Message(channel=channel, kind=APP, snapshot=None, **fields)))
        return tuple(found)
