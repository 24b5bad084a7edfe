"""What makes a scenario sensible, beyond the types of its keys. Each violation is one sentence."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx

from sim.algorithm import ALGORITHMS
from sim.model import MARKER
from sim.scenario import Scenario, ScenarioError
from sim.topology import unreachable
from sim.workload import WORKLOADS, Refused


def validate(scenario: Scenario) -> None:
    """Raises ScenarioError with the first thing that is wrong."""
    for problem in _problems(scenario):
        raise ScenarioError(problem)


def _problems(scenario: Scenario) -> Iterator[str]:
    yield from _names(scenario)
    yield from _topology(scenario)
    yield from _script(scenario)
    yield from _initiations(scenario)
    yield from _circle(scenario)
    yield from _delays(scenario)
    yield from _workload(scenario)
    yield from _cuts(scenario)


def _known(scenario: Scenario) -> str:
    shown = ", ".join(scenario.processes[:8])
    return f"the processes are {shown}" + (", ..." if len(scenario.processes) > 8 else "")


def _names(scenario: Scenario) -> Iterator[str]:
    seen: set[str] = set()
    for name in scenario.processes:
        if not name or "->" in name or any(c.isspace() for c in name):
            yield f'processes: {name!r} is no name; a name has no "->" and no white space'
        if name in seen:
            yield f"processes: the name {name!r} is given twice; every process needs its own"
        seen.add(name)


def _topology(scenario: Scenario) -> Iterator[str]:
    seen: set[tuple[str, str]] = set()
    for number, edge in enumerate(scenario.topology.channels, start=1):
        where = f"topology.channels[{number}]"
        for name in edge:
            if name not in scenario.processes:
                yield f"{where}: {name!r} is no process; {_known(scenario)}"
        if edge[0] == edge[1]:
            yield f"{where}: a channel from {edge[0]} to itself; a channel joins two processes"
        if edge in seen:
            yield f"{where}: {edge[0]}->{edge[1]} is listed twice; there is one channel per ordered pair"
        seen.add(edge)
    names = {channel.name for channel in scenario.channels}
    for name in scenario.not_fifo:
        if name not in names:
            yield f"not_fifo: {name!r} is no channel of this topology"
    algorithm = ALGORITHMS[scenario.algorithm]
    if scenario.not_fifo and algorithm.needs_fifo:
        yield f"not_fifo: {algorithm.title} needs FIFO channels; {scenario.not_fifo[0]} would not be one"
    if scenario.not_fifo and scenario.scheduler.kind == "tick":
        yield "not_fifo: the tick scheduler delivers the heads of FIFO channels; use another scheduler"


def _script(scenario: Scenario) -> Iterator[str]:
    names = {channel.name for channel in scenario.channels}
    label_at: dict[str, int] = {}
    for number, line in enumerate(scenario.script, start=1):
        where = f"script[{number}]"
        for key, name in (("process", line.process), ("to", line.to)):
            if name is not None and name not in scenario.processes:
                yield f"{where}.{key}: {name!r} is no process; {_known(scenario)}"
        if line.to == line.process:
            yield f"{where}.to: {line.process} sends a message to itself; a channel joins two processes"
        elif line.to is not None and f"{line.process}->{line.to}" not in names:
            yield f"{where}.to: there is no channel {line.process}->{line.to} in this topology"
        for label in (line.label, line.receive_label):
            if label in label_at:
                yield f"{where}: the name {label!r} is taken by script[{label_at[label]}]; every event needs its own"
            if label is not None:
                label_at[label] = number


def _initiations(scenario: Scenario) -> Iterator[str]:
    starts: dict[str, list[str]] = {}
    for number, start in enumerate(scenario.snapshots, start=1):
        where = f"snapshots[{number}]"
        if start.process not in scenario.processes:
            yield f"{where}.process: {start.process!r} is no process; {_known(scenario)}"
        if start.process in starts.setdefault(start.snapshot, []):
            yield f"{where}: {start.process} initiates {start.snapshot} twice; once is enough"
        starts[start.snapshot].append(start.process)
    edges = scenario.topology.edges(scenario.processes, scenario.seed)
    for snapshot, initiators in starts.items():
        for process in unreachable(scenario.processes, edges, initiators):
            by = " or ".join(initiators)
            yield f"snapshots: {snapshot} cannot reach {process} from {by}; add an initiator or a channel"


def _is_event(scenario: Scenario, label: str, labels: set[str]) -> bool:
    process, _, index = label.rpartition(".")
    return label in labels or (process in scenario.processes and index.isdigit() and int(index) > 0)


def _labels(scenario: Scenario) -> set[str]:
    return {label for line in scenario.script for label in (line.label, line.receive_label) if label}


def _circle(scenario: Scenario) -> Iterator[str]:
    """An event waits for `after`; a receive waits for its send. No event may wait for itself."""
    labels = _labels(scenario)
    waits: nx.DiGraph[str] = nx.DiGraph()
    entries = [(f"script[{n}]", line.after) for n, line in enumerate(scenario.script, start=1)]
    entries += [(f"snapshots[{n}]", start.after) for n, start in enumerate(scenario.snapshots, start=1)]
    for where, after in entries:
        if after is not None and not _is_event(scenario, after, labels):
            yield f'{where}.after: there is no event {after!r}; name one of the script, or one such as "P1.3"'
    for number, line in enumerate(scenario.script, start=1):
        own = line.label or f"script[{number}]"
        if line.after is not None:
            waits.add_edge(own, line.after)
        if line.receive_label is not None:
            waits.add_edge(line.receive_label, own)
    if not nx.is_directed_acyclic_graph(waits):
        circle = " waits for ".join([edge[0] for edge in nx.find_cycle(waits)] + [nx.find_cycle(waits)[0][0]])
        yield f"script: events wait for each other in a circle: {circle}; let one of them happen at a time"


def _delays(scenario: Scenario) -> Iterator[str]:
    names = {channel.name for channel in scenario.channels}
    labels = _labels(scenario)
    snapshots = {start.snapshot for start in scenario.snapshots}
    for address in scenario.delays:
        if address.label is not None:
            if not _is_event(scenario, address.label, labels):
                yield f"delays: there is no event {address.label!r}; a delay names the label of a send"
        elif address.channel not in names:
            yield f"delays: {address.channel!r} is no channel of this topology; write it as P1->P2"
        elif address.kind == MARKER and address.snapshot not in snapshots:
            known = ", ".join(sorted(snapshots)) or "none"
            yield f"delays: no snapshot is called {address.snapshot!r}; there are {known}"


def _workload(scenario: Scenario) -> Iterator[str]:
    for name, setting in scenario.parameters.items():
        spec = WORKLOADS[scenario.workload].parameters[name]
        if isinstance(setting, dict) and spec.kind in ("per_process", "table"):
            for process in setting:
                if process not in scenario.processes:
                    yield f"workload.{name}: {process!r} is no process; {_known(scenario)}"
    workload = WORKLOADS[scenario.workload](scenario.processes, scenario.seed, **scenario.parameters)
    for number, line in enumerate(scenario.script, start=1):
        if line.to is not None:
            try:
                workload.check_body(line.body)
            except Refused as reason:
                yield f"script[{number}].body: {reason}"


def _cuts(scenario: Scenario) -> Iterator[str]:
    for number, cut in enumerate(scenario.cuts, start=1):
        for process in cut.frontier:
            if process not in scenario.processes:
                yield f"cuts[{number}].frontier: {process!r} is no process; {_known(scenario)}"
