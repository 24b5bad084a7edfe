"""Checks that a scenario makes sense, beyond the types of its keys. Each problem is one sentence."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from graphlib import CycleError, TopologicalSorter

from sim.core.algorithm import ALGORITHMS, ALL, ANY, BY_COUNT, COORDINATOR, SOURCES
from sim.core.broken_rule import BROKEN_RULES, FIFO
from sim.core.deadline import in_time
from sim.core.errors import InputError, nearest
from sim.core.fault_kinds import ABSENT, DOWN, FAULT_KINDS, FROZEN, SEVERED, FaultKind
from sim.core.model import CONTROL, MARKER, MessageReference
from sim.core.topology import EVERY_CHANNEL, unreachable
from sim.core.workload import WORKLOADS, Refused, Workload
from sim.document.scenario import FaultLine, Initiation, Scenario, ScriptLine, is_snapshot_number
from sim.document.toml_table import is_plain
from sim.services.settings import FAIL, STOP
from sim.services.storage_words import NAME as STORAGE_NAME
from sim.services.words import NAME

MOST_CHANNELS = 100_000
LEAST_GAP = 0.1  # time units from one heartbeat of the coordinator's to the next, and so of its other times
MOST_DRAWN = 100_000  # faults, in the mean


def validate(scenario: Scenario) -> None:
    """Raises InputError with the first problem of `scenario`."""
    for check in (
        _names,
        _breaks,
        _topology,
        _algorithm,
        _script,
        _initiations,
        _fault_rates,
        _faults,
        _storage,
        _recovery,
        _waiting,
        _delays,
        _workload,
        _cuts,
    ):
        for where, problem in check(scenario):
            raise InputError(f"{where}: {problem}")


Problem = tuple[str, str]  # where, what


def _known(scenario: Scenario) -> str:
    shown = ", ".join(scenario.processes[:8])
    return f"the processes are {shown}" + (", ..." if len(scenario.processes) > 8 else "")


def name_problem(name: str) -> str | None:
    """The problem with the name of a process (None: no problem)."""
    if not name or "->" in name or any(character.isspace() for character in name):
        return f'{name!r} is no name; a name has no "->" and no white space'
    return None


def is_numbered(processes: Collection[str], label: str) -> bool:
    """Whether `label` has the form P1.3, which names the third application event of P1."""
    process, _, index = label.rpartition(".")
    return process in processes and index.isascii() and index.isdigit() and int(index[:9]) > 0


def _names(scenario: Scenario) -> Iterator[Problem]:
    where = scenario.at("processes")
    seen: set[str] = set()
    for name in scenario.processes:
        if problem := name_problem(name):
            yield where, problem
        if name in seen:
            yield where, f"the name {name!r} is given twice; every process needs its own"
        seen.add(name)


def _topology(scenario: Scenario) -> Iterator[Problem]:
    most = scenario.topology.most_edges(len(scenario.processes))
    if most > MOST_CHANNELS:
        yield scenario.at("topology.kind"), f"{most} channels; use at most {MOST_CHANNELS}, as a ring does"
        return
    seen: set[tuple[str, str]] = set()
    for number, edge in enumerate(scenario.topology.channels, start=1):
        where = scenario.at(f"topology.channels[{number}]")
        for name in edge:
            if name not in scenario.processes:
                yield where, f"{name!r} is no process; {_known(scenario)}"
        if edge[0] == edge[1]:
            yield where, f"a channel from {edge[0]} to itself; a channel joins two processes"
        if edge in seen:
            yield where, f"{edge[0]}->{edge[1]} is listed twice; there is one channel per ordered pair"
        seen.add(edge)
    yield from _fifo(scenario)
    yield from _capacity(scenario)


def _capacity(scenario: Scenario) -> Iterator[Problem]:
    names = {channel.name for channel in scenario.channels}
    for name, _ in scenario.topology.capacity:
        if name not in names and name != EVERY_CHANNEL:
            advice = f'write it as P1->P2, or say "{EVERY_CHANNEL}" for every channel that has no capacity of its own'
            yield scenario.at("topology.capacity"), f"{name!r} is no channel of this topology; {advice}"


def _fifo(scenario: Scenario) -> Iterator[Problem]:
    names = {channel.name for channel in scenario.channels}
    where = scenario.at("not_fifo")
    is_every = scenario.not_fifo == (EVERY_CHANNEL,)
    for name in () if is_every else scenario.not_fifo:
        if name not in names:
            advice = f'write it as P1->P2, or say only "{EVERY_CHANNEL}" for every channel'
            yield where, f"{name!r} is no channel of this topology; {advice}"
    algorithm = scenario.rules
    if scenario.network.is_raw:
        yield from _raw(scenario)
    if scenario.not_fifo and scenario.snapshots and algorithm.needs_fifo and FIFO not in scenario.breaks:
        advice = "leave this out" if is_every else f"leave {scenario.not_fifo[0]} out of the list"
        yield where, f'{algorithm.title} needs FIFO channels; {advice}, or say breaks = ["fifo"] to see what goes wrong'
    if scenario.not_fifo and scenario.scheduler.kind == "tick":
        yield where, "the tick scheduler delivers the heads of FIFO channels; use another scheduler"


def _raw(scenario: Scenario) -> Iterator[Problem]:
    """The problems of a raw network: no channel is FIFO, and algorithms that count messages count copies as well."""
    where, algorithm = scenario.at("network.layer"), scenario.rules
    if scenario.scheduler.kind == "tick":
        yield where, "the tick scheduler delivers the heads of FIFO channels; use another scheduler"
    if scenario.snapshots and algorithm.needs_fifo and FIFO not in scenario.breaks:
        what = f"{algorithm.title} needs FIFO channels, and a raw network has none"
        yield where, f'{what}; say layer = "fifo", or breaks = ["fifo"] to see what goes wrong'
    copies = scenario.fault_rates.copy or any(own.kind == "copy" for own in scenario.faults)
    if scenario.snapshots and copies and algorithm.closes_by == BY_COUNT:
        what = f"{algorithm.title} counts messages, and would count a copy twice"
        yield where, f'{what}; remove the copies, or say layer = "fifo"'


def _breaks(scenario: Scenario) -> Iterator[Problem]:
    """Broken rules are known, belong to the algorithm, and at most one of them is a rule book."""
    where = scenario.at("breaks")
    for name in scenario.breaks:
        if name not in BROKEN_RULES:
            yield where, f"{name!r} is no rule that a run can break; {nearest(name, BROKEN_RULES)}"
        elif BROKEN_RULES[name].of not in ("", scenario.algorithm):
            right, own = ALGORITHMS[BROKEN_RULES[name].of].title, ALGORITHMS[scenario.algorithm].title
            yield where, f"{name!r} breaks a rule of {right}, and this run follows those of {own}; leave it out"
    broken = [name for name in scenario.breaks if name in BROKEN_RULES and BROKEN_RULES[name].of]
    if len(broken) > 1:
        yield where, f"{broken[0]!r} and {broken[1]!r} both replace the rules; break one of them at a time"


def _algorithm(scenario: Scenario) -> Iterator[Problem]:
    algorithm = scenario.rules
    for service in algorithm.services:
        if service.name in scenario.processes:
            what = f"{service.name!r} is a service of {algorithm.title}; give the process another name"
            yield scenario.at("processes"), what
    if algorithm.overtakes and scenario.scheduler.kind == "tick":
        problem = f"the tick scheduler delivers the heads of channels, and the {algorithm.marker}s of {algorithm.title}"
        yield scenario.at("scheduler.kind"), f'{problem} overtake; use another scheduler, such as "timed"'
    if scenario.coordinator is not None:
        yield from _coordinator(scenario)
    for key, problem in scenario.rule_book().problems():
        yield scenario.at(f"algorithm.{key}"), problem


def _coordinator(scenario: Scenario) -> Iterator[Problem]:
    rules, given = scenario.rules, scenario.coordinator or {}
    if not rules.allows_coordinator:
        advice = "remove [coordinator], or use Chandy-Lamport without options"
        yield scenario.at("coordinator"), f"the rules of {rules.title} do not support a coordinator yet; {advice}"
    for key in ("timeout", "heartbeat", "interval"):
        none = "" if key == "timeout" else "0 (none) or "
        if given.get(key, LEAST_GAP) < LEAST_GAP and not (none and given[key] == 0):
            advice = f"expected {none}a number of at least {LEAST_GAP:g}, not {given[key]:g}"
            yield scenario.at(f"coordinator.{key}"), advice
    if given.get("heartbeat") and scenario.scheduler.kind == "random":
        what = 'heartbeats need a clock, and the scheduler "random" has none'
        yield scenario.at("coordinator.heartbeat"), f'{what}; leave heartbeat out, or take the scheduler "timed"'
    if given.get("when_held", FAIL) not in (FAIL, STOP):
        yield scenario.at("coordinator.when_held"), f'expected "{FAIL}" or "{STOP}", not {given["when_held"]!r}'


def _script(scenario: Scenario) -> Iterator[Problem]:
    names = {channel.name for channel in scenario.channels}
    label_at: dict[str, str] = {}
    for number, line in enumerate(in_time(scenario.script)):
        where = scenario.where(number)
        for key, name in (("process", line.process), ("to", line.to)):
            if name is not None and name not in scenario.processes:
                yield f"{where}.{key}", f"{name!r} is no process; {_known(scenario)}"
        if line.to == line.process:
            yield f"{where}.to", f"{line.process} sends a message to itself; a channel joins two processes"
        elif line.to is not None and f"{line.process}->{line.to}" not in names:
            yield f"{where}.to", f"there is no channel {line.process}->{line.to} in this topology; add one"
        for label in filter(None, (line.label, line.receive_label)):
            if label in label_at:
                yield where, f"the name {label!r} is taken by {label_at[label]}; every event needs its own"
            if is_numbered(scenario.processes, label):
                yield where, f"{label!r} is the form of an event without a name; choose another name"
            label_at[label] = f"script[{number + 1}]"


def _type(scenario: Scenario, start: Initiation, where: str) -> Iterator[Problem]:
    if start.type is None:
        return
    if not scenario.has_storage:
        yield f"{where}.type", "only a stored snapshot has a type; add [storage]"
    others = {own.type for own in scenario.snapshots if own.snapshot == start.snapshot}
    if len(others) > 1:
        yield f"{where}.type", f"{start.snapshot} has one type; give it to every initiator"


def _initiations(scenario: Scenario) -> Iterator[Problem]:
    starts: dict[str, list[str]] = {}
    first: dict[str, str] = {}
    for number, start in enumerate(scenario.snapshots, start=len(scenario.script)):
        where = scenario.where(number)
        yield from _initiator(scenario, start, f"{where}.process")
        if start.process in starts.setdefault(start.snapshot, []):
            yield where, f"{start.process} initiates {start.snapshot} twice; once is enough"
        starts[start.snapshot].append(start.process)
        first.setdefault(start.snapshot, where)
        yield from _type(scenario, start, where)
    kind = scenario.rules.initiators
    for snapshot, initiators in starts.items():
        if kind == ALL and len(initiators) < len(scenario.processes):
            missing = next(process for process in scenario.processes if process not in initiators)
            title = scenario.rules.title
            yield first[snapshot], f"{title} needs every process to initiate {snapshot}; add one at {missing}"
    if scenario.rules.one_initiator:
        yield from _one_initiator(scenario, starts, first)
    if kind == COORDINATOR or scenario.coordinator is not None or scenario.rule_book().reaches_all():
        return
    advice = "add a channel" if scenario.rules.one_initiator else "add an initiator or a channel"
    edges = [(channel.source_name, channel.target_name) for channel in scenario.channels]
    reached: dict[tuple[str, ...], list[str]] = {}  # by initiators: many snapshots have the same ones
    for snapshot, initiators in in_time(starts.items(), every=1):
        own = tuple(initiators)
        if own not in reached:
            reached[own] = unreachable(scenario.processes, edges, own)
        for process in reached[own]:
            by = " or ".join(initiators)
            yield first[snapshot], f"{snapshot} cannot reach {process} from {by}; {advice}"


def _fault_rates(scenario: Scenario) -> Iterator[Problem]:
    """The algorithm allows for crashes at random, and there are not too many faults."""
    rates = scenario.fault_rates
    for key, share in (("lose", rates.lose), ("copy", rates.copy)):
        if share > 1:
            yield scenario.at(f"fault_rates.{key}"), f"expected a share of all messages, from 0 to 1, not {share:g}"
    if rates.meets_messages and scenario.scheduler.kind == "tick":
        advice = "the tick scheduler, COS 418's, has no messages that are lost or copied; use another scheduler"
        yield scenario.at("fault_rates"), advice
    if rates.crash:
        yield from _crashes(scenario, scenario.at("fault_rates.crash"))
    count = rates.expected(len(scenario.processes), len(scenario.channels))
    if count > MOST_DRAWN:
        problem = f"these rates come to about {count:,.0f} faults; {MOST_DRAWN:,} are the most"
        yield scenario.at("fault_rates"), f"{problem}, so give lower rates, or an earlier `until`"


def _crashes(scenario: Scenario, where: str, what: str = "a crash") -> Iterator[Problem]:
    """The problem if processes fail, and the algorithm does not allow for it."""
    is_undone = scenario.recovery is not None and scenario.rules.allows_recovery
    if scenario.snapshots and not scenario.rules.allows_crashes and not is_undone:
        advice = "remove the faults of processes, or use Chandy-Lamport"
        yield where, f"the rules of {scenario.rules.title} do not support {what} yet; {advice}"


def _faults(scenario: Scenario) -> Iterator[Problem]:
    """Every fault has a target, the algorithm allows it, and each fault with a time changes something."""
    names = {channel.name for channel in scenario.channels}
    for process in scenario.absent:
        if process not in scenario.processes:
            yield scenario.at("absent"), f"{process!r} is no process; {_known(scenario)}"
    if scenario.absent and scenario.snapshots and not scenario.rules.allows_crashes:
        what = f"the rules of {scenario.rules.title} do not support processes that join yet"
        yield scenario.at("absent"), f"{what}; leave `absent` out, or use Chandy-Lamport"
    first = len(scenario.script) + len(scenario.snapshots)
    timed: list[tuple[float, str, FaultLine]] = []
    for number, fault in enumerate(scenario.faults, start=first):
        where = scenario.where(number)
        if fault.process is not None and fault.process not in scenario.processes:
            yield f"{where}.process", f"{fault.process!r} is no process; {_known(scenario)}"
        if fault.process is not None:
            what = "processes that come and go" if fault.kind in ("join", "leave") else "a crash"
            if fault.kind not in ("slow", "freeze", "thaw"):  # these make the run later, and no more than that
                yield from _crashes(scenario, where, what)
        if not fault.factor > 0:
            yield f"{where}.factor", f"expected a number above 0, such as 3, not {fault.factor:g}"
        if fault.message is not None:
            yield from _of_message(scenario, fault, where)
        for name in fault.channels:
            if name not in names:
                yield f"{where}.channels", f"{name!r} is no channel of this topology; write it as P1->P2"
        if fault.after is None and fault.message is None:
            timed.append((fault.at, where, fault))
    if all(fault.after is None for fault in scenario.faults):  # else their order is unknown before the run
        yield from _changing_nothing(timed, scenario.absent, is_recovered=scenario.recovery is not None)


def _storage(scenario: Scenario) -> Iterator[Problem]:
    """The settings of the storage make sense, and the scheduler and the channels allow for it."""
    given = scenario.storage
    if given is None:
        return
    for key in ("bandwidth", "pause", "kept"):
        if not given.get(key, 1.0) > 0:
            yield scenario.at(f"storage.{key}"), f"expected a number above 0, not {given[key]:g}"
    if scenario.scheduler.kind == "tick":
        yield scenario.at("storage"), "the tick scheduler, COS 418's, has no storage; use another scheduler"
    if given.get("offsets") and not all(channel.fifo for channel in scenario.channels):
        what = "an offset counts the messages of a channel in their order, and a channel here is not FIFO"
        yield scenario.at("storage.offsets"), f"{what}; leave it out, or let every channel be FIFO"
    yield from _same_members(scenario, "storage")


def _recovery(scenario: Scenario) -> Iterator[Problem]:
    """The processes to restore exist, and the algorithm's notes may be taken away."""
    plan, rules = scenario.recovery, scenario.rules
    if plan is None:
        return
    for name in plan.processes:
        if name not in scenario.processes:
            yield scenario.at("recovery.processes"), f"{name!r} is no process; {_known(scenario)}"
    if scenario.snapshots and not rules.allows_recovery:
        advice = "remove [recovery], or use Chandy-Lamport"
        yield scenario.at("recovery"), f"the rules of {rules.title} do not support a recovery yet; {advice}"
    if scenario.scheduler.kind == "tick":
        yield scenario.at("recovery"), "the tick scheduler, COS 418's, has no recovery; use another scheduler"
    yield from _same_members(scenario, "recovery")


def _same_members(scenario: Scenario, key: str) -> Iterator[Problem]:
    """The problem if processes come and go."""
    if scenario.absent or any(fault.kind in ("join", "leave") for fault in scenario.faults):
        yield (
            scenario.at(key),
            f"[{key}] does not support join and leave yet; remove those faults",
        )


def _of_message(scenario: Scenario, fault: FaultLine, where: str) -> Iterator[Problem]:
    """The problems of a message that is lost or copied: there is none, or nothing is lost there."""
    reference = fault.message
    assert reference is not None
    if scenario.scheduler.kind == "tick":
        yield where, f"the tick scheduler, COS 418's, has no messages to {fault.kind}; use another scheduler"
    for key, problem in _named(scenario, reference, {"lose": "a loss", "copy": "a copy"}[fault.kind]):
        yield f"{where}.{key}", problem


def _changing_nothing(
    timed: Sequence[tuple[float, str, FaultLine]], absent: Collection[str], *, is_recovered: bool
) -> Iterator[Problem]:
    """The faults that change nothing, such as a restart before a crash. `absent`: processes absent at first.

    If the system `is_recovered`, the time that a process is down is unknown before the run.
    """
    having: dict[str, set[str]] = {ABSENT: {*absent}, DOWN: set(), FROZEN: set(), SEVERED: set()}
    unknown: set[str] = set()  # processes that a recovery may have brought back
    for at, where, fault in sorted(timed, key=lambda own: own[0]):
        kind, about = FAULT_KINDS[fault.kind], {fault.process} if fault.process else {*fault.channels}
        if not kind.begins and not kind.needs:
            continue
        if is_recovered and DOWN in (kind.begins, kind.needs):
            unknown |= about
        problem = "" if about & unknown else _idle(kind, about, having)
        if problem:
            yield where, f"{fault.process or ' and '.join(fault.channels)} is {problem}".format(f"{at:g}")
        for state in kind.ends:
            having[state] -= about
        if kind.begins:
            having[kind.begins] |= about


def _idle(kind: FaultKind, about: Collection[str], having: Mapping[str, set[str]]) -> str:
    """The reason why a fault changes nothing; {} stands for the time. `having`: what is in each condition."""
    needs, begins = kind.needs, kind.begins
    if needs != ABSENT and not having[ABSENT].isdisjoint(about):
        return "not there at {}; it has to join first"
    if needs and having[needs].isdisjoint(about):
        return f"{'there already' if needs == ABSENT else f'not {needs}'} at {{}}; {kind.advice}"
    if kind.unless and not having[kind.unless].isdisjoint(about):
        return f"{kind.unless} at {{}}; {kind.advice}"
    if begins and having[begins].issuperset(about):
        return f"{begins} already at {{}}; give another time, or leave one out"
    return ""


def _one_initiator(
    scenario: Scenario, starts: Mapping[str, Sequence[str]], first: Mapping[str, str]
) -> Iterator[Problem]:
    for snapshot, initiators in starts.items():
        if len(initiators) > 1:
            two = " and ".join(initiators[:2])
            rule = f"with {scenario.rules.title} a snapshot comes together at the process that starts it"
            yield first[snapshot], f"{rule}, so {two} cannot both start {snapshot}; leave one of them out"


def may_initiate(scenario: Scenario) -> list[str]:
    """The processes (or services) that may initiate a snapshot, by name."""
    algorithm = scenario.rules
    if algorithm.initiators == COORDINATOR:
        return [service.name for service in algorithm.services if service.name != STORAGE_NAME]
    targets = {channel.target_name for channel in scenario.channels} if algorithm.initiators == SOURCES else set()
    services = [] if scenario.coordinator is None else [NAME]
    return [process for process in scenario.processes if process not in targets] + services


def fitting_initiations(scenario: Scenario) -> tuple[Initiation, ...]:
    """The initiations of a scenario whose algorithm has changed, by processes that may initiate under the new one.

    A snapshot keeps those of its initiators that may initiate, if they are enough. Else the service makes its first
    initiation. Or every source, or every process that has to, does, or the first process from which all others are
    reached. If no process may initiate, initiations stay with processes, and `validate` refuses them.
    """
    kind, able = scenario.rules.initiators, may_initiate(scenario)
    if not able:
        known, first = scenario.processes, scenario.processes[0]
        return tuple(own if own.process in known else replace(own, process=first) for own in scenario.snapshots)
    edges = [(channel.source_name, channel.target_name) for channel in scenario.channels]
    goes_anywhere = scenario.rule_book().reaches_all()

    @cache
    def reach_all(*initiators: str) -> bool:
        return goes_anywhere or not unreachable(scenario.processes, edges, initiators)

    found: list[Initiation] = []
    for snapshot in dict.fromkeys(start.snapshot for start in scenario.snapshots):
        starts = [start for start in scenario.snapshots if start.snapshot == snapshot]
        own = {start.process: start for start in starts if start.process in able}
        names = [*own][:1] if scenario.rules.one_initiator else [*own]
        if kind == COORDINATOR:
            names = names or able[:1]
        elif kind != ANY:
            names = able
        elif not names or not reach_all(*names):
            most = names or able[:1] if scenario.rules.one_initiator else able  # where no process reaches all others
            names = next(([name] for name in able if reach_all(name)), most)
        found += [own.get(name, replace(starts[0], process=name)) for name in names]
    return tuple(found)


def _initiator(scenario: Scenario, start: Initiation, where: str) -> Iterator[Problem]:
    """The problem if this process or service may not initiate."""
    algorithm, able = scenario.rules, may_initiate(scenario)
    if start.process in able:
        return
    if algorithm.initiators == COORDINATOR:
        yield where, f"snapshots of {algorithm.title} are initiated by its {able[0]}, not by {start.process}"
    elif start.process not in scenario.processes:
        yield where, f"{start.process!r} is no process; {_known(scenario)}"
    else:
        rule = f"snapshots of {algorithm.title} are initiated by sources, which have no incoming channel"
        if able:
            yield where, f"{rule} (here {', '.join(able)}), not by {start.process}"
        else:
            advice = "remove the channels that lead to one, or use another algorithm"
            yield where, f"{rule}, and no process is a source here; {advice}"


def _labels(scenario: Scenario) -> set[str]:
    return {label for line in scenario.script for label in (line.label, line.receive_label) if label}


def _waiting(scenario: Scenario) -> Iterator[Problem]:
    """An event waits for the event `after`, and a receive for its send. These waits must not form a circle."""
    labels = _labels(scenario)
    waits: TopologicalSorter[str] = TopologicalSorter()
    entries: list[ScriptLine | Initiation | FaultLine] = [*scenario.script, *scenario.snapshots, *scenario.faults]
    for number, entry in enumerate(entries):
        if entry.after is None:
            continue
        if entry.after not in labels and not is_numbered(scenario.processes, entry.after):
            advice = 'name one of the script, or one such as "P1.3"'
            yield f"{scenario.where(number)}.after", f"there is no event {entry.after!r}; {advice}"
    for number, line in enumerate(scenario.script, start=1):
        own = line.label or f"script[{number}]"
        if line.after is not None:
            waits.add(own, line.after)
        if line.receive_label is not None:
            waits.add(line.receive_label, own)
    try:
        waits.prepare()
    except CycleError as found:
        chain = " waits for ".join(reversed(found.args[1]))
        yield scenario.at("script"), f"events wait for each other in a circle: {chain}; give one of them a time"


def _delays(scenario: Scenario) -> Iterator[Problem]:
    where = scenario.at("delays")
    for reference, delay in scenario.delays.items():
        if math.isnan(delay) or delay < 0:
            words = reference.in_words(scenario.rules.marker)
            yield where, f"{words} has a delay of {delay:g}; give a number of at least 0, or inf"
        for _, problem in _named(scenario, reference, "a delay"):
            yield where, problem


def _named(scenario: Scenario, reference: MessageReference, what: str) -> Iterator[Problem]:
    """The problem of a reference that cannot name a message: its key and a sentence. `what` has the reference."""
    if reference.label is not None:
        sends = {line.label for line in scenario.script if line.to is not None and line.label}
        if reference.label not in sends and not is_numbered(scenario.processes, reference.label):
            yield "message", f"{reference.label!r} is not the label of a send; {what} names the send of its message"
    elif reference.kind == CONTROL:
        nodes = (*scenario.processes, *(own.name for own in scenario.rules.services))
        ends = (reference.channel or "").split("->")
        if len(ends) != 2 or not set(ends) <= set(nodes):
            yield "channel", f"{reference.channel!r} is no route of control messages; write it as P1->P2"
    elif reference.channel not in {channel.name for channel in scenario.channels}:
        yield "channel", f"{reference.channel!r} is no channel of this topology; write it as P1->P2"
    elif reference.kind == MARKER:
        snapshots = {start.snapshot for start in scenario.snapshots}
        by_coordinator = scenario.coordinator is not None and is_snapshot_number(reference.snapshot or "")
        if reference.snapshot not in snapshots and not by_coordinator:
            known = f"there are {', '.join(sorted(snapshots))}" if snapshots else "add one under [[snapshots]]"
            yield "snapshot", f"no snapshot is called {reference.snapshot!r}; {known}"


def _workload(scenario: Scenario) -> Iterator[Problem]:
    for name, setting in scenario.parameters.items():
        spec = WORKLOADS[scenario.workload].parameters[name]
        if isinstance(setting, dict) and spec.kind in ("per_process", "table"):
            for process in setting:
                if process not in scenario.processes:
                    yield scenario.at(f"workload.{name}"), f"{process!r} is no process; {_known(scenario)}"
    workload = WORKLOADS[scenario.workload](scenario.processes, scenario.seed, **scenario.parameters)
    for key, problem in workload.problems({channel.name for channel in scenario.channels}):
        yield scenario.at(f"workload.{key}"), problem
    yield from _initial(scenario, workload)
    for number, line in enumerate(scenario.script):
        where = f"{scenario.where(number)}.body"
        if line.body is not None and not is_plain(line.body):
            yield where, "expected texts, finite numbers and tables of them"
        if line.to is not None:
            try:
                workload.check_body(line.body)
                workload.check_send(line.process, line.to, line.body)
            except Refused as reason:
                yield where, str(reason)


def _initial(scenario: Scenario, workload: Workload) -> Iterator[Problem]:
    """Initial states are valid states of the workload."""
    for process, state in scenario.initial.items():
        where = scenario.at(f"initial.{process}")
        if process not in scenario.processes:
            yield where, f"{process!r} is no process; {_known(scenario)}"
        elif not is_plain(state):
            yield where, "expected texts, finite numbers and tables of them"
        else:
            try:
                workload.check_state(process, state)
            except Refused as reason:
                yield where, str(reason)


def _cuts(scenario: Scenario) -> Iterator[Problem]:
    labels = _labels(scenario)
    seen: set[str] = set()
    for number, cut in enumerate(in_time(scenario.cuts), start=1):
        if cut.name in seen:
            yield scenario.at(f"cuts[{number}].name"), f"the name {cut.name!r} is given twice; every cut needs its own"
        seen.add(cut.name)
        for process, label in cut.frontier.items():
            where = scenario.at(f"cuts[{number}].frontier.{process}")
            if process not in scenario.processes:
                yield scenario.at(f"cuts[{number}].frontier"), f"{process!r} is no process; {_known(scenario)}"
            elif label not in labels and not is_numbered(scenario.processes, label):
                yield (
                    where,
                    f"the cut {cut.name!r} ends at {label!r}, but there is no such event; name one of {process}",
                )
