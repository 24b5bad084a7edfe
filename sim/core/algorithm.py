"""The base class of snapshot algorithms: the rules that one process follows, and the words that explain them.

A rule never touches the network, the clock or another process. It calls methods of `Out`, which collects its effects;
sim/core/rules.py carries them out, in order, within the same atomic action. So "record the state and send the markers"
is one action by construction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple

from sim.core import algorithm_words
from sim.core.algorithm_words import Caption, Rule, Stamp
from sim.core.cost_model import CostModel, Load
from sim.core.effects import Out
from sim.core.model import Channel, Event, Message, Process, RecoveryState, Restorable, Timer
from sim.core.parameters import Parametrised
from sim.core.registry import Registry

# Who may initiate: any process; only those without incoming channels; every process at once; a service.
ANY, SOURCES, ALL, COORDINATOR = "any", "sources", "all", "coordinator"

# What ends the recording of a channel: a marker on it, a count of messages, or nothing. With BY_NOTHING a process has
# completed a snapshot as soon as it has recorded its state.
BY_MARKER, BY_COUNT, BY_NOTHING = "marker", "count", "nothing"


class Graph(NamedTuple):
    """The system that an algorithm runs on: the names of its processes, and its channels."""

    processes: tuple[str, ...]
    channels: tuple[Channel, ...]


class Service:
    """The base class of services, such as a coordinator. Its hooks do nothing.

    A service is outside the graph and every cut: it has no channels and no application events. It exchanges control
    messages with processes and other services, may initiate snapshots, and may set timers. It keeps its notes in the
    `memory` of the `Process` passed to its hooks. `name` is its name in `out.tell` and in rows, `called` what
    sentences call it (empty: its name). `algorithm` is the algorithm it belongs to, which has the graph and the
    parameters.
    """

    name = ""
    called = ""

    def __init__(self, algorithm: SnapshotAlgorithm) -> None:
        self.algorithm = algorithm

    def on_start(self, service: Process, out: Out) -> None:
        """The run begins. Called once, at time 0, before anything else happens."""

    def on_initiate(self, service: Process, snapshot: str, out: Out) -> None:
        """The scenario asks this service to initiate `snapshot`."""

    def on_control(self, service: Process, message: Message, out: Out) -> None:
        """This service receives a control message."""

    def on_timer(self, service: Process, timer: Timer, out: Out) -> None:
        """A timer that this service has set goes off."""

    def on_crash(self, service: Process, process: str, out: Out) -> None:
        """The platform tells this service that `process` has crashed."""

    def on_recovery(self, service: Process, goal: Restorable, out: Out) -> None:
        """A recovery begins, which goes back to `goal`."""

    def goal(self, service: Process, wanted: str | None, recovery: RecoveryState) -> Restorable | None:
        """Return the goal of a recovery: the snapshot `wanted`, or the last valid one (None: this is no storage)."""
        return None


class SnapshotAlgorithm(Parametrised):
    """The base class of algorithms: hooks that do nothing, capabilities to declare, and words.

    No other code asks which algorithm it runs. The engine calls the hooks and honours the capabilities; sentences,
    reasons, checks, diagrams and exports use the words.
    """

    name = ""
    title = ""
    source = ""

    needs_fifo = True  # scenarios with a channel that is not FIFO are refused
    overtakes = False  # its markers may overtake application messages; `goes_ahead` says which
    pauses = False  # it may pause processes
    allows_crashes = False  # its rules work on where a process has crashed, and forgotten all
    uploads = False  # its processes store what they record, and hear when it is stored
    allows_recovery = False  # what it remembers may be taken away, with every message on its way
    allows_coordinator = False  # a coordinator may start its snapshots, and end them at any moment
    records_once = True  # if not, a process may record again for a snapshot; the last recording counts
    copies_states = True  # if not, what a process has recorded changes with its state until its part is complete
    initiator_listens = True  # if not, a process that starts a snapshot records no channel
    initiators = ANY  # or SOURCES, ALL, COORDINATOR
    one_initiator = False  # if so, no two processes start the same snapshot
    closes_by = BY_MARKER  # or BY_COUNT, BY_NOTHING
    coordinated = True  # if not, what is recorded need not be a consistent cut; then it has a recovery line
    failed: Sequence[str] = ()  # then: the processes that fail after the run, as the line shown has it (none: all)
    one_node = False  # its rules are for one process alone, and nothing makes a cut consistent
    services: ClassVar[tuple[type[Service], ...]] = ()
    # By parameter: rules and words that it adds, if on. A flag that is on by default adds them if off.
    options: ClassVar[Mapping[str, type[SnapshotAlgorithm]]] = {}
    no_cost_model = "none has been derived"  # why `cost_model` gives none
    checks: ClassVar[tuple[str, ...]] = ("completion", "one_marker", "consistency", "channel_states", "conservation")

    rules: ClassVar[tuple[Rule, ...]] = ()  # its rule book, in words
    marker = "marker"  # its word for a marker
    control_message = "control message"  # its word for a control message
    control = "something"  # the content of several different control messages: "P1 tells P2 and P3 something"
    channel_state: ClassVar[tuple[str, str]] = algorithm_words.CHANNEL_STATE  # its words for a recorded message's sign
    stamps: ClassVar[tuple[Stamp, ...]] = ()  # the kinds of stamp that messages carry
    captions: ClassVar[Mapping[str, Caption]] = {}  # these three replace entries of sim/core/algorithm_words.py
    situations: ClassVar[tuple[str, ...]] = ()  # keys of captions of its own, which `situation` gives
    clauses: ClassVar[Mapping[str, str]] = {}
    reasons: ClassVar[Mapping[str, str]] = {}

    def __init__(self, graph: Graph, **parameters: Any) -> None:
        self.graph = graph
        self.set_parameters(parameters)

    @classmethod
    def with_options(cls, parameters: Mapping[str, Any]) -> type[SnapshotAlgorithm]:
        """The class of the rule book with these parameters: this one, with the rules of the `options` that are on."""
        usual = {name: cls.parameters[name].default for name in cls.options if name in cls.parameters}
        chosen = tuple(name for name, value in usual.items() if parameters.get(name, value) != value)
        return _with_options(cls, chosen) if chosen else cls  # type: ignore[arg-type]  # classes are hashable

    # ------------------------------------------------------------------ rules

    def problems(self) -> Iterator[tuple[str, str]]:
        """Yield the problems of the parameters on this graph, as pairs (parameter, sentence)."""
        return iter(())

    def on_initiate(self, process: Process, snapshot: str, out: Out) -> None:
        """`process` initiates `snapshot`. This must do nothing if it has recorded for `snapshot` already."""

    def on_marker(self, process: Process, marker: Message, out: Out) -> None:
        """`process` receives `marker` of `marker.snapshot` on `marker.channel`."""

    def on_message(self, process: Process, message: Message, out: Out) -> None:
        """`process` is about to receive an application message: the workload has not seen it yet."""

    def on_send(self, process: Process, channel: Channel, out: Out) -> Any:
        """`process` is about to send an application message on `channel`. Returns the stamp for it."""
        return None

    def on_acted(self, process: Process, out: Out) -> None:
        """`process` has had an internal event, sent or received an application message, and answered what it received.

        Called once, at the end of the action.
        """

    def on_control(self, process: Process, message: Message, out: Out) -> None:
        """`process` receives a control message, from `message.channel.source_name`."""

    def first_timers(self) -> Mapping[str, float]:
        """The timers that are set at each process when the run begins, by name, in time units."""
        return {}

    def on_timer(self, process: Process, timer: Timer, out: Out) -> None:
        """A timer that `process` has set goes off."""

    def on_done(self, process: Process, snapshot: str, out: Out) -> None:
        """`process` has recorded for `snapshot` and closed every incoming channel."""

    def on_restart(self, process: Process, out: Out) -> None:
        """`process` has started again after a crash, or has joined the system: it remembers nothing."""

    def on_thaw(self, process: Process, out: Out) -> None:
        """`process` goes on after it has stood still. It holds what it held, and does not know for how long."""

    def on_leave(self, process: Process, out: Out) -> None:
        """`process` is about to leave the system."""

    def on_restore(self, process: Process, out: Out) -> None:
        """A recovery has put `process` back into its part of a snapshot: it remembers nothing else."""

    def on_abort(self, process: Process, snapshot: str, out: Out) -> None:
        """`process` has discarded what it recorded for `snapshot`. It may unblock, resume and tell the others here."""

    def reaches_all(self) -> bool:
        """Whether a snapshot comes to every process even where no path of channels leads there from an initiator."""
        return False

    def goes_ahead(self, body: Any) -> bool:
        """Whether a marker that carries `body` may overtake messages: as it stands, every one if `overtakes`."""
        return self.overtakes

    def copied_pages(self, note: Any) -> int | None:
        """The number of pages of its state that a process has copied, by its `note` (None: the note does not say)."""
        return None

    def messages(self) -> int:
        """About how many markers and control messages a snapshot takes: as it stands, one for each channel."""
        return len(self.graph.channels)

    @classmethod
    def cost_model(cls, load: Load) -> CostModel | None:
        """Return the times of recording and the contents of channels if each carries `load` (None: `no_cost_model`).

        One process starts the snapshot, and the parameters have their defaults.
        """
        return None

    @property
    def uses_control(self) -> bool:
        """Whether it can use control messages and timers: it has a service, or a hook for one of them."""
        hooks = ("on_control", "on_timer")
        return bool(self.services) or any(
            getattr(type(self), hook) is not getattr(SnapshotAlgorithm, hook) for hook in hooks
        )

    # ------------------------------------------------------------------ words

    def stamp_of(self, stamp: Any) -> str | None:
        """The name of the kind, one of `stamps`, of a message that carries `stamp` (None: it has no kind)."""
        return None

    def stamp_words(self, stamp: Any) -> str:
        """A stamp in words, such as "red for S1"."""
        return self.stamp_of(stamp) or ""

    def control_words(self, body: Any, channel: str) -> str:
        """The content of a control message in words, as in "P1 tells P2 ...".

        `channel` is the caption of the channel between the same two processes.
        """
        return self.control if body is None else str(body)

    def situation(self, key: str, rows: Sequence[Event]) -> str:
        """The key of the caption of a step: `key`, or one of its own `situations` that fits better.

        `rows` are those of one process for one snapshot in one step.
        """
        return key

    def note_words(self, body: Any) -> str:
        """The note of a process (`out.note`) as a clause: "sets the sum to 2"."""
        return f"notes {body}"

    @cached_property
    def all_captions(self) -> Mapping[str, Caption]:
        """The captions, by situation."""
        return {**algorithm_words.CAPTIONS, **self.captions}

    @cached_property
    def all_clauses(self) -> Mapping[str, str]:
        """The clauses, by key."""
        no_marker_closes = {} if self.closes_by == BY_MARKER else {"listens": ""}
        return {**algorithm_words.CLAUSES, **no_marker_closes, **self.clauses}

    @cached_property
    def all_reasons(self) -> Mapping[str, str]:
        """The reasons, by case."""
        by_markers = algorithm_words.BY_MARKERS if self.closes_by == BY_MARKER else {}
        overtaking = algorithm_words.BY_OVERTAKING if self.closes_by == BY_MARKER and self.overtakes else {}
        return {**algorithm_words.REASONS, **by_markers, **overtaking, **self.reasons}


@lru_cache(maxsize=64)
def _with_options(rules: type[SnapshotAlgorithm], chosen: tuple[str, ...]) -> type[SnapshotAlgorithm]:
    """A subclass of `rules` in which the hooks of the chosen options come first; their words come on top."""
    options = tuple(rules.options[name] for name in chosen)
    words: dict[str, Any] = {"__module__": rules.__module__, "rules": sum((own.rules for own in options), rules.rules)}
    for kind in ("captions", "clauses", "reasons"):
        words[kind] = {key: text for own in (rules, *options) for key, text in getattr(own, kind).items()}
    return type(rules.__name__, (*options, rules), words)


ALGORITHMS: Registry[type[SnapshotAlgorithm]] = Registry("sim.algorithms", SnapshotAlgorithm)
