"""The settings of coordinator and storage: the tables [coordinator] and [storage] of a scenario."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from sim.core.parameters import Parameter

FAIL, STOP = "fail", "stop"  # what happens where a process would hold more than `most_held` messages

WHEN_HELD = {FAIL: "the snapshot fails", STOP: "their senders stand still"}  # in words

PARAMETERS: Mapping[str, Parameter] = {
    "timeout": Parameter("number", 20.0, "time units after which a snapshot that is not complete has expired"),
    "retries": Parameter("whole", 0, "times that a snapshot is tried again, each time by another initiator"),
    "minimum_pause": Parameter("number", 0.0, "time units from the end of a snapshot to the start of the next"),
    "most_concurrent": Parameter("whole", 1, "snapshots that may be under way at a time", 1),
    "most_waiting": Parameter(
        "whole", 0, "snapshots that may be under way or wait to start; one more fails at once (0: any number)"
    ),
    "retained": Parameter("whole", 0, "complete snapshots that are kept, the newest ones (0: all)"),
    "interval": Parameter("number", 0.0, "time units from one automatic snapshot to the next (0: none)"),
    "heartbeat": Parameter("number", 0.0, "time units from one heartbeat of a process to the next (0: none)"),
    "missed": Parameter("whole", 3, "missed heartbeats after which a process is taken for gone", 2),
    "tolerable_failures": Parameter(
        "number", math.inf, "snapshots in a row that may fail or expire; after one more no other is started",
        infinite=True,
    ),
    "most_held": Parameter("whole", 0, "messages that a process may hold for open channels (0: any number)"),
    "when_held": Parameter("text", FAIL, '"fail": one more makes the snapshot fail; "stop": their senders stand still'),
    "until": Parameter("number", 0.0, "time at which heartbeats and intervals end (0: after all that is planned)"),
}  # fmt: skip


STORAGE: Mapping[str, Parameter] = {
    "bandwidth": Parameter("number", math.inf, "bytes that the storage takes or gives per time unit", infinite=True),
    "latency": Parameter("number", 0.0, "time units from a process to the storage, and back"),
    "limit": Parameter("whole", 0, "uploads that it takes at a time; to one more it answers 503 (0: any number)"),
    "jitter": Parameter("number", 0.0, "time units that a process waits at most, at random, before an upload"),
    "pause": Parameter("number", 1.0, "time units from a refused upload to the next try; twice as long each time"),
    "tries": Parameter("whole", 8, "times that a process tries to upload its part before it gives up", 1),
    "manifest": Parameter("whole", 5, "bytes of a manifest"),
    "kept": Parameter("number", 50.0, "time units after which parts without a manifest are deleted"),
    "retained": Parameter("whole", 0, "snapshots that are kept, the newest ones (0: all)"),
    "incremental": Parameter("flag", False, "store changes since the last snapshot, unless a snapshot gives its type"),
    "chain": Parameter("whole", 0, "the longest chain of snapshots that need each other (0: any length)"),
    "compressed": Parameter("flag", False, "compress what is stored"),
    "offsets": Parameter("flag", False, "channels are logs: store offsets, not the messages in the channels"),
}  # fmt: skip


class StorageSettings(NamedTuple):
    """The settings of the storage of one scenario: those of STORAGE, and what it knows of the system.

    `members` are the processes. `tells`: processes want to hear what becomes of their uploads, and of the snapshots.
    `recovers`: the scenario has recoveries. `types` holds the type of each snapshot that is asked for with one.
    """

    bandwidth: float
    latency: float
    limit: int
    jitter: float
    pause: float
    tries: int
    manifest: int
    kept: float
    retained: int
    incremental: bool
    chain: int
    compressed: bool
    offsets: bool
    members: tuple[str, ...]
    seed: int
    tells: bool
    recovers: bool
    types: Mapping[str, str] = {}  # replaced, never changed

    def takes(self, size: int) -> float:
        """Time units for `size` bytes."""
        return size / self.bandwidth


class Settings(NamedTuple):
    """The settings of the coordinator of one scenario: those of PARAMETERS, and what it knows of the system.

    `members` are the processes that are there at first. `numbered` is the highest number among the ids S1, S2, ... that
    the scenario asks for.
    """

    timeout: float
    retries: int
    minimum_pause: float
    most_concurrent: int
    most_waiting: int
    retained: int
    interval: float
    heartbeat: float
    missed: int
    tolerable_failures: float
    most_held: int
    when_held: str
    until: float
    members: tuple[str, ...]
    numbered: int

    @property
    def beats(self) -> int:
        """The number of heartbeats that a process sends."""
        return int(self.until / self.heartbeat) if self.heartbeat else 0

    @property
    def silence(self) -> float:
        """Time units without a heartbeat after which a process is taken for gone."""
        return self.heartbeat * self.missed

    @property
    def lease(self) -> float:
        """Time units, from a heartbeat that is answered, after which a process stands still: before it can be gone."""
        return self.silence - min(self.heartbeat, self.silence / 8)
