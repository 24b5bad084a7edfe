"""Scenario files: TOML in, TOML out. Every error is one sentence with file, key and what would be right."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from sim.algorithm import ALGORITHMS
from sim.delays import Address, DelayRule
from sim.model import APP, MARKER
from sim.scenario import (
    ORIENTATIONS,
    SCHEDULERS,
    Initiation,
    NamedCut,
    Scenario,
    ScenarioError,
    SchedulerChoice,
    ScriptLine,
)
from sim.topology import KINDS, Topology
from sim.validate import validate
from sim.workload import WORKLOADS, Parameter

MOST_BYTES = 1_000_000
MOST_PROCESSES = 1_000


def nearest(word: str, known: Iterable[str]) -> str:
    """ "known: a, b, c" with the nearest one pointed out, for the end of an error."""
    names = list(known)
    close = difflib.get_close_matches(word, names, 1, 0.5)
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"did you mean {close[0]!r}? Known: {listed}" if close else f"known: {listed or 'none'}"


class Table:
    """A TOML table being read: each key is taken once, with its type checked; what is left over is an error."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self.values = dict(values)
        self.where = where
        self._known: list[str] = []

    def fail(self, key: str, problem: str) -> ScenarioError:
        """The error for `key` of this table, to be raised by the caller."""
        return ScenarioError(f"{self.where}{key}: {problem}")

    def take(self, key: str, kind: type | tuple[type, ...], default: Any, expected: str) -> Any:
        """The value of `key`, or `default` where it is missing. Raises ScenarioError on another type."""
        self._known.append(key)
        if key not in self.values:
            return default
        value = self.values.pop(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self.fail(key, f"expected {expected}, not {_brief(value)}")
        return value

    def text(self, key: str, default: str = "") -> str:
        """A string."""
        value: str = self.take(key, str, default, "a text in quotes")
        return value

    def required(self, key: str) -> str:
        """A string that must be there and not be empty."""
        value = self.text(key)
        if not value:
            raise self.fail(key, "is missing; give a text in quotes")
        return value

    def number(self, key: str, default: float, *, infinite: bool = False) -> float:
        """A number of time units, at least 0; `inf` only where holding a message makes sense."""
        value = float(self.take(key, (int, float), default, "a number"))
        if math.isnan(value) or value < 0 or (math.isinf(value) and not infinite):
            raise self.fail(key, f"expected a finite number of at least 0, not {value:g}")
        return value

    def whole(self, key: str, default: int, least: int = 0) -> int:
        """A whole number of at least `least`."""
        value: int = self.take(key, int, default, "a whole number")
        if value < least:
            raise self.fail(key, f"expected a whole number of at least {least}, not {value}")
        return value

    def choice(self, key: str, known: Iterable[str], default: str) -> str:
        """One of `known`."""
        value = self.text(key, default)
        options = list(known)
        if value not in options:
            raise self.fail(key, f"{value!r} is unknown; {nearest(value, options)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings."""
        values = self.take(key, list, [], "a list of texts")
        for value in values:
            if not isinstance(value, str):
                raise self.fail(key, f"expected texts in the list, not {_brief(value)}")
        return tuple(values)

    def table(self, key: str) -> Table:
        """A table; empty where it is missing."""
        return Table(self.take(key, dict, {}, f"a table [{key}]"), f"{self.where}{key}.")

    def tables(self, key: str) -> list[Table]:
        """An array of tables, numbered from 1 in errors."""
        values = self.take(key, list, [], f"tables [[{key}]]")
        for value in values:
            if not isinstance(value, dict):
                raise self.fail(key, f"expected tables [[{key}]], not {_brief(value)}")
        return [Table(value, f"{self.where}{key}[{number}].") for number, value in enumerate(values, start=1)]

    def done(self) -> None:
        """Raises ScenarioError for a key nobody asked for, naming the nearest known one."""
        for key in self.values:
            raise self.fail(key, f"is no key here; {nearest(key, self._known)}")


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def read_file(path: Path) -> bytes:
    """The content of the file at `path`, as far as `decode` needs it. Raises ScenarioError."""
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as problem:
        raise ScenarioError(f"{path}: cannot be read ({problem.strerror}); give the path of a file") from None


def load(path: Path) -> Scenario:
    """The scenario in the file at `path`. Raises ScenarioError."""
    return parse_toml(decode(read_file(path), path.name), path.stem, path.name)


def decode(content: bytes, origin: str) -> str:
    """The text of an uploaded or read file. Raises ScenarioError when it is too big or is not text."""
    if len(content) > MOST_BYTES:
        raise ScenarioError(f"{origin}: is larger than {MOST_BYTES // 1_000_000} MB; a scenario is a small text file")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise ScenarioError(f"{origin}: byte {problem.start} is not UTF-8; a scenario is a text file") from None
    if "\0" in text:
        raise ScenarioError(f"{origin}: byte {text.index(chr(0))} is zero; a scenario is a text file")
    return text


def parse_toml(text: str, name: str, origin: str | None = None) -> Scenario:
    """The scenario that TOML `text` describes. `origin` opens every error. Raises ScenarioError."""
    origin = origin or f"{name}.toml"
    try:
        values = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        raise ScenarioError(f"{origin}: not valid TOML: {problem}; see `key = value` and [table] lines") from None
    try:
        scenario = _scenario(Table(values, ""), name)
        validate(scenario)
    except ScenarioError as problem:
        raise ScenarioError(f"{origin}: {problem}") from None
    return scenario


def _scenario(table: Table, name: str) -> Scenario:
    processes = _processes(table)
    workload = table.table("workload")
    kind = workload.choice("kind", WORKLOADS, "scripted")
    script, overrides = _script(table)
    seed = table.whole("seed", 0)
    scenario = Scenario(
        name=name,
        processes=processes,
        title=table.text("title", name),
        story=table.text("story").strip(),
        source=table.text("source"),
        group=table.text("group", "My scenarios"),
        orientation=table.choice("orientation", ORIENTATIONS, "down"),
        topology=_topology(table.table("topology")),
        not_fifo=table.texts("not_fifo"),
        algorithm=table.choice("algorithm", ALGORITHMS, "chandy_lamport"),
        workload=kind,
        parameters=_parameters(workload, WORKLOADS[kind].parameters),
        scheduler=_scheduler(table.table("scheduler")),
        seed=seed,
        delay=_delay_rule(table.table("delay")),
        marker_delay=_delay_rule(table.table("marker_delay")) if "marker_delay" in table.values else None,
        delays={**overrides, **_overrides(table)},
        script=script,
        snapshots=tuple(_initiation(entry) for entry in table.tables("snapshots")),
        cuts=tuple(_cut(entry) for entry in table.tables("cuts")),
        expect=table.take("expect", dict, {}, "a table [expect]"),
    )
    table.take("marker_delay", dict, {}, "a table [marker_delay]")
    table.done()
    return scenario


def _processes(table: Table) -> tuple[str, ...]:
    given = table.values.get("processes")
    if isinstance(given, int) and not isinstance(given, bool):
        if not 1 <= given <= MOST_PROCESSES:
            raise table.fail("processes", f"expected 1 to {MOST_PROCESSES} processes, not {given}")
        table.take("processes", int, 0, "")
        return tuple(f"P{number}" for number in range(1, given + 1))
    names = table.texts("processes")
    if not names:
        raise table.fail("processes", 'is missing; list the names, such as ["P1", "P2"], or give their number')
    if len(names) > MOST_PROCESSES:
        raise table.fail("processes", f"expected at most {MOST_PROCESSES} processes, not {len(names)}")
    return names


def _topology(table: Table) -> Topology:
    listed = table.texts("channels")
    kind = table.choice("kind", KINDS, "listed" if listed else "complete")
    if listed and kind != "listed":
        raise table.fail("channels", f'a {kind} topology lists none; say kind = "listed"')
    edges = []
    for number, name in enumerate(listed, start=1):
        source, arrow, target = name.partition("->")
        if not arrow or not source or not target:
            raise table.fail(f"channels[{number}]", f'{name!r} is no channel; write it as "P1->P2"')
        edges.append((source, target))
    topology = Topology(kind, table.whole("extra", 0), tuple(edges))
    table.done()
    return topology


def _scheduler(table: Table) -> SchedulerChoice:
    kind = table.choice("kind", SCHEDULERS, "timed")
    until, extra = table.whole("until", 0), table.whole("extra", 6)
    choice = SchedulerChoice(kind, until, extra, table.texts("order"))
    table.done()
    return choice


def _delay_rule(table: Table) -> DelayRule:
    kind = table.choice("kind", ("fixed", "uniform", "whole", "exponential", "listed"), "fixed")
    first = {"fixed": "value", "uniform": "low", "whole": "low", "exponential": "mean", "listed": "value"}[kind]
    low = table.number(first, 1.0)
    high = table.number("high", low) if kind in ("uniform", "whole") else low
    if high < low:
        raise table.fail("high", f"expected at least low = {low:g}, not {high:g}")
    values = table.take("values", list, [], "a list of numbers") if kind == "listed" else []
    for number, value in enumerate(values, start=1):
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < math.inf:
            raise table.fail(f"values[{number}]", f"expected a number of at least 0, not {_brief(value)}")
    table.done()
    return DelayRule(kind, low, high, tuple(values))


def _parameters(table: Table, known: Mapping[str, Parameter]) -> dict[str, Any]:
    parameters = {name: _parameter(table, name, known[name]) for name in known if name in table.values}
    table._known += known
    table.done()
    return parameters


def _parameter(table: Table, name: str, spec: Parameter) -> Any:
    if spec.kind == "number":
        number = table.number(name, spec.default)
        if number < spec.least:
            raise table.fail(name, f"expected a number of at least {spec.least:g}, not {number:g}")
        return number
    if spec.kind == "whole":
        return table.whole(name, spec.default, int(spec.least))
    if spec.kind == "text":
        return table.text(name, spec.default)
    if spec.kind == "per_process" and not isinstance(table.values[name], dict):
        return table.whole(name, 0, int(spec.least))
    inner = table.table(name)
    types: dict[str, tuple[type, ...]] = {"whole": (int,), "text": (str,), "table": (dict,)}
    for key, value in inner.values.items():
        if not isinstance(value, types[spec.item]) or isinstance(value, bool):
            raise inner.fail(key, f"expected a {spec.item}, not {_brief(value)}")
        if spec.item == "whole" and inner.values[key] < spec.least:
            raise inner.fail(key, f"expected a whole number of at least {spec.least:g}, not {value}")
    return inner.values


def _script(table: Table) -> tuple[tuple[ScriptLine, ...], dict[Address, float]]:
    """The lines, and the delays given on them; those address their message by its label."""
    lines: list[ScriptLine] = []
    delays: dict[Address, float] = {}
    for entry in table.tables("script"):
        line = ScriptLine(
            process=entry.required("process"),
            at=entry.number("at", 0.0),
            after=entry.text("after") or None,
            to=entry.text("to") or None,
            body=entry.take("body", (str, int, float, dict, list), None, "a text, number or table"),
            label=entry.text("label") or None,
            receive_label=entry.text("received_as") or None,
        )
        if line.receive_label and line.to is None:
            raise entry.fail("received_as", "only a send (a line with `to`) is received")
        if "delay" in entry.values:
            if line.to is None or line.label is None:
                raise entry.fail("delay", "only a send with a label can carry its delay; or use [[delays]]")
            delays[Address(label=line.label)] = entry.number("delay", 1.0, infinite=True)
        entry._known.append("delay")
        entry.done()
        lines.append(line)
    return tuple(lines), delays


def _overrides(table: Table) -> dict[Address, float]:
    found: dict[Address, float] = {}
    for entry in table.tables("delays"):
        label = entry.text("label") or None
        if label is not None:
            address = Address(label=label)
        else:
            kind = entry.choice("kind", (APP, MARKER), APP)
            snapshot = entry.required("snapshot") if kind == MARKER else None
            address = Address(None, entry.required("channel"), kind, snapshot, entry.whole("ordinal", 1, 1))
        if "delay" not in entry.values:
            raise entry.fail("delay", "is missing; give a number of time units, or inf to hold the message")
        found[address] = entry.number("delay", 1.0, infinite=True)
        entry.done()
    return found


def _initiation(entry: Table) -> Initiation:
    start = Initiation(
        entry.required("id"), entry.required("process"), entry.number("at", 0.0), entry.text("after") or None
    )
    entry.done()
    return start


def _cut(entry: Table) -> NamedCut:
    frontier = entry.take("frontier", dict, {}, "a table of processes and events")
    for process, label in frontier.items():
        if not isinstance(label, str):
            raise entry.fail(f"frontier.{process}", f"expected the label of an event, not {_brief(label)}")
    cut = NamedCut(entry.required("name"), frontier, entry.text("text"))
    entry.done()
    return cut


def dumps(scenario: Scenario) -> str:
    """`scenario` as TOML; `parse_toml` gives an equal scenario back."""
    return tomli_w.dumps(_without_defaults(scenario), multiline_strings=True)


def _without_defaults(scenario: Scenario) -> dict[str, Any]:
    plain = Scenario("", ())
    document: dict[str, Any] = {"processes": list(scenario.processes)}
    for key in ("title", "story", "source", "group", "orientation", "seed", "algorithm"):
        if getattr(scenario, key) != getattr(plain, key):
            document[key] = getattr(scenario, key)
    if scenario.not_fifo:
        document["not_fifo"] = list(scenario.not_fifo)
    document["topology"] = _topology_out(scenario.topology)
    document["workload"] = {"kind": scenario.workload, **scenario.parameters}
    if scenario.scheduler != plain.scheduler:
        document["scheduler"] = {**vars(scenario.scheduler), "order": list(scenario.scheduler.order)}
    document["delay"] = _delay_out(scenario.delay)
    if scenario.marker_delay is not None:
        document["marker_delay"] = _delay_out(scenario.marker_delay)
    if scenario.expect:
        document["expect"] = dict(scenario.expect)
    document["script"] = [_line_out(line) for line in scenario.script]
    document["snapshots"] = [_start_out(start) for start in scenario.snapshots]
    document["delays"] = [{**_address_out(address), "delay": delay} for address, delay in scenario.delays.items()]
    document["cuts"] = [{"name": c.name, "frontier": dict(c.frontier), "text": c.text} for c in scenario.cuts]
    return {key: value for key, value in document.items() if value != []}


def _topology_out(topology: Topology) -> dict[str, Any]:
    if topology.kind == "listed":
        return {"kind": "listed", "channels": [f"{a}->{b}" for a, b in topology.channels]}
    return {"kind": topology.kind, **({"extra": topology.extra} if topology.extra else {})}


def _delay_out(rule: DelayRule) -> dict[str, Any]:
    settings: dict[str, dict[str, Any]] = {
        "fixed": {"value": rule.low},
        "uniform": {"low": rule.low, "high": rule.high},
        "whole": {"low": rule.low, "high": rule.high},
        "exponential": {"mean": rule.low},
        "listed": {"values": list(rule.values)},
    }
    return {"kind": rule.kind, **settings[rule.kind]}


def _line_out(line: ScriptLine) -> dict[str, Any]:
    named = {
        "process": line.process, "at": line.at, "after": line.after, "to": line.to, "body": line.body,
        "label": line.label, "received_as": line.receive_label,
    }  # fmt: skip
    return {key: value for key, value in named.items() if value is not None}


def _start_out(start: Initiation) -> dict[str, Any]:
    waits = {"after": start.after} if start.after is not None else {}
    return {"id": start.snapshot, "process": start.process, "at": start.at, **waits}


def _address_out(address: Address) -> dict[str, Any]:
    if address.label is not None:
        return {"label": address.label}
    named = {"channel": address.channel, "kind": address.kind, "ordinal": address.ordinal}
    return {**named, **({"snapshot": address.snapshot} if address.snapshot else {})}
