"""Unit messages: every process may send a number of them, each to any other process, at any time.

It is the system whose states are counted to compare explorers: nothing but the order of events differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sim.core import randomness
from sim.core.effects import Out
from sim.core.model import Action, Message, Process, Send
from sim.core.parameters import Parameter
from sim.core.workload import Refused, Workload


class Units(Workload):
    """The state of a process is the number of messages that it has received on each of its channels."""

    name = "units"
    title = "Unit messages"
    source = "a system for counting states: each process sends a number of messages, each to any other, at any time"
    body_hint = "always 1"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "sends": Parameter("whole", 2, "messages that each process may send"),
        "pace": Parameter("number", 10.0, "mean time between two sends of a process", least=0.001),
    }
    sends: int
    pace: float

    def __init__(self, processes: Any, seed: int, **parameters: Any) -> None:
        super().__init__(processes, seed, **parameters)
        self.takes_turns = self.sends > 0
        self._keys = [randomness.key(seed, "units", process) for process in self.processes]

    @classmethod
    def busy(cls, processes: int, events: int) -> dict[str, Any]:
        """A send and a receive for each message."""
        return {"sends": max(1, round(events / (2 * processes)))}

    def initial(self, process: str) -> dict[str, int]:
        """Nothing received."""
        return {}

    def check_body(self, body: Any) -> None:
        """Every message is one unit."""
        if body != 1 or isinstance(body, bool):
            raise Refused(f"a message of this workload is 1, not {body!r}")

    def after_receive(self, process: Process, message: Message, out: Out) -> dict[str, int]:
        """One more on its channel."""
        received: dict[str, int] = process.state
        return {**received, message.channel.name: received.get(message.channel.name, 0) + 1}

    def turn_gap(self, process: Process) -> float | None:
        """Uniform between a half and one and a half of `pace`."""
        if process.turn >= self.sends or not process.outgoing:
            return None
        return self.pace * (0.5 + randomness.unit(self._keys[process.number], 2 * process.turn))

    def turn(self, process: Process) -> Action | None:
        """Sends to a random neighbour."""
        if process.turn >= self.sends or not process.outgoing:
            return None
        draw = randomness.bits(self._keys[process.number], 2 * process.turn + 1)
        return Send(process.outgoing[draw % len(process.outgoing)], 1)

    def options(self, process: Process) -> Sequence[Action]:
        """Without time it may send to any neighbour."""
        return [Send(channel, 1) for channel in process.outgoing] if process.turn < self.sends else ()

    def state_words(self, state: dict[str, int]) -> str:
        """The number of messages received, by sender."""
        told = [f"{number} from {channel.split('->')[0]}" for channel, number in sorted(state.items())]
        return f"received {', '.join(told)}" if told else "received nothing"
