"""A segment of a live run as an execution: the same events, messages and cuts as in the whole run."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import Fault, Status
from cluster.replay.following import Follower
from cluster.replay.scenario import table
from cluster.replay.segment import MOST_MESSAGES, segment
from cluster.start.wanted import Wanted
from diagrams.figure.spacetime import figure
from diagrams.scene.composition import compose
from sim.core.model import APPLICATION_KINDS, RECEIVE, RECORD, RECORDED, RECOVERY, RESTORE, SEND, Event
from sim.run.snapshots import snapshots_of
from tests.cluster.live import all_running, bank, live, taken
from tests.waiting import comes

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def follower(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Follower]:
    """A run with two snapshots, a channel that is severed and mended, a kill, and a third snapshot."""
    folder = tmp_path_factory.mktemp("live")
    found: list[Supervisor] = []

    async def act(supervisor: Supervisor) -> None:
        found.append(supervisor)
        for _ in range(2):
            assert (await taken(supervisor)).status is Status.COMPLETED
        await supervisor.inject(Fault("sever", channels=("P1->P2",)))
        sent = supervisor.services.site.now
        await comes(lambda: supervisor.services.site.now > sent + 30, "0.3 s have passed")
        await supervisor.inject(Fault("mend"))
        recoveries = supervisor.figures()["recoveries"]
        await supervisor.inject(Fault("kill", "P3"))
        await comes(lambda: supervisor.figures()["recoveries"] > recoveries, "the recovery")
        await all_running(supervisor)
        assert (await taken(supervisor)).status is Status.COMPLETED

    logs = live(Wanted(bank(3), folder, allows_faults=True, delay=(0.02, 0.06)), act)
    own = Follower(logs, found[0].system)
    own.look()
    yield own


def application(rows: list[Event]) -> list[tuple[object, ...]]:
    return [(row.process, row.kind, row.channel, row.body) for row in rows if row.kind in APPLICATION_KINDS]


def test_all_of_a_run_has_the_events_of_its_table(follower: Follower) -> None:
    own = segment(follower, 0.0, follower.now, with_services=True, whole=True)
    theirs = table(follower.folder)
    assert (own.every, own.begin) == (1, 0.0)
    for process in own.execution.scenario.processes:
        mine, its = ([row for row in rows if row.process == process] for rows in (own.execution.table, theirs))
        assert application(mine) == application(its)
        recordings = [[row.snapshot_id for row in rows if row.kind == RECORD] for rows in (mine, its)]
        assert recordings[0] == recordings[1]
    assert own.execution.times == sorted(own.execution.times)
    indices = [(row.process, row.index) for row in own.execution.table if row.kind in APPLICATION_KINDS]
    for process in own.execution.scenario.processes:
        numbers = [index for name, index in indices if name == process]
        assert numbers == list(range(1, len(numbers) + 1))


def test_a_snapshot_has_the_same_cut_and_channels_in_a_segment_as_in_the_run(follower: Follower) -> None:
    whole = segment(follower, 0.0, follower.now, with_services=True, whole=True)
    known = {own.id: own for own in snapshots_of(whole.execution)}
    assert len(known) == 3
    for snapshot in known.values():
        times = [whole.execution.times[part.step] for part in snapshot.local.values()]
        begin, end = max(0.0, min(times) - 0.15), max(times) + 0.3
        own = segment(follower, begin, end, with_services=False, whole=True)
        found = next(other for other in snapshots_of(own.execution) if other.id == snapshot.id)
        assert {name: part.recorded for name, part in found.local.items()} == {
            name: part.recorded for name, part in snapshot.local.items()
        }
        bodies = [
            {name: [message.body for message in held] for name, held in other.channels.items() if held}
            for other in (found, snapshot)
        ]
        assert bodies[0] == bodies[1]
        cut = next(other for other in compose(own.execution).cuts if other.snapshot == snapshot.id)
        assert cut.consistent


def test_a_segment_may_begin_within_a_recovery(follower: Follower) -> None:
    """It begins after the recovery, and before the first process is restored."""
    (begun,) = (own.time for own in follower.marks if own.rows[0][2] == RECOVERY)
    first = min(own.time for own in follower.marks if any(row[2] == RESTORE for row in own.rows))
    begin = (begun + first) / 2 * follower.unit
    own = segment(follower, begin, follower.now, with_services=False)
    assert own.begin > begun * follower.unit
    assert [row.kind for row in own.execution.table if row.kind in (RECOVERY, RESTORE)] == [RECOVERY, *3 * [RESTORE]]
    assert figure(compose(own.execution), "right", live=True)["data"]


def test_any_segment_can_be_drawn_and_each_receipt_has_its_send(follower: Follower) -> None:
    draw = random.Random(7)
    for _ in range(40):
        begin, end = sorted(draw.uniform(0, follower.now) for _ in range(2))
        own = segment(follower, begin, end, with_services=draw.random() < 0.5, whole=draw.random() < 0.3)
        scene = compose(own.execution).over((begin, end))
        assert figure(scene, draw.choice(("right", "down")), live=True)["data"]
        sends = {row.message_id for row in own.execution.table if row.kind == SEND}
        receives = {row.message_id for row in own.execution.table if row.kind == RECEIVE}
        assert receives <= sends


def test_of_many_messages_a_share_is_drawn_with_all_that_snapshots_have_recorded(
    follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cluster.replay.segment.MOST_MESSAGES", 10)
    own = segment(follower, 0.0, follower.now, with_services=False)
    whole = segment(follower, 0.0, follower.now, with_services=False, whole=True)
    assert own.every > 1
    count = [sum(row.kind == SEND for row in other.execution.table) for other in (own, whole)]
    assert count[0] < count[1]
    recorded = [sum(row.kind == RECORDED for row in other.execution.table) for other in (own, whole)]
    assert recorded[0] == recorded[1] > 0
    assert MOST_MESSAGES >= 50, "a diagram shows as many as one can see"


def test_a_recovery_before_the_segment_takes_back_nothing_in_it(follower: Follower) -> None:
    restores = [row for entry in follower.marks for row in entry.rows if row[2] == RESTORE]
    assert {row[0] for row in restores} == {"P1", "P2", "P3"}
    last = max(entry.time * follower.unit for entry in follower.marks for row in entry.rows if row[2] == RESTORE)
    own = segment(follower, last + 0.01, follower.now, with_services=False)
    assert all(dot.gone is None for dot in compose(own.execution).dots)
    before = segment(follower, max(0.0, last - 0.5), last + 0.05, with_services=False)
    assert any(dot.gone is not None for dot in compose(before.execution).dots)
