"""What a cluster of real processes writes down of cuts is what the reference says, where any features meet.

A system that is drawn runs in processes of the operating system. Its logs become an event table, its audit, cuts for an
audit, a segment for the page, and a scenario that replays the run; its store holds what was recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import NodeStatus, Snapshot, Status
from cluster.node.system import live as as_live
from cluster.replay.audit import audit
from cluster.replay.event_table import cut_columns
from cluster.replay.following import Follower
from cluster.replay.scenario import NotReplayable, table
from cluster.replay.segment import segment
from cluster.start.wanted import Wanted
from cluster.store.registry import Registry
from sim.core.errors import InputError
from sim.core.log import to_json
from sim.core.model import COMMITTED, Event
from sim.document.files import parse_toml
from sim.document.scenario import Scenario
from sim.run.as_of import as_of
from sim.run.execution import run
from sim.run.snapshots import COMPLETE, snapshots_of
from tests.cluster.live import started, told_again
from tests.reference.generator import END, Drawn, drawn, executions
from tests.reference.test_cuts import some
from tests.reference.test_verdicts import differences
from tests.reference.verdicts import Judged
from tests.tools import check_none
from tests.waiting import carried_out, comes

UNIT = 0.02  # seconds of a time unit
REST = 20  # time units that a run has for what the plan leaves open
AT_ONCE = 3  # clusters
AT_ONCE_DONE = """
processes = 2
storage = {}
snapshots = [{ id = "S1", process = "P1", at = 1 }]
"""
JUDGED = ("consistency", "channel_states", "conservation")


@dataclass
class Ran:
    """What a cluster has left behind. `stored` holds, by snapshot, what its store has of it."""

    scenario: Scenario
    logs: Path
    supervisor: Supervisor
    table: list[Event]
    registry: dict[str, Snapshot]
    stored: dict[str, Mapping[str, Any]]


def accepted(first: int) -> Iterator[Scenario]:
    """The drawn systems from a number on that a cluster runs."""
    return (own.scenario for own in executions(first, 10**9) if is_accepted(own.scenario))


def is_accepted(scenario: Scenario) -> bool:
    """Whether a cluster runs a scenario."""
    with suppress(InputError):
        as_live(scenario, UNIT)
        return True
    return False


async def _ran(scenario: Scenario, folder: Path) -> Ran:
    """Run a scenario in a cluster until nothing more is planned, and its snapshots have ended or had time for that."""
    wanted = Wanted(scenario, folder, UNIT)
    async with started(wanted) as supervisor:
        own = supervisor.system.scenario
        last = max([float(END), *(line.at for line in own.faults)])

        def is_over() -> bool:
            now, listed = supervisor.services.site.now, supervisor.snapshots(None, 100, None)
            if any(node.status is NodeStatus.STARTING for node in supervisor.nodes()):
                return False
            began = {start.snapshot for start in own.snapshots} <= {one.id for one in listed}
            return now > last + REST or (now > last + 1 and began and all(one.status.is_final for one in listed))

        await comes(is_over, f"the end of {scenario.name}")
    supervisor.store.registry = Registry.open_folder(folder)
    try:
        registry = {one.id: one for one in supervisor.snapshots(None, 100, None)}
        stored = {name: supervisor.contents(name) for name, one in registry.items() if one.is_kept}
    finally:
        supervisor.store.registry.close()
    return Ran(own, supervisor.logs, supervisor, table(supervisor.logs), registry, stored)


def ran(scenarios: list[Scenario], folder: Path) -> list[Ran]:
    """The runs of scenarios, some at a time."""

    async def all_of() -> list[Ran]:
        free = asyncio.Semaphore(AT_ONCE)

        async def one(scenario: Scenario) -> Ran:
            async with free:
                return await _ran(scenario, folder / scenario.name)

        return await asyncio.gather(*map(one, scenarios))

    return carried_out(all_of())


def problems(own: Ran) -> Iterator[str]:
    """What the cluster says of cuts that the reference does not say."""
    scenario = own.scenario
    with suppress(NotReplayable):  # processes have joined or left
        execution = told_again(own.logs)
        scenario = execution.scenario
        yield from (f"replayed, {problem}" for problem in differences(execution))
    judged = judged_in(own.table, scenario)
    yield from of_table(own.table, scenario)
    yield from _stored(own, judged)
    yield from _stretched(own, judged)


def of_table(rows: list[Event], scenario: Scenario) -> Iterator[str]:
    """What the audit and the cuts for the pipeline's say of a table that the reference does not say."""
    judged = judged_in(rows, scenario)
    # The audit is of the same members all along, and a cluster loses nothing for good.
    if not scenario.absent and not any(row.kind in ("leave", "lost") for row in rows):
        yield from _audit(rows, scenario, judged)
    yield from _listed(rows, judged, scenario)


def cuts_of_table(rows: list[Event], scenario: Scenario) -> Iterator[str]:
    """The same of the cuts alone."""
    return _listed(rows, judged_in(rows, scenario), scenario)


def judged_in(rows: list[Event], scenario: Scenario) -> dict[str, Judged]:
    """The snapshots of a table, by id."""
    names = dict.fromkeys(row.snapshot_id for row in rows if row.snapshot_id is not None)
    return {name: Judged(scenario, rows, name) for name in names}


def _audit(rows: list[Event], scenario: Scenario, judged: Mapping[str, Judged]) -> Iterator[str]:
    told = {one.id: one for one in audit(rows, scenario).snapshots}
    for name, right in judged.items():
        if name not in told:
            if right.parts:
                yield f"{name} is in no audit"
            continue
        one, verdicts = told[name], right.verdicts()
        if one.status != right.status:
            yield f"{name} is {one.status} in the audit, not {right.status}"
        holds = all(verdicts[check] is not False for check in JUDGED if check in right.algorithm.checks)
        if right.status == COMPLETE and holds == bool(one.problems):
            yield f"{name}: {one.problems} in the audit, not {verdicts}"
        kept = sum(len(right.recorded(channel)) for channel in right.channels)
        if right.status == COMPLETE and one.messages != kept:
            yield f"{name}: {one.messages} messages in the audit, not {kept}"


def _stored(own: Ran, judged: Mapping[str, Judged]) -> Iterator[str]:
    """A snapshot that the registry calls completed is complete, and what is stored is what was recorded."""
    written = {row.snapshot_id for row in own.table if row.kind == COMMITTED}
    for name, row in own.registry.items():
        right = judged[name]
        if (row.status is Status.COMPLETED) != (name in written):
            yield f"{name} is {row.status}, and its manifest is {'' if name in written else 'not '}written"
        if row.status is Status.COMPLETED and right.status != COMPLETE:
            yield f"{name} is {row.status}, and {right.status}"
        if row.status is Status.COMPLETED and {*row.nodes} != {*right.members}:
            yield f"{name} is of {row.nodes}, not of {right.members}"
        if name in own.stored:
            yield from (f"{name}: {problem}" for problem in _contents(own.stored[name], right))


def _contents(stored: Mapping[str, Any], right: Judged) -> Iterator[str]:
    states = {process: to_json(part["state"]) for process, part in stored["processes"].items()}
    wanted = {process: to_json(right._state(process)) for process in right.parts}
    if states != wanted:
        yield f"{states} is stored, not {wanted}"
    recorded = {name: right.recorded(name) for name in right.channels}
    held = {name: [*map(to_json, stored["channels"].get(name, ()))] for name in recorded}
    if {name: right.meaning.ordered(name, own) for name, own in held.items()} != recorded:
        yield f"{held} is stored, not {recorded}"


def _listed(rows: list[Event], judged: Mapping[str, Judged], scenario: Scenario) -> Iterator[str]:
    """The cuts for an audit are those of the snapshots that all members have recorded, and consistent if they are."""
    found: dict[str, dict[str, int]] = {}
    columns = cut_columns(rows, scenario)
    for name, process, index in zip(columns["cut_id"], columns["process"], columns["index"], strict=True):
        found.setdefault(str(name), {})[str(process)] = int(str(index))
    for name, right in judged.items():
        cut = {process: part[0].index or 0 for process, part in right.parts.items()}
        if right.status == COMPLETE and not cut.items() <= found.get(name, {}).items():
            yield f"{name} has the cut {found.get(name)}, not {cut}"
        if name in found and not {*found[name]} >= {*right.members}:
            yield f"{name} has the cut {found[name]}, without {right.members}"
        lost = [own for own in right.meaning.elements if own.kind == "loses" and own.process in right.members]
        is_plain = right.status == COMPLETE and not lost and not any(row.kind == "restore" for row in rows)
        if is_plain and (not _orphans(rows, found.get(name, {}))) != right._is_consistent():
            yield f"{name} has the cut {found.get(name)}, which is {'not ' * right._is_consistent()}consistent"


def _orphans(rows: list[Event], inside: Mapping[str, int]) -> list[Event]:
    """The receipts inside a cut of what is sent outside it."""
    receipts = (row for row in rows if row.kind == "receive" and (row.index or 0) <= inside.get(row.process, 0))
    return [row for row in receipts if (row.peer_index or 0) > inside.get((row.channel or "").partition("->")[0], 0)]


def _stretched(own: Ran, judged: Mapping[str, Judged]) -> Iterator[str]:
    """The whole run as a segment of it has the same snapshots."""
    follower = Follower(own.logs, own.supervisor.system)
    follower.look()
    whole = segment(follower, 0.0, follower.now, with_services=True, whole=True)
    for snapshot in snapshots_of(whole.execution):
        right = judged.get(snapshot.id)
        if right is None:
            continue  # it never began
        then = as_of(whole.execution, snapshot).snapshot
        if then.status != right.status:
            yield f"{snapshot.id} is {then.status} on the page, not {right.status}"
        held = {name: [to_json(one.body) for one in then.recorded_in(name)] for name in right.channels}
        if right.status == COMPLETE and {name: right.meaning.ordered(name, own) for name, own in held.items()} != {
            name: right.recorded(name) for name in right.channels
        }:
            yield f"{snapshot.id} has {held} in its channels on the page"


def of_systems(systems: Iterable[Drawn]) -> Iterator[str]:
    """The same of the runs of drawn systems under rules that a cluster may have; it runs some of them."""
    for own in systems:
        if own.execution is not None and own.scenario.rules.coordinated:
            rows, scenario = own.execution.table, own.scenario
            judge = of_table if is_accepted(scenario) else cuts_of_table
            yield from (f"{scenario.name}: {problem}" for problem in judge(rows, scenario))


@pytest.mark.slow
def test_audit_and_cuts_of_tables() -> None:
    check_none(of_systems([*some(), drawn(2867)]))  # in that one a process that takes no part has sent something


@pytest.mark.long("audit and cuts of the tables of 5,000 systems in which any features meet")
def test_audit_and_cuts_of_very_many_tables() -> None:
    check_none(of_systems(executions(3_000_000, 5_000)))


# What was wrong once: a snapshot that is complete and thrown away after that; a message that is fenced off while it is
# held. In the last one a process joins and leaves.
CHOSEN = (5_000_151, 5_009_632, 5_003_842)


def _awake(scenario: Scenario) -> Scenario:
    """The same without freezes, which a cluster takes by signals of the operating system only."""
    return replace(scenario, faults=tuple(own for own in scenario.faults if own.kind not in ("freeze", "thaw")))


@pytest.mark.slow
def test_what_a_cluster_says_of_cuts(tmp_path: Path) -> None:
    runs = ran([_awake(drawn(number).scenario) for number in CHOSEN], tmp_path)
    check_none(f"{own.scenario.name}: {problem}" for own in runs for problem in problems(own))


@pytest.mark.long("30 systems in which any features meet, each in processes of its own")
def test_what_clusters_say_of_cuts(tmp_path: Path) -> None:
    runs = ran([*islice(accepted(3_000_000), 30)], tmp_path)
    check_none(f"{own.scenario.name}: {problem}" for own in runs for problem in problems(own))


def test_no_snapshot_needs_an_event_or_a_manifest() -> None:
    """A snapshot that is complete before any process has done anything, of a run that ends before it is stored."""
    scenario = parse_toml(AT_ONCE_DONE, "at once")
    rows = [row for row in run(scenario).table if row.kind != COMMITTED]
    assert [(own.status, own.problems) for own in audit(rows, scenario).snapshots] == [(COMPLETE, ())]
    check_none(of_table(rows, scenario))
