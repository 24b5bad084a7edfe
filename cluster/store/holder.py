"""The identity of a controller, by which other processes can tell it from all others."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True)
class Holder:
    """A controller: the process `pid` of `host`, which keeps its logs in `folder`, since a time.

    `process` is "MACHINE START": the machine, and the time at which the process started on it. It is unique.
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
        """Whether the holder runs on this machine, so that this process can see it."""
        return bool(_machine()) and self.process.startswith(f"{_machine()} ")

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended, as far as this process can see."""
        return self.is_of_this_machine and self.process.rpartition(" ")[2] != _start_of(self.pid)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}, since {self.since:%Y-%m-%d %H:%M:%S} UTC, in {self.folder}"


@dataclass(frozen=True)
class Lease:
    """The row of the lease. `holder` had it last; `is_held` says that the lease was not given back."""

    number: int
    renewals: int
    is_held: bool
    holder: Holder
    epochs: int
    reconciled: int


def _machine() -> str:
    """The id of this boot of the machine, and of the namespace of process numbers; empty if not known."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return ""


def _start_of(pid: int) -> str:
    """The start of a process, in ticks since the boot of the machine; empty if there is none, or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == "Z" else fields[19]
