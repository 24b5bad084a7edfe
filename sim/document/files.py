"""Reads scenario files (TOML). Every error is one sentence with the file, the key and how to correct it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sim import FILE_VERSION
from sim.core.algorithm import ALGORITHMS
from sim.core.delays import DelayRule
from sim.core.errors import InputError, brief
from sim.core.fault_kinds import FAULT_KINDS, MESSAGE, PROCESS
from sim.core.model import APP, CONTROL, MARKER, MessageReference
from sim.core.network import LAYERS, Network
from sim.core.parameters import Parameter
from sim.core.recovery import ON_CRASH, RecoveryPlan
from sim.core.topology import EVERY_CHANNEL, KINDS, Topology
from sim.core.workload import WORKLOADS
from sim.document.fault_rates import FaultRates
from sim.document.scenario import (
    MOST_PROCESSES,
    ORIENTATIONS,
    SCHEDULERS,
    STATUSES,
    FaultLine,
    Initiation,
    NamedCut,
    Scenario,
    SchedulerChoice,
    ScriptLine,
    WalkStep,
    broken_rules,
)
from sim.document.toml_table import MOST_NUMBER, Table, is_plain, toml_values
from sim.document.validate import validate
from sim.services.increments import TYPES
from sim.services.settings import PARAMETERS as COORDINATOR
from sim.services.settings import STORAGE

MOST_BYTES = 1_000_000


def read_file(path: Path) -> bytes:
    """The content of the file at `path`, up to one byte more than `decode` accepts. Raises InputError."""
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as problem:
        raise InputError(f"{path}: cannot be read ({problem.strerror}); give the path of a file") from None


def load(path: Path) -> Scenario:
    """The scenario in the file at `path`. Raises InputError."""
    return parse_toml(decode(read_file(path), path.name), path.stem, path.name)


def decode(content: bytes, origin: str) -> str:
    """The text of a file. Raises InputError if it is too big or not UTF-8. Errors begin with `origin`."""
    if len(content) > MOST_BYTES:
        raise InputError(f"{origin}: is larger than {MOST_BYTES // 1_000_000} MB; a scenario is a small text file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError(f"{origin}: byte {problem.start} is not UTF-8; a scenario is a text file") from None
    if "\0" in text:
        raise InputError(f"{origin}: byte {text.index(chr(0))} is zero; a scenario is a text file")
    return text


def parse_toml(text: str, name: str, origin: str | None = None) -> Scenario:
    """The scenario in the TOML `text`. Raises InputError. Errors begin with `origin` (default: `name`.toml)."""
    scenario = read_toml(text, name, origin)
    validate(scenario)
    return scenario


def read_toml(text: str, name: str, origin: str | None = None) -> Scenario:
    """Likewise, whether or not the scenario makes sense (sim/document/validate.py)."""
    origin = origin or f"{name}.toml"
    values = toml_values(text, origin)
    try:
        scenario = _scenario(Table(values, ""), name, origin)
    except InputError as problem:
        raise InputError(f"{origin}: {problem}") from None
    return scenario


def _scenario(table: Table, name: str, origin: str) -> Scenario:
    _check_version(table)
    processes = _processes(table)
    algorithm = table.table("algorithm")
    kind_of_algorithm = algorithm.choice("kind", ALGORITHMS, "chandy_lamport")
    breaks = table.texts("breaks")
    rule_book = broken_rules(breaks) or ALGORITHMS[kind_of_algorithm]
    workload = table.table("workload")
    kind = workload.choice("kind", WORKLOADS, "scripted")
    script, delays = _script(table)
    seed = table.whole("seed", 0)
    scenario = Scenario(
        name=name,
        processes=processes,
        title=table.text("title"),
        story=table.text("story"),
        source=table.text("source"),
        group=table.text("group", "My scenarios"),
        orientation=table.choice("orientation", ORIENTATIONS, "down"),
        topology=_topology(table.table("topology")),
        network=_network(table.table("network")),
        absent=table.texts("absent"),
        not_fifo=table.texts("not_fifo"),
        breaks=breaks,
        algorithm=kind_of_algorithm,
        algorithm_parameters=read_parameters(algorithm, rule_book.parameters),
        workload=kind,
        parameters=read_parameters(workload, WORKLOADS[kind].parameters),
        initial=table.take("initial", dict, {}, "a table [initial]"),
        scheduler=_scheduler(table.table("scheduler")),
        coordinator=_coordinator(table) if "coordinator" in table.values else None,
        storage=read_parameters(table.table("storage"), STORAGE) if "storage" in table.values else None,
        recovery=read_recovery(table.table("recovery")) if "recovery" in table.values else None,
        seed=seed,
        delay=_delay_rule(table.table("delay"), origin),
        marker_delay=_delay_rule(table.table("marker_delay"), origin) if "marker_delay" in table.values else None,
        control_delay=_delay_rule(table.table("control_delay"), origin),
        delays=_overrides(table, delays),
        script=script,
        snapshots=tuple(_initiation(entry) for entry in table.tables("snapshots")),
        faults=tuple(_fault(entry) for entry in table.tables("faults")),
        fault_rates=_fault_rates(table.table("fault_rates")),
        cuts=tuple(_cut(entry) for entry in table.tables("cuts")),
        walk=tuple(_walk_step(entry) for entry in table.tables("walk")),
        expect=_expect(table.table("expect")),
        origin=origin,
    )
    table.take("marker_delay", dict, {}, "a table [marker_delay]")
    table.expects("coordinator", "storage", "recovery")
    table.done()
    return scenario


def _check_version(table: Table) -> None:
    """Raises InputError for a file of another version, whose keys may mean something else."""
    version = table.whole("version", FILE_VERSION)
    if isinstance(table.values.get("algorithm"), str):
        version = 1  # its files had no table [algorithm] and no `version`
    if version != FILE_VERSION:
        advice = (
            'write [algorithm] with kind = "chandy_lamport", and leave out `version`'
            if version < FILE_VERSION
            else "update this one"
        )
        raise table.fail("version", f"made by version {version}; this is {FILE_VERSION}: {advice}")


def _processes(table: Table) -> tuple[str, ...]:
    given = table.values.get("processes")
    if isinstance(given, int) and not isinstance(given, bool):
        if not 1 <= given <= MOST_PROCESSES:
            raise table.fail("processes", f"expected 1 to {MOST_PROCESSES} processes, not {given}")
        table.take("processes", int, 0, "")
        return tuple(f"P{number}" for number in range(1, given + 1))
    if isinstance(given, str):
        raise table.fail("processes", f'expected a list of names or their number, such as ["P1", "P2"], not {given!r}')
    names = table.texts("processes")
    if not names:
        raise table.missing("processes", 'list the names, such as ["P1", "P2"], or give their number')
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
        if not arrow or not source or not target or "->" in target:
            raise table.fail(f"channels[{number}]", f'{name!r} is no channel; write it as "P1->P2"')
        edges.append((source, target))
    if kind != "random" and "extra" in table.values:
        raise table.fail("extra", f'a {kind} topology has no extra channels; say kind = "random"')
    topology = Topology(kind, table.whole("extra", 0), tuple(edges), _capacity(table))
    table.done()
    return topology


def _capacity(table: Table) -> tuple[tuple[str, int], ...]:
    """The capacity of channels in messages: one number for all of them, or a table by channel."""
    if "capacity" not in table.values:
        table.expects("capacity")
        return ()
    if not isinstance(table.values["capacity"], dict):
        return ((EVERY_CHANNEL, table.whole("capacity", 1, 1)),)
    inner = table.table("capacity")
    found = tuple((name, inner.whole(name, 1, 1)) for name in list(inner.values))
    inner.done()
    return found


def _scheduler(table: Table) -> SchedulerChoice:
    kind = table.choice("kind", SCHEDULERS, "timed")
    for key, owner in (("until", "tick"), ("extra", "tick"), ("order", "manual")):
        if key in table.values and kind != owner:
            raise table.fail(key, f"means nothing to the {kind} scheduler; it belongs to {owner}")
    until = table.whole("until", 0)
    extra = table.whole("extra", 0) if "extra" in table.values else None
    table.expects("extra")
    choice = SchedulerChoice(kind, until, extra, table.texts("order"))
    table.done()
    return choice


def _delay_rule(table: Table, origin: str) -> DelayRule:
    kind = table.choice("kind", ("fixed", "uniform", "whole", "exponential", "listed"), "fixed")
    first = {"fixed": "value", "uniform": "low", "whole": "low", "exponential": "mean", "listed": "value"}[kind]
    low = table.number(first, 1.0)
    high = table.number("high", low) if kind in ("uniform", "whole") else low
    if high < low:
        raise table.fail("high", f"expected at least low = {low:g}, not {high:g}")
    values = table.take("values", list, [], "a list of numbers") if kind == "listed" else []
    for number, value in enumerate(values, start=1):
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < MOST_NUMBER:
            advice = f"expected a number of at least 0, below {MOST_NUMBER:g}"
            raise table.fail(f"values[{number}]", f"{advice}, not {brief(value)}")
    table.done()
    return DelayRule(kind, low, high, tuple(values), f"{origin}: {table.where}values")


def read_parameters(table: Table, known: Mapping[str, Parameter]) -> dict[str, Any]:
    """The parameters that a table gives. Raises InputError for one that is unknown or wrong."""
    parameters = {name: _parameter(table, name, known[name]) for name in known if name in table.values}
    table.expects(*known)
    table.done()
    return parameters


def _parameter(table: Table, name: str, spec: Parameter) -> Any:
    if spec.kind == "number":
        number = table.number(name, spec.default, infinite=spec.infinite)
        if number < spec.least:
            raise table.fail(name, f"expected a number of at least {spec.least:g}, not {number:g}")
        return number
    if spec.kind == "whole":
        return table.whole(name, spec.default, int(spec.least))
    if spec.kind == "flag":
        return table.take(name, bool, spec.default, "true or false")
    if spec.kind == "text":
        return table.text(name, spec.default)
    if spec.kind == "texts":
        return table.texts(name)
    if spec.kind == "per_process" and not isinstance(table.values[name], dict):
        return table.whole(name, 0, int(spec.least))
    inner = table.table(name)
    if spec.item == "texts":
        return {key: inner.texts(key) for key in list(inner.values)}
    types: dict[str, tuple[type, ...]] = {"whole": (int,), "text": (str,), "table": (dict,)}
    for key, value in inner.values.items():
        if not isinstance(value, types[spec.item]) or isinstance(value, bool):
            raise inner.fail(key, f"expected a {spec.item}, not {brief(value)}")
        if spec.item == "whole" and inner.values[key] < spec.least:
            raise inner.fail(key, f"expected a whole number of at least {spec.least:g}, not {value}")
    return inner.values


def _script(table: Table) -> tuple[tuple[ScriptLine, ...], dict[MessageReference, float]]:
    """The script lines, and the delays given on them, by the label of the send."""
    lines: list[ScriptLine] = []
    delays: dict[MessageReference, float] = {}
    for entry in table.tables("script"):
        line = ScriptLine(
            process=entry.required("process"),
            at=_time(entry),
            after=entry.optional("after"),
            to=entry.optional("to"),
            body=entry.take("body", (str, int, float, dict, list), None, "a text, number or table"),
            label=entry.optional("label"),
            receive_label=entry.optional("received_as"),
        )
        if line.body is not None and not is_plain(line.body):
            raise entry.fail("body", f"expected texts, finite numbers and tables of them, not {brief(line.body)}")
        if line.receive_label and line.to is None:
            raise entry.fail("received_as", "only a send (a line with `to`) is received")
        if "delay" in entry.values:
            if line.to is None or line.label is None:
                raise entry.fail("delay", "only a send with a label can carry its delay; or use [[delays]]")
            delays[MessageReference(label=line.label)] = entry.number("delay", 1.0, infinite=True)
        entry.expects("delay")
        entry.done()
        lines.append(line)
    return tuple(lines), delays


def _time(entry: Table) -> float:
    """The time `at`. It may be missing only if `after` is given, and is 0 then. Raises InputError."""
    if "at" not in entry.values and "after" not in entry.values:
        raise entry.missing("at", "give a time, or an event to follow with `after`")
    return entry.number("at", 0.0)


def _overrides(table: Table, on_lines: Mapping[MessageReference, float]) -> dict[MessageReference, float]:
    """The delays of single messages: those on script lines (`on_lines`) and those of [[delays]]."""
    found = dict(on_lines)
    for entry in table.tables("delays"):
        reference = read_reference(entry)
        if reference in found:
            raise InputError(f"{entry.where[:-1]}: sets the delay of {reference.in_words()} twice; once is enough")
        if "delay" not in entry.values:
            raise entry.missing("delay", "give a number of time units, or inf to hold the message")
        found[reference] = entry.number("delay", 1.0, infinite=True)
        entry.done()
    return found


def read_reference(entry: Table) -> MessageReference:
    """The message that a table names: by `label`, or by `channel`, `kind`, `snapshot` and `ordinal`."""
    label = entry.optional("label")
    if label is not None:
        return MessageReference(label=label)
    kind = entry.choice("kind", (APP, MARKER, CONTROL), APP)
    snapshot = entry.required("snapshot") if kind == MARKER else entry.optional("snapshot") if kind == CONTROL else None
    return MessageReference(None, entry.required("channel"), kind, snapshot, entry.whole("ordinal", 1, 1))


def _initiation(entry: Table) -> Initiation:
    kind = entry.choice("type", TYPES, "") if "type" in entry.values else None
    start = Initiation(entry.required("id"), entry.required("process"), _time(entry), entry.optional("after"), kind)
    entry.done()
    return start


def _fault(entry: Table) -> FaultLine:
    kind = entry.choice("kind", FAULT_KINDS, "")
    about = FAULT_KINDS[kind].about
    of_message, process = about == MESSAGE, entry.required("process") if about == PROCESS else None
    channels = () if process or of_message else entry.texts("channels")
    if not process and not of_message and not channels:
        raise entry.missing("channels", f'say which to {kind}, such as ["P1->P2"]')
    message = _lost_or_copied(entry, kind) if of_message else None
    factor = _factor(entry) if kind == "slow" else 1.0
    at = entry.number("at", 0.0) if of_message else _time(entry)
    fault = FaultLine(kind, process, channels, at, entry.optional("after"), message, factor)
    entry.done()
    return fault


def _lost_or_copied(entry: Table, kind: str) -> MessageReference:
    """The message of a fault: by the label of its send, or the marker of a snapshot on a channel."""
    label, channel = entry.optional("message"), entry.optional("channel")
    if (label is None) == (channel is None):
        advice = 'name its send, such as "P1.3", or say `channel` and `snapshot` for a marker'
        raise entry.missing("message", f"say which message to {kind}: {advice}")
    if label is not None:
        return MessageReference(label=label)
    return MessageReference(None, channel, MARKER, entry.required("snapshot"))


def _factor(entry: Table) -> float:
    if "factor" not in entry.values:
        raise entry.missing("factor", "say how many times as long it takes, such as 3; 1 is its usual pace")
    return entry.number("factor", 1.0)


def _network(table: Table) -> Network:
    network = Network(table.choice("layer", LAYERS, Network().layer), table.number("resend", Network().resend))
    table.done()
    return network


def _coordinator(table: Table) -> dict[str, Any]:
    return read_parameters(table.table("coordinator"), COORDINATOR)


def read_recovery(table: Table) -> RecoveryPlan:
    """When and how the system is rolled back. `at` is a time, or a list of times."""
    given = table.values.get("at")
    if isinstance(given, list):
        for number, time in enumerate(table.take("at", list, [], "a time or a list of times"), start=1):
            if isinstance(time, bool) or not isinstance(time, int | float) or not 0 <= time < MOST_NUMBER:
                raise table.fail(f"at[{number}]", f"expected a number of at least 0, not {brief(time)}")
        times = tuple(float(time) for time in given)
    else:
        times = (table.number("at", 0.0),) if given is not None else ()
    table.expects("at")
    names = table.values.get("processes", "all")
    if isinstance(names, str):
        table.choice("processes", ("all",), "all")
        names = ()
    else:
        names = table.texts("processes")
    on = table.choice("on", (ON_CRASH,), "") if "on" in table.values else ""
    table.expects("on")
    goals = _goals(table, len(times))
    times, goals = _in_order(times, goals)
    plan = RecoveryPlan(
        times, on, table.number("detect", RecoveryPlan.detect), tuple(names),
        table.take("channels", bool, True, "true or false"), table.take("fence", bool, True, "true or false"),
        goals,
    )  # fmt: skip
    if not plan.at and not plan.on:
        raise table.missing("at", 'give the time of the recovery, or say on = "crash"')
    table.done()
    return plan


def _goals(table: Table, count: int) -> tuple[str, ...]:
    """The snapshot to which each of `count` recoveries at a time goes back; one text is for all of them."""
    given = table.values.get("to")
    goals = table.texts("to") if isinstance(given, list) else (table.text("to"),) * count
    table.expects("to")
    if given is not None and (len(goals) != count or not count):
        raise table.fail("to", f'expected a snapshot for each time under `at`, "" for the last one, not {brief(given)}')
    if not is_plain(list(goals)):
        raise table.fail("to", f"{given!a} holds half a character, which no file can hold")
    return goals if any(goals) else ()


def _in_order(times: tuple[float, ...], goals: tuple[str, ...]) -> tuple[tuple[float, ...], tuple[str, ...]]:
    """Recoveries in the order of their times, and their goals with them."""
    order = sorted(range(len(times)), key=lambda number: times[number])
    return tuple(times[number] for number in order), tuple(goals[number] for number in order) if goals else ()


def _fault_rates(table: Table) -> FaultRates:
    rates = FaultRates(**{name: table.number(name, usual) for name, usual in asdict(FaultRates()).items()})
    table.done()
    return rates


def _cut(entry: Table) -> NamedCut:
    frontier = entry.take("frontier", dict, {}, "a table of processes and events")
    for process, label in frontier.items():
        if not isinstance(label, str):
            raise entry.fail(f"frontier.{process}", f"expected the label of an event, not {brief(label)}")
    cut = NamedCut(entry.required("name"), frontier, entry.text("text"))
    entry.done()
    return cut


def _walk_step(entry: Table) -> WalkStep:
    swaps = entry.take("swaps", (int, str), 0, 'a number of interchanges, or "straight"')
    if swaps != "straight" and (isinstance(swaps, str) or swaps < 0):
        raise entry.fail("swaps", f'expected a whole number of at least 0, or "straight", not {brief(swaps)}')
    step = entry.whole("step", 0) if "step" in entry.values else None
    entry.expects("step")
    stop = WalkStep(entry.required("text"), step, swaps)
    entry.done()
    return stop


def _expect(table: Table) -> dict[str, Any]:
    """A copy of the table [expect]. Raises InputError for an unknown key, a wrong type, or deep nesting."""
    if not is_plain(table.values):
        raise InputError("expect: expected texts, finite numbers and tables of them, nested less deeply")
    expected = copy.deepcopy(table.values)
    for key in ("consistent_cuts", "linearizations"):
        table.whole(key, 0)
    table.texts("fails")
    snapshots = table.table("snapshots")
    for name in list(snapshots.values):
        snapshot = snapshots.table(name)
        snapshot.choice("status", STATUSES, "complete")
        for key in ("processes", "channels"):
            _check_lists(snapshot.table(key))
        snapshot.table("states")
        snapshot.done()
    cuts = table.table("cuts")
    for name in list(cuts.values):
        cut = cuts.table(name)
        if cut.take("consistent", bool, None, "true or false") is None:
            raise cut.fail("consistent", "is missing; say true or false")
        cut.text("witness")
        _check_lists(cut.table("channels"))
        cut.done()
    table.done()
    return expected


def _check_lists(table: Table) -> None:
    for key in list(table.values):
        table.take(key, list, [], "a list")
