"""The sends of an event table as columns of numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy
from numpy.typing import NDArray

from pipeline.cuts.event_columns import Numbers

NEVER = 2**31 - 1  # the index of a receive that never happens: greater than any other

Codes = NDArray[numpy.int32]
Bools = NDArray[numpy.bool_]


class Sends(NamedTuple):
    """Rows that send a message: the place of the run, the codes of names, indices of both ends, and the message_id.

    `channel` is a code of `Scan.channels` (pipeline/cuts/scan.py), `source` and `target` are codes of `Scan.names`.
    """

    run: Codes
    source: Codes
    target: Codes
    channel: Codes
    index: Codes  # type: ignore[assignment]  # hides tuple.index, which is not needed
    peer: Codes
    message: Numbers

    def where(self, rows: Bools | Numbers) -> Sends:
        """Some of the rows."""
        columns: list[Any] = [column[rows] for column in self]
        return Sends(*columns)
