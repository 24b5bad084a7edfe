"""A key store: every process holds a table of keys, and writes some of them at random times.

How large a state is, and how much of it changes from one snapshot to the next, can be chosen apart from each other. So
it shows the cost of a snapshot that stores changes only, or that copies a page only when it is written.

A write that is shared is sent to a neighbour: the sender writes its own key and sends the write, and the neighbour
writes the same key of its own table when the message arrives.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import cached_property
from typing import Any, ClassVar

from sim.core import randomness
from sim.core.effects import Out
from sim.core.model import Action, Internal, Message, Process, Send
from sim.core.parameters import Parameter
from sim.core.workload import Refused, Workload, counted

MOST_KEYS = 10_000  # each write copies the table


class KeyStore(Workload):
    """The state of a process maps k1, k2, ... to whole numbers, at first 0. A body is {"key": name, "value": number}.

    Each write stores a number that its process has not written before: the number of the turn, from 1.
    """

    name = "key_store"
    title = "Key store"
    source = "a table with a rate of change to choose, as in benchmarks of key-value stores"
    body_hint = 'a write, such as {"key": "k1", "value": 5}'
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "keys": Parameter("whole", 100, "keys that each process holds, called k1, k2, ...", least=1),
        "writes": Parameter("whole", 0, "random writes that each process makes"),
        "pace": Parameter("number", 10.0, "mean time between two writes of a process", least=0.001),
        "shared": Parameter("number", 0.0, "share of the writes that are sent to a neighbour too, from 0 to 1"),
        "hot": Parameter("whole", 0, "number of keys that writes go to, the first ones (0: all)"),
    }
    busy_at_first: ClassVar[Mapping[str, str]] = {"writes": "30", "pace": "4", "shared": "0.5"}
    keys: int
    writes: int
    pace: float
    shared: float
    hot: int

    def __init__(self, processes: Any, seed: int, **parameters: Any) -> None:
        super().__init__(processes, seed, **parameters)
        self.takes_turns = self.writes > 0
        self._draws = [randomness.key(seed, "key_store", process) for process in self.processes]

    @classmethod
    def busy(cls, processes: int, events: int) -> dict[str, Any]:
        """Every second write is shared, so two writes are three events."""
        return {"writes": max(1, round(events / (1.5 * processes))), "shared": 0.5}

    def events(self) -> int:
        """One for each write, and the receipts of those that are shared."""
        return len(self.processes) * (self.writes + int(self.writes * self.shared))

    def problems(self, channels: Set[str]) -> Iterator[tuple[str, str]]:
        """There are not too many keys, a share is at most 1, and only keys that are there can be hot."""
        if self.keys > MOST_KEYS:
            yield "keys", f"expected at most {MOST_KEYS:,} keys, not {self.keys:,}"
        if self.shared > 1:
            yield "shared", f"expected a share of the writes, from 0 to 1, not {self.shared:g}"
        if self.hot > self.keys:
            yield (
                "hot",
                f"{self.hot} keys cannot be hot: a process holds {counted(self.keys, 'keys')}",
            )

    @cached_property
    def _table(self) -> dict[str, int]:
        return {f"k{number}": 0 for number in range(1, self.keys + 1)}

    def initial(self, process: str) -> dict[str, int]:
        """0 under every key."""
        return self._table

    def check_body(self, body: Any) -> None:
        """A write is a key that is there, and a whole number."""
        if not isinstance(body, Mapping) or body.keys() != {"key", "value"}:
            raise Refused(f'a write is a table, such as {{key = "k1", value = 5}}, not {body!r}')
        key, value = body["key"], body["value"]
        if not isinstance(key, str) or key not in self._table:
            raise Refused(f"there is no key {key!r}; the keys are k1 to k{self.keys}")
        if not isinstance(value, int) or isinstance(value, bool):
            raise Refused(f"the value of a key is a whole number, not {value!r}")

    def after_internal(self, process: Process, body: Any, out: Out) -> dict[str, int]:
        """The write; an internal event without a body writes nothing."""
        state: dict[str, int] = process.state
        if body is None:
            return state
        self.check_body(body)
        return {**state, body["key"]: body["value"]}

    def after_send(self, process: Process, body: Any) -> dict[str, int]:
        """The sender of a shared write writes it as well."""
        return {**process.state, body["key"]: body["value"]}

    def after_receive(self, process: Process, message: Message, out: Out) -> dict[str, int]:
        """The receiver writes the same key of its own table."""
        return {**process.state, message.body["key"]: message.body["value"]}

    def turn_gap(self, process: Process) -> float | None:
        """Uniform between a half and one and a half of `pace`."""
        if process.turn >= self.writes:
            return None
        return self.pace * (0.5 + randomness.unit(self._draws[process.number], 2 * process.turn))

    def turn(self, process: Process) -> Action | None:
        """Writes a random key. Shared writes are spread evenly over the turns; each goes to a random neighbour."""
        turn = process.turn
        if turn >= self.writes:
            return None
        draw = randomness.bits(self._draws[process.number], 2 * turn + 1)
        body = {"key": f"k{1 + (draw >> 32) % (self.hot or self.keys)}", "value": turn + 1}
        is_shared = int((turn + 1) * self.shared) > int(turn * self.shared)
        if not is_shared or not process.outgoing:
            return Internal(process.number, body)
        return Send(process.outgoing[(draw & 0xFFFFFFFF) % len(process.outgoing)], body)

    # ------------------------------------------------------------------ words

    def state_words(self, state: dict[str, int]) -> str:
        """The number of keys, and of those that are not 0."""
        written = sum(value != 0 for value in state.values())
        return f"<{counted(len(state), 'keys')}, {written} written>"

    def body_words(self, body: Any) -> str:
        """The key and its new value."""
        return "" if body is None else f"{body['key']} = {body['value']}"

    def internal_words(self, body: Any) -> str:
        """A write in words."""
        return super().internal_words(None) if body is None else f"writes {self.body_words(body)}"
