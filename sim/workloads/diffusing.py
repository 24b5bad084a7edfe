"""A diffusing computation: active processes send messages, which make their receivers active, and become passive.

It terminates when every process is passive and no message is on its way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar

from sim.core import randomness
from sim.core.effects import Out
from sim.core.model import Action, Internal, Message, Process, Send
from sim.core.parameters import Parameter
from sim.core.workload import Refused, Workload

ACTIVE, PASSIVE = "active", "passive"
ACTIVATE, REST = "activate", "rest"  # the body of a message; that of the internal event that makes a process passive


class Diffusing(Workload):
    """The state of a process is "active" or "passive"."""

    name = "diffusing"
    title = "Diffusing computation"
    source = "E. W. Dijkstra and C. S. Scholten, 1980"
    body_hint = f'always "{ACTIVATE}"'
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "active": Parameter("texts", (), "the processes that are active at first (default: the first one)"),
        "acts": Parameter("whole", 0, "random acts of each process while it is active: it sends, or rests"),
        "ease": Parameter("whole", 50, "in how many of a hundred cases a process rests after a send"),
        "pace": Parameter("number", 10.0, "mean time between two acts of an active process", least=0.001),
    }
    busy_at_first: ClassVar[Mapping[str, str]] = {"acts": "20"}
    active: tuple[str, ...]
    acts: int
    ease: int
    pace: float

    def __init__(self, processes: Any, seed: int, **parameters: Any) -> None:
        super().__init__(processes, seed, **parameters)
        self.takes_turns = self.acts > 0
        self.active = tuple(self.active) or self.processes[:1]
        self._keys = [randomness.key(seed, "diffusing", process) for process in self.processes]

    @classmethod
    def busy(cls, processes: int, events: int) -> dict[str, Any]:
        """A process rests only after all its sends, and each is received; after that every receive leads to a rest."""
        return {"acts": max(1, round(events / (2.1 * processes))), "ease": 0}

    def events(self) -> int:
        """A send, its receive and now and then a rest for each act, unless the computation ends before."""
        return round(2.1 * len(self.processes) * self.acts)

    def problems(self, channels: Set[str]) -> Iterator[tuple[str, str]]:
        """Only processes are active."""
        for name in self.active:
            if name not in self.processes:
                yield "active", f"{name!r} is no process; the processes are {', '.join(self.processes[:8])}"
        if self.ease > 100:
            yield "ease", f"{self.ease} of a hundred cases are too many; give at most 100"

    def initial(self, process: str) -> str:
        """Active if the scenario says so."""
        return ACTIVE if process in self.active else PASSIVE

    def body_of(self, body: Any, label: str | None, receive_label: str | None) -> Any:
        """There is only one body, which a script may leave out."""
        return ACTIVATE if body is None else body

    def check_body(self, body: Any) -> None:
        """Every message activates."""
        if body not in (None, ACTIVATE):
            raise Refused(f'a message of this workload is "{ACTIVATE}", not {body!r}')

    def after_send(self, process: Process, body: Any) -> str:
        """Only who is active sends."""
        if process.state != ACTIVE:
            raise Refused(f"{process.name} is passive and sends nothing; send while it is active")
        return ACTIVE

    def after_receive(self, process: Process, message: Message, out: Out) -> str:
        """Every message makes its receiver active."""
        return ACTIVE

    def after_internal(self, process: Process, body: Any, out: Out) -> str:
        """The event "rest" makes a process passive; others change nothing."""
        state: str = process.state
        return PASSIVE if body == REST else state

    def turn_gap(self, process: Process) -> float | None:
        """Uniform between a half and one and a half of `pace`, while it is active."""
        if process.state != ACTIVE or not self.takes_turns:
            return None
        return self.pace * (0.5 + randomness.unit(self._keys[process.number], 2 * process.turn))

    def turn(self, process: Process) -> Action | None:
        """A message to a random neighbour; every second time perhaps a rest, and nothing else once all acts are done.

        So a process that is activated sends something before it rests, and the computation goes on for a while.
        """
        if self.turn_gap(process) is None:
            return None
        draw = randomness.bits(self._keys[process.number], 2 * process.turn + 1)
        if process.turn >= self.acts or not process.outgoing or (process.turn % 2 and (draw >> 32) % 100 < self.ease):
            return Internal(process.number, REST)
        return Send(process.outgoing[(draw & 0xFFFFFFFF) % len(process.outgoing)], ACTIVATE)

    def options(self, process: Process) -> Sequence[Action]:
        """Without time it may send to any neighbour, or rest."""
        if self.turn_gap(process) is None:
            return ()
        sends = [Send(channel, ACTIVATE) for channel in process.outgoing] if process.turn < self.acts else []
        return [*sends, Internal(process.number, REST)]

    def internal_words(self, body: Any) -> str:
        """The event "rest" in words."""
        return "becomes passive" if body == REST else super().internal_words(body)
