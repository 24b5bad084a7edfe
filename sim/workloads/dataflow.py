"""A dataflow: sources emit records, each with a key; operators count them by key and pass them on; sinks count them.

The role of a process follows from the graph and its stock: a *source* has records to emit, an *operator* passes on what
it has counted, and a *sink* has no outgoing channels. Records with one key take one way from a process, so an operator
holds all counts of its keys (Flink calls this `keyBy`).

With `sink` the sinks give their records to the environment, and no recovery takes that back. Sources number their
records, so that each can be followed. A *plain* sink gives a record as it receives it: after a recovery it receives
some once more, and gives them again (at least once). A *transactional* sink keeps its outputs, and gives those that a
snapshot has recorded when it hears that the snapshot is valid. After a recovery it gives those of the restored snapshot
that it had not given (exactly once). A recovery that goes back further than to the last valid snapshot may bring
records in another order; then others have been given already.

P. Carbone et al., "State Management in Apache Flink", PVLDB 10(12), 2017; "An Overview of End-to-End
Exactly-Once Processing in Apache Flink", 2018: two-phase-commit sinks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar

from sim.core import randomness
from sim.core.effects import Out
from sim.core.model import Action, Channel, Message, Process, Send
from sim.core.parameters import Parameter
from sim.core.workload import Refused, Workload, counted

# Entries of a state that are no counts of a key; the last one holds what a transactional sink has received.
EMITTED, STOCK, PASSED, OUTPUTS = "emitted", "of", "passed on", "outputs"
NO_KEYS = (EMITTED, STOCK, PASSED, OUTPUTS)
KEY, HOPS = "key", "hops"  # of a record that is passed on: its key, and along how many channels
SOURCE, NUMBER = "source", "number"  # of a numbered record: who has emitted it, and as which of its records, from 1
PLAIN, TRANSACTIONAL = "plain", "transactional"


class Dataflow(Workload):
    """The state of a process is a table: how many records it has received of each key, emitted and passed on.

    The body of a record is its key; of one that is passed on, a table with its key and how often. With `sink` it is a
    table with its key, its source and its number there, and how often it is passed on. A transactional sink has all its
    outputs in its state, in the order of receipt: so each has a number, which tells what has been given already, and
    the state depends on nothing but what has been received.
    """

    name = "dataflow"
    title = "Dataflow"
    source = "Carbone et al. 2015"
    body_hint = 'a key, such as "a"'
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "records": Parameter("per_process", 0, "records that a process has to emit; with a table, those named do"),
        "pace": Parameter("number", 0.0, "mean time between two records of a source (0: by script only)"),
        "keys": Parameter("whole", 3, "how many different keys there are", least=1),
        "hops": Parameter(
            "whole", 1, "channels along which a record goes at most; 1: no operator passes it on", least=1
        ),
        "sink": Parameter(
            "text", "", f'how sinks give records to the environment: "{PLAIN}", "{TRANSACTIONAL}", or not at all'
        ),
    }
    busy_at_first: ClassVar[Mapping[str, str]] = {"records": "20"}
    records: int | dict[str, int]
    pace: float
    keys: int
    hops: int
    sink: str

    def __init__(self, processes: Sequence[str], seed: int, **parameters: Any) -> None:
        super().__init__(processes, seed, **parameters)
        self.takes_turns = self.pace > 0 and any(self._stock(process) for process in self.processes)
        self.waits_for_commits = self.sink == TRANSACTIONAL
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
        """Every process with records to emit has a channel for them."""
        sources = {channel.partition("->")[0] for channel in channels}
        for process in self.records if isinstance(self.records, dict) else ():
            if process not in sources:
                yield f"records.{process}", f"{process} has no outgoing channel for its records; give it one"
        if self.sink not in ("", PLAIN, TRANSACTIONAL):
            yield "sink", f'{self.sink!r} is no kind of sink; write "{PLAIN}", "{TRANSACTIONAL}", or leave it out'

    def initial(self, process: str) -> dict[str, int]:
        """Nothing but a stock, if there is one."""
        stock = self._stock(process)
        return {EMITTED: 0, STOCK: stock} if stock else {}

    def check_state(self, process: str, state: Any) -> None:
        """Whole numbers by key, and a list of outputs."""
        super().check_state(process, state)
        for key, value in state.items():
            if not (isinstance(value, list) if key == OUTPUTS else type(value) is int and value >= 0):
                raise Refused(f"{process} begins with a whole number under {key}, not {value!r}")

    def check_body(self, body: Any) -> None:
        """A key, or a table of a key and a number of hops; with `sink` a table that says whose record it is."""
        key, hops = (body.get(KEY), body.get(HOPS, 0)) if isinstance(body, Mapping) else (body, 0)
        if self.sink and not self._is_numbered(body):
            like = f'{{ {KEY} = "a", {SOURCE} = "{self.processes[0]}", {NUMBER} = 1 }}'
            raise Refused(f"with sinks a record of this workload is a table such as {like}, not {body!r}")
        is_table = not isinstance(body, Mapping) or bool(self.sink) or set(body) == {KEY, HOPS}
        if not isinstance(key, str) or not key or key in NO_KEYS or not is_table:
            raise Refused(f'a record of this workload is a key, such as "a", not {body!r}')
        if type(hops) is not int or hops < 0:
            raise Refused(f"a record is passed on a whole number of times, not {hops!r}")

    def _is_numbered(self, body: Any) -> bool:
        """Whether a body says which record it is."""
        if not isinstance(body, Mapping) or set(body) - {HOPS} != {KEY, SOURCE, NUMBER}:
            return False
        number = body[NUMBER]
        return body[SOURCE] in self.processes and type(number) is int and number > 0

    def after_send(self, process: Process, body: Any) -> dict[str, Any]:
        """One more emitted if it comes from the stock, else one more passed on."""
        state: dict[str, Any] = process.state
        has_stock, has_records = state.get(EMITTED, 0) < state.get(STOCK, 0), _held(state) > 0
        if not has_stock and not has_records:
            has = f"has emitted all its {counted(state[STOCK], 'records')}" if STOCK in state else "has no record"
            raise Refused(f"{process.name} {has} and cannot send one")
        is_new = has_stock and (_hops(body) + 1 >= self.hops or not has_records)
        if self.sink:
            is_new = body[SOURCE] == process.name and body[NUMBER] > state.get(EMITTED, 0)
            if is_new and not (has_stock and body[NUMBER] == state[EMITTED] + 1):
                raise Refused(f"{process.name} cannot emit its record {body[NUMBER]} now; it emits them in their order")
            if not is_new and not has_records:
                raise Refused(f"{process.name} has no record to pass on and cannot send one")
        if is_new:
            return {**state, EMITTED: state[EMITTED] + 1}
        return {**state, PASSED: state.get(PASSED, 0) + 1}

    def before_send(self, state: dict[str, Any], body: Any) -> dict[str, Any]:
        """One fewer was emitted if it still has all its hops, else one fewer passed on."""
        key = EMITTED if _hops(body) + 1 >= self.hops or not state.get(PASSED, 0) else PASSED
        return {**state, key: state.get(key, 0) - 1}

    def after_receive(self, process: Process, message: Message, out: Out) -> dict[str, Any]:
        """One more of its key. An operator passes it on, in the same action, as long as it has hops left."""
        state: dict[str, Any] = process.state
        key, hops = _key(message.body), _hops(message.body)
        if hops and process.outgoing:
            out.send(self._way(process, key).target_name, _with_hops(message.body, hops - 1))
        state = {**state, key: state.get(key, 0) + 1}
        if self.sink and not process.outgoing:
            output = _with_hops(message.body, 0)
            if self.sink == PLAIN:
                out.give(output)
            else:
                state[OUTPUTS] = [*state.get(OUTPUTS, ()), output]
        return state

    def after_commit(self, process: Process, recorded: dict[str, Any], out: Out) -> dict[str, Any]:
        """A transactional sink gives what the snapshot holds and it had not given."""
        return self._given(process, recorded, out)

    def after_restore(self, process: Process, out: Out) -> dict[str, Any]:
        """A transactional sink gives what the snapshot gone back to holds and it had not given before the failure."""
        return self._given(process, process.state, out)

    @staticmethod
    def _given(process: Process, state: dict[str, Any], out: Out) -> dict[str, Any]:
        """The state of `process`, which gives those outputs in `state` that it has not given."""
        for output in state.get(OUTPUTS, ())[process.outside :]:
            out.give(output)
        own: dict[str, Any] = process.state
        return own

    def _way(self, process: Process, key: str) -> Channel:
        """The channel on which `process` sends the records with a key."""
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
        body: Any = key
        if self.sink:
            body = {KEY: key, SOURCE: process.name, NUMBER: process.state[EMITTED] + 1}
        return Send(self._way(process, key), _with_hops(body, self.hops - 1))

    @property
    def _names(self) -> Sequence[str]:
        return [chr(ord("a") + number) if self.keys <= 26 else f"k{number + 1}" for number in range(self.keys)]

    def measure(self, state: dict[str, Any]) -> dict[str, int]:
        """The records still to emit, and those received and not passed on."""
        return {"records": state.get(STOCK, 0) - state.get(EMITTED, 0) + _held(state)}

    def measure_body(self, body: Any) -> dict[str, int]:
        """Every message is one record."""
        return {"records": 1}

    def state_words(self, state: dict[str, Any]) -> str:
        """`<2 y, 2 g>`, `<4 of 10 emitted>`. What a transactional sink keeps is what it has received."""
        told = [f"{state[EMITTED]} of {state[STOCK]} emitted"] if STOCK in state else []
        told += [f"{number} {key}" for key, number in state.items() if key not in NO_KEYS]
        told += [f"{state[PASSED]} passed on"] if PASSED in state else []
        return f"<{', '.join(told)}>" if told else "<no records>"

    def body_words(self, body: Any) -> str:
        """The key, and which record it is; if there are several sources, of which."""
        if isinstance(body, Mapping) and NUMBER in body:
            is_alone = sum(self._stock(process) > 0 for process in self.processes) == 1
            return f"{body[KEY]} #{body[NUMBER]}{'' if is_alone else f' of {body[SOURCE]}'}"
        return "" if body is None else str(_key(body))


def _held(state: Mapping[str, Any]) -> int:
    """The records that were received and not passed on."""
    passed: int = state.get(PASSED, 0)
    received: int = sum(number for key, number in state.items() if key not in NO_KEYS)
    return received - passed


def _key(body: Any) -> str:
    key: str = body[KEY] if isinstance(body, Mapping) else body
    return key


def _hops(body: Any) -> int:
    """The number of channels that a record still has to pass."""
    return int(body.get(HOPS, 0)) if isinstance(body, Mapping) else 0


def _with_hops(body: Any, hops: int) -> Any:
    """The body of a record that goes along `hops` more channels."""
    if not isinstance(body, Mapping):
        return {KEY: body, HOPS: hops} if hops else body
    left = {name: value for name, value in body.items() if name != HOPS}
    if hops:
        return {KEY: left.pop(KEY), HOPS: hops, **left}
    return left if NUMBER in left else left[KEY]
