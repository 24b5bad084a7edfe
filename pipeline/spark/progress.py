"""Reports of progress: callbacks that a long piece of work calls, and a progress bar for the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = Callable[[int, int], None]  # called with how many are done and the total, which may grow


def silent(done: int, total: int) -> None:
    """Reports nothing."""


@contextmanager
def bar(what: str, unit: str) -> Iterator[Progress]:
    """A progress bar on standard error, if that is a terminal."""
    from tqdm import tqdm  # here: workers import this module, and need no bar

    with tqdm(desc=what, unit=f" {unit}", disable=not sys.stderr.isatty(), leave=False) as shown:

        def update(done: int, total: int) -> None:
            shown.total = total
            shown.update(done - shown.n)

        yield update
