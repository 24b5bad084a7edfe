"""The recovery line of uncoordinated checkpoints, and the domino effect that leads to it.

B. Randell, "System Structure for Software Fault Tolerance", IEEE Transactions on Software Engineering 1(2), 1975; E. N.
Elnozahy, L. Alvisi, Y.-M. Wang and D. B. Johnson, "A Survey of Rollback-Recovery Protocols in Message-Passing Systems",
ACM Computing Surveys 34(3), 2002. Each process has a few checkpoints of its state. A process that fails goes back to
one of them. A process that does not fail may keep its present state, as if it had taken a checkpoint just now. A
recovery line has one state of each process, and is a consistent cut: no message is received inside and sent outside.
There is a latest one: the union of two consistent cuts is consistent (Mattern 1989), and has of each process the later
one of two states. If all processes fail, that is a total failure: its line lies within the line of any other failure.

The search begins with the last state that each process has. A process that has received a message sent outside the cut
goes back to an earlier checkpoint. Its later messages may make the next process go back: the domino effect.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sim.core.deadline import in_time

TAKEN_BACK = 1 << 62  # instead of the index of a send that no cut has inside: a recovery has taken it back


class Receipt(NamedTuple):
    """A message that was received, as event number `received` of `receiver`, and sent as number `sent` of `sender`."""

    receiver: str
    received: int
    sender: str
    sent: int
    message: int


class Rollback(NamedTuple):
    """`process` goes back from its state after `start` events to its copy after `end` events (0: its initial state).

    It had received `message`, which at that moment was no longer sent.
    """

    process: str
    start: int
    end: int
    message: int


class Recovery(NamedTuple):
    """A recovery line after a failure, the states with which the search begins, and the rollbacks, in order.

    Each cut has for each process the number of its events inside. `failed` names the processes that failed, and `kept`
    those that keep their present state.
    """

    failed: tuple[str, ...]
    first: dict[str, int]
    rollbacks: tuple[Rollback, ...]
    line: dict[str, int]
    kept: tuple[str, ...]

    @property
    def is_total(self) -> bool:
        """Whether all processes failed."""
        return len(self.failed) == len(self.line)

    def cuts(self) -> list[dict[str, int]]:
        """The cut with which the search begins, and that after each rollback; the last of them is the recovery line."""
        found = [self.first]
        for rollback in self.rollbacks:
            found.append({**found[-1], rollback.process: rollback.end})
        return found


def latest_line(
    checkpoints: Mapping[str, Iterable[int]], present: Mapping[str, int], receipts: Iterable[Receipt]
) -> Recovery:
    """The latest consistent cut of checkpoints and present states, and the rollbacks that lead to it.

    `checkpoints` has for each process, in their order, the number of events in each of its checkpoints; every process
    has its initial state as well. `present` has the number of events so far of each process that did not fail. If
    several processes have to go back, the first in the order of `checkpoints` does. It goes to its last checkpoint
    before the first message that it may not have received.
    """
    states = {name: sorted({0, *own}) for name, own in checkpoints.items()}
    first = {name: present.get(name, own[-1]) for name, own in states.items()}
    line, rollbacks = dict(first), []
    later = _by_sender(receipts, states)
    unsent: dict[str, tuple[int, int]] = {}  # by receiver: the first message that it may not have received
    for name in states:
        _take_back(later[name], line[name], unsent)
    while rolls := next((name for name in in_time(line) if unsent.get(name, (line[name] + 1,))[0] <= line[name]), ""):
        received, message = unsent.pop(rolls)
        end = states[rolls][bisect_left(states[rolls], received) - 1]
        rollbacks.append(Rollback(rolls, line[rolls], end, message))
        line[rolls] = end
        _take_back(later[rolls], end, unsent)
    failed = tuple(name for name in states if name not in present)
    kept = tuple(name for name in states if present.get(name) == line[name])
    return Recovery(failed, first, tuple(rollbacks), line, kept)


# By sender: for each message that was received, the indices of send and receive, the receiver and the message's id.
_Sends = list[tuple[int, int, str, int]]


def _by_sender(receipts: Iterable[Receipt], names: Iterable[str]) -> dict[str, _Sends]:
    """In the order of sending."""
    found: dict[str, _Sends] = {name: [] for name in names}
    for own in in_time(receipts):
        found[own.sender].append((own.sent, own.received, own.receiver, own.message))
    for sends in found.values():
        sends.sort()
    return found


def _take_back(sends: _Sends, inside: int, unsent: dict[str, tuple[int, int]]) -> None:
    """Take all sends of a process after its first `inside` events off `sends`, and note them in `unsent`."""
    while sends and sends[-1][0] > inside:
        _, received, receiver, message = sends.pop()
        unsent[receiver] = min(unsent.get(receiver, (received, message)), (received, message))
