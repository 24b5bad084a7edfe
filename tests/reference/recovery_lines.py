"""What a recovery line is: by looking at every combination of copies and present states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

from tests.reference.definition import Meaning

Line = dict[str, int]  # by process, the index of its last event inside (0: none)


def line(meaning: Meaning, copies: Mapping[str, Iterable[int]], present: Mapping[str, int]) -> Line:
    """The greatest consistent combination: of each process its initial state, a copy of it, or its present state.

    `present` has only the processes that did not fail. It is consistent if no message is received inside and sent
    outside; what a recovery has taken back is sent nowhere.
    """
    names = meaning.processes
    states = [sorted({0, *copies.get(name, ()), *([present[name]] if name in present else [])}) for name in names]
    found = [dict(zip(names, own, strict=True)) for own in product(*states)]
    consistent = [own for own in found if _is_consistent(meaning, own)]
    (greatest,) = [own for own in consistent if all(other[name] <= own[name] for other in consistent for name in names)]
    return greatest


def _is_consistent(meaning: Meaning, own: Line) -> bool:
    for message, receipt in meaning.receipts.items():
        send = meaning.sends.get(message)
        is_sent = send is not None and (send.index or 0) <= own[send.process]
        if (receipt.index or 0) <= own[receipt.process] and not is_sent:
            return False
    return True
