"""The base class of workloads. A workload (Maelstrom's word) is what processes compute.

A workload is pure: its methods map the state of a process to the next state. A process may also act without a script,
in *turns*: `turn_gap` is the time until its next turn, and `turn` the action of that turn. Both depend only on the
process and on draws of (seed, process, turn).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar

from sim.core.effects import Out
from sim.core.model import Action, Message, Process
from sim.core.parameters import Parametrised
from sim.core.registry import Registry

MANY = 10**12  # events: so many that rounding the parameters for them means nothing


class Refused(Exception):
    """A workload cannot carry out an action, such as a send without the money. The text gives the reason."""


class Workload(Parametrised):
    """The base class of workloads. As it stands, states never change."""

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    source: ClassVar[str] = ""
    body_hint: ClassVar[str] = "any text"
    takes_turns: bool = False
    waits_for_commits: bool = False  # whether `after_commit` does something: then processes hear of valid snapshots
    busy_at_first: ClassVar[
        Mapping[str, str]
    ] = {}  # what the form of ensembles contains at first, in a grid's notation

    def __init__(self, processes: Sequence[str], seed: int, **parameters: Any) -> None:
        self.processes = tuple(processes)
        self.seed = seed
        self.set_parameters(parameters)

    @classmethod
    def busy(cls, processes: int, events: int) -> dict[str, Any]:
        """Parameters that give about `events` application events without a script (empty: there are none)."""
        return {}

    @classmethod
    def quiet(cls, processes: int) -> dict[str, Any]:
        """Parameters with which no process takes turns: those by which `busy` gives many events, as zero."""
        few, many = cls.busy(processes, 1), cls.busy(processes, MANY)
        return {name: 0 for name in many if few[name] != many[name]}

    def events(self) -> int:
        """About how many application events there are without a script. As it stands, `busy` says it, turned round."""
        busy = self.busy(len(self.processes), MANY)
        return max((round(MANY * getattr(self, name) / most) for name, most in busy.items()), default=0)

    def problems(self, channels: Set[str]) -> Iterator[tuple[str, str]]:
        """The problems of the parameters, as pairs (parameter, sentence). `channels` holds names such as P1->P2."""
        return iter(())

    def initial(self, process: str) -> Any:
        """The initial state of `process`."""
        return None

    def begin_in(self, states: Mapping[str, Any]) -> None:
        """Let processes begin in `states`, by name; those without one begin in their own initial state."""
        self.initial = {**{name: self.initial(name) for name in self.processes}, **states}.__getitem__  # type: ignore

    def check_state(self, process: str, state: Any) -> None:
        """Raises Refused if `process` cannot begin in `state`: one that is not made like its own initial state."""
        own = self.initial(process)
        if not _is_like(state, own):
            raise Refused(f"{process} begins in a state such as {own!r}, not in {state!r}")

    def body_of(self, body: Any, label: str | None, receive_label: str | None) -> Any:
        """The body of a scripted message. Its script line gives `body` and the labels of its two events."""
        return body

    def check_body(self, body: Any) -> None:
        """Raises Refused if `body` is not a body of this workload's messages."""

    def check_send(self, source: str, target: str, body: Any) -> None:
        """Raises Refused if `source` never sends `body`, which is a body of this workload's messages, to `target`."""

    def after_internal(self, process: Process, body: Any, out: Out) -> Any:
        """The state after an internal event. It may ask `out` for sends in the same action. Raises Refused."""
        return process.state

    def after_send(self, process: Process, body: Any) -> Any:
        """The state after sending `body`. Raises Refused, for instance without the money."""
        return process.state

    def before_send(self, state: Any, body: Any) -> Any:
        """The state from which sending `body` leads to `state`, as far as that can be said: `after_send`, undone."""
        return state

    def after_receive(self, process: Process, message: Message, out: Out) -> Any:
        """The state after receiving `message`. A reactive workload asks `out` for sends in the same action."""
        return process.state

    def after_commit(self, process: Process, recorded: Any, out: Out) -> Any:
        """The state after a snapshot has become valid for which `process` had `recorded` its state.

        A sink that waits for this gives its outputs to the environment now (`out.give`).
        """
        return process.state

    def after_restore(self, process: Process, out: Out) -> Any:
        """The state after a recovery has restored `process`. A sink gives what it had not given before the failure."""
        return process.state

    def turn_gap(self, process: Process) -> float | None:
        """Time units from now to the next turn of this process (None: it has no more turns)."""
        return None

    def turn(self, process: Process) -> Action | None:
        """The action of the next turn of this process; None if `turn_gap` is None."""
        return None

    def options(self, process: Process) -> Sequence[Action]:
        """The actions among which a scheduler without time may choose: here, the next turn only."""
        turn = self.turn(process) if self.takes_turns else None
        return () if turn is None else (turn,)

    def measure(self, state: Any) -> dict[str, int]:
        """The amount of each conserved good in a process's `state` (empty: nothing is conserved)."""
        return {}

    def measure_body(self, body: Any) -> dict[str, int]:
        """The amount of each conserved good that a message carries."""
        return {}

    def total(self) -> Counter[str]:
        """The amount of each conserved good that all processes have at first (empty: nothing is conserved)."""
        found = Counter[str]()
        for process in self.processes:
            found.update(self.measure(self.initial(process)))
        return found

    # ------------------------------------------------------------------ words

    def state_words(self, state: Any) -> str | None:
        """A state in words (None: list the events that led to it instead)."""
        if isinstance(state, Mapping):
            return f"<{', '.join(f'{amount} {good}' for good, amount in state.items())}>"
        return None if state is None else str(state)

    def body_words(self, body: Any) -> str:
        """The body of a message in words; empty if it has none."""
        if isinstance(body, Mapping):
            return ", ".join(counted(amount, good) for good, amount in body.items())
        return "" if body is None else str(body)

    def internal_words(self, body: Any) -> str:
        """An internal event in words, to follow the name of its process."""
        return "has an internal event" if body is None else f"has an internal event: {self.body_words(body)}"

    def value_of(self, setting: Any, process: str) -> Any:
        """The value for `process` of a "per_process" parameter, which is one value or a table by process."""
        if isinstance(setting, Mapping) and set(setting) <= set(self.processes):
            return setting.get(process)
        return setting


def _is_like(state: Any, own: Any) -> bool:
    """Whether a state has the type of another one, and all its keys, whose values are of the same types."""
    if own is None:
        return True
    if isinstance(state, int) and state < 0:
        return False
    if isinstance(own, Mapping):
        return isinstance(state, Mapping) and all(key in state and _is_like(state[key], own[key]) for key in own)
    return type(state) is type(own)


def counted(amount: int, good: str) -> str:
    """`1 widget`, `5 widgets`, `1 cash`."""
    return f"{amount} {good[:-1] if amount == 1 and good.endswith('s') else good}"


WORKLOADS: Registry[type[Workload]] = Registry("sim.workloads", Workload)
