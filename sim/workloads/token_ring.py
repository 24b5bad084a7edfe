"""Tokens that go round: a process keeps a token for a while and passes it on.

With one token and two processes this is the single-token conservation system of Chandy & Lamport
(1985), example 2.1: exactly one token, in a process or in a channel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sim.core.effects import Out
from sim.core.model import Action, Message, Process, Send
from sim.core.parameters import Parameter
from sim.core.workload import Refused, Workload


class TokenRing(Workload):
    """The state of a process is the number of tokens it holds; a message carries one."""

    name = "token_ring"
    title = "Token ring"
    source = "Chandy & Lamport 1985, example 2.1"
    body_hint = 'always "token"'
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "tokens": Parameter("table", {}, "tokens that a process holds at first (default: one, at the first process)"),
        "hold": Parameter("number", 5.0, "how long a process keeps a token"),
        "rounds": Parameter("whole", 2, "how often each process passes a token on"),
    }
    tokens: dict[str, int]
    hold: float
    rounds: int

    def __init__(self, processes: Any, seed: int, **parameters: Any) -> None:
        super().__init__(processes, seed, **parameters)
        self.takes_turns = self.rounds > 0
        self.tokens = self.tokens or {self.processes[0]: 1}

    @classmethod
    def busy(cls, processes: int, events: int) -> dict[str, Any]:
        """Passing a token on is a send and a receive."""
        return {"rounds": max(1, round(events / (2 * processes)))}

    def initial(self, process: str) -> int:
        """The tokens the scenario gives."""
        return self.tokens.get(process, 0)

    def check_body(self, body: Any) -> None:
        """Only tokens travel."""
        if body is None:
            raise Refused('is missing; a message of this workload is "token"')
        if body != "token":
            raise Refused(f'a message of this workload is "token", not {body!r}')

    def after_send(self, process: Process, body: Any) -> int:
        """One token less."""
        if process.state < 1:
            raise Refused(f"{process.name} holds no token and cannot send one")
        held: int = process.state - 1
        return held

    def before_send(self, state: int, body: Any) -> int:
        """One token more."""
        return state + 1

    def after_receive(self, process: Process, message: Message, out: Out) -> int:
        """One token more."""
        held: int = process.state + 1
        return held

    def turn_gap(self, process: Process) -> float | None:
        """A holder passes its token on after `hold`."""
        if process.state < 1 or process.turn >= self.rounds or not process.outgoing:
            return None
        return self.hold

    def turn(self, process: Process) -> Action | None:
        """The token goes to the first listed neighbour."""
        return None if self.turn_gap(process) is None else Send(process.outgoing[0], "token")

    def measure(self, state: int) -> dict[str, int]:
        """The tokens held."""
        return {"tokens": state}

    def measure_body(self, body: Any) -> dict[str, int]:
        """Each message is a token."""
        return {"tokens": 1}
