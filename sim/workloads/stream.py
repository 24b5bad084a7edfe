"""A stream: every process sends at one rate on each of its outgoing channels.

So the number of messages on a channel is known, and the contents of a snapshot can be predicted (sim/theory/sizing.py).
The time of the first message is drawn evenly from the seed. Over many seeds, a channel carries `t / every` messages in
the mean in any time `t`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sim.core import randomness
from sim.core.effects import Out
from sim.core.model import Action, Message, Process, Send
from sim.core.parameters import Parameter
from sim.core.workload import Workload


class Stream(Workload):
    """The state of a process counts what it has sent and received; a body is the number of its sender's message."""

    name = "stream"
    title = "Stream"
    source = "a stream processor under a steady load"
    body_hint = "a number"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "messages": Parameter("whole", 0, "messages that each process sends, to its neighbours in turn"),
        "every": Parameter("number", 10.0, "time from one message on a channel to the next", least=0.001),
    }
    busy_at_first: ClassVar[Mapping[str, str]] = {"messages": "30", "every": "4"}
    messages: int
    every: float

    def __init__(self, processes: Any, seed: int, **parameters: Any) -> None:
        super().__init__(processes, seed, **parameters)
        self.takes_turns = self.messages > 0
        self._keys = [randomness.key(seed, "stream", process) for process in self.processes]

    @classmethod
    def busy(cls, processes: int, events: int) -> dict[str, Any]:
        """Each message is two events, a send and a receive."""
        return {"messages": max(1, round(events / (2 * processes)))}

    def initial(self, process: str) -> dict[str, int]:
        """Nothing sent, nothing received."""
        return {"sent": 0, "received": 0}

    def after_send(self, process: Process, body: Any) -> dict[str, int]:
        """One more is sent."""
        return {**process.state, "sent": process.state["sent"] + 1}

    def before_send(self, state: dict[str, int], body: Any) -> dict[str, int]:
        """One fewer was sent."""
        return {**state, "sent": state["sent"] - 1}

    def after_receive(self, process: Process, message: Message, out: Out) -> dict[str, int]:
        """One more is received."""
        return {**process.state, "received": process.state["received"] + 1}

    def turn_gap(self, process: Process) -> float | None:
        """`every` by the number of its channels; before the first message a part of that, drawn evenly."""
        if process.turn >= self.messages or not process.outgoing:
            return None
        gap = self.every / len(process.outgoing)
        return gap if process.turn else gap * randomness.unit(self._keys[process.number], 0)

    def turn(self, process: Process) -> Action | None:
        """Sends on its channels in turn; on which one first is drawn."""
        if process.turn >= self.messages or not process.outgoing:
            return None
        first = randomness.bits(self._keys[process.number], 1)
        channel = process.outgoing[(first + process.turn) % len(process.outgoing)]
        return Send(channel, process.turn + 1)

    def state_words(self, state: dict[str, int]) -> str:
        """Both counts."""
        return f"<{state['sent']} sent, {state['received']} received>"
