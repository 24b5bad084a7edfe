"""Cost models: the contents and costs of a snapshot if every channel carries messages at one rate.

An algorithm may bring its model (`cost_model` of SnapshotAlgorithm). sim/theory/sizing.py puts in the numbers of a
system.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

OURS = "derived here, and measured by the simulated check"


class Formula(NamedTuple):
    """A formula as a page and a command show it: its name, its text and its source."""

    name: str
    text: str
    source: str


class Place(NamedTuple):
    """The distance of a process from the initiator, in channels: the shortest way, and the longest.

    The longest way counts in an acyclic graph only; elsewhere it equals the shortest.
    """

    nearest: int
    farthest: int


class Load(NamedTuple):
    """The load that all channels have in common. Rate in messages per second on each channel; delays in seconds.

    Control messages take as long as markers.
    """

    rate: float
    delay: float
    marker_delay: float

    @property
    def gap(self) -> float:
        """Seconds between two messages on a channel."""
        return 1 / self.rate if self.rate else 0.0

    @property
    def behind(self) -> float:
        """The mean seconds that a marker takes on a FIFO channel: it arrives right behind the last message before it.

        That message was sent up to `gap` earlier, at a uniformly distributed moment. So this is the mean of
        max(marker_delay, delay - u), u from 0 to `gap`.
        """
        longer = self.delay - self.marker_delay
        if longer <= 0 or not self.rate:
            return self.marker_delay
        return self.marker_delay + (longer - self.gap / 2 if longer >= self.gap else longer**2 / (2 * self.gap))

    @property
    def latest(self) -> float:
        """The longest time in seconds that a marker takes on a FIFO channel; the last of many takes about that."""
        return max(self.marker_delay, self.delay)

    @property
    def with_next(self) -> float:
        """The mean seconds until a control message or the next message, whichever is first, tells a neighbour.

        That message is sent up to `gap` later, at a uniformly distributed moment. So this is the mean of
        min(marker_delay, delay + u), u from 0 to `gap`.
        """
        longer = self.marker_delay - self.delay
        if longer <= 0 or not self.rate:
            return self.marker_delay
        return self.delay + (self.gap / 2 if longer >= self.gap else longer - longer**2 / (2 * self.gap))


class CostModel(NamedTuple):
    """The behaviour of an algorithm under a load. Times in seconds, from the beginning of the snapshot.

    records_at: the time at which a process records. keeps: whether messages in transit are recorded.
    first_is_empty: the channel of a process's first marker holds nothing, because earlier messages have arrived.
    closes_after: from the recording of a channel's sender until the channel closes, and not before its receiver
    records (None: the model does not say when the snapshot is complete). blocks_after: from the recording of a
    channel's sender until the channel is blocked; it stays so until its receiver records (None: no channel is
    blocked). stands_still: the time that every process stands still.
    """

    records_at: Callable[[Place], float]
    formulas: tuple[Formula, ...]
    keeps: bool = True
    first_is_empty: bool = False
    closes_after: float | None = None
    blocks_after: float | None = None
    stands_still: float = 0.0


IN_CHANNELS = Formula(
    "Recorded on a channel i → j",
    "rate × max(0, recᵢ + d − recⱼ)",
    f"{OURS}: a message is in the channel's state if it is sent before i records (recᵢ) and comes, d later, after j "
    "records (recⱼ)",
)
