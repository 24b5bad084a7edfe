"""What a snapshot holds and costs where every channel carries messages at one rate: the parts of a law.

An algorithm may bring its law (`law` of SnapshotAlgorithm). sim/theory/sizing.py puts the numbers of a system in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

OURS = "derived here, and measured by the simulated check"


class Formula(NamedTuple):
    """A formula as a page and a command show it: its name, its text, and where it comes from."""

    name: str
    text: str
    source: str


class Place(NamedTuple):
    """Where a process is: the number of channels on the shortest way from the initiator to it, and on the longest.

    The longest way counts in a graph without circles only; elsewhere it is the shortest one.
    """

    nearest: int
    farthest: int


class Load(NamedTuple):
    """What all channels have in common. Rate in messages per second on each channel; delays in seconds.

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
        """The mean time that a marker takes on a FIFO channel: it comes right behind the last message before it.

        That message was sent up to `gap` earlier, at any moment alike, so this is the mean of
        max(marker_delay, delay - u), u from 0 to `gap`.
        """
        longer = self.delay - self.marker_delay
        if longer <= 0 or not self.rate:
            return self.marker_delay
        return self.marker_delay + (longer - self.gap / 2 if longer >= self.gap else longer**2 / (2 * self.gap))

    @property
    def latest(self) -> float:
        """The longest time that a marker takes on a FIFO channel: the last of many takes about so long."""
        return max(self.marker_delay, self.delay)

    @property
    def with_next(self) -> float:
        """The mean time until a neighbour hears of something by a control message or by the next message.

        That message is sent up to `gap` later, at any moment alike, so this is the mean of
        min(marker_delay, delay + u), u from 0 to `gap`.
        """
        longer = self.marker_delay - self.delay
        if longer <= 0 or not self.rate:
            return self.marker_delay
        return self.delay + (self.gap / 2 if longer >= self.gap else longer - longer**2 / (2 * self.gap))


class Law(NamedTuple):
    """What an algorithm does under a load. Times in seconds, from the beginning of the snapshot.

    records_at: when a process records. keeps: whether what is on its way in the channels is recorded.
    first_is_empty: the channel of its first marker holds nothing, for what was sent before has come before.
    closes_after: a channel is closed so long after its sender has recorded, and not before its receiver has (None:
    the law does not say when the snapshot is complete). blocks_after: a channel is blocked so long after its sender has
    recorded, until its receiver does (None: none is). stands_still: how long every process stands still.
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
