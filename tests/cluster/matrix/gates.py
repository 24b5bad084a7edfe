"""The present behaviour of storage, registry and cables: a file for each, which every process reads that uses it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from tests.waiting import until

SLOW, HANG, REFUSE, FULL = "slow", "hang", "refuse", "full"
PAUSE_S = 0.1  # that something which is slow takes longer


class Gates(NamedTuple):
    """The folder with the files."""

    folder: Path

    def mode(self, name: str) -> str:
        """The behaviour of `name` (empty: it works)."""
        try:
            return (self.folder / name).read_text()
        except FileNotFoundError:
            return ""

    def set(self, name: str, mode: str = "") -> None:
        """From now on something behaves in this way."""
        hidden = self.folder / f".{name}"
        hidden.write_text(mode)
        hidden.rename(self.folder / name)

    def passes(self, name: str) -> str:
        """Wait as long as something makes others wait. Returns how it behaves then: REFUSE, FULL, or well."""
        mode = self.mode(name)
        if mode == SLOW:
            time.sleep(PAUSE_S)  # time itself is tested: what is slow takes some
        while mode == HANG:
            until(lambda: self.mode(name) != HANG, f"{name} hangs no more", 10**6)
            mode = self.mode(name)
        return mode if mode in (REFUSE, FULL) else ""
