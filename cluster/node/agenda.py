"""The agenda of a node: what its process begins by itself, from script lines, planned initiations and turns."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

from cluster.node.event_log import read_log
from cluster.node.local_process import LocalProcess
from sim.core.model import APPLICATION_KINDS, Action, AgendaItem, Initiate, Internal, Send, label_of
from sim.core.rules import Row

SHORTEST = 0.0005  # seconds: the event loop waits for no shorter time


class Agenda:
    """The items of the scenario for one process, and the turns of its workload.

    `wake` is called when something has become due; `begin_what_is_due` then carries it out.
    """

    def __init__(self, local: LocalProcess, log: Path, wake: Callable[[], None]) -> None:
        """`log` is the path of the node's event log: no item in it is carried out again."""
        self._local, self._wake = local, wake
        self._engine, self._seconds = local.system.engine, local.system.seconds
        self._timed = self._own_items(log)  # script lines and initiations at a time, the next one first
        self._due: list[AgendaItem] = []  # items whose event has happened, when their delay is over
        self._item_timer: asyncio.TimerHandle | None = None
        self._turn: asyncio.TimerHandle | None = None
        self._turn_is_due = False

    def _own_items(self, log: Path) -> list[AgendaItem]:
        """The items that the scenario plans for this process at a time, without those in the log.

        Script lines come from the environment: no recovery repeats them.
        """
        own = [item for item in self._engine.agenda if item.process == self._local.number and item.rank is not None]
        done: set[int] = set()
        if own and log.exists():
            done = {entry.action[1] for entry in read_log(log) if entry.action[0] == "item"}
        return sorted((item for item in own if item.number not in done), key=lambda item: item.rank or 0)

    def begin_what_is_due(self) -> None:
        """Carry out the items and the turn that are due, as far as the process may begin something."""
        while self._due and self._may_carry_out(self._due[0]):
            self._carry_out(self._due.pop(0))
        while self._timed and self._may_carry_out(self._timed[0]) and self._timed[0].time <= self._local.site.now:
            self._carry_out(self._timed.pop(0))
            self.plan_items()
        if self._turn_is_due and self._local.may_begin:
            self._turn_is_due = False
            self._take_turn()

    def _may_carry_out(self, item: AgendaItem) -> bool:
        return self._local.may_begin or (isinstance(item.action, Initiate) and self._local.may_initiate)

    def _carry_out(self, item: AgendaItem) -> None:
        self._local.act(["item", item.number], lambda: self._do(item.action))

    def _do(self, action: Action) -> None:
        process, rules = self._local.process, self._local.site.rules
        if isinstance(action, Initiate):
            rules.initiate(process, action.snapshot)
        elif isinstance(action, Internal):
            rules.internal(process, action.body, action.label)
        elif isinstance(action, Send):
            rules.send(process, action.channel, action.body, action.label, action.receive_label)

    # ------------------------------------------------------------------ items

    def plan_items(self) -> None:
        """Plan to wake when the next item at a time is due."""
        if self._item_timer is not None:
            self._item_timer.cancel()
        if self._timed:
            after = max(0.0, self._seconds(self._timed[0].time - self._local.site.now))
            self._item_timer = asyncio.get_running_loop().call_later(after + 1e-4, self._wake)

    def notice(self, rows: Iterable[Row]) -> None:
        """Plan the items of this process that wait for one of the events in `rows`."""
        for row in rows:
            if row[2] not in APPLICATION_KINDS:
                continue
            names = {row[6], label_of(row[0], row[1] or 0, None)} & self._engine.awaited
            for item in self._engine.agenda if names else ():
                if item.process == self._local.number and item.after in names:
                    self._plan_item(item)

    def _plan_item(self, item: AgendaItem) -> None:
        """Plan an item whose event has happened. Its time counts from the event."""

        def come() -> None:
            self._due.append(item)
            self._wake()

        asyncio.get_running_loop().call_later(self._seconds(item.time), come)

    # ------------------------------------------------------------------ turns

    def plan_turn(self) -> None:
        """Plan the next turn of the workload, unless one is planned or due."""
        workload, process = self._engine.workload, self._local.process
        if not workload.takes_turns or not self._local.is_working or self._turn is not None or self._turn_is_due:
            return
        gap = workload.turn_gap(process) if process.alive else None
        if gap is None:
            return
        seconds = self._seconds(gap)
        if seconds < SHORTEST:
            self._turn_is_due = True
        else:
            self._turn = asyncio.get_running_loop().call_later(seconds, self._turn_comes)

    def cancel_turn(self) -> None:
        """Cancel the turn that is planned or due."""
        if self._turn is not None:
            self._turn.cancel()
        self._turn, self._turn_is_due = None, False

    def _turn_comes(self) -> None:
        self._turn, self._turn_is_due = None, True
        self._wake()

    def _take_turn(self) -> None:
        action = self._engine.workload.turn(self._local.process)
        if action is None:
            return

        def act() -> None:
            self._local.process.turn += 1
            self._do(action)

        if not self._local.act(["turn"], act):
            self.plan_turn()
