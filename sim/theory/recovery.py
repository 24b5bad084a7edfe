"""The recovery line of copies that nobody has coordinated, and the domino effect that leads to it.

B. Randell, "System Structure for Software Fault Tolerance", IEEE Transactions on Software Engineering 1(2), 1975; E. N.
Elnozahy et al., "A Survey of Rollback-Recovery Protocols in Message-Passing Systems", ACM Computing Surveys 34(3),
2002. Each process has a few copies of its state. A recovery line has one of each process, and is a
consistent cut. There is a greatest one: the union of two consistent cuts is consistent (Mattern 1989), and
has of each process the later one of two copies. The search begins with everybody's last copy. Whoever has received a
message that is sent outside the cut goes back to a copy from before; what it has sent since may make the next one go
back: the domino effect.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sim.core.deadline import in_time
from sim.theory.causality import History


class Rollback(NamedTuple):
    """`process` goes back from its copy after `start` events to that after `end` events (0: its initial state).

    It had received `message`, which at that moment was no longer sent.
    """

    process: str
    start: int
    end: int
    message: int


class Recovery(NamedTuple):
    """A recovery line, the last copies with which the search begins, and the rollbacks between them, in order.

    Each cut has for each process the number of its events inside.
    """

    last: dict[str, int]
    rollbacks: tuple[Rollback, ...]
    line: dict[str, int]

    def cuts(self) -> list[dict[str, int]]:
        """The cut of the last copies, and that after each rollback; the last of them is the recovery line."""
        found = [self.last]
        for rollback in self.rollbacks:
            found.append({**found[-1], rollback.process: rollback.end})
        return found


def recovery_line(history: History, checkpoints: Mapping[str, Sequence[int]]) -> Recovery:
    """The greatest consistent cut that has a copy of every process, and the rollbacks that lead to it.

    `checkpoints` has for each process how many of its events each of its copies contains. Every process has a copy of
    its initial state as well. Of several processes that have to go back, the first in the order of `history` does, to
    its last copy from before the first message that it may not have received.
    """
    copies = {name: sorted({0, *checkpoints.get(name, ())}) for name in history.processes}
    last = {name: own[-1] for name, own in copies.items()}
    line, rollbacks = dict(last), []
    later = _received_sends(history)
    unsent: dict[str, tuple[int, int]] = {}  # by receiver: the first message that it may not have received
    for name in history.processes:
        _take_back(later[name], line[name], unsent)
    while rolls := next((name for name in in_time(line) if unsent.get(name, (line[name] + 1,))[0] <= line[name]), ""):
        received, message = unsent.pop(rolls)
        end = copies[rolls][bisect_left(copies[rolls], received) - 1]
        rollbacks.append(Rollback(rolls, line[rolls], end, message))
        line[rolls] = end
        _take_back(later[rolls], end, unsent)
    return Recovery(last, tuple(rollbacks), line)


# By sender: for each message that was received, the indices of send and receive, the receiver and the message's id.
_Sends = list[tuple[int, int, str, int]]


def _received_sends(history: History) -> dict[str, _Sends]:
    """In the order of sending."""
    found: dict[str, _Sends] = {name: [] for name in history.processes}
    for message, send in in_time(history.sends.items()):
        receive = history.receives.get(message)
        if receive is not None:
            found[send.process].append((send.index or 0, receive.index or 0, receive.process, message))
    for own in found.values():
        own.sort()
    return found


def _take_back(sends: _Sends, inside: int, unsent: dict[str, tuple[int, int]]) -> None:
    """Take all sends of a process after its first `inside` events off `sends`, and note them in `unsent`."""
    while sends and sends[-1][0] > inside:
        _, received, receiver, message = sends.pop()
        unsent[receiver] = min(unsent.get(receiver, (received, message)), (received, message))
