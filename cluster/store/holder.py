"""A controller as other processes, now and later, can tell it from all others."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True)
class Holder:
    """A controller: the process `pid` of `host`, which keeps its logs in `folder`, since a time.

    `process` is "MACHINE START": a machine, and when the process started on it, as nothing else is called.
    """

    host: str
    pid: int
    process: str
    folder: str
    since: datetime

    @classmethod
    def here(cls, folder: Path) -> Holder:
        """This process."""
        pid = os.getpid()
        process = f"{_machine()} {_start_of(pid)}"
        return cls(socket.gethostname(), pid, process, str(folder.absolute()), datetime.now(UTC))

    @property
    def is_of_this_machine(self) -> bool:
        """Whether this process sees the processes of that one's machine."""
        return bool(_machine()) and self.process.startswith(f"{_machine()} ")

    @property
    def has_ended(self) -> bool:
        """Whether the process is no more, where this one can see that."""
        return self.is_of_this_machine and self.process.rpartition(" ")[2] != _start_of(self.pid)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.since:%Y-%m-%d %H:%M:%S} UTC, in {self.folder}"


@dataclass(frozen=True)
class Lease:
    """The row. `holder` is the last one; `is_held`: it has not given the lease back."""

    number: int
    renewals: int
    is_held: bool
    holder: Holder
    epochs: int
    reconciled: int


def _machine() -> str:
    """The machine since it was switched on, with the namespace in which processes have numbers; empty: not known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def _start_of(pid: int) -> str:
    """When a process started, in ticks since the machine was switched on; empty: there is none, or it is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]
