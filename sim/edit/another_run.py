"""Another run of the same kind and size, drawn at random: a pure function of a run, a round and a number.

Processes, channels, algorithm and workload stay, and so do the numbers of messages and events of the script. The times
and processes of events, the delays of messages, and the starts of snapshots are drawn anew. If messages have bodies, or
events wait for each other, senders, receivers and bodies stay, and only the times are drawn. Each draw is tried: a run
counts if all its snapshots complete. It is worth a question if they find a message in a channel.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, TypeVar

from sim.core import randomness
from sim.core.algorithm import ALL
from sim.core.delays import DelayRule
from sim.core.errors import InputError
from sim.core.model import APP, CONTROL, MARKER, THAWED
from sim.document.scenario import Initiation, Scenario, SchedulerChoice, ScriptLine
from sim.document.validate import may_initiate, validate
from sim.run.execution import Execution, run
from sim.run.snapshots import COMPLETE, Snapshot, snapshots_of

MOST_TRIES = 60
MOST_TRIED = 4_000  # steps of all runs that are tried
CLEAR = 0.015  # of the time of a run: so far apart lie what happens at a process, for the eye to tell what comes first
MOST_CLEAR = 10  # processes; beyond that a diagram is a texture
ABOUT = 0.25  # how many more or fewer events are still about as many, as a share
SUFFIX = ", another run"
STORY = """
This run was drawn at random. It has the processes, channels and rules of "{title}", and about as many messages. The
times of events, the delays of messages and the starts of snapshots are new.
"""

Item = TypeVar("Item")


class Draws:
    """Random draws, one after the other."""

    def __init__(self, *names: str) -> None:
        self.key = randomness.key(0, "another run", *names)
        self.ordinal = 0

    def unit(self) -> float:
        """Uniform in [0, 1)."""
        self.ordinal += 1
        return randomness.unit(self.key, self.ordinal)

    def one_of(self, items: Sequence[Item]) -> Item:
        """One of the items."""
        return items[int(self.unit() * len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """The items in another order."""
        return [item for _, item in sorted(((self.unit(), n), item) for n, item in enumerate(items))]


class Worth(NamedTuple):
    """The findings that a run offers, the most important first: of two runs the greater is the better one.

    A message is recorded in a channel; a channel that carried messages is empty; some processes record between two of
    their events; and the steps of each process lie apart.
    """

    has_recorded: bool
    has_empty: bool
    is_split: bool
    is_clear: bool


def another_run(execution: Execution, number: int, of_round: str = "") -> Scenario:
    """Run `number` (of a class's round) of the kind and size of `execution`. Raises InputError if none completes."""
    if not execution.scenario.snapshots:
        raise InputError("there is no snapshot in this run; start one before you ask for another run")
    best: tuple[Worth, Scenario] | None = None
    tried = 0
    for attempt in range(MOST_TRIES):
        drawn = _tried(execution, Draws(of_round, str(number), str(attempt)))
        if drawn is None:
            continue
        worth, tried = _worth(drawn), tried + drawn.steps
        if best is None or worth > best[0]:
            best = worth, drawn.scenario
        if all(worth) or tried > MOST_TRIED:
            break
    if best is None:
        raise InputError("no run drawn like this one completes its snapshots; open another scenario")
    return best[1]


def _tried(execution: Execution, draws: Draws) -> Execution | None:
    """The run of one draw (None: it is impossible, of another size, or does not complete)."""
    drawn = _drawn(execution, draws)
    try:
        validate(drawn)
        found = run(drawn, most_steps=2 * execution.steps + 100)
    except InputError:
        return None
    before, after = (sum(map(len, own.history.of.values())) for own in (execution, found))
    done = [{own.id for own in snapshots_of(one) if own.status == COMPLETE} for one in (execution, found)]
    is_complete = (done[0] or {own.id for own in snapshots_of(found)}) <= done[1]
    if not is_complete or abs(after - before) > max(1, ABOUT * before):
        return None
    return run(_named(found))


def _drawn(execution: Execution, draws: Draws) -> Scenario:
    scenario = execution.scenario
    edges = tuple((channel.source_name, channel.target_name) for channel in scenario.channels)
    title = scenario.title.removesuffix(SUFFIX)
    has_time = scenario.scheduler.has_time
    return replace(
        scenario,
        title=title + SUFFIX,
        story=STORY.format(title=title),
        topology=replace(scenario.topology, kind="listed", extra=0, channels=edges),
        scheduler=SchedulerChoice("random") if scenario.scheduler.kind == "manual" else scenario.scheduler,
        seed=int(draws.unit() * 2**32),
        delay=_delays(execution, APP, scenario.delay) if has_time else scenario.delay,
        marker_delay=_delays(execution, MARKER, scenario.marker_delay or scenario.delay) if has_time else None,
        control_delay=_delays(execution, CONTROL, scenario.control_delay) if has_time else scenario.control_delay,
        delays={},
        script=_script(scenario, edges, draws),
        snapshots=_snapshots(execution, draws),
        faults=tuple(own for own in scenario.faults if own.message is None),  # the messages are others
        cuts=(),
        expect={},
    )


# --------------------------------------------------------------------------- what is drawn


def _delays(execution: Execution, kind: str, rule: DelayRule) -> DelayRule:
    """The delays of messages of one kind: by the rule if it draws, else between the shortest and the longest one."""
    if rule.kind in ("uniform", "whole", "exponential") and not execution.scenario.delays:
        return rule
    thaws = [(event.process, event.time) for event in execution.events if event.kind == THAWED]
    took = [
        flight.receive.time - flight.send.time
        for flight in execution.flights
        if flight.kind == kind
        and flight.receive
        # what waits for a process to be thawed says nothing of how long messages travel
        and not any(flight.receive.process == who and flight.send.time < at <= flight.receive.time for who, at in thaws)
    ]
    if not took:
        return rule
    low, high = min(took), max(took)
    if high - low < ABOUT * high:
        low, high = 0.5 * low, 1.5 * high
    if high >= 10 and all(time.is_integer() for time in took):
        return DelayRule("whole", float(round(low)), float(round(high)))
    return DelayRule("uniform", low, high)


def _script(scenario: Scenario, edges: Sequence[tuple[str, str]], draws: Draws) -> tuple[ScriptLine, ...]:
    """The lines at other times; by other processes if they have no bodies and wait for nothing."""
    script = scenario.script
    is_free = all(line.body is None and line.after is None for line in script)
    times = iter(_times([line.at for line in script if line.after is None], draws))
    found = []
    for line in script:
        own = replace(line, where="")
        own = replace(own, at=line.at * (0.5 + draws.unit()) if line.after else next(times))
        if is_free and line.to is None:
            own = replace(own, process=draws.one_of(scenario.processes))
        elif is_free:
            process, to = draws.one_of(edges)
            own = replace(own, process=process, to=to)
        if not any(line.after for line in script):
            own = replace(own, label=None, receive_label=None)
        found.append(own)
    return tuple(found)


def _times(times: Sequence[float], draws: Draws) -> list[float]:
    """As many times in the same range, in any order, a little apart."""
    if not times:
        return []
    low, high = min(times), max(times)
    room = (high - low) / len(times)
    drawn = [low + room * (rank + 0.2 + 0.6 * draws.unit()) for rank in range(len(times))]
    return draws.shuffled([_like(time, times, room) for time in drawn])


def _like(time: float, times: Sequence[float], room: float) -> float:
    """A time as round as the given ones, if there is room for that."""
    return float(round(time)) if room >= 5 and all(float(known).is_integer() for known in times) else round(time, 3)


def _snapshots(execution: Execution, draws: Draws) -> tuple[Initiation, ...]:
    """The same snapshots, each started by as many processes, in the first half of the run."""
    scenario = execution.scenario
    able = may_initiate(scenario)
    is_all = scenario.rules.initiators == ALL
    times = [event.time for own in execution.history.of.values() for event in own] or [0.0, 1.0]
    low, high = min(times), max(times)
    left = {start.snapshot: draws.shuffled(able) for start in scenario.snapshots}
    found = []
    for start in scenario.snapshots:
        process = start.process if is_all or not left[start.snapshot] else left[start.snapshot].pop()
        at = _like(low + (high - low) * (0.1 + 0.5 * draws.unit()), times, high - low)
        found.append(Initiation(start.snapshot, process, at, type=start.type))
    return tuple(found)


# --------------------------------------------------------------------------- what is found


def _named(execution: Execution) -> Scenario:
    """The scenario with letters for its events, process by process, if it has a script and letters suffice."""
    scenario = execution.scenario
    own = execution.history.of
    total = sum(map(len, own.values()))
    if any(line.after for line in scenario.script) or not scenario.script or total > len(string.ascii_uppercase):
        return scenario
    letters = iter(string.ascii_uppercase)
    letter = {event.row: next(letters) for process in scenario.processes for event in own[process]}
    received = {f.send.row: letter[f.receive.row] for f in execution.flights if f.receive and f.receive.row in letter}
    first = {event.step: event.row for events in own.values() for event in events}
    rows = [first.get(execution.step_of_item.get(number, 0)) for number in range(len(scenario.script))]
    lines = [
        replace(line, label=letter[row], receive_label=received.get(row)) if row is not None else line
        for line, row in zip(scenario.script, rows, strict=True)
    ]
    return replace(scenario, script=tuple(lines))


def _worth(execution: Execution) -> Worth:
    snapshots = snapshots_of(execution)
    carried = {flight.channel.name for flight in execution.flights if flight.kind == APP}
    return Worth(
        has_recorded=all(snapshot.recorded_messages for snapshot in snapshots),
        has_empty=all(any(not snapshot.recorded_in(name) for name in carried) for snapshot in snapshots),
        is_split=all(_is_split(execution, snapshot) for snapshot in snapshots),
        is_clear=_is_clear(execution),
    )


def _is_clear(execution: Execution) -> bool:
    """Whether the steps of each process lie apart."""
    if len(execution.scenario.processes) > MOST_CLEAR:
        return True
    times: dict[str, dict[int, float]] = {}
    for event in execution.events:
        times.setdefault(event.process, {})[event.step] = event.time
    least = CLEAR * (execution.times[-1] - min(execution.times[1:], default=0.0))
    return all(after - before >= least for own in times.values() for before, after in pairwise(own.values()))


def _is_split(execution: Execution, snapshot: Snapshot) -> bool:
    """Whether at least two processes record between two of their events."""
    own = execution.history.of
    return sum(0 < snapshot.frontier.get(process, 0) < len(own[process]) for process in own) >= min(2, len(own))
