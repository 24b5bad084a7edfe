"""The elements of a scene: events, messages, recordings, decisions and cuts, with their lanes, positions and steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Span = tuple[int, int | None]
ACROSS = "across"


@dataclass(frozen=True)
class Dot:
    """An application event of step `step`; `recorded` holds the step at which each snapshot records it.

    A `named` event has its label written beside it; a `numbered` one has no label of its own, but one as `P1.3`.
    A long row of internal events is one dot: `count` of them, the last at position `until`. From step `gone` on a
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

    kind: "app", "marker" or "control". snapshot: the id of its snapshot. sender: the sender's rank, for the colour.
    stamp: the name of its stamp. head: how the stamp is drawn, "open" or "full".
    kept: for each snapshot that records the message, the step at which it does.
    stub: the hidden end, "source" or "target" ("": neither). The arrow is cut off there, and the lane of that end only
        says on which side it lies. ACROSS: only the arrival is drawn, a short arrow across the line of the receiver.
    lost: the place at which the network loses it: the share of the way to the other lane, and the position (None:
        it is not lost, or as soon as it is sent).
    why: the reason why a try of a FIFO layer fails, for the arrow of that try.
    gone: the step from which on a recovery has taken the message back (None: none does).
    is_again: a recovery puts it back into its channel; that counts as its sending.
    is_fenced: the message belongs to an earlier epoch, and is fenced off at step `received`.
    begins: the share of the way to the other lane at which a copy begins that is made under way.
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
    """An interval in which a channel is blocked or full, or a process paused, as `kind` says, on the line of `lane`.

    A process is paused on its line. A blocked channel lies beside the line of its receiver, a full one beside that of
    its sender: `beside` is the lane of the other end. The interval begins at step `step` and at the time `since`, and
    ends at step `until`, at position `end` (None: never). `what` stands still; `lasting` says for how long.
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
    lasting: str
    text: str


@dataclass(frozen=True)
class Recording:
    """The recording of a process: one point of the cut. From step `gone` on a recovery has taken it back."""

    lane: int
    position: float
    step: int
    text: str
    gone: int | None = None


@dataclass(frozen=True)
class Decision:
    """The decision of a coordinator on how a snapshot ended: `outcome` is complete, expired or failed."""

    lane: int
    position: float
    step: int
    snapshot: str
    outcome: str
    text: str

    @property
    def name(self) -> str:
        """The words beside it: `S1 expired`."""
        return f"{self.snapshot} {self.outcome}"


@dataclass(frozen=True)
class Moment:
    """A moment of storage or recovery on one line, by its kind of row, `kind`.

    A manifest is written, a recovery begins, a process is restored, or an output goes to the environment. `name` is
    written beside it ("": nothing); `snapshot` is the id of its snapshot (None: none).
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
    """The cut that the user has chosen: its point on each lane, between the last event inside and the first outside.

    `offending` are the ids of the messages received or lost inside and not sent inside, `crossing` those of messages in
    the channels. `faults` are the places of the faults inside that tell it from others (none if its name has none).
    """

    positions: tuple[float, ...]
    offending: frozenset[int]
    crossing: frozenset[int]
    faults: tuple[tuple[int, int], ...] = ()

    @property
    def consistent(self) -> bool:
        """Whether every message that is received inside is sent inside."""
        return not self.offending
