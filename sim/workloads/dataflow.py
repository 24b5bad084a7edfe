"""A dataflow: sources emit records, each with a key; operators count them by key and pass them on; sinks count them.

The role of a process follows from the graph and its stock: a *source* has records to emit, an *operator* passes on what
it has counted, and a *sink* has no outgoing channels. Records with one key take one way from a process, so an operator
holds all counts of its keys (Flink calls this `keyBy`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar

from sim.core import randomness
from sim.core.effects import Out
from sim.core.model import Action, Channel, Message, Process, Send
from sim.core.parameters import Parameter
from sim.core.workload import Refused, Workload, counted

EMITTED, STOCK, PASSED = "emitted", "of", "passed on"  # entries of a state that are no counts of a key
KEY, HOPS = "key", "hops"  # of a record that is passed on: its key, and along how many channels


class Dataflow(Workload):
    """The state of a process is a table: how many records it has received of each key, emitted and passed on.

    The body of a record is its key; of one that is passed on, a table with its key and how often.
    """

    name = "dataflow"
    title = "Dataflow"
    source = "Carbone et al. 2015, section 3"
    body_hint = 'a key, such as "a"'
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "records": Parameter("per_process", 0, "records that a process has to emit; with a table, those named do"),
        "pace": Parameter("number", 0.0, "mean time between two records of a source (0: by script only)"),
        "keys": Parameter("whole", 3, "how many different keys there are", least=1),
        "hops": Parameter("whole", 1, "channels along which a record goes at most; 1: nobody passes it on", least=1),
    }
    busy_at_first: ClassVar[Mapping[str, str]] = {"records": "20"}
    records: int | dict[str, int]
    pace: float
    keys: int
    hops: int

    def __init__(self, processes: Sequence[str], seed: int, **parameters: Any) -> None:
        super().__init__(processes, seed, **parameters)
        self.takes_turns = self.pace > 0 and any(self._stock(process) for process in self.processes)
        self._draws = [randomness.key(seed, "dataflow", process) for process in self.processes]

    @classmethod
    def busy(cls, processes: int, events: int) -> dict[str, Any]:
        """Every process emits, and every record is passed on once: two sends and two receives."""
        return {"records": max(1, round(events / (4 * processes))), "pace": 10.0, "hops": 2}

    def events(self) -> int:
        """A send and a receive for each channel that a record goes along."""
        return 2 * self.hops * sum(map(self._stock, self.processes)) if self.takes_turns else 0

    def _stock(self, process: str) -> int:
        return self.value_of(self.records, process) or 0

    def problems(self, channels: Set[str]) -> Iterator[tuple[str, str]]:
        """Who has records to emit has a channel for them."""
        sources = {channel.partition("->")[0] for channel in channels}
        for process in self.records if isinstance(self.records, dict) else ():
            if process not in sources:
                yield f"records.{process}", f"{process} has no outgoing channel for its records; give it one"

    def initial(self, process: str) -> dict[str, int]:
        """Nothing but a stock, if there is one."""
        stock = self._stock(process)
        return {EMITTED: 0, STOCK: stock} if stock else {}

    def check_body(self, body: Any) -> None:
        """A key, or a table of a key and a number of hops."""
        key, hops = (body.get(KEY), body.get(HOPS)) if isinstance(body, Mapping) else (body, 1)
        is_table = not isinstance(body, Mapping) or set(body) == {KEY, HOPS}
        if not isinstance(key, str) or not key or key in (EMITTED, STOCK, PASSED) or not is_table:
            raise Refused(f'a record of this workload is a key, such as "a", not {body!r}')
        if type(hops) is not int or hops < 0:
            raise Refused(f"a record is passed on a whole number of times, not {hops!r}")

    def after_send(self, process: Process, body: Any) -> dict[str, int]:
        """One more emitted if it comes from the stock, else one more passed on."""
        state: dict[str, int] = process.state
        has_stock, has_records = state.get(EMITTED, 0) < state.get(STOCK, 0), _held(state) > 0
        if not has_stock and not has_records:
            has = f"has emitted all its {counted(state[STOCK], 'records')}" if STOCK in state else "has no record"
            raise Refused(f"{process.name} {has} and cannot send one")
        if has_stock and (_hops(body) + 1 >= self.hops or not has_records):
            return {**state, EMITTED: state[EMITTED] + 1}
        return {**state, PASSED: state.get(PASSED, 0) + 1}

    def after_receive(self, process: Process, message: Message, out: Out) -> dict[str, int]:
        """One more of its key. An operator passes it on, in the same action, as long as it has hops left."""
        state: dict[str, int] = process.state
        key, hops = _key(message.body), _hops(message.body)
        if hops and process.outgoing:
            out.send(self._way(process, key).target_name, _record(key, hops - 1))
        return {**state, key: state.get(key, 0) + 1}

    def _way(self, process: Process, key: str) -> Channel:
        """Where `process` sends the records with a key."""
        return process.outgoing[sum(map(ord, key)) % len(process.outgoing)]

    def turn_gap(self, process: Process) -> float | None:
        """Uniform between a half and one and a half of `pace`, until the stock is emitted."""
        if not self.takes_turns or not process.outgoing or process.turn >= self._stock(process.name):
            return None
        return self.pace * (0.5 + randomness.unit(self._draws[process.number], 2 * process.turn))

    def turn(self, process: Process) -> Action | None:
        """A record with a random key."""
        if self.turn_gap(process) is None:
            return None
        key = self._names[randomness.bits(self._draws[process.number], 2 * process.turn + 1) % self.keys]
        return Send(self._way(process, key), _record(key, self.hops - 1))

    @property
    def _names(self) -> Sequence[str]:
        return [chr(ord("a") + number) if self.keys <= 26 else f"k{number + 1}" for number in range(self.keys)]

    def measure(self, state: dict[str, int]) -> dict[str, int]:
        """The records still to emit, and those received and not passed on."""
        return {"records": state.get(STOCK, 0) - state.get(EMITTED, 0) + _held(state)}

    def measure_body(self, body: Any) -> dict[str, int]:
        """Every message is one record."""
        return {"records": 1}

    def state_words(self, state: dict[str, int]) -> str:
        """`<2 y, 2 g>`, `<4 of 10 emitted>`."""
        told = [f"{state[EMITTED]} of {state[STOCK]} emitted"] if STOCK in state else []
        told += [f"{number} {key}" for key, number in state.items() if key not in (EMITTED, STOCK, PASSED)]
        told += [f"{state[PASSED]} passed on"] if PASSED in state else []
        return f"<{', '.join(told)}>" if told else "<no records>"

    def body_words(self, body: Any) -> str:
        """The key."""
        return "" if body is None else str(_key(body))


def _held(state: Mapping[str, int]) -> int:
    """The records that were received and not passed on."""
    received = sum(number for key, number in state.items() if key not in (EMITTED, STOCK, PASSED))
    return received - state.get(PASSED, 0)


def _key(body: Any) -> str:
    key: str = body[KEY] if isinstance(body, Mapping) else body
    return key


def _hops(body: Any) -> int:
    """How many more channels a record goes along."""
    return int(body[HOPS]) if isinstance(body, Mapping) else 0


def _record(key: str, hops: int) -> Any:
    return {KEY: key, HOPS: hops} if hops else key
