"""The vocabulary: channels, messages, processes, states, actions, events.

A *state* is every process and every channel between two atomic actions (Dijkstra, EWD864a). An
*action* is one choice of a scheduler. An *event* is one fact an action produced: one row of the
event table, which is declared here and nowhere else. Time is not part of a state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

# The kinds of message: of the application, a snapshot's marker, and what rules tell each other outside all channels.
APP = "app"
MARKER = "marker"
CONTROL = "control"

# The kinds of event. The first three are application events and carry an index of their process.
INTERNAL, SEND, RECEIVE = "internal", "send", "receive"
RECORD, RECORDED = "record", "recorded"  # a process's state; one message, in the state of its channel
MARKER_SEND, MARKER_RECEIVE = "marker_send", "marker_receive"
CHANNEL_CLOSED = "channel_closed"
SNAPSHOT_COMPLETE, SNAPSHOT_ABORTED = "snapshot_complete", "snapshot_aborted"  # at one process
CONTROL_SEND, CONTROL_RECEIVE = "control_send", "control_receive"
TIMER = "timer"
BLOCKED, UNBLOCKED, PAUSED, RESUMED = "blocked", "unblocked", "paused", "resumed"
APPLICATION_KINDS = frozenset({INTERNAL, SEND, RECEIVE})
SERVICE_KINDS = frozenset({CONTROL_SEND, CONTROL_RECEIVE, TIMER})  # all that a service, which is no process, leaves
SENT = {SEND: APP, MARKER_SEND: MARKER, CONTROL_SEND: CONTROL}  # what kind of message a row sends
RECEIVED = {RECEIVE: APP, MARKER_RECEIVE: MARKER, CONTROL_RECEIVE: CONTROL}
KINDS = (
    INTERNAL, SEND, RECEIVE, RECORD, RECORDED, MARKER_SEND, MARKER_RECEIVE, CHANNEL_CLOSED, SNAPSHOT_COMPLETE,
    SNAPSHOT_ABORTED, CONTROL_SEND, CONTROL_RECEIVE, TIMER, BLOCKED, UNBLOCKED, PAUSED, RESUMED,
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """A directed edge between two processes; FIFO unless the scenario says otherwise.

    Control messages travel on channels of their own, which are FIFO and belong to no graph and no cut.
    """

    number: int
    source: int
    target: int
    name: str
    fifo: bool = True

    @property
    def source_name(self) -> str:
        """The name of the process that sends on this channel."""
        return self.name.split("->")[0]

    @property
    def target_name(self) -> str:
        """The name of the process that receives from this channel."""
        return self.name.split("->")[1]


@dataclass(slots=True, eq=False)
class Message:
    """A message on its way: an application message, a marker or a control message. Never changed once sent.

    `sent_index` is the index of the send among its process's application events (None: it is none);
    `label` and `receive_label` are the names the script gives its two events. `stamp` is
    what the snapshot algorithm piggybacks on it.
    """

    id: int
    channel: Channel
    kind: str
    body: Any
    snapshot: str | None
    stamp: Any
    sent_index: int | None
    label: str | None
    receive_label: str | None


class LocalSnapshot(NamedTuple):
    """What one process has recorded for one snapshot, as its rules see it.

    `inside` is the number of its application events inside the cut; `kept` holds the messages recorded so far
    in each incoming channel; `closed` the channels whose state is known; `done` says that nothing is missing.
    """

    state: Any
    inside: int
    kept: dict[Channel, tuple[Message, ...]]
    closed: frozenset[Channel]
    done: bool


class Timer(NamedTuple):
    """An alarm that process (or service) number `process` has set: it goes off `after` time units later.

    Each process has at most one timer of a name; `number` tells this one from those of its name before it.
    """

    process: int
    name: str
    after: float
    snapshot: str | None
    number: int


class Process:
    """A vertex: its computation's state, and what its snapshot algorithm remembers. A service is one without channels.

    Rules rebind these fields and never mutate a value in them: that is what lets the same rule run
    on a copied process (`Engine.step`) and in place (`Engine.perform`).
    """

    __slots__ = (
        "blocked", "ended", "incoming", "index", "listening", "memory", "name", "number", "outgoing", "paused",
        "position", "snapshots", "state", "turn",
    )  # fmt: skip

    def __init__(self, name: str, number: int, state: Any) -> None:
        self.name = name
        self.number = number
        self.incoming: tuple[Channel, ...] = ()
        self.outgoing: tuple[Channel, ...] = ()
        self.state = state
        self.index = 0  # application events so far
        self.position = 0  # timed agenda items done so far
        self.turn = 0  # the workload's spontaneous turns taken so far
        self.paused = False
        self.blocked: frozenset[Channel] = frozenset()  # incoming channels from which it takes nothing
        self.snapshots: dict[str, LocalSnapshot] = {}
        self.listening: dict[Channel, tuple[str, ...]] = {}  # snapshots that record whatever comes on a channel
        self.ended: frozenset[str] = frozenset()  # snapshots that were aborted here
        self.memory: Any = None  # the algorithm's own notes

    def copy(self) -> Process:
        """A process that shares every value with this one; rebinding its fields leaves this one alone."""
        twin = Process.__new__(Process)  # field by field, as fast as it can be: this is done at every step of a page
        twin.name, twin.number, twin.incoming, twin.outgoing = self.name, self.number, self.incoming, self.outgoing
        twin.state, twin.index, twin.position, twin.turn = self.state, self.index, self.position, self.turn
        twin.paused, twin.blocked, twin.snapshots = self.paused, self.blocked, self.snapshots
        twin.listening, twin.ended, twin.memory = self.listening, self.ended, self.memory
        return twin


class State:
    """Every process, service and channel between two atomic actions.

    `queues[c]` is the content of channel number c, oldest first; `control` the control messages on their way;
    `timers` those that are set, by process number and name. `happened` holds those event labels that some
    agenda item waits for; `waiting` the numbers of the agenda items that wait for an event and have not been done.
    """

    __slots__ = (
        "control", "happened", "messages", "processes", "queues", "services", "timers", "timers_set", "waiting",
    )  # fmt: skip

    def __init__(self, processes: list[Process], queues: list[list[Message]], services: list[Process]) -> None:
        self.processes = processes
        self.queues = queues
        self.services = services
        self.control: dict[Channel, tuple[Message, ...]] = {}
        self.timers: dict[tuple[int, str], Timer] = {}
        self.timers_set = 0  # so far: the number of the next one
        self.happened: frozenset[str | None] = frozenset()
        self.waiting: frozenset[int] = frozenset()
        self.messages = 0  # sent so far: the id of the next one

    def node(self, number: int) -> Process:
        """The process of that number; services are numbered after the processes."""
        count = len(self.processes)
        return self.processes[number] if number < count else self.services[number - count]

    def copy_around(self, process: Process) -> State:
        """A successor in which `process` and its channels may be changed without touching this state."""
        twin = State.__new__(State)
        twin.processes, twin.queues, twin.services = self.processes.copy(), self.queues.copy(), self.services
        twin.control, twin.timers, twin.timers_set = self.control.copy(), self.timers.copy(), self.timers_set
        twin.happened, twin.waiting, twin.messages = self.happened, self.waiting, self.messages
        if process.number < len(twin.processes):
            twin.processes[process.number] = process.copy()
        else:
            twin.services = [process.copy() if own is process else own for own in self.services]
        for channel in process.incoming + process.outgoing:
            twin.queues[channel.number] = self.queues[channel.number].copy()
        return twin


@dataclass(slots=True, unsafe_hash=True)
class Internal:
    """Process number `process` computes: one internal event."""

    process: int
    body: Any = None
    label: str | None = None
    item: int | None = None  # the agenda item this action carries out; None: a turn of the workload


@dataclass(slots=True, unsafe_hash=True)
class Send:
    """The source of `channel` sends an application message on it."""

    channel: Channel
    body: Any = None
    label: str | None = None
    receive_label: str | None = None
    item: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Deliver:
    """The target of the message's channel receives it."""

    message: Message
    item: ClassVar[None] = None

    @property
    def channel(self) -> Channel:
        """The channel that delivers."""
        return self.message.channel


class Hear(Deliver):
    """The target of a control message receives it."""


@dataclass(slots=True, unsafe_hash=True)
class Initiate:
    """Process (or service) number `process` starts (or joins as an initiator) snapshot `snapshot`."""

    process: int
    snapshot: str
    item: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Fire:
    """A timer goes off."""

    timer: Timer
    item: ClassVar[None] = None


@dataclass(slots=True, unsafe_hash=True)
class Start:
    """Service number `process` begins its work."""

    process: int
    item: ClassVar[None] = None


Action = Internal | Send | Deliver | Hear | Initiate | Fire | Start


@dataclass(frozen=True, slots=True)
class AgendaItem:
    """Something the scenario plans: a script line or an initiation.

    It happens at `time`, or `time` units after the event labelled `after`. `rank` is its number among
    the timed items of its process (None for items that wait for an event).
    """

    number: int
    process: int
    action: Action
    time: float
    after: str | None
    rank: int | None


class Event(NamedTuple):
    """One row of the event table; see EVENT_TYPES for the columns.

    `index` numbers a process's application events from 1; on a `record` row it is the number of them
    inside the cut; null on other control rows. `peer_index` is the partner's index: of the receive on
    a send (None: never received), of the send on a receive. `body` is JSON. `state_size` counts the
    bytes of the JSON of a recorded process state or channel. `epoch` counts the recoveries before it.
    """

    run_id: int
    row: int
    step: int
    time: float
    process: str
    index: int | None  # type: ignore[assignment]  # the column's name; tuple.index is not used
    kind: str
    channel: str | None
    peer_index: int | None
    message_id: int | None
    label: str | None
    body: str | None
    snapshot_id: str | None
    state_size: int | None
    epoch: int = 0


EVENT_TYPES: dict[str, str] = {
    "run_id": "int64", "row": "int32", "step": "int64", "time": "float64", "process": "string",
    "index": "int32", "kind": "string", "channel": "string", "peer_index": "int32",
    "message_id": "int64", "label": "string", "body": "string", "snapshot_id": "string",
    "state_size": "int64", "epoch": "int32",
}  # fmt: skip


def label_of(process: str, index: int, label: str | None) -> str:
    """An event's own label, or `P1.3` (process, index) where it has none."""
    return label if label is not None else f"{process}.{index}"
