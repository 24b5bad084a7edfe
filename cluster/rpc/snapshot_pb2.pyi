from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    APP: _ClassVar[Kind]
    MARKER: _ClassVar[Kind]
    CONTROL: _ClassVar[Kind]
APP: Kind
MARKER: Kind
CONTROL: Kind

class MarkerRequest(_message.Message):
    __slots__ = ("snapshot_id", "sender_node_id", "timestamp_ns")
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    SENDER_NODE_ID_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_NS_FIELD_NUMBER: _ClassVar[int]
    snapshot_id: str
    sender_node_id: str
    timestamp_ns: int
    def __init__(self, snapshot_id: _Optional[str] = ..., sender_node_id: _Optional[str] = ..., timestamp_ns: _Optional[int] = ...) -> None: ...

class MarkerResponse(_message.Message):
    __slots__ = ("accepted",)
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    accepted: bool
    def __init__(self, accepted: _Optional[bool] = ...) -> None: ...

class FlushRequest(_message.Message):
    __slots__ = ("snapshot_id", "node_id", "channel_id", "state_data", "chunk", "chunks", "crc32")
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    NODE_ID_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_DATA_FIELD_NUMBER: _ClassVar[int]
    CHUNK_FIELD_NUMBER: _ClassVar[int]
    CHUNKS_FIELD_NUMBER: _ClassVar[int]
    CRC32_FIELD_NUMBER: _ClassVar[int]
    snapshot_id: str
    node_id: str
    channel_id: str
    state_data: bytes
    chunk: int
    chunks: int
    crc32: int
    def __init__(self, snapshot_id: _Optional[str] = ..., node_id: _Optional[str] = ..., channel_id: _Optional[str] = ..., state_data: _Optional[bytes] = ..., chunk: _Optional[int] = ..., chunks: _Optional[int] = ..., crc32: _Optional[int] = ...) -> None: ...

class FlushResponse(_message.Message):
    __slots__ = ("status", "problem")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    status: bool
    problem: str
    def __init__(self, status: _Optional[bool] = ..., problem: _Optional[str] = ...) -> None: ...

class Frames(_message.Message):
    __slots__ = ("frames",)
    FRAMES_FIELD_NUMBER: _ClassVar[int]
    frames: _containers.RepeatedCompositeFieldContainer[Frame]
    def __init__(self, frames: _Optional[_Iterable[_Union[Frame, _Mapping]]] = ...) -> None: ...

class Frame(_message.Message):
    __slots__ = ("hello", "welcome", "data", "taken", "again", "order", "report", "bye")
    HELLO_FIELD_NUMBER: _ClassVar[int]
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    TAKEN_FIELD_NUMBER: _ClassVar[int]
    AGAIN_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    BYE_FIELD_NUMBER: _ClassVar[int]
    hello: Hello
    welcome: Welcome
    data: Data
    taken: Taken
    again: Again
    order: Order
    report: Report
    bye: Bye
    def __init__(self, hello: _Optional[_Union[Hello, _Mapping]] = ..., welcome: _Optional[_Union[Welcome, _Mapping]] = ..., data: _Optional[_Union[Data, _Mapping]] = ..., taken: _Optional[_Union[Taken, _Mapping]] = ..., again: _Optional[_Union[Again, _Mapping]] = ..., order: _Optional[_Union[Order, _Mapping]] = ..., report: _Optional[_Union[Report, _Mapping]] = ..., bye: _Optional[_Union[Bye, _Mapping]] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("token", "source", "target", "incarnation", "about")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    TARGET_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    ABOUT_FIELD_NUMBER: _ClassVar[int]
    token: str
    source: int
    target: int
    incarnation: str
    about: bytes
    def __init__(self, token: _Optional[str] = ..., source: _Optional[int] = ..., target: _Optional[int] = ..., incarnation: _Optional[str] = ..., about: _Optional[bytes] = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("received", "delivered")
    RECEIVED_FIELD_NUMBER: _ClassVar[int]
    DELIVERED_FIELD_NUMBER: _ClassVar[int]
    received: int
    delivered: int
    def __init__(self, received: _Optional[int] = ..., delivered: _Optional[int] = ...) -> None: ...

class Data(_message.Message):
    __slots__ = ("number", "clock", "channel", "id", "kind", "body", "snapshot", "stamp", "index", "label", "receive_label", "epoch", "sent_at", "flushed")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    CLOCK_FIELD_NUMBER: _ClassVar[int]
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    STAMP_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    RECEIVE_LABEL_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    SENT_AT_FIELD_NUMBER: _ClassVar[int]
    FLUSHED_FIELD_NUMBER: _ClassVar[int]
    number: int
    clock: int
    channel: int
    id: int
    kind: Kind
    body: bytes
    snapshot: str
    stamp: bytes
    index: int
    label: str
    receive_label: str
    epoch: int
    sent_at: float
    flushed: bool
    def __init__(self, number: _Optional[int] = ..., clock: _Optional[int] = ..., channel: _Optional[int] = ..., id: _Optional[int] = ..., kind: _Optional[_Union[Kind, str]] = ..., body: _Optional[bytes] = ..., snapshot: _Optional[str] = ..., stamp: _Optional[bytes] = ..., index: _Optional[int] = ..., label: _Optional[str] = ..., receive_label: _Optional[str] = ..., epoch: _Optional[int] = ..., sent_at: _Optional[float] = ..., flushed: _Optional[bool] = ...) -> None: ...

class Taken(_message.Message):
    __slots__ = ("received", "delivered")
    RECEIVED_FIELD_NUMBER: _ClassVar[int]
    DELIVERED_FIELD_NUMBER: _ClassVar[int]
    received: int
    delivered: int
    def __init__(self, received: _Optional[int] = ..., delivered: _Optional[int] = ...) -> None: ...

class Again(_message.Message):
    __slots__ = ("missing",)
    MISSING_FIELD_NUMBER: _ClassVar[int]
    missing: int
    def __init__(self, missing: _Optional[int] = ...) -> None: ...

class Order(_message.Message):
    __slots__ = ("what", "body")
    WHAT_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    what: str
    body: bytes
    def __init__(self, what: _Optional[str] = ..., body: _Optional[bytes] = ...) -> None: ...

class Report(_message.Message):
    __slots__ = ("what", "body")
    WHAT_FIELD_NUMBER: _ClassVar[int]
    BODY_FIELD_NUMBER: _ClassVar[int]
    what: str
    body: bytes
    def __init__(self, what: _Optional[str] = ..., body: _Optional[bytes] = ...) -> None: ...

class Bye(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...
