"""A token that goes round and may be lost, or doubled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar

from sim.core import randomness
from sim.core.effects import Out
from sim.core.model import Action, Internal, Process
from sim.core.parameters import Parameter
from sim.core.workload import Refused
from sim.workloads.token_ring import TokenRing

LOSE, DOUBLE = "lose", "double"
FAULTS = ("", LOSE, DOUBLE)


class Token(TokenRing):
    """A token ring in which a holder may lose its token or double it; in one run only one of both happens."""

    name = "token"
    title = "A token with faults"
    source = "Chandy & Lamport 1985, examples 2.1 and 3.1"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **TokenRing.parameters,
        "fault": Parameter("text", "", f'what may happen to a token: "{LOSE}", "{DOUBLE}", or nothing'),
        "risk": Parameter("whole", 0, "in how many of a hundred turns it happens"),
    }
    fault: str
    risk: int

    def __init__(self, processes: Any, seed: int, **parameters: Any) -> None:
        super().__init__(processes, seed, **parameters)
        self._keys = [randomness.key(seed, "token", process) for process in self.processes]

    def problems(self, channels: Set[str]) -> Iterator[tuple[str, str]]:
        """There are two faults."""
        if self.fault not in FAULTS:
            yield "fault", f'{self.fault!r} is no fault; write "{LOSE}", "{DOUBLE}", or leave it out'
        if self.risk > 100:
            yield "risk", f"{self.risk} of a hundred turns are too many; give at most 100"

    def after_internal(self, process: Process, body: Any, out: Out) -> int:
        """The fault of this run: a token less, or one more."""
        tokens: int = process.state
        if body not in (LOSE, DOUBLE):
            return tokens
        if body != self.fault:
            raise Refused(f"the fault of this run is {self.fault or 'none'!r}, not {body!r}; set [workload] fault")
        if tokens < 1:
            raise Refused(f"{process.name} holds no token that it could {body}")
        return tokens + (1 if body == DOUBLE else -1)

    def turn(self, process: Process) -> Action | None:
        """Passes the token on, or, now and then, what may go wrong goes wrong."""
        passed = super().turn(process)
        draw = randomness.bits(self._keys[process.number], process.turn)
        return Internal(process.number, self.fault) if passed and self.fault and draw % 100 < self.risk else passed

    def options(self, process: Process) -> Sequence[Action]:
        """Without time a holder may pass its token on, or what may go wrong goes wrong."""
        passed = super().turn(process)
        if passed is None:
            return ()
        return [passed, Internal(process.number, self.fault)] if self.fault and self.risk else [passed]

    def internal_words(self, body: Any) -> str:
        """A fault in words."""
        return f"{body}s its token" if body in (LOSE, DOUBLE) else super().internal_words(body)

    def measure(self, state: int) -> dict[str, int]:
        """Nothing is conserved here."""
        return {}

    def measure_body(self, body: Any) -> dict[str, int]:
        """Nothing is conserved here."""
        return {}
