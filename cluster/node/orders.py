"""The controller's orders to a node. An order KIND is carried out by the method `_do_KIND`, with the order's body."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from cluster.node.agenda import Agenda
from cluster.node.inbox import Inbox
from cluster.node.links import Address
from cluster.node.local_process import LocalProcess
from cluster.node.site import Wake
from cluster.wire.frames import BadFrame
from sim.core.model import DOWN, JOIN, LEAVE, UP, Channel, Restorable
from sim.core.rules import Row

_Channels = frozenset[Channel]


class Orders:
    """Carries out the orders. `say` sends the controller a report, and `tally` is the report of what is in transit."""

    def __init__(
        self, local: LocalProcess, agenda: Agenda, inbox: Inbox, say: Callable[[str, Any], None],
        tally: Callable[[], dict[str, int]],
    ) -> None:  # fmt: skip
        self._local, self._agenda, self._inbox, self._say, self._tally = local, agenda, inbox, say, tally
        self._system = local.system

    def obey(self, kind: str, body: Any) -> None:
        """Carry out one order. Raises BadFrame for an order that no node knows, and CancelledError for "stop"."""
        order: Callable[[Any], None] | None = getattr(self, f"_do_{kind}", None)
        if order is None:
            raise BadFrame(f"there is no order {kind!r}")
        order(body)

    # ------------------------------------------------------------------ the cluster

    def _do_peers(self, body: Any) -> None:
        """Connect to other nodes: `body` is the host, the port and the incarnation of each, by its number."""
        self._local.outgoing.connect({number: Address(*address) for number, address in body.items()})

    def _do_members(self, body: Any) -> None:
        """Take note of the processes that are present: there is no channel from and to any other."""
        process, present = self._local.process, {*body}
        channels = self._system.engine.channels
        process.outgoing = tuple(own for own in channels if own.source == process.number and own.target in present)
        process.incoming = tuple(own for own in channels if own.target == process.number and own.source in present)
        self._local.outgoing.close_all_but(present)
        self._say("knows", {})

    def _do_report(self, body: Any) -> None:
        """Report at once what is in transit."""
        self._say("reported", self._tally())

    def _do_stop(self, body: Any) -> None:
        """End in good order."""
        raise asyncio.CancelledError

    # ------------------------------------------------------------------ the process

    def _do_start(self, body: Any) -> None:
        """Begin, or join a cluster that runs."""
        local = self._local
        self._inbox.has_begun = local.is_working = True
        local.site.began = body["began"]
        local.site.clock = max(local.site.clock, body["clock"])
        if body["joins"]:
            local.act([JOIN], self._join)
        else:
            for name, after in self._system.engine.algorithm.first_timers().items():
                local.timers.set(Wake(local.number, name, after, None))
        self._agenda.plan_items()
        self._agenda.plan_turn()
        self._inbox.pump_soon()

    def _join(self) -> None:
        process, rules = self._local.process, self._local.site.rules
        rules.emit((process.name, None, JOIN, None, None, None, None, process.state, None))
        rules.begin_again(process)

    def _do_restore(self, body: Any) -> None:
        """Go back to a part of a snapshot."""
        local = self._local
        goal = Restorable(body["snapshot"], body["parts"], {}, frozenset(body["valid"]), tuple(body["restores"]))
        local.timers.clear()
        self._agenda.cancel_turn()
        self._inbox.has_begun = local.is_working = True

        def restore() -> None:
            rules, process = local.site.rules, local.process
            rules.restore(process, goal, body["epoch"])
            for message in body["contents"]:
                self._inbox.put_back(message)
                rules.put_back(process, goal.snapshot, message)

        if local.is_reborn:
            local.is_reborn, self._inbox.since = False, body["epoch"]
        local.act(["restore", body["epoch"]], restore, body["clock"])
        self._agenda.plan_items()
        self._say("restored", {"epoch": body["epoch"], "clock": local.site.clock})

    def _do_drain(self, body: Any) -> None:
        """Begin nothing more."""
        self._local.is_working = False

    def _do_leave(self, body: Any) -> None:
        """Leave the system."""
        local, process = self._local, self._local.process
        local.is_working = False

        def leave() -> None:
            local.site.rules.leave(process)
            local.emit_row(LEAVE)

        local.act([LEAVE], leave)
        process.alive, process.present = False, False
        local.timers.clear()
        self._say("left", {})

    # ------------------------------------------------------------------ snapshots

    def _do_initiate(self, body: Any) -> None:
        """Start a snapshot that a user, or the controller, asks for."""
        local, snapshot = self._local, body["snapshot"]
        if local.process.alive:
            local.act(body["action"], lambda: local.site.rules.initiate(local.process, snapshot), body["clock"])

    def _do_abort(self, body: Any) -> None:
        """Give up a snapshot that no service coordinates."""
        local, snapshot = self._local, body["snapshot"]

        def abort() -> None:
            local.site.rules.from_outside(local.process, lambda out: out.abort(snapshot))

        if local.process.alive:
            local.act(["outside", "abort"], abort, body["clock"])

    # ------------------------------------------------------------------ link conditions

    def _do_sever(self, body: Any) -> None:
        """Deliver nothing from some channels any more."""
        self._change_severed(body, DOWN, lambda severed, channels: severed | channels)

    def _do_mend(self, body: Any) -> None:
        """Deliver from them again."""
        self._change_severed(body, UP, lambda severed, channels: severed - channels)

    def _change_severed(self, body: Any, kind: str, change: Callable[[_Channels, _Channels], _Channels]) -> None:
        conditions = self._inbox.conditions
        for number in body["channels"]:
            channel = self._system.channel_of[number]
            severed = change(conditions.severed, frozenset([channel]))
            if severed == conditions.severed:
                continue
            conditions.severed = severed
            row = (channel.source_name, None, kind, channel.name, None, None, None, None, None)
            self._local.act([kind, channel.name], partial(self._emit, row))
            if kind == DOWN:
                self._inbox.receiver.drop(channel.source)

    def _emit(self, row: Row) -> None:
        self._local.site.rules.emit(row)

    def _do_delay(self, body: Any) -> None:
        """Delay what comes on some channels: by `low` to `high` seconds."""
        for number in body["channels"]:
            self._inbox.conditions.delays[number] = (body["low"], body["high"])

    def _do_lose(self, body: Any) -> None:
        """Lose a share of the frames on some channels."""
        for number in body["channels"]:
            self._inbox.conditions.shares[number] = body["share"]
