"""Predicates over the state of the system at a cut, such as `P1.money + C12.money > 100`.

- A process: `P1.events` (the number inside), `P1.last` (the name of the last one), `P1.state`, and a named part of its
  state, such as `P1.cash` or `P1.state["cash"]`.
- A channel, by its caption: `C12.messages` (the number in it), `C12.bodies` (in words), `C12.bodies[0]` (the oldest),
  and a good, such as `C12.cash`.
- All processes and all channels: `processes.cash`, `channels.cash`, `channels.messages`, `processes.events`.

Names that are no words are written `process["node 1"]`, `channel["a->b"]`.
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Callable, Mapping
from typing import Any

from sim.core.deadline import check
from sim.core.errors import InputError, brief, nearest
from sim.core.notation import captions
from sim.run.cut_states import CutStates
from sim.run.flights import Flight
from sim.theory.expressions import MOST_LETTERS, Expression, Language, Path
from sim.theory.positions import Cut

_ALLOWED = (
    'use quantities such as P1.events, numbers, texts in "quotes", + - * / **, < <= == != >= >, in, and, or, not, min, '
    "max and sqrt"
)

CHANNEL = 10  # the cost of looking up a channel, counted in messages

Quantity = Callable[[Cut], Any]


class StatePredicate:
    """A predicate on the state at a cut, for `possibly` and `definitely`.

    `work` is the effort for one cut, counted in messages.
    """

    def __init__(self, expression: Expression, quantities: Mapping[Path, Quantity], work: int) -> None:
        self.expression = expression
        self.quantities = quantities
        self.work = work

    def __call__(self, cut: Cut) -> bool:
        """Whether it holds at a cut. Raises InputError for values that do not fit."""
        check()
        return self.expression.holds(lambda path: self.quantities[path](cut))


class Predicates:
    """Reads predicates on one execution."""

    def __init__(self, states: CutStates) -> None:
        self.states, self.execution = states, states.execution
        execution = states.execution
        self.workload = execution.engine.workload
        self.processes = execution.scenario.processes
        names = [channel.name for channel in execution.engine.channels]
        self.channel_called = {called: name for name, called in captions(self.processes, names).items()}
        self.channels = names
        self.used = [name for name in names if self.states.sent_on[name]]
        self.goods = sorted({good for state in self._known_states() for good in self.states.measure(state)})
        self.fields = sorted(
            {key for state in self._known_states() if isinstance(state, Mapping) for key in state} - {*self.goods}
        )

    def _known_states(self) -> list[Any]:
        ends = [state for states in self.states.local.values() for state in (states[0], states[-1])]
        return [*ends, *map(self.workload.initial, self.processes)]

    def read(self, text: str) -> StatePredicate:
        """The predicate written in `text`. Raises InputError."""
        example = self.examples()[0]
        language = Language("predicate", "part of a predicate", _ALLOWED, example, self._check, True, self._check_key)
        expression = language.read(text)
        quantities = {path: self.quantity(path) for path in expression.paths()}
        return StatePredicate(expression, quantities, sum(map(self._work, expression.paths())))

    def _work(self, path: Path) -> int:
        """The effort for one quantity at one cut, counted in messages."""
        if path[0] == "processes":
            return len(self.processes)
        if path[0] == "channels":
            return sum(CHANNEL + len(self.states.sent_on[name]) for name in self.used)
        return CHANNEL + len(self.states.sent_on.get(self.channel_called.get(path[-2], path[-2]), ()))

    def examples(self) -> list[str]:
        """Predicates that mean something for this run, with the names as they are written."""
        first = self._written(self.processes[0])
        found = [f"processes.{good} < {self._total(good)}" for good in self.goods[:1] if _is_word(good)]
        found += [f"{first}.state == {_quoted(state)}" for state in self._texts()[:1]]
        found += [f"{first}.events == 1 and channels.messages == 0", "channels.messages >= 2"]
        return [text for text in found if len(text) <= MOST_LETTERS]

    def _total(self, good: str) -> int:
        """The total amount of a good."""
        return self.workload.total()[good]

    def _texts(self) -> list[str]:
        """Named states of the first process, the last one first."""
        states = reversed(self.states.local[self.processes[0]])
        return list(dict.fromkeys(state for state in states if isinstance(state, str)))

    def _written(self, process: str) -> str:
        is_word = _is_word(process) and process not in ("process", "channel", "processes", "channels")
        return process if is_word else f"process[{_quoted(process)}]"

    # ------------------------------------------------------------------ quantities

    def quantity(self, path: Path) -> Quantity:
        """The value at each cut of the quantity at `path`. Raises InputError if there is none."""
        match path:
            case ("processes" | "channels" as where, field):
                return self._of_all(where, field)
            case ("process", name, field) | (name, field) if name in self.processes:
                return self._of_process(name, field)
            case ("channel", name, field) if name in self.channels:
                return self._of_channel(name, field)
            case (called, field) if called in self.channel_called:
                return self._of_channel(self.channel_called[called], field)
        raise InputError(self._unknown(path))

    def _check(self, path: Path) -> None:
        self.quantity(path)

    def _check_key(self, path: Path, key: str | int) -> None:
        """Raises InputError for a part that a quantity never has."""
        *owner, field = path
        complete = ".".join(path)
        if field == "bodies":
            if isinstance(key, int) and not isinstance(key, bool) and key >= 0:
                return
            raise InputError(f"{complete}[{json.dumps(key)}]: name the message by its place, such as {complete}[0]")
        if field != "state":
            raise InputError(f"{complete} has no parts; leave out [{json.dumps(key)}]")
        states = self.states.local[owner[-1]]
        known = {name for state in states if isinstance(state, Mapping) for name in state}
        known |= {place for state in states if isinstance(state, list | tuple) for place in range(len(state))}
        if key not in known or isinstance(key, bool):
            offered = nearest(str(key), sorted(map(str, known))) if known else "its state has no parts"
            raise InputError(f"{complete}[{json.dumps(key)}]: no state of {owner[-1]} has this part; {offered}")

    def _of_process(self, name: str, field: str) -> Quantity:
        rank, states = self.processes.index(name), self.states.local[name]
        inside = [0, *(position.inside for position in self.states.order.lines[rank])]
        if field == "events":
            return lambda cut: inside[cut[rank]]
        if field == "last":
            labels = ["", *(event.label or "" for event in self.execution.history.of[name])]
            return lambda cut: labels[inside[cut[rank]]]
        if field == "state":
            return lambda cut: states[cut[rank]]
        if field in self.goods:
            return lambda cut: self.states.measure(states[cut[rank]]).get(field, 0)
        if field in self.fields:
            return lambda cut: (states[cut[rank]] or {}).get(field)
        known = ["events", "last", "state", *self.goods, *self.fields]
        raise InputError(f"{brief(field)} is no quantity of the process {name}; {nearest(field, known)}")

    def _of_channel(self, name: str, field: str) -> Quantity:
        def inside(cut: Cut) -> list[Flight]:
            return self.states.in_channel(name, cut)

        if field == "messages":
            return lambda cut: len(inside(cut))
        if field == "bodies":
            return lambda cut: [self.workload.body_words(flight.body) for flight in inside(cut)]
        if field in self.goods:
            return lambda cut: sum(self.workload.measure_body(flight.body).get(field, 0) for flight in inside(cut))
        known = ["messages", "bodies", *self.goods]
        raise InputError(f"{brief(field)} is no quantity of the channel {name}; {nearest(field, known)}")

    def _of_all(self, where: str, field: str) -> Quantity:
        """The sum over all processes, or over all channels."""
        sums = ["events" if where == "processes" else "messages", *self.goods]
        if field not in sums:
            raise InputError(f"{brief(field)} is no quantity of all {where}; {nearest(field, sums)}")
        one, names = (self._of_process, self.processes) if where == "processes" else (self._of_channel, self.used)
        parts = [one(name, field) for name in names]
        return lambda cut: sum(part(cut) for part in parts)

    def _unknown(self, path: Path) -> str:
        """The error on a path that names nothing."""
        length = 2 if path[0] in ("process", "channel") and len(path) > 1 else 1
        name, rest = path[length - 1], path[length:]
        written = f"{path[0]}[{_quoted(name)}]" if length == 2 else name
        own = [*self.processes, "processes"] if path[0] != "channel" else []
        known = [*own, *self.channel_called, *self.channels, "channels"]
        field = "events" if name in own else "messages"
        if name not in known:
            offered = [*self.processes, *self.channel_called, "processes", "channels"]
            return f"{brief(name)} is no process and no channel of this run; {nearest(name, offered)}"
        if not rest:
            return f"{brief(name)} alone is no quantity; add a quantity, such as {written}.{field}"
        return f"{written} has one name after it, such as {written}.{field}; leave out {brief('.'.join(rest[1:]))}"


def _is_word(name: str) -> bool:
    """Whether a name can be written in a predicate as it is."""
    return name.isascii() and name.isidentifier() and not keyword.iskeyword(name)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
