"""Random valid scenarios and edits."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from sim.core.algorithm import ALGORITHMS
from sim.core.delays import DelayRule
from sim.core.errors import InputError
from sim.core.model import APP, MARKER, MessageReference
from sim.core.topology import EVERY_CHANNEL, Edge, Topology, unreachable
from sim.document.scenario import Initiation, Scenario, SchedulerChoice, ScriptLine
from sim.document.validate import validate
from sim.edit.edits import apply_edit
from sim.explain.choices import all_choices
from sim.run.execution import Execution
from sim.run.references import references
from sim.run.stored import holdings
from sim.services.settings import PARAMETERS, STORAGE

NAMES = ("P1", "P2", "P10", "Zoë", "Q")  # string order is not listed order, and not all is ASCII
TIMES = st.integers(0, 40).map(float)  # whole, so that ties are common
BODIES = st.none() | st.integers(-3, 3) | st.text('aß"\n\\', max_size=3)


@st.composite
def scenarios(draw: Any, schedulers: tuple[str, ...] = ("timed", "tick", "random"), holds: bool = True) -> Scenario:
    """A scenario of 2 to 5 processes with up to three snapshots, on any of three workloads."""
    processes = NAMES[: draw(st.integers(2, len(NAMES)))]
    snapshots = draw(initiations(processes))
    edges = draw(graphs(processes, snapshots))
    workload, parameters = draw(workloads(processes))
    scenario = Scenario(
        name="random",
        title="random",
        processes=processes,
        topology=Topology("listed", channels=edges),
        workload=workload,
        parameters=parameters,
        scheduler=SchedulerChoice(draw(st.sampled_from(schedulers))),
        seed=draw(st.integers(0, 2**32)),
        delay=draw(delay_rules()),
        marker_delay=draw(st.none() | delay_rules()),
        delays=draw(overrides(edges, snapshots, holds)),
        script=draw(scripts(processes, edges, workload)),
        snapshots=snapshots,
    )
    validate(scenario)
    return scenario


@st.composite
def initiations(draw: Any, processes: tuple[str, ...]) -> tuple[Initiation, ...]:
    """One to three snapshots, each with one or two initiators, at times that may coincide."""
    found = []
    for number in range(1, draw(st.integers(1, 3)) + 1):
        for process in draw(st.lists(st.sampled_from(processes), min_size=1, max_size=2, unique=True)):
            found.append(Initiation(f"S{number}", process, draw(TIMES)))
    return tuple(found)


@st.composite
def graphs(draw: Any, processes: tuple[str, ...], snapshots: tuple[Initiation, ...]) -> tuple[Edge, ...]:
    """Any channels, and those needed so that every snapshot reaches every process."""
    pairs = [(a, b) for a in processes for b in processes if a != b]
    edges: list[Edge] = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=8))
    for snapshot in dict.fromkeys(start.snapshot for start in snapshots):
        initiators = [start.process for start in snapshots if start.snapshot == snapshot]
        while missing := unreachable(processes, edges, initiators):
            edges.append((initiators[0], missing[0]))
    return tuple(edges)


@st.composite
def workloads(draw: Any, processes: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """A bank that can pay every scripted transfer, tokens that go round, or a bare script."""
    kind = draw(st.sampled_from(["bank", "token_ring", "scripted"]))
    if kind == "bank":
        return kind, {"balance": 1000, "transfers": draw(st.integers(0, 4)), "pace": 5.0, "largest": 20}
    if kind == "token_ring":
        tokens = draw(st.dictionaries(st.sampled_from(processes), st.integers(1, 3), min_size=1))
        return kind, {"tokens": tokens, "hold": draw(st.sampled_from([0.5, 3.0])), "rounds": draw(st.integers(0, 3))}
    return kind, {}


@st.composite
def scripts(draw: Any, processes: tuple[str, ...], edges: tuple[Edge, ...], workload: str) -> tuple[ScriptLine, ...]:
    """Sends and internal events at a time or after an earlier line's event; tokens are not sent by script."""
    lines: list[ScriptLine] = []
    for number in range(draw(st.integers(0, 8))):
        named = [line.label for line in lines if line.label]
        after = draw(st.none() | st.sampled_from(named)) if named else None
        names = {"label": f"L{number}"} if draw(st.booleans()) else {}
        at = draw(TIMES)
        if edges and workload != "token_ring" and draw(st.booleans()):
            source, target = draw(st.sampled_from(edges))
            body = draw(st.integers(1, 30)) if workload == "bank" else draw(BODIES)
            lines.append(ScriptLine(source, at, after, target, body, **names))
        else:
            lines.append(ScriptLine(draw(st.sampled_from(processes)), at, after, **names))
    return tuple(lines)


def delay_rules() -> st.SearchStrategy[DelayRule]:
    """Any rule but "listed"."""
    low = st.integers(0, 5).map(float)
    ranges = st.tuples(st.sampled_from(["uniform", "whole"]), low, st.integers(5, 15).map(float))
    same = st.tuples(st.sampled_from(["fixed", "exponential"]), low)
    return ranges.map(lambda given: DelayRule(*given)) | same.map(lambda given: DelayRule(given[0], given[1], given[1]))


@st.composite
def overrides(
    draw: Any, edges: tuple[Edge, ...], snapshots: tuple[Initiation, ...], holds: bool
) -> dict[MessageReference, float]:
    """Delays of single messages and markers, which the run may or may not send; some are held."""
    if not edges:
        return {}
    delay = st.integers(0, 60).map(float)
    ids = [start.snapshot for start in snapshots]
    channel = st.sampled_from(edges).map(lambda edge: f"{edge[0]}->{edge[1]}")
    apps = st.builds(MessageReference, st.none(), channel, st.just(APP), st.none(), st.integers(1, 3))
    markers = st.builds(MessageReference, st.none(), channel, st.just(MARKER), st.sampled_from(ids), st.just(1))
    chosen: dict[MessageReference, float] = draw(
        st.dictionaries(apps | markers, delay | st.just(math.inf) if holds else delay, max_size=4)
    )
    return chosen


def has_holds(scenario: Scenario) -> bool:
    """Whether some message may never arrive."""
    return math.inf in scenario.delays.values()


# --------------------------------------------------------------------------- edits


@st.composite
def edits(draw: Any, execution: Execution) -> tuple[dict[str, Any], float]:
    """An edit that a person could make while looking at a run, and the time they look at."""
    scenario = execution.scenario
    kinds = ["internal", "snapshot", "manual", "algorithm"]
    kinds += ["fifo", "capacity"] if scenario.channels else []
    kinds += ["parameter"] if scenario.rules.parameters else []
    kinds += ["coordinator"] if scenario.rules.allows_coordinator else []
    kinds += [] if scenario.scheduler.kind == "tick" else ["storage"]
    kinds += ["recovery"] if scenario.rules.allows_recovery and scenario.scheduler.kind != "tick" else []
    kinds += ["roll_back"] if scenario.has_storage and goals_of(execution) else []
    kinds += ["send"] if scenario.channels and scenario.workload != "token_ring" else []
    kinds += ["hold", "release"] if execution.flights else []
    kinds += ["delay"] if execution.flights and scenario.scheduler.has_time else []
    kinds += ["change", "delete"] if execution.engine.agenda else []
    kinds += ["choose"] if scenario.scheduler.kind == "manual" else []
    do = draw(st.sampled_from(kinds))
    return {"do": do, **draw(_details(do, execution))}, draw(TIMES)


@st.composite
def _details(draw: Any, do: str, execution: Execution) -> dict[str, Any]:
    """The other keys of an edit."""
    scenario = execution.scenario
    process = st.sampled_from(scenario.processes)
    if do in ("delay", "hold", "release"):
        message = draw(st.sampled_from(references(execution)))._asdict()
        return {"message": message, **({"delay": draw(TIMES)} if do == "delay" else {})}
    if do in ("change", "delete"):
        item = draw(st.sampled_from(items(scenario)))
        changes = {"at": draw(TIMES)} if draw(st.booleans()) else {"process": draw(process)}
        return {"item": item, **(changes if do == "change" else {})}
    if do == "algorithm":
        return {"kind": draw(st.sampled_from([*ALGORITHMS]))}
    if do == "parameter":
        name = draw(st.sampled_from([*scenario.rules.parameters]))
        kind = scenario.rules.parameters[name].kind
        values = {"flag": st.booleans(), "number": TIMES, "whole": st.integers(1, 4)}
        return {"name": name, **({"value": draw(values[kind])} if kind in values else {})}
    if do == "coordinator":
        if scenario.coordinator is None or draw(st.booleans()):
            return {"on": draw(st.booleans())}
        name = draw(
            st.sampled_from(["timeout", "retries", "minimum_pause", "most_concurrent", "retained", "most_held"])
        )
        values = {"number": TIMES, "whole": st.integers(1, 4)}
        return {"name": name, "value": draw(values[PARAMETERS[name].kind])}
    if do == "storage":
        return draw(_of_storage(scenario))
    if do == "recovery":
        return draw(_of_recovery(scenario))
    if do == "roll_back":
        return {"to": draw(st.sampled_from(goals_of(execution))), "at": draw(TIMES)}
    if do == "fifo":
        return {"channel": draw(st.sampled_from(scenario.channels)).name, "fifo": draw(st.booleans())}
    if do == "capacity":
        name = draw(st.sampled_from([EVERY_CHANNEL, *(own.name for own in scenario.channels)]))
        return {"channel": name, "capacity": draw(st.none() | st.integers(1, 3))}
    if do in ("manual", "choose"):
        after = draw(st.integers(0, execution.steps))
        if do == "manual":
            return {"after": after}
        (enabled,) = all_choices(execution, after, after)
        return {"after": after, "choice": draw(st.sampled_from(enabled)).choice if enabled else "nothing"}
    at = {"at": draw(TIMES)} if draw(st.booleans()) else {}
    if do == "send":
        channel = draw(st.sampled_from(scenario.channels))
        body = draw(st.integers(1, 5)) if scenario.workload == "bank" else draw(st.sampled_from(["", "text"]))
        return {"process": channel.source_name, "to": channel.target_name, "body": body, **at}
    return {"process": draw(process), **at}


@st.composite
def _of_storage(draw: Any, scenario: Scenario) -> dict[str, Any]:
    if not scenario.has_storage or draw(st.booleans()):
        return {"on": draw(st.booleans()) or not scenario.has_storage}
    name = draw(st.sampled_from([*STORAGE]))
    values = {"flag": st.booleans(), "number": st.integers(1, 20).map(float), "whole": st.integers(1, 4)}
    return {"name": name, **draw(st.just({}) | values[STORAGE[name].kind].map(lambda value: {"value": value}))}


@st.composite
def _of_recovery(draw: Any, scenario: Scenario) -> dict[str, Any]:
    if draw(st.booleans()):
        return {"on": draw(st.booleans())}
    values: dict[str, Any] = {"on": st.sampled_from(["crash", ""]), "at": st.lists(TIMES, max_size=2)}
    if scenario.recovery is not None:
        values |= {"detect": TIMES, "channels": st.just(True), "fence": st.just(True)}
    name = draw(st.sampled_from([*values]))
    return {"name": name, "value": draw(values[name])}


def goals_of(execution: Execution) -> list[str]:
    """The snapshots that a run can go back to at some step."""
    return [*dict.fromkeys(name for own in holdings(execution) for name in own.rollbacks)]


def items(scenario: Scenario) -> list[dict[str, int]]:
    """All items of the scenario, as edits name them."""
    lines = [{"script": place} for place in range(len(scenario.script))]
    return [*lines, *({"snapshots": place} for place in range(len(scenario.snapshots)))]


@st.composite
def edited(draw: Any, execution: Execution, most: int = 5) -> list[tuple[dict[str, Any], float, Execution]]:
    """Successive edits that are not refused, each with the time looked at and the edited run."""
    found: list[tuple[dict[str, Any], float, Execution]] = []
    for _ in range(draw(st.integers(1, most))):
        edit, now = draw(edits(execution))
        try:
            execution = apply_edit(execution, edit, now)
        except InputError:
            continue
        found.append((edit, now, execution))
    return found
