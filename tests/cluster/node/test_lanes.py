"""A lane chooses as the engine does: what it takes, the simulation allows, and the same messages are overtaken."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.node.lanes import Lane
from cluster.node.system import System, live
from cluster.start.full_graph import of_nodes
from sim.algorithms.unaligned_barriers.recording import AHEAD
from sim.core.model import APP, MARKER, Channel, Deliver, Message, RecoveryState
from tests.tools import examples

ALGORITHMS = ("chandy_lamport", "unaligned_barriers", "aligned_barriers")


@cache
def system_of(algorithm: str) -> System:
    """Two nodes, joined both ways."""
    return System(live(of_nodes(2, "bank", algorithm), 0.01), 0.01)


arrivals = st.lists(
    st.tuples(
        st.sampled_from([APP, APP, MARKER]), st.sampled_from([None, AHEAD]), st.integers(0, 2),
        st.sampled_from([0.0, 1.0, 5.0]),
    ),
    max_size=8,
)  # fmt: skip


def messages_of(channel: Channel, drawn: list[tuple[str, Any, int, float]]) -> list[tuple[Message, float]]:
    """Messages as one sender sends them: its epoch never goes back."""
    epochs = sorted(epoch for _, _, epoch, _ in drawn)
    found = []
    for number, ((kind, body, _, delay), epoch) in enumerate(zip(drawn, epochs, strict=True)):
        snapshot, index = ("S", None) if kind == MARKER else (None, number + 1)
        found.append((Message(number, channel, kind, body, snapshot, None, index, None, None, epoch=epoch), delay))
    return found


@pytest.mark.parametrize("is_fifo", [True, False])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@examples(75)
@given(arrivals, st.integers(0, 2))
def test_what_a_lane_takes_the_engine_allows(algorithm: str, is_fifo: bool, drawn: Any, epoch: int) -> None:
    system = system_of(algorithm)
    engine = system.engine
    channel = replace(engine.between[0, 1], fifo=is_fifo)
    state = engine.initial()
    process = state.processes[1]
    queue = state.queues[channel.number]
    lane = Lane(system, channel)
    for own, delay in messages_of(channel, drawn):
        queue.append(own)
        lane.add(own, 0.0, delay, 1)
    process.epoch = epoch
    newest = max((own.epoch for own in queue), default=epoch)
    state.recovery = RecoveryState(max(epoch, newest), waiting=frozenset([1]) if epoch < newest else frozenset())
    taken: list[Message] = []
    for now in (0.0, 1.0, 5.0, 10.0):
        while isinstance(found := lane.take(process, now), tuple):
            arrival, overtaken = found
            own = arrival.message
            assert engine.is_enabled(state, Deliver(own))
            assert own.epoch < epoch or arrival.due <= now
            if own.epoch == epoch:
                before = queue[: queue.index(own)]
                assert overtaken == [other for other in before if other.epoch == epoch]
            queue.remove(own)
            taken.append(own)
        assert found is None or found > now
    assert [own for own in queue if own.epoch <= epoch] == []
    assert [arrival.message for arrival in lane.waiting] == queue
    if is_fifo:
        for kind in (APP, MARKER):
            same = [own.id for own in taken if own.kind == kind]
            assert same == sorted(same)


def test_a_process_that_is_stopped_takes_only_markers_that_go_ahead() -> None:
    system = system_of("unaligned_barriers")
    channel = system.engine.between[0, 1]
    process = system.engine.initial().processes[1]
    lane = Lane(system, channel)
    first, ahead = messages_of(channel, [(APP, None, 0, 0.0), (MARKER, AHEAD, 0, 0.0)])
    lane.add(first[0], 0.0, 0.0, 1)
    assert lane.take(process, 1.0, is_stopped=True) is None
    lane.add(ahead[0], 0.0, 0.0, 1)
    found = lane.take(process, 1.0, is_stopped=True)
    assert isinstance(found, tuple) and (found[0].message, found[1]) == (ahead[0], [first[0]])
    assert lane.take(process, 1.0, is_stopped=True) is None
    found = lane.take(process, 1.0)
    assert isinstance(found, tuple) and found[0].message is first[0]


def test_a_message_that_is_put_back_comes_before_what_is_new() -> None:
    system = system_of("chandy_lamport")
    channel = system.engine.between[0, 1]
    process = system.engine.initial().processes[1]
    drawn = [(APP, None, epoch, 0.0) for epoch in (0, 1)]
    (old, _), (new, _) = messages_of(channel, drawn)
    lane = Lane(system, channel)
    lane.add(old, 0.0, 0.0, 1)
    lane.add(new, 0.0, 0.0, 1)
    again = [replace(old, id=number, epoch=1, is_again=True) for number in (7, 8)]
    for own in again:
        lane.put_back(own)
    process.epoch = 1
    found = [lane.take(process, 1.0) for _ in range(4)]
    assert [own[0].message for own in found if isinstance(own, tuple)] == [old, *again, new]
