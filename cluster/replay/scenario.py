"""A replay of a live run: its merged event logs as a scenario that the simulation carries out, choice by choice.

The scenario has the same processes, channels, rules and seed. Its order is that of the actions in the logs (sim's
scheduler "manual"). If the simulation comes to the same rows, times aside, the cluster has followed the rules. The
scenario opens in Explore like any other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from cluster.node.event_log import FREEZE, THAW, Entry, merged
from sim.core.engine import Engine
from sim.core.errors import InputError
from sim.core.log import Log
from sim.core.model import (
    CRASH,
    DOWN,
    Action,
    Deliver,
    Event,
    Fire,
    Freeze,
    Hear,
    Message,
    Recover,
    Restore,
    Start,
    State,
    Thaw,
)
from sim.core.scheduler import choice_name
from sim.document.files import read_toml
from sim.document.scenario import FaultLine, Initiation, Scenario, SchedulerChoice
from sim.run.execution import run

SCENARIO = "scenario.toml"  # beside the logs


class NotReplayable(InputError):
    """The error for a run that no scenario can replay."""


def table(folder: Path) -> list[Event]:
    """The event table of a run: the logs of `folder`, merged by Lamport's clock. Ids of messages count from 0."""
    return _log(merged(folder)).events()


def _log(entries: Sequence[Entry]) -> Log:
    """The entries as the log of a run, one step each."""
    log = Log()
    ids: dict[int, int] = {}
    for entry in entries:
        for row in entry.rows:
            number = row[5]
            if number is not None:
                number = ids.setdefault(number, len(ids))
            log.rows += (*row[:5], number, *row[6:])
        log.ends.append(len(log.rows))
        log.times.append(entry.time)
    return log


def replayed(folder: Path) -> Scenario:
    """The run of the logs in `folder` as a scenario. Raises NotReplayable."""
    entries = merged(folder)
    scenario = _prepared(read_toml((folder / SCENARIO).read_text("utf-8"), folder.parent.parent.name), entries)
    engine = scenario.engine()
    state, order = engine.initial(), []
    replay = _Replay(engine, state)
    for number, entry in enumerate(entries):
        action = replay.action(entry)
        if action is None:
            continue
        if not engine.is_enabled(state, action):
            what = f"line {number + 1} of the merged log, {entry.action}, is against the rules there"
            raise NotReplayable(f"{folder}: {what}")
        order.append(choice_name(engine, state, action))
        replay.carry_out(action, entry)
    return replace(scenario, scheduler=SchedulerChoice("manual", order=tuple(order)))


def check(folder: Path, scenario: Scenario) -> int:
    """Compare the run of the logs in `folder` with `scenario`, its replay. Returns the number of rows, equal in both.

    Raises NotReplayable if they differ in more than times: a node has not followed the rules, or a rule depends on more
    than its arguments.
    """
    ours, theirs = table(folder), run(scenario).table
    for number, (own, other) in enumerate(zip_longest(ours, theirs)):
        if own is None or other is None or own._replace(time=0.0) != other._replace(time=0.0):
            what = f"row {number} of the run is {_shown(own)}, but in the replay {_shown(other)}"
            raise NotReplayable(f"{folder}: {what}; a rule may depend on its arguments only")
    return len(ours)


def _shown(row: Event | None) -> str:
    """A row as JSON, without its empty columns."""
    if row is None:
        return "missing"
    said = {name: value for name, value in row._asdict().items() if name not in ("run_id", "row", "time")}
    return json.dumps({name: value for name, value in said.items() if value is not None}, default=str)


def _prepared(scenario: Scenario, entries: Sequence[Entry]) -> Scenario:
    """The scenario with everything that came from outside: requests for snapshots, faults and recoveries.

    It holds no message. The order says when each comes, and a message of one epoch may be fenced off in the next.
    """
    epochs = [entry.action[2] for entry in entries if entry.action[0] == "recover"]
    if epochs != [*range(1, len(epochs) + 1)]:
        raise NotReplayable("this run began in a later epoch, from the snapshot of another run; replay a first run")
    names = [*scenario.processes, *(service.name for service in scenario.rules.services)]
    at_of_item: dict[int, float] = {}
    starts, faults, at, goals = [], [], [], []
    for number, entry in enumerate(entries):
        kind, *about = entry.action
        when = float(number + 1)
        if kind == "item":
            at_of_item[about[0]] = when
        elif kind == "initiate":
            kind_of_it = about[1] if len(about) > 1 else None
            starts.append(Initiation(about[0], names[entry.actor], when, type=kind_of_it))
        elif kind == CRASH:
            faults.append(FaultLine("crash", about[0], at=when))
        elif kind in (FREEZE, THAW):
            faults.append(FaultLine(kind, names[entry.actor], at=when))
        elif kind in ("down", "up"):
            faults.append(FaultLine("sever" if kind == DOWN else "mend", channels=(about[0],), at=when))
        elif kind == "recover":
            at.append(when)
            goals.append(about[0] or "")
        elif kind in ("outside", "join", "leave"):
            what = f"in this run a user made a process {about[0] if about else kind}"
            raise NotReplayable(f"{what}, and no scenario can say that; replay a run without it")
    count = len(entries)
    script = tuple(
        line if line.after is not None else replace(line, at=at_of_item.get(number, count + 1.0 + number))
        for number, line in enumerate(scenario.script)
    )
    planned = tuple(
        own if own.after is not None else replace(own, at=at_of_item.get(len(script) + number, count + 1.0 + number))
        for number, own in enumerate(scenario.snapshots)
    )
    plan = scenario.recovery
    if plan is not None:
        # After a crash at the very end, no recovery has begun: the plan has one that the order does not reach.
        plan = replace(plan, on="", at=tuple(at) or (count + 1.0,), to=tuple(goals) or ("",))
    snapshots = (*planned, *starts)
    return replace(scenario, script=script, snapshots=snapshots, faults=tuple(faults), recovery=plan, delays={})


class _Replay:
    """Finds the action of each line in the current state of the simulation."""

    def __init__(self, engine: Engine, state: State) -> None:
        self._engine, self._state = engine, state
        self._channel_of = {channel.name: channel for channel in engine.channels}
        self._messages: dict[int, Message] = {}  # by their id in the cluster
        self._again: dict[tuple[int, int], Message] = {}  # put back by a recovery: by id in the simulation, and epoch
        self._taken: set[int] = set()  # agenda items

    def action(self, entry: Entry) -> Action | None:
        """The action of a line."""
        kind, *about = entry.action
        find: Callable[..., Action | None] = getattr(self, f"_{kind}")
        return find(entry, *about)

    def carry_out(self, action: Action, entry: Entry) -> None:
        """Carry out an action, and pair the messages that it sends with those of the cluster."""
        rows: list[Any] = []
        sent = self._engine.perform(self._state, action, rows)
        own = [message for message in sent if not message.is_again]
        theirs = [row[5] for row in entry.rows if row[2] in ("send", "marker_send", "control_send")]
        if len(own) != len(theirs):
            raise NotReplayable(f"{entry.action} sent {len(theirs)} messages, but {len(own)} in the replay")
        self._messages.update(zip(theirs, own, strict=True))
        self._again.update({(message.id, message.epoch): message for message in sent if message.is_again})

    def _turn(self, entry: Entry) -> Action | None:
        return self._engine.workload.turn(self._state.processes[entry.actor])

    def _item(self, entry: Entry, number: int) -> Action:
        return self._engine.agenda[number].action

    def _initiate(self, entry: Entry, snapshot: str, kind: str = "") -> Action:
        return self._planned(lambda action: getattr(action, "snapshot", None) == snapshot, entry.actor)

    def _crash(self, entry: Entry, process: str) -> Action:
        number = self._engine.number_of[process]
        return self._planned(lambda action: type(action).__name__ == "Crash" and action.process == number)

    def _freeze(self, entry: Entry) -> Action:
        return self._planned(lambda action: isinstance(action, Freeze) and action.process == entry.actor)

    def _thaw(self, entry: Entry) -> Action:
        return self._planned(lambda action: isinstance(action, Thaw) and action.process == entry.actor)

    def _down(self, entry: Entry, channel: str) -> Action:
        return self._planned(lambda own: type(own).__name__ == "Sever" and own.channels[0].name == channel)

    def _up(self, entry: Entry, channel: str) -> Action:
        return self._planned(lambda own: type(own).__name__ == "Mend" and own.channels[0].name == channel)

    def _planned(self, fits: Callable[[Any], bool], actor: int | None = None) -> Action:
        """The first item of the agenda that fits and was not taken before."""
        for item in self._engine.agenda:
            if item.number not in self._taken and fits(item.action) and actor in (None, item.process):
                self._taken.add(item.number)
                return item.action
        raise NotReplayable("the agenda has no such item")

    def _message(self, number: int, epoch: int, *, is_again: bool) -> Message:
        own = self._messages[number]
        return self._again[own.id, epoch] if is_again else own

    def _deliver(self, entry: Entry, channel: str, number: int, epoch: int, again: str = "") -> Action:
        return Deliver(self._message(number, epoch, is_again=bool(again)))

    def _control(self, entry: Entry, channel: str, number: int, epoch: int) -> Action:
        return Hear(self._messages[number])

    def _timer(self, entry: Entry, name: str) -> Action:
        key = entry.actor, name
        if key not in self._state.timers:
            raise NotReplayable(f"{self._engine.nodes[entry.actor]} has no timer {name!r} in the replay")
        return Fire(self._state.timers[key])

    def _start(self, entry: Entry, name: str) -> Action:
        return Start(self._engine.number_of[name])

    def _recover(self, entry: Entry, snapshot: str | None, epoch: int) -> Action:
        return Recover(self._state.recovery.planned)

    def _restore(self, entry: Entry, epoch: int) -> Action:
        return Restore(entry.actor)
