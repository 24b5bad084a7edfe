"""The vocabulary: channels, messages, processes, states, actions, events.

A *state* is every process and every channel between two atomic actions (Dijkstra, EWD864a). Time is not part of it.
An *action* takes one state to the next; a scheduler chooses it. An *event* is one row of the event table, which records
what an action did. The columns of the table are declared here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

# The kinds of message: application message, marker, and control message (which travels outside all channels).
APP = "app"
MARKER = "marker"
CONTROL = "control"

# The kinds of event. The first three are application events; each process numbers its own from 1.
INTERNAL, SEND, RECEIVE = "internal", "send", "receive"
RECORD, RECORDED = "record", "recorded"  # a process records its state; it records one message of a channel
STATE_CHANGED = "state_changed"  # what a process has recorded was no copy, and changes
MARKER_SEND, MARKER_RECEIVE = "marker_send", "marker_receive"
MARKER_CARRIED = "marker_carried"  # a marker rides on the application message that is sent in the same step
CHANNEL_CLOSED = "channel_closed"
SNAPSHOT_COMPLETE, SNAPSHOT_ABORTED = "snapshot_complete", "snapshot_aborted"  # one process's part of a snapshot
CONTROL_SEND, CONTROL_RECEIVE = "control_send", "control_receive"
TIMER = "timer"
NOTED = "noted"  # something of the rules that nothing else shows, such as a sum
COLLECTED = "collected"  # an initiator knows that every part of its snapshot is there
BLOCKED, UNBLOCKED, PAUSED, RESUMED = "blocked", "unblocked", "paused", "resumed"
FULL, ROOM = "full", "room"  # a sender has filled a channel; its receiver has taken a message from it
# The environment: a process crashes and starts again, a channel is severed and mended, a message is lost or copied.
CRASH, RESTART, DOWN, UP, LOST, COPIED = "crash", "restart", "down", "up", "lost", "copied"
SLOW = "slow"  # a process becomes slower, or faster again
FROZEN, THAWED = "frozen", "thawed"  # a process stands still, with all that it holds; it goes on
RESENT, DROPPED = "resent", "dropped"  # what a FIFO layer makes of a loss, and of a copy
DECISION = "decision"  # a coordinator decides how a snapshot ended
JOIN, LEAVE = "join", "leave"  # a process becomes part of the system; it is no longer part of it
# A recovery begins; a process goes back to what it recorded, a message into its channel; a message is fenced off.
RECOVERY, RESTORE, PUT_BACK, FENCED = "recovery", "restore", "put_back", "fenced"
COMMITTED = "committed"  # a storage has written the manifest of a snapshot
OUTPUT = "output"  # a sink gives an output to the environment, which no recovery takes back
APPLICATION_KINDS = frozenset({INTERNAL, SEND, RECEIVE})
# A service has no other events.
SERVICE_KINDS = frozenset({CONTROL_SEND, CONTROL_RECEIVE, TIMER, NOTED, DECISION, RECOVERY, COMMITTED, FENCED})
SENT = {SEND: APP, MARKER_SEND: MARKER, CONTROL_SEND: CONTROL}  # kind of event -> kind of message sent
RECEIVED = {RECEIVE: APP, MARKER_RECEIVE: MARKER, CONTROL_RECEIVE: CONTROL}
KINDS = (
    INTERNAL, SEND, RECEIVE, RECORD, RECORDED, MARKER_SEND, MARKER_RECEIVE, CHANNEL_CLOSED, SNAPSHOT_COMPLETE,
    SNAPSHOT_ABORTED, CONTROL_SEND, CONTROL_RECEIVE, TIMER, BLOCKED, UNBLOCKED, PAUSED, RESUMED, STATE_CHANGED,
    NOTED, COLLECTED, MARKER_CARRIED, FULL, ROOM, CRASH, RESTART, DOWN, UP, LOST, JOIN, LEAVE, DECISION, COPIED,
    RESENT, DROPPED, SLOW, FROZEN, THAWED, RECOVERY, RESTORE, PUT_BACK, FENCED, COMMITTED, OUTPUT,
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Channel:
    """A directed edge from process number `source` to process number `target`, called P1->P2.

    Channels are FIFO unless the scenario says otherwise. A channel that holds `capacity` application messages is full:
    its sender stands still until one is received (None: it is never full). Control messages have channels of their own,
    which are FIFO and belong neither to the graph nor to any cut.
    """

    number: int
    source: int
    target: int
    name: str
    fifo: bool = True
    capacity: int | None = None

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
    """An application message, a marker or a control message. It is never changed once sent.

    `sent_index` numbers the send among its process's application events (None: not an application message). `label`
    and `receive_label` are the script's names for the send and the receive. `stamp` is what the snapshot algorithm
    piggybacks on the message. `origin` is the id of the message of which this one is a copy (None: it is none).
    `epoch` is the number of recoveries before its send. `is_again`: a recovery has put it back into its channel.
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
    origin: int | None = None
    epoch: int = 0
    is_again: bool = False

    def __lt__(self, other: Message) -> bool:
        """Ties go to the earlier epoch."""
        return self.epoch < other.epoch

    @property
    def names(self) -> tuple[MessageReference, ...]:
        """The references under which a fault names this message: by its labels, or as the marker of a snapshot."""
        if self.origin is not None or self.is_again:
            return ()
        if self.sent_index is None:
            return (MessageReference(None, self.channel.name, self.kind, self.snapshot),)
        numbered = label_of(self.channel.source_name, self.sent_index, None)
        return tuple(MessageReference(label=label) for label in {self.label or numbered: 0, numbered: 0})


class MessageReference(NamedTuple):
    """Names a message by the `label` of its send, or as number `ordinal` (from 1) of a channel, kind and snapshot."""

    label: str | None = None
    channel: str | None = None
    kind: str = APP
    snapshot: str | None = None
    ordinal: int = 1

    def in_words(self, marker: str = "marker", control: str = "control message") -> str:
        """`the message sent at H`, `the marker of S1 on P1->P2`, `message number 2 on P1->P2`.

        `marker` and `control` are the algorithm's words for its markers and control messages.
        """
        if self.label is not None:
            return f"the message sent at {self.label}"
        which = f"number {self.ordinal} " if self.ordinal != 1 or self.kind == APP else ""
        if self.kind == APP:
            return f"message {which}on {self.channel}"
        what = marker if self.kind == MARKER else control
        return f"the {what} {which}{f'of {self.snapshot} ' if self.snapshot else ''}on {self.channel}"


class LocalSnapshot(NamedTuple):
    """The recording of one process for one snapshot.

    `inside` is the number of its application events inside the cut. `kept` holds the messages recorded so far, by
    incoming channel. `closed` holds the channels whose recording has ended. `done`: nothing is missing. A run that may
    be rolled back records two more things: the number of the workload's turns taken, and the offsets of the process.
    """

    state: Any
    inside: int
    kept: dict[Channel, tuple[Message, ...]]
    closed: frozenset[Channel]
    done: bool
    turn: int = 0
    offsets: Mapping[Channel, int] = {}


class Timer(NamedTuple):
    """An alarm that goes off `after` time units after process (or service) number `process` sets it.

    A process has at most one timer with a given `name`; setting it again replaces it. `number` differs for every timer
    of a run.
    """

    process: int
    name: str
    after: float
    snapshot: str | None
    number: int


class Process:
    """A process: the state of its computation, and what its snapshot algorithm remembers. A service has no channels.

    `incoming` and `outgoing` hold the channels from and to the processes that are present, so they change where one
    joins or leaves.

    Rules rebind these fields and never mutate a value in them. So the same rule runs on a copied process
    (`Engine.step`) and in place (`Engine.perform`).
    """

    __slots__ = (
        "aborted", "alive", "blocked", "coordination", "epoch", "frozen", "incarnation", "incoming", "index",
        "listening", "memory", "name", "number", "offsets", "outgoing", "outside", "paused", "position", "present",
        "snapshots", "stands", "state", "storing", "turn",
    )  # fmt: skip

    def __init__(self, name: str, number: int, state: Any) -> None:
        self.name = name
        self.number = number
        self.incoming: tuple[Channel, ...] = ()
        self.outgoing: tuple[Channel, ...] = ()
        self.state = state
        self.index = 0  # number of application events so far
        self.position = 0  # number of timed agenda items carried out so far
        self.turn = 0  # number of the workload's turns taken so far
        self.present = True  # if not, it is no part of the system: it has left, or not joined yet
        self.alive = True  # if not, it has crashed or is not present, and its state is None
        self.frozen = False  # whether it stands still with all that it holds: it takes no step
        self.paused = False
        self.stands = False  # whether it begins nothing and takes nothing from its channels, until a service answers
        self.blocked: frozenset[Channel] = frozenset()  # incoming channels that deliver nothing to it
        self.snapshots: dict[str, LocalSnapshot] = {}
        self.listening: dict[Channel, tuple[str, ...]] = {}  # channel -> snapshots that record its messages
        self.aborted: frozenset[str] = frozenset()  # snapshots that this process aborted
        self.memory: Any = None  # the algorithm's own notes
        self.coordination: Any = None  # likewise, for the coordinator
        self.storing: Any = None  # likewise, for the storage
        self.epoch = 0  # number of recoveries that have restored it
        self.incarnation = 0  # rises whenever it begins anew: after a crash, by joining, in a recovery
        self.outside = 0  # number of outputs given to the environment; nothing takes them back
        self.offsets: Mapping[Channel, int] = {}  # where channels are logs: how many messages it has sent, or taken

    def copy(self) -> Process:
        """A second process with the same values; rebinding its fields does not change this one."""
        twin = Process.__new__(Process)  # field by field is fastest, and pages copy at every step
        twin.name, twin.number, twin.incoming, twin.outgoing = self.name, self.number, self.incoming, self.outgoing
        twin.state, twin.index, twin.position, twin.turn = self.state, self.index, self.position, self.turn
        twin.alive, twin.present, twin.paused, twin.blocked = self.alive, self.present, self.paused, self.blocked
        twin.frozen, twin.stands, twin.incarnation = self.frozen, self.stands, self.incarnation
        twin.snapshots, twin.coordination = self.snapshots, self.coordination
        twin.listening, twin.aborted, twin.memory = self.listening, self.aborted, self.memory
        twin.storing, twin.epoch, twin.offsets, twin.outside = self.storing, self.epoch, self.offsets, self.outside
        return twin


class Restorable(NamedTuple):
    """The goal of a recovery: `snapshot` (None: the initial state), and its parts by process.

    `takes` holds the time until each part is fetched, in time units from the beginning of the recovery. `valid` names
    the snapshots that stay valid; the parts of all others are thrown away. `restores` names the processes that go back,
    and `keeps` those that did not fail and keep their present states.
    """

    snapshot: str | None
    parts: Mapping[str, LocalSnapshot]
    takes: Mapping[str, float]
    valid: frozenset[str] = frozenset()
    restores: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ()


class RecoveryState(NamedTuple):
    """The part of a state that recoveries need.

    `epoch` is the number of recoveries so far, `planned` that of those at a time given. `goal` is what the last one
    goes back to, and `waiting` holds the numbers of the processes that it has not restored yet. `failed` names the
    processes that have crashed since. `gone`, `receipts` and `log`, where they are kept, are chains: (what was before,
    one more).
    """

    epoch: int = 0
    planned: int = 0
    goal: Restorable = Restorable(None, {}, {})
    waiting: frozenset[int] = frozenset()
    failed: frozenset[str] = frozenset()
    gone: Any = None  # the events taken back: (process, the last event before them, the last of them)
    receipts: Any = None  # of application messages: (receiver, index of the receive, sender, index of the send)
    log: Any = None  # application messages, in the order of sending


class State:
    """Every process, service and channel between two atomic actions.

    `queues[c]` holds the messages in channel number c, oldest first; `control` the control messages on their way;
    `timers` the timers that are set, by process number and name. `happened` holds the labels of past events that some
    agenda item waits for; `waiting` the numbers of the agenda items that wait for an event and are not carried out yet.
    `severed` holds the channels that deliver nothing, and `slowed`, by process number, the factor by which a process is
    slow. `recovery` is the part that recoveries need. If the scenario has faults, the last of `services` is the
    environment, which only counts the faults so far.
    """

    __slots__ = (
        "control",
        "happened",
        "messages",
        "processes",
        "queues",
        "recovery",
        "services",
        "severed",
        "slowed",
        "timers",
        "timers_set",
        "waiting",
    )  # fmt: skip

    def __init__(self, processes: list[Process], queues: list[list[Message]], services: list[Process]) -> None:
        self.processes = processes
        self.queues = queues
        self.services = services
        self.control: dict[Channel, tuple[Message, ...]] = {}
        self.timers: dict[tuple[int, str], Timer] = {}
        self.timers_set = 0  # so far, so the next timer has this number
        self.happened: frozenset[str | None] = frozenset()
        self.waiting: frozenset[int] = frozenset()
        self.severed: frozenset[Channel] = frozenset()
        self.slowed: Mapping[int, float] = {}
        self.messages = 0  # sent so far, so the next message has this id
        self.recovery = RecoveryState()

    def node(self, number: int) -> Process:
        """The process of that number; services are numbered after the processes."""
        count = len(self.processes)
        return self.processes[number] if number < count else self.services[number - count]

    def copy_for(self, process: Process, channels: Iterable[Channel]) -> State:
        """A copy of this state. Changing `process` and these channels in the copy does not change this state."""
        twin = State.__new__(State)
        twin.processes, twin.queues, twin.services = self.processes.copy(), self.queues.copy(), self.services
        twin.control, twin.timers, twin.timers_set = self.control.copy(), self.timers.copy(), self.timers_set
        twin.happened, twin.waiting, twin.messages = self.happened, self.waiting, self.messages
        twin.severed, twin.slowed, twin.recovery = self.severed, self.slowed, self.recovery
        if process.number < len(twin.processes):
            twin.processes[process.number] = process.copy()
        else:
            twin.services = [process.copy() if own is process else own for own in self.services]
        for channel in channels:
            twin.queues[channel.number] = self.queues[channel.number].copy()
        return twin


@dataclass(slots=True, unsafe_hash=True)
class Internal:
    """Process number `process` has an internal event."""

    process: int
    body: Any = None
    label: str | None = None
    item: int | None = None  # number of the agenda item carried out (None: a turn of the workload)


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
        """The channel on which the message arrives."""
        return self.message.channel


class Hear(Deliver):
    """The target of a control message receives it."""


@dataclass(slots=True, unsafe_hash=True)
class Initiate:
    """Process (or service) number `process` initiates `snapshot`. A snapshot may have several initiators."""

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


@dataclass(slots=True, unsafe_hash=True)
class Crash:
    """The environment: process number `process` loses all that it holds, and does nothing until it starts again."""

    process: int
    item: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Restart:
    """The environment: process number `process`, which has crashed, starts again from its initial state."""

    process: int
    item: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Freeze:
    """The environment: process number `process` stands still, and so do its timers. It keeps all that it holds."""

    process: int
    item: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Thaw:
    """The environment: process number `process`, which is frozen, goes on."""

    process: int
    item: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Sever:
    """The environment: these channels deliver nothing until they are mended."""

    channels: tuple[Channel, ...]
    item: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Mend:
    """The environment: these channels, which are severed, deliver again."""

    channels: tuple[Channel, ...]
    item: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Join:
    """The environment: process number `process` joins the system in its initial state, with its channels."""

    process: int
    item: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Leave:
    """The environment: process number `process` leaves the system, and its channels go with it."""

    process: int
    item: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Slow:
    """The environment: process number `process` takes `factor` times as long as usual; 1: as long as usual."""

    process: int
    factor: float
    item: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Lose:
    """The environment: a message that is on its way is lost. A FIFO layer sends it again."""

    reference: MessageReference
    item: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Copy:
    """The environment: a message that is on its way will arrive twice. A FIFO layer drops the second one."""

    reference: MessageReference
    item: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Recover:
    """The environment: a recovery begins. `number` counts those at a given time, from 0 (None: a crash is the
    reason)."""

    number: int | None
    item: ClassVar[None] = None


@dataclass(slots=True, unsafe_hash=True)
class Restore:
    """The environment: process number `process` goes back to what the recovery under way has for it."""

    process: int
    item: ClassVar[None] = None


Fault = Crash | Restart | Freeze | Thaw | Sever | Mend | Join | Leave | Slow | Lose | Copy
FAULTS = frozenset({Crash, Restart, Freeze, Thaw, Sever, Mend, Join, Leave, Slow, Lose, Copy})
Action = Internal | Send | Deliver | Hear | Initiate | Fire | Start | Fault | Recover | Restore


@dataclass(frozen=True, slots=True)
class AgendaItem:
    """An action that the scenario plans: a script line, an initiation or a fault. `process` is the node that acts.

    It happens at `time`, or `time` units after the event labelled `after`. `rank` is its place among the timed items of
    its process, from 0. `rank` is None if it waits for an event, or for the message that is to be lost or copied.
    """

    number: int
    process: int
    action: Action
    time: float
    after: str | None
    rank: int | None


class Event(NamedTuple):
    """One row of the event table; see EVENT_TYPES for the columns.

    `index` numbers a process's application events from 1. On a `record` row it is the number of application events
    inside the cut; on all other rows it is None. On a send, `peer_index` is the index of the receive (None: never
    received); on a receive, that of the send. A `copied` row stands for one more send: it has the
    index of that send, and the `peer_index` of the copy's receive. `body` is JSON. `state_size` is the size of that
    JSON in bytes, on the rows that record a process state or close a channel. `epoch` is the number of recoveries
    before the event.
    """

    run_id: int
    row: int
    step: int
    time: float
    process: str
    index: int | None  # type: ignore[assignment]  # hides tuple.index, which is not needed
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
    """The name of an event: its label, or `P1.3` (process, index) if it has none."""
    return label if label is not None else f"{process}.{index}"
