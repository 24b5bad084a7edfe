"""Every interleaving of tiny systems: all checks hold in each, and their number is right.

The expected numbers come from `count_by_hand`, a small model that is independent of the engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest

from sim.core.engine import Engine
from sim.core.log import Log
from sim.core.model import Deliver, Event, State
from sim.document.scenario import Initiation, Scenario, ScriptLine
from tests.cases import each
from tests.reference.verdicts import verdicts_from_table
from tests.sim.tools import send, system
from tests.tools import check_none


def executions(scenario: Scenario) -> Iterator[list[Event]]:
    """The event table of every complete execution of `scenario`, depth first. Times and delays are ignored."""
    engine = scenario.engine()

    def onwards(state: State, log: Log) -> Iterator[list[Event]]:
        enabled = engine.enabled(state)
        if not enabled:
            yield log.events()
        for action in enabled:
            successor, rows = engine.step(state, action)
            longer = Log()
            longer.rows, longer.times = [*log.rows, *rows], [*log.times, len(log.times) + 1.0]
            longer.ends = [*log.ends, len(longer.rows)]
            yield from onwards(successor, longer)

    return onwards(engine.initial(), Log())


def count_states(engine: Engine) -> int:
    """The number of different reachable states."""
    seen: set[Any] = set()
    waiting = [engine.initial()]
    while waiting:
        state = waiting.pop()
        key = key_of(state)
        if key not in seen:
            seen.add(key)
            waiting += [engine.step(state, action)[0] for action in engine.enabled(state)]
    return len(seen)


def key_of(state: State) -> Any:
    """Equal for states that differ at most in message ids."""
    processes = tuple(
        (
            p.index,
            p.position,
            repr(p.state),
            tuple(sorted((name, s.inside, s.done, content(s.kept)) for name, s in p.snapshots.items())),
            tuple(sorted((name, channel.name) for name, s in p.snapshots.items() for channel in s.closed)),
            tuple(sorted((channel.name, names) for channel, names in p.listening.items())),
        )
        for p in state.processes
    )
    queues = tuple(tuple((m.kind, m.snapshot, m.sent_index) for m in queue) for queue in state.queues)
    return processes, queues, state.happened, state.waiting


def content(kept: Any) -> Any:
    return tuple(sorted((getattr(key, "name", key), tuple(m.sent_index for m in kept[key])) for key in kept))


# --------------------------------------------------------------------------- counted by hand


Channels = tuple[tuple[int, int], ...]


class Hand(NamedTuple):
    """A state of the small model.

    `plans` holds the remaining actions of each process: ("to", channel), ("in",) or ("start", snapshot). `counts`
    holds the number of its events so far. `queues` holds the content of each channel: for a message the index of its
    send, for a marker the name of its snapshot. `cut` holds (process, snapshot, events inside), and `kept` (channel,
    snapshot, messages, still open).
    """

    plans: tuple[tuple[Any, ...], ...]
    counts: tuple[int, ...]
    queues: tuple[tuple[int | str, ...], ...]
    cut: frozenset[tuple[int, str, int]] = frozenset()
    kept: frozenset[tuple[int, str, tuple[int, ...], bool]] = frozenset()


def successors(now: Hand, channels: Channels) -> Iterator[Hand]:
    """The next states: any process takes its next action, or any channel delivers its oldest message."""
    for process, plan in enumerate(now.plans):
        if plan:
            yield act(now._replace(plans=changed(now.plans, process, plan[1:])), process, plan[0], channels)
    for number, queue in enumerate(now.queues):
        if queue:
            yield deliver(now._replace(queues=changed(now.queues, number, queue[1:])), number, queue[0], channels)


def act(now: Hand, process: int, action: Any, channels: Channels) -> Hand:
    if action[0] == "start":
        return record(now, process, action[1], channels)
    count = now.counts[process] + 1
    now = now._replace(counts=changed(now.counts, process, count))
    return put(now, action[1], count) if action[0] == "to" else now


def record(now: Hand, process: int, snapshot: str, channels: Channels) -> Hand:
    """Record the count, send a marker on every outgoing channel, open every incoming one; once per snapshot."""
    if any((who, name) == (process, snapshot) for who, name, _ in now.cut):
        return now
    now = now._replace(cut=now.cut | {(process, snapshot, now.counts[process])})
    for number, (source, target) in enumerate(channels):
        if source == process:
            now = put(now, number, snapshot)
        if target == process:
            now = now._replace(kept=now.kept | {(number, snapshot, (), True)})
    return now


def deliver(now: Hand, number: int, message: int | str, channels: Channels) -> Hand:
    """A marker makes its receiver record and closes the channel; a message is kept if its channel is open."""
    target = channels[number][1]
    if isinstance(message, str):
        now = record(now, target, message, channels)
        kept = {k if k[:2] != (number, message) else (*k[:3], False) for k in now.kept}
        return now._replace(kept=frozenset(kept))
    kept = {(c, name, (*had, message) if opened and c == number else had, opened) for c, name, had, opened in now.kept}
    return now._replace(counts=changed(now.counts, target, now.counts[target] + 1), kept=frozenset(kept))


def put(now: Hand, number: int, message: int | str) -> Hand:
    return now._replace(queues=changed(now.queues, number, (*now.queues[number], message)))


def changed(values: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    return (*values[:place], value, *values[place + 1 :])


def count_by_hand(plans: tuple[tuple[Any, ...], ...], channels: Channels) -> tuple[int, int]:
    """The number of complete executions, and of states."""

    @cache
    def ways(now: Hand) -> int:
        after = [ways(following) for following in successors(now, channels)]
        return sum(after) if after else 1

    executions = ways(Hand(plans, (0,) * len(plans), ((),) * len(channels)))
    return executions, ways.cache_info().currsize


# --------------------------------------------------------------------------- the systems


class System(NamedTuple):
    """A scenario, its model for `count_by_hand`, and the numbers of executions and states."""

    scenario: Scenario
    plans: tuple[tuple[Any, ...], ...]
    channels: Channels
    executions: int
    states: int


def transfers(*lines: ScriptLine, snapshots: tuple[Initiation, ...], processes: str, channels: str) -> Scenario:
    return system(processes, channels, workload="bank", script=lines, snapshots=snapshots)


PAIR, PAIR_CHANNELS = "P1->P2 P2->P1", ((0, 1), (1, 0))
RING, RING_CHANNELS = "P1->P2 P2->P3 P3->P1", ((0, 1), (1, 2), (2, 0))
TO_2, TO_1 = ("to", 0), ("to", 1)

SYSTEMS = {
    "two processes, a send each, one initiator": System(
        transfers(
            send("P1", "P2", 1, 7), send("P2", "P1", 1, 9),
            snapshots=(Initiation("S1", "P1", 2),), processes="P1 P2", channels=PAIR,
        ),
        ((TO_2, ("start", "S1")), (TO_1,)), PAIR_CHANNELS, 32, 35,
    ),
    "two processes, two sends each, one initiator": System(
        transfers(
            send("P1", "P2", 1, 1), send("P1", "P2", 3, 2), send("P2", "P1", 1, 4), send("P2", "P1", 2, 8),
            snapshots=(Initiation("S1", "P1", 2),), processes="P1 P2", channels=PAIR,
        ),
        ((TO_2, ("start", "S1"), TO_2), (TO_1, TO_1)), PAIR_CHANNELS, 4395, 310,
    ),
    "two initiators of one snapshot": System(
        transfers(
            send("P1", "P2", 1, 1), send("P2", "P1", 2, 4),
            snapshots=(Initiation("S1", "P1", 2), Initiation("S1", "P2", 1)), processes="P1 P2", channels=PAIR,
        ),
        ((TO_2, ("start", "S1")), (("start", "S1"), TO_1)), PAIR_CHANNELS, 410, 92,
    ),
    "two snapshots that overlap": System(
        transfers(
            send("P1", "P2", 1, 1),
            snapshots=(Initiation("S1", "P1", 2), Initiation("S2", "P2", 2)), processes="P1 P2", channels=PAIR,
        ),
        ((TO_2, ("start", "S1")), (("start", "S2"),)), PAIR_CHANNELS, 59, 49,
    ),
    "a ring of three": System(
        transfers(
            send("P1", "P2", 1, 1), send("P2", "P3", 1, 2), send("P3", "P1", 1, 4),
            snapshots=(Initiation("S1", "P1", 2),), processes="P1 P2 P3", channels=RING,
        ),
        ((("to", 0), ("start", "S1")), (("to", 1),), (("to", 2),)), RING_CHANNELS, 1362, 138,
    ),
    "a line with an internal event": System(
        transfers(
            send("P1", "P2", 1, 1), send("P1", "P2", 3, 2), ScriptLine("P2", 1),
            snapshots=(Initiation("S1", "P1", 2),), processes="P1 P2", channels="P1->P2",
        ),
        ((TO_2, ("start", "S1"), TO_2), (("in",),)), ((0, 1),), 35, 23,
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_every_check_holds_in_every_execution(name: str) -> None:
    scenario = SYSTEMS[name].scenario
    found = 0
    for events in executions(scenario):
        found += 1
        told = verdicts_from_table(events, scenario)
        check_none(f"{name}: {check}" for name, row in told.items() for check, holds in row.items() if holds is False)
    assert found == SYSTEMS[name].executions


@each("name", SYSTEMS)
def test_the_numbers_are_those_counted_by_hand(name: str) -> None:
    """E.g. on the line 3 sends and 3 deliveries interleave in 5 ways, and the internal event fits in 7 places."""
    hand = count_by_hand(SYSTEMS[name].plans, SYSTEMS[name].channels)
    assert hand == (SYSTEMS[name].executions, SYSTEMS[name].states)


@each("name", SYSTEMS)
def test_the_number_of_states(name: str) -> None:
    assert count_states(SYSTEMS[name].scenario.engine()) == SYSTEMS[name].states


@pytest.mark.slow
def test_a_step_leaves_the_state_as_it_was_and_perform_does_the_same_in_place() -> None:
    """In every step of every execution of the ring."""
    engine = SYSTEMS["a ring of three"].scenario.engine()
    waiting, steps = [engine.initial()], 0
    while waiting:
        state = waiting.pop()
        before = key_of(state)
        for action in engine.enabled(state):
            successor, rows = engine.step(state, action)
            twin, log = engine.copy_for(state, action), []
            engine.perform(twin, action, log)
            assert (key_of(twin), log) == (key_of(successor), rows)
            waiting.append(successor)
            steps += 1
        assert key_of(state) == before
    assert steps > SYSTEMS["a ring of three"].states


def test_only_enabled_actions_are_offered() -> None:
    """On a FIFO channel only the oldest message; of timed items only the next of each process."""
    engine = SYSTEMS["two processes, two sends each, one initiator"].scenario.engine()
    state = engine.initial()
    assert len(engine.enabled(state)) == 2, "the first item of each agenda"
    for _ in range(2):
        send_of_p2 = next(a for a in engine.enabled(state) if not isinstance(a, Deliver) and a.item in (2, 3))
        state, _ = engine.step(state, send_of_p2)
    deliveries = [a for a in engine.enabled(state) if isinstance(a, Deliver)]
    assert [a.message.body for a in deliveries] == [4]
