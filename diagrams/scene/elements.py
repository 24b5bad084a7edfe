"""The elements of a scene: events, messages, recordings, decisions and cuts, with their lanes, positions and steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Span = tuple[int, int | None]
ACROSS = "across"


@dataclass(frozen=True)
class Dot:
    """An application event: `step` is when it happens, `recorded` the step at which each snapshot records it.

    One that is `named` has its label written beside it; where it has none of its own (`numbered`) that is `P1.3`.
    A long run of internal events is one dot: `count` of them, the last at position `until`. From step `gone` on a
    recovery has taken it back (None: none does).
    """

    lane: int
    position: float
    label: str
    named: bool
    numbered: bool
    kind: str
    step: int
    text: str
    recorded: Mapping[str, int] = field(default_factory=dict)
    count: int = 1
    until: float = 0.0
    gone: int | None = None


@dataclass(frozen=True)
class Arrow:
    """A message. It is sent at step `sent` and received at step `received` (None: never, it is held).

    `kind` is "app", "marker" or "control"; `snapshot` the id of its snapshot; `stamp` the name of its stamp, and
    `head` how that is drawn ("open" or "full"). `kept` gives, for each snapshot that records it, the step of that.
    `sender` is the sender's rank, which decides the colour. `stub` says which end is hidden ("source" or "target"; ""
    for neither): there the arrow is cut off, and its lane is only the side to which that end would lie. ACROSS:
    only the arrival is told, by a short arrow straight across the line of the receiver. `lost` is where the network
    loses it on its way: what share of the way to the other lane it has gone, and the position (None: it does not, or as
    soon as it is sent). `why` says why a try of a FIFO layer fails, for the arrow of that try.

    From step `gone` on a recovery has taken the message back (None: none does). `is_again`: a recovery puts it back
    into its channel, where it is sent, so to speak. `is_fenced`: what comes is of a life that is over, and is fenced
    off at step `received`. `begins`: what share of the way to the other lane lies before it, for a copy that is made
    on its way.
    """

    id: int
    kind: str
    source: int
    target: int
    sender: int
    channel: str
    start: float
    end: float | None
    sent: int
    received: int | None
    snapshot: str | None
    name: str
    text: str
    stamp: str = ""
    head: str = ""
    kept: Mapping[str, int] = field(default_factory=dict)
    stub: str = ""
    lost: tuple[float, float] | None = None
    why: str = ""
    gone: int | None = None
    is_again: bool = False
    is_fenced: bool = False
    begins: float = 0.0


@dataclass(frozen=True)
class Ghost:
    """An arrow as it was before any edit: lanes, and the times of its two ends (None: never received)."""

    source: int
    target: int
    start: float
    end: float | None


@dataclass(frozen=True)
class Interval:
    """A time in which a channel is blocked or full, or a process paused, as `kind` says, on the line of `lane`.

    A process is paused on its line. A blocked channel lies beside the line of its receiver, a full one beside that of
    its sender: `beside` is the lane of the other end. It begins at step `step` and ends at step `until`, at position
    `end` (None: never). `told` says how long it lasts; `what` says what stands still, `since` that time.
    """

    lane: int
    kind: str
    beside: int | None
    start: float
    end: float | None
    step: int
    until: int | None
    snapshot: str | None
    channel: str | None
    what: str
    since: float
    told: str
    text: str


@dataclass(frozen=True)
class Recording:
    """A process records its state: one point of the cut. From step `gone` on a recovery has taken it back."""

    lane: int
    position: float
    step: int
    text: str
    gone: int | None = None


@dataclass(frozen=True)
class Decision:
    """A coordinator decides how a snapshot ended: `outcome` is complete, expired or failed."""

    lane: int
    position: float
    step: int
    snapshot: str
    outcome: str
    text: str

    @property
    def name(self) -> str:
        """What is written beside it: `S1 expired`."""
        return f"{self.snapshot} {self.outcome}"


@dataclass(frozen=True)
class Moment:
    """What happens on one line because snapshots are stored and recovered from, as `kind` says: a kind of row.

    A manifest is written, a recovery begins, a process is restored, or something goes to the world outside. `name` is
    what is written beside it ("": nothing), `snapshot` the one that it is about (None: none).
    """

    lane: int
    position: float
    step: int
    kind: str
    snapshot: str | None
    name: str
    text: str


@dataclass(frozen=True)
class BackTo:
    """The line that a recovery goes back to, from step `step` on: its point on each lane (None: it is not restored)."""

    step: int
    snapshot: str | None
    positions: tuple[float | None, ...]
    text: str


@dataclass(frozen=True)
class Cut:
    """A snapshot's cut: its points in time, known from step `known` on (None: never on some lane).

    From step `gone` on a recovery has taken it back (None: none does).
    """

    name: str
    rank: int
    positions: tuple[float | None, ...]
    known: int | None
    consistent: bool
    snapshot: str
    gone: int | None = None


@dataclass(frozen=True)
class StoryCut:
    """A cut that the story discusses: the events inside by process, in order, and the verdict in words."""

    name: str
    text: str
    frontier: tuple[int, ...]
    consistent: bool
    witness: str | None
    crossing: tuple[str, ...]


@dataclass(frozen=True)
class ShownCut:
    """A cut that somebody chose to draw: its point on each lane, between the last event inside and the first outside.

    `offending` are the ids of the messages received or lost inside and not sent inside, `crossing` of those in the
    channels; `faults` are the places of the faults inside that tell it from others (none where no fault is said).
    """

    positions: tuple[float, ...]
    offending: frozenset[int]
    crossing: frozenset[int]
    faults: tuple[tuple[int, int], ...] = ()

    @property
    def consistent(self) -> bool:
        """Whether every message that is received inside is sent inside."""
        return not self.offending
