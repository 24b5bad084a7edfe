"""What processes compute (Maelstrom's word: the workload), seen from the engine.

A workload is pure: each method maps a process's state to its next state. A process may also act of
its own accord: `turn_gap` says how long until its next *turn*, `turn` which action that is; both
depend on the process and on draws of (seed, process, turn) only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar

from sim.core.effects import Out
from sim.core.model import Action, Message, Process
from sim.core.parameters import Parametrised
from sim.core.registry import Registry


class Refused(Exception):
    """A workload cannot carry out an action, such as a send without money. The text says why."""


class Workload(Parametrised):
    """A computation in which nothing changes but the events themselves: the base of all workloads."""

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    source: ClassVar[str] = ""
    body_hint: ClassVar[str] = "any text"
    takes_turns: bool = False
    busy_at_first: ClassVar[Mapping[str, str]] = {}  # with what a form of ensembles starts, as a grid writes it

    def __init__(self, processes: Sequence[str], seed: int, **parameters: Any) -> None:
        self.processes = tuple(processes)
        self.seed = seed
        self.take(parameters)

    @classmethod
    def busy(cls, processes: int, events: int) -> dict[str, Any]:
        """Parameters with which `processes` processes make about `events` application events by themselves, if any."""
        return {}

    def problems(self, channels: Set[str]) -> Iterator[tuple[str, str]]:
        """What is wrong with the parameters, given the names of the channels: (parameter, sentence) each."""
        return iter(())

    def initial(self, process: str) -> Any:
        """The initial state of `process`."""
        return None

    def body_of(self, body: Any, label: str | None, receive_label: str | None) -> Any:
        """The body of a scripted message whose line gives `body` and names its two events."""
        return body

    def check_body(self, body: Any) -> None:
        """Raises Refused unless `body` is something this workload can send."""

    def after_internal(self, process: Process, body: Any, out: Out) -> Any:
        """The state after an internal event; it may ask `out` for sends in the same action. Raises Refused."""
        return process.state

    def after_send(self, process: Process, body: Any) -> Any:
        """The state after sending `body`. Raises Refused, for instance without the money."""
        return process.state

    def after_receive(self, process: Process, message: Message, out: Out) -> Any:
        """The state after receiving `message`; a reactive workload asks `out` for sends in the same action."""
        return process.state

    def turn_gap(self, process: Process) -> float | None:
        """Time units from now to this process's next turn; None: it has no turn to take."""
        return None

    def turn(self, process: Process) -> Action | None:
        """The action of this process's next turn; None where `turn_gap` is None."""
        return None

    def options(self, process: Process) -> Sequence[Action]:
        """All that a process may do next of its own accord where there is no time: its turn, unless told more."""
        turn = self.turn(process) if self.takes_turns else None
        return () if turn is None else (turn,)

    def measure(self, state: Any) -> dict[str, int]:
        """How much of each conserved good a process in `state` has; empty: nothing is conserved."""
        return {}

    def measure_body(self, body: Any) -> dict[str, int]:
        """How much of each conserved good a message carries."""
        return {}

    # ------------------------------------------------------------------ words

    def tell_state(self, state: Any) -> str | None:
        """A state as a reader sees it; None: what has happened says it better."""
        if isinstance(state, Mapping):
            return f"<{', '.join(f'{amount} {good}' for good, amount in state.items())}>"
        return None if state is None else str(state)

    def tell_body(self, body: Any) -> str:
        """What a message carries; empty where it carries nothing."""
        if isinstance(body, Mapping):
            return ", ".join(counted(amount, good) for good, amount in body.items())
        return "" if body is None else str(body)

    def tell_internal(self, body: Any) -> str:
        """What an internal event is, as in `P1 ...`."""
        return "has an internal event" if body is None else f"has an internal event: {self.tell_body(body)}"

    def value_of(self, setting: Any, process: str) -> Any:
        """A "per_process" parameter's value for `process`: given for all, or by name."""
        if isinstance(setting, Mapping) and set(setting) <= set(self.processes):
            return setting.get(process)
        return setting


def counted(amount: int, good: str) -> str:
    """`1 widget`, `5 widgets`, `1 cash`."""
    return f"{amount} {good[:-1] if amount == 1 and good.endswith('s') else good}"


WORKLOADS: Registry[type[Workload]] = Registry("sim.workloads", Workload)
