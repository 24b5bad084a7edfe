"""What a snapshot algorithm is: a rule book that sees one process and an `Out`, and speaks for itself.

A rule never touches the network, the clock or another process. It says what it wants by calling
`Out`, which only collects; sim/core/rules.py carries the effects out, in order, within the same atomic
action. Hence "record the state and send the markers" is one action by construction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from sim.core import algorithm_words
from sim.core.algorithm_words import Caption, Stamp
from sim.core.effects import Out
from sim.core.model import Channel, Message, Process, Timer
from sim.core.parameters import Parametrised
from sim.core.registry import Registry

# Who may initiate: any process; only those without incoming channels; every process at once; a service.
ANY, SOURCES, ALL, COORDINATOR = "any", "sources", "all", "coordinator"

# What tells a process that the state of a channel is known: a marker on it, a count of messages, or nothing: then a
# process is done as soon as it has recorded.
BY_MARKER, BY_COUNT, BY_NOTHING = "marker", "count", "nothing"


class Graph(NamedTuple):
    """The system that an algorithm is made for: the names of its processes, and its channels."""

    processes: tuple[str, ...]
    channels: tuple[Channel, ...]


class Service:
    """The hooks of a service, each doing nothing: a rule book outside the graph and every cut, such as a coordinator.

    A service has no channels and no application events. Processes and services tell each other control messages; a
    service may be asked to initiate a snapshot, and may set timers. What it remembers is in the `memory` of its own
    `Process`. `name` is what rules call it in `out.tell`, and its name in rows. `algorithm` is the one that asks for
    it: it knows the graph and the parameters.
    """

    name = ""

    def __init__(self, algorithm: SnapshotAlgorithm) -> None:
        self.algorithm = algorithm

    def on_start(self, service: Process, out: Out) -> None:
        """The run begins; called once, at time 0, where a service has this hook."""

    def on_initiate(self, service: Process, snapshot: str, out: Out) -> None:
        """The scenario asks this service to initiate `snapshot`."""

    def on_control(self, service: Process, message: Message, out: Out) -> None:
        """A control message has come."""

    def on_timer(self, service: Process, timer: Timer, out: Out) -> None:
        """A timer that this service has set goes off."""


class SnapshotAlgorithm(Parametrised):
    """The hooks of an algorithm, each doing nothing; the capabilities that it declares; and its words.

    The engine never asks which algorithm it runs: it calls the hooks and honours the capabilities. Nor do sentences,
    reasons, checks, diagrams and exports: they ask the algorithm for its words.
    """

    name = ""
    title = ""
    source = ""

    needs_fifo = True  # refuse scenarios with a channel that is not FIFO
    overtakes = False  # its markers may be delivered ahead of the messages in front of them
    pauses = False  # it may pause processes
    initiators = ANY  # who may initiate: one of these four
    closes_by = BY_MARKER
    services: ClassVar[tuple[type[Service], ...]] = ()
    checks: ClassVar[tuple[str, ...]] = ("completion", "one_marker", "consistency", "channel_states", "conservation")

    marker = "marker"  # what its markers are called
    control_message = "control message"  # what its control messages are called
    control = "something"  # what several control messages say, in words: "P1 tells P2 and P3 something"
    stamps: ClassVar[tuple[Stamp, ...]] = ()  # the kinds of stamp that its messages carry
    captions: ClassVar[Mapping[str, Caption]] = {}  # instead of those of sim/core/algorithm_words.py, by situation
    clauses: ClassVar[Mapping[str, str]] = {}
    reasons: ClassVar[Mapping[str, str]] = {}

    def __init__(self, graph: Graph, **parameters: Any) -> None:
        self.graph = graph
        self.take(parameters)

    # ------------------------------------------------------------------ rules

    def problems(self) -> Iterator[tuple[str, str]]:
        """What is wrong with the parameters on this graph: (parameter, sentence) each."""
        return iter(())

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """The scenario asks `process` to initiate `snapshot`. Must do nothing if it has recorded it already."""

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """`process` receives `marker`, which names its channel and its snapshot."""

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        """`process` is about to receive `message`: called before the workload sees it."""

    def on_send(self, process: Process, channel: Channel, out: Out) -> Any:
        """`process` is about to send on `channel`. Returns the stamp that travels with the message."""
        return None

    def on_control(self, process: Process, message: Message, out: Out) -> None:
        """`process` receives a control message, from `message.channel.source_name`."""

    def on_timer(self, process: Process, timer: Timer, out: Out) -> None:
        """A timer that `process` has set goes off."""

    def on_done(self, process: Process, snapshot: str, out: Out) -> None:
        """`process` has recorded for `snapshot` and closed every incoming channel."""

    def on_abort(self, process: Process, snapshot: str, out: Out) -> None:
        """`process` has thrown away what it had recorded for `snapshot`: unblock, resume, tell the others."""

    @property
    def uses_control(self) -> bool:
        """Whether control messages or timers may come about: whoever has neither hook nor service can use none."""
        hooks = ("on_control", "on_timer")
        return bool(self.services) or any(
            getattr(type(self), hook) is not getattr(SnapshotAlgorithm, hook) for hook in hooks
        )

    # ------------------------------------------------------------------ words

    def stamp_of(self, stamp: Any) -> str | None:
        """Which of `stamps` a message that travels with `stamp` carries, by its name."""
        return None

    def stamp_words(self, stamp: Any) -> str:
        """A stamp in full, such as "red for S1"."""
        return self.stamp_of(stamp) or ""

    def control_words(self, body: Any, channel: str) -> str:
        """What one control message says, as in "P1 tells P2 ..."; `channel` is the caption of the channel beside it."""
        return self.control if body is None else str(body)

    @cached_property
    def all_captions(self) -> Mapping[str, Caption]:
        """The caption of every situation."""
        return {**algorithm_words.CAPTIONS, **self.captions}

    @cached_property
    def all_clauses(self) -> Mapping[str, str]:
        """Every clause."""
        no_marker_closes = {} if self.closes_by == BY_MARKER else {"listens": ""}
        return {**algorithm_words.CLAUSES, **no_marker_closes, **self.clauses}

    @cached_property
    def all_reasons(self) -> Mapping[str, str]:
        """The reason of every case."""
        by_markers = algorithm_words.BY_MARKERS if self.closes_by == BY_MARKER else {}
        overtaking = algorithm_words.BY_OVERTAKING if self.closes_by == BY_MARKER and self.overtakes else {}
        return {**algorithm_words.REASONS, **by_markers, **overtaking, **self.reasons}


ALGORITHMS: Registry[type[SnapshotAlgorithm]] = Registry("sim.algorithms", SnapshotAlgorithm)
