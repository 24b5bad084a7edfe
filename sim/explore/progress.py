"""The progress of an exploration, about once a second, on the last line of a terminal."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from sim.explore.search import Explored

EVERY = 1.0  # seconds
CLEAR = "\r\x1b[K"


class Progress:
    """A listener to the progress of an exploration. It writes only if the stream is a terminal."""

    def __init__(self, stream: TextIO = sys.stderr) -> None:
        self.stream, self.shows = stream, stream.isatty()
        self.begin = self.told = time.monotonic()

    def __call__(self, found: Explored) -> None:
        """Write the line anew, unless that was done a moment ago."""
        now = time.monotonic()
        if self.shows and now - self.told >= EVERY:
            self.told = now
            self._write(CLEAR + in_words(found, now - self.begin))

    def end(self) -> None:
        """Take the line away."""
        if self.shows:
            self._write(CLEAR)

    def _write(self, text: str) -> None:
        print(text, end="", file=self.stream, flush=True)


def in_words(found: Explored, seconds: float) -> str:
    """The progress after this number of seconds, in words."""
    open_ = found.pairs - found.stepped
    rate = round(found.pairs / seconds)
    return f"depth {len(found.levels) - 1}: {found.pairs:,} states, {open_:,} to go on from, {rate:,} states a second"
