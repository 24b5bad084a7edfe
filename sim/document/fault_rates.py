"""Random faults: rates at which processes crash, channels are severed and messages are lost, and when that happens.

Each process and each channel has draws of its own, by (seed, name, ordinal). So another process, or another rate of
something else, changes none of them; and of two runs with the same seed the one with the greater rate fails earlier.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sim.core import randomness
from sim.document.toml_table import MOST_NUMBER

UNTIL = 100.0  # time units, where a scenario does not say it


class Outage(NamedTuple):
    """A time in which a process is down, or a channel is severed (`end` infinite: for good). In time units."""

    begin: float
    end: float

    def meets(self, begin: float, end: float) -> bool:
        """Whether it has a moment in common with the time from `begin` to `end`."""
        return self.begin <= end and begin <= self.end


@dataclass(frozen=True)
class FaultRates:
    """The rates of failures and repairs, per time unit; 0: never.

    A running process has the rate `crash` of failing, and one that is down the rate `restart` of starting again. A
    channel has the rates `sever` and `mend` of being severed and mended. After the time `until` nothing fails;
    processes that are down then still start again. `lose` and `copy` are no rates but shares of all messages, from 0 to
    1.
    """

    crash: float = 0.0
    restart: float = 0.0
    sever: float = 0.0
    mend: float = 0.0
    until: float = UNTIL
    lose: float = 0.0
    copy: float = 0.0

    @property
    def meets_messages(self) -> bool:
        """Whether messages are lost or copied at random."""
        return bool(self.lose or self.copy)

    def expected(self, processes: int, channels: int) -> float:
        """Return an upper estimate of the mean number of faults of a run with these processes and channels."""
        crashes = _expected(self.crash, self.restart, self.until)
        return processes * crashes + channels * _expected(self.sever, self.mend, self.until)

    def of_process(self, seed: int, process: str) -> Iterator[Outage]:
        """When a process is down, in order of time."""
        return _outages(self.crash, self.restart, self.until, randomness.key(seed, "fault", process))

    def of_channel(self, seed: int, channel: str) -> Iterator[Outage]:
        """When a channel (by its name) is severed, in order of time."""
        return _outages(self.sever, self.mend, self.until, randomness.key(seed, "fault", channel))


def _outages(fails: float, heals: float, until: float, key: int) -> Iterator[Outage]:
    """Outages at exponential times: draw 1 says when the first begins, draw 2 how long it lasts, and so on."""
    begin, ordinal = _gap(fails, key, 1), 1
    while begin <= until:
        end = begin + _gap(heals, key, ordinal + 1)
        if end >= MOST_NUMBER:  # later than any time that a file may say
            yield Outage(begin, math.inf)
            return
        yield Outage(begin, end)
        ordinal += 2
        begin = end + _gap(fails, key, ordinal)


def _gap(rate: float, key: int, ordinal: int) -> float:
    return -math.log(1.0 - randomness.unit(key, ordinal)) / rate if rate else math.inf


def _expected(fails: float, heals: float, until: float) -> float:
    """At least the mean number of faults of one process or channel: both that begin and that end an outage."""
    if not fails:
        return 0.0
    again = until / (1 / fails + 1 / heals) if heals else 0.0
    return 2 * min(1 + again, fails * until)
