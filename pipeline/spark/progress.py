"""How far a long piece of work is: told to whoever asked for it, as a bar in a terminal or in the page."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tqdm import tqdm

Progress = Callable[[int, int], None]  # so many done, of so many; the latter may grow


def silent(done: int, total: int) -> None:
    """For those who do not want to know."""


@contextmanager
def bar(what: str, unit: str) -> Iterator[Progress]:
    """A bar on standard error, where that is a terminal."""
    with tqdm(desc=what, unit=f" {unit}", disable=not sys.stderr.isatty(), leave=False) as shown:

        def tell(done: int, total: int) -> None:
            shown.total = total
            shown.update(done - shown.n)

        yield tell
