"""A bank: every process holds money and sends some of it to a random neighbour at random times.

The sum of the money in all processes and channels never changes. A naive recording gets this sum wrong; a consistent
snapshot gets it right. Transfers may also be scripted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sim.core import randomness
from sim.core.effects import Out
from sim.core.model import Action, Internal, Message, Process, Send
from sim.core.parameters import Parameter
from sim.core.workload import Refused, Workload

NO_MONEY = "no money"


class Bank(Workload):
    """Transfers of whole amounts; the state of a process is its balance."""

    name = "bank"
    title = "Bank"
    source = "Coulouris et al., chapter 14; COS 418's token passing"
    body_hint = "an amount, such as 20"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "balance": Parameter("per_process", 100, "the initial balance of every process, or a table by process"),
        "transfers": Parameter("whole", 0, "random transfers that each process makes"),
        "pace": Parameter("number", 10.0, "mean time between two transfers of a process", least=0.001),
        "largest": Parameter("whole", 20, "the largest random amount", least=1),
    }
    busy_at_first: ClassVar[Mapping[str, str]] = {
        "transfers": "30",
        "pace": "4",
    }  # enough that messages are on their way most of the time
    balance: Any
    transfers: int
    pace: float
    largest: int

    def __init__(self, processes: Any, seed: int, **parameters: Any) -> None:
        super().__init__(processes, seed, **parameters)
        self.takes_turns = self.transfers > 0
        self._keys = [randomness.key(seed, "bank", process) for process in self.processes]

    @classmethod
    def busy(cls, processes: int, events: int) -> dict[str, Any]:
        """Each transfer is two events, a send and a receive."""
        return {"transfers": max(1, round(events / (2 * processes)))}

    def initial(self, process: str) -> int:
        """The balance the scenario gives; 0 for a process missing from a table."""
        return self.value_of(self.balance, process) or 0

    def check_body(self, body: Any) -> None:
        """An amount is a whole number, at least 1."""
        if body is None:
            raise Refused("is missing; a transfer's body is a whole amount of at least 1, such as 20")
        if not isinstance(body, int) or isinstance(body, bool) or body < 1:
            raise Refused(f"a transfer's body is a whole amount of at least 1, not {body!r}")

    def after_send(self, process: Process, body: int) -> int:
        """The sender is debited at once."""
        if body > process.state:
            raise Refused(f"{process.name} has {process.state} and cannot send {body}; send at most that")
        balance: int = process.state - body
        return balance

    def before_send(self, state: int, body: int) -> int:
        """It had what it sends."""
        return state + body

    def after_receive(self, process: Process, message: Message, out: Out) -> int:
        """The receiver is credited."""
        balance: int = process.state + message.body
        return balance

    def turn_gap(self, process: Process) -> float | None:
        """Uniform between a half and one and a half of `pace`."""
        if process.turn >= self.transfers or not process.outgoing:
            return None
        return self.pace * (0.5 + randomness.unit(self._keys[process.number], 2 * process.turn))

    def turn(self, process: Process) -> Action | None:
        """Sends a random amount to a random neighbour; without money, an internal event."""
        if process.turn >= self.transfers or not process.outgoing:
            return None
        draw = randomness.bits(self._keys[process.number], 2 * process.turn + 1)
        amount = min(1 + (draw >> 32) % self.largest, process.state)
        if amount == 0:
            return Internal(process.number, NO_MONEY)
        return Send(process.outgoing[(draw & 0xFFFFFFFF) % len(process.outgoing)], amount)

    def internal_words(self, body: Any) -> str:
        """A turn without money in words."""
        return "has no money to send" if body == NO_MONEY else super().internal_words(body)

    def measure(self, state: int) -> dict[str, int]:
        """The balance."""
        return {"money": state}

    def measure_body(self, body: int) -> dict[str, int]:
        """The amount sent."""
        return {"money": body}
