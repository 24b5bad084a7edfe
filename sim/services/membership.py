"""The members of a coordinated system: heartbeats, leases, joins, and departures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sim.core.effects import Out
from sim.core.model import Process
from sim.services.member import ALIVE, AWAKE, HERE, LEASE, LEFT, OUT, TO, WELCOME
from sim.services.rounds import Rounds
from sim.services.words import FAILED, MEMBERSHIP

WATCH = "silence"


def silent_in(timer: str) -> str | None:
    """Return the process whose silence a timer of the coordinator ends (None: it is another timer)."""
    return timer.removeprefix(f"{WATCH} of ") if timer.startswith(f"{WATCH} of ") else None


class Membership(Rounds):
    """The part of the coordinator that knows its members. Points 8 and 9 of sim/services/coordinator.py."""

    def hear(self, service: Process, source: str, body: Mapping[str, Any], out: Out) -> None:
        """A heartbeat, or the question of a process that is back, or that stands still and does not know for how long.

        Each is answered, and the silence begins anew. A heartbeat makes no process a member: a process that is out is
        told so, and asks.
        """
        answer: dict[str, Any]
        if ALIVE in body:
            is_member = source in self.notes(service).members
            answer = {LEASE: self.settings.lease} if is_member else {OUT: True}
        else:
            self._admit(service, source, out, is_new=HERE in body)
            answer = {WELCOME: list(self.notes(service).ended)}
        to = next((body[word] for word in (ALIVE, HERE, AWAKE) if body.get(word)), None)
        out.tell(source, answer if to is None else {**answer, TO: to})
        if OUT not in answer and to is not None:
            self.watch(source, body[LEFT], out)
        self.start_next(service, out)

    def watch(self, process: str, left: int, out: Out) -> None:
        """Wait for the next heartbeat of a process, if it has any `left` to send."""
        if left:
            out.set_timer(f"{WATCH} of {process}", self.settings.silence)
        else:
            out.cancel_timer(f"{WATCH} of {process}")

    def _admit(self, service: Process, source: str, out: Out, *, is_new: bool) -> None:
        """A process reports: it is or becomes a member. A new one has no part of the snapshots under way."""
        notes = self.notes(service)
        notes = notes._replace(expected=tuple(name for name in notes.expected if name != source))
        service.memory = notes
        if source not in notes.members:
            order = self.algorithm.graph.processes
            members = tuple(name for name in order if name in notes.members or name == source)
            self.change(service, members, f"{source} joined", out)
            return
        for name, own in notes.under_way.items() if is_new else ():
            if source in own.members and source not in own.done:
                self.decide(service, name, FAILED, f"{source} started again", "", out)

    def gone(self, service: Process, source: str, how: str, out: Out) -> None:
        """A process has left or is silent: it is no member any more."""
        out.cancel_timer(f"{WATCH} of {source}")
        notes = self.notes(service)
        notes = notes._replace(expected=tuple(name for name in notes.expected if name != source))
        service.memory = notes
        if source in notes.members:
            self.change(service, tuple(name for name in notes.members if name != source), f"{source} {how}", out)

    def change(self, service: Process, members: tuple[str, ...], detail: str, out: Out) -> None:
        """The membership changes: every snapshot under way fails, and the next begins among the members present."""
        notes = self.notes(service)
        under_way = tuple(notes.under_way)
        service.memory = notes._replace(members=members)
        for name in under_way:
            if not notes.under_way[name].is_written:
                self.decide(service, name, FAILED, MEMBERSHIP, detail, out)
        self.start_next(service, out)
