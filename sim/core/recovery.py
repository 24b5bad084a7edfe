"""Recovery: every process goes back to its part of one snapshot, and the system begins a new epoch.

E. N. Elnozahy, L. Alvisi, Y.-M. Wang and D. B. Johnson, "A Survey of Rollback-Recovery Protocols in Message-Passing
Systems", ACM Computing Surveys 34(3), 2002.

1. The recovery begins: its goal is the last snapshot of which the manifest is written, else the initial state. The
   epoch is raised by one. If checkpoints are uncoordinated, the goal is their recovery line: a process that did not
   fail keeps its present state there, unless it has to go back as well. It belongs to the new epoch at once.
2. Each process is restored as soon as its part is fetched. It takes its recorded state, and the workload goes on from
   the turn that belongs to it. Its work after its part is abandoned. The recorded messages of its channels are put back
   into them, before all new ones.
3. A message of an earlier epoch that comes to a restored process is fenced off: it changes nothing. A message of the
   new epoch waits until its receiver is restored.
4. Script lines, snapshots and faults of the scenario belong to the environment: they are not repeated.

A scenario may leave out a part of this, to see what goes wrong: restore some processes only, drop the contents of the
channels, or let the messages of earlier epochs in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sim.core.model import Channel, LocalSnapshot, Message, Process, RecoveryState, Restorable, State

ON_CRASH = "crash"


@dataclass(frozen=True)
class RecoveryPlan:
    """The table [recovery].

    A recovery begins at each time `at`, and if `on` is "crash", `detect` time units after each crash. It restores the
    `processes` named (empty: all of them). It puts the contents of the channels back if `channels`, and fences off the
    messages of earlier epochs if `fence` is on. `to` names the snapshot for each recovery at a given time ("": the last
    one). If `to` is empty, all go back to the last one.
    """

    at: tuple[float, ...] = ()
    on: str = ""
    detect: float = 1.0
    processes: tuple[str, ...] = ()
    channels: bool = True
    fence: bool = True
    to: tuple[str, ...] = ()

    def wanted(self, number: int | None) -> str | None:
        """The snapshot that a recovery goes back to if it can (None: the last one); `number` as in Recover."""
        return self.to[number] or None if number is not None and self.to else None

    def restores(self, process: str) -> bool:
        """Whether a recovery restores `process`."""
        return not self.processes or process in self.processes


def begun(recovery: RecoveryState, goal: Restorable, state: State, number: int | None) -> RecoveryState:
    """The state of recoveries after one has begun; `number`: which one of those at a time given."""
    kept = [inside(goal.parts, own.name) if own.name in goal.restores else own.index for own in state.processes]
    waiting = (own.number for own in state.processes if own.name in goal.restores)
    return recovery._replace(
        epoch=recovery.epoch + 1, planned=recovery.planned + (number is not None), goal=goal,
        waiting=frozenset(waiting),
        failed=frozenset(), receipts=chained(own for own in links(recovery.receipts) if own[1] <= kept[own[0]]),
        log=chained(own for own in links(recovery.log) if (own.sent_index or 0) <= kept[own.channel.source]),
    )  # fmt: skip


def as_it_is(process: Process) -> LocalSnapshot:
    """The present state of a process that did not fail, as if it had recorded it just now."""
    local = LocalSnapshot(process.state, process.index, {}, frozenset(), True)
    return local._replace(turn=process.turn, offsets=process.offsets)


def restore(process: Process, goal: Restorable, epoch: int, initial: Any) -> LocalSnapshot:
    """Put `process` into its part of `goal`, which is returned, or into its `initial` state.

    Its events go on counting. Of all that it had recorded it knows that part only.
    """
    part = goal.parts.get(process.name) or LocalSnapshot(initial, 0, {}, frozenset(), True)
    process.state, process.turn, process.offsets = part.state, part.turn, part.offsets
    process.epoch, process.alive = epoch, True
    process.stands, process.paused, process.blocked = False, False, frozenset()
    process.aborted |= frozenset(process.snapshots)
    process.snapshots, process.listening = {}, {}
    if goal.snapshot is not None:
        process.aborted -= {goal.snapshot}
        process.snapshots = {goal.snapshot: part}
    process.memory, process.coordination, process.storing = None, None, None
    return part


def contents(recovery: RecoveryState, process: Process, *, from_log: bool) -> Iterator[Message]:
    """The messages to put back into the incoming channels of `process`, in the order of each channel."""
    goal = recovery.goal
    part = goal.parts.get(process.name)
    for channel in process.incoming:
        found: Sequence[Message] = ()
        if from_log:
            found = _from_log(recovery, channel, part)
        elif part is not None:
            found = part.kept.get(channel, ())
        for message in found:
            yield replace(message, epoch=recovery.epoch, is_again=True)


def _from_log(recovery: RecoveryState, channel: Channel, part: LocalSnapshot | None) -> list[Message]:
    """The entries in the log of `channel` from the offset of the receiver to that of the sender."""
    sender = recovery.goal.parts.get(channel.source_name)
    last = sender.offsets.get(channel, 0) if sender else 0
    first = part.offsets.get(channel, 0) if part else 0
    logged = [message for message in links(recovery.log) if message.channel is channel]
    return logged[first:last]


def put_back(queue: list[Message], message: Message) -> None:
    """Put `message` into its channel: behind what was put back before, ahead of what is new."""
    place = next((at for at, own in enumerate(queue) if own.epoch >= message.epoch and not own.is_again), len(queue))
    queue.insert(place, message)


def is_next(message: Message, queue: Sequence[Message]) -> bool:
    """Whether `message` is the oldest of its epoch: each epoch has its own connections."""
    return message is next((other for other in queue if other.epoch == message.epoch), None)


def is_fenced(message: Message, process: Process, plan: RecoveryPlan) -> bool:
    """Whether a message that comes to `process` is fenced off, because it is of an earlier epoch."""
    return plan.fence and message.epoch < process.epoch


def waits(message: Message, recovery: RecoveryState) -> bool:
    """Whether a message is of a newer epoch than its receiver, which will be restored."""
    target = message.channel.target
    return message.epoch == recovery.epoch and target in recovery.waiting


def links(chain: Any) -> list[Any]:
    """The items of a chain, oldest first."""
    found = []
    while chain is not None:
        chain, own = chain
        found.append(own)
    return found[::-1]


def chained(values: Any) -> Any:
    """A chain of values, oldest first."""
    chain: Any = None
    for own in values:
        chain = chain, own
    return chain


def is_taken_back(recovery: RecoveryState, process: int, event: int) -> bool:
    """Whether a recovery has taken back event number `event` of process number `process`."""
    return any(who == process and first < event <= last for who, first, last in links(recovery.gone))


def inside(parts: Mapping[str, LocalSnapshot], process: str) -> int:
    """The number of events of `process` in its part."""
    return parts[process].inside if process in parts else 0
