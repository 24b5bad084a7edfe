"""Requests to the controller: what it grants, and what it refuses."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import Fault, Problem, Status, Wish
from cluster.node.system import MOST_WAITING
from cluster.start.preparation import prepared
from cluster.start.wanted import Wanted
from sim.document import library
from tests.cluster.live import bank, live, taken, told_again
from tests.waiting import carried_out, comes

pytestmark = pytest.mark.slow


def test_a_snapshot_without_a_coordinator_expires(tmp_path):
    """Its markers take a minute: by the rules alone it would not end before."""
    slow = Wanted(replace(bank(2), storage={"kept": 20.0}), tmp_path / "cluster", delay=(60, 60), has_coordinator=False)

    async def act(supervisor: Supervisor) -> None:
        own = await taken(supervisor, Wish("P1"))
        assert (own.status, own.reason) == (Status.EXPIRED, "it was not complete within 0.2 s")
        cancelled = await supervisor.trigger(Wish("P2"))
        assert (await supervisor.cancel(cancelled.id)).status is Status.CANCELLED

    live(slow, act)


@pytest.mark.parametrize("has_coordinator", [True, False])
def test_so_many_snapshots_wait_and_no_more(has_coordinator, tmp_path):
    """A thousand that are asked for at once, on channels on which markers take a minute."""
    slow = Wanted(bank(2), tmp_path / "cluster", delay=(60, 60), has_coordinator=has_coordinator)
    answers: list[int] = []

    async def act(supervisor: Supervisor) -> None:
        async def ask() -> None:
            try:
                await supervisor.trigger(Wish())
                answers.append(202)
            except Problem as problem:
                assert str(problem).startswith(f"{MOST_WAITING} snapshots are under way or wait, and {MOST_WAITING} ")
                answers.append(problem.status)

        await asyncio.gather(*(ask() for _ in range(1000)))
        assert [answers.count(status) for status in (202, 429)] == [MOST_WAITING, 1000 - MOST_WAITING]
        await supervisor.cancel(supervisor.snapshots(None, 1, None)[0].id)
        await ask()
        assert answers[-1] == 202

    live(slow, act)


def test_the_first_estimate_is_made_of_the_delays():
    def estimate(*faults: tuple[float, float, tuple[str, ...]]) -> float:
        with prepared(Wanted(bank(3), allows_faults=True), print) as supervisor:
            for low, high, channels in faults:
                carried_out(supervisor.inject(Fault("delay", channels=channels, low=low, high=high)))
            return supervisor.first_estimate()

    assert estimate() == 100
    assert estimate((50, 200, ())) == 500  # two channels, one after the other
    assert estimate((50, 200, ()), (0, 700, ("P1->P2",))) == pytest.approx(1500)
    assert estimate((60_000, 60_000, ())) == 5000  # then it has expired


REFUSED = [  # what is asked for, the status, and of what the sentence tells
    (Wish("P9"), 404, "there is no node 'P9'"),
    (Wish("P1"), 409, "P1 is ABSENT; ask one that is RUNNING"),
    (Wish(type="half"), 422, "'half' is none of full, incremental"),
    (Wish(root_uri="s3://elsewhere/x"), 422, "none of the storage roots of this cluster"),
    (Fault("drown"), 422, "'drown' is none of kill, freeze, thaw, sever"),
    (Fault("kill", "P9"), 404, "there is no node 'P9'"),
    (Fault("kill", "P1"), 409, "it has no process to kill"),
    (Fault("sever", channels=("P1->P9",)), 404, "there is no channel 'P1->P9'"),
    (Fault("delay", low=5, high=1), 422, "low_ms and high_ms"),
    (Fault("delay", low=-1, high=1), 422, "low_ms and high_ms"),
    (Fault("delay", low=1, high=float("inf")), 422, "low_ms and high_ms"),
    (Fault("lose", share=1.0), 422, "share: a number from 0, below 1"),
    (Fault("lose", share=-0.1), 422, "share: a number from 0, below 1"),
]


def test_what_cannot_be_granted_is_refused(tmp_path):
    """Of a cluster that has not been started: no node is asked."""
    with prepared(Wanted(bank(2), tmp_path / "cluster", allows_faults=True), print) as supervisor:
        for asked, status, says in REFUSED:
            asks = supervisor.trigger if isinstance(asked, Wish) else supervisor.inject
            with pytest.raises(Problem, match=says) as problem:
                carried_out(asks(asked))
            assert problem.value.status == status, asked
        assert not supervisor.snapshots(None, 10, None)


def test_faults_have_to_be_allowed(tmp_path):
    with prepared(Wanted(bank(2), tmp_path / "cluster"), print) as supervisor:
        with pytest.raises(Problem, match="--allow-faults") as problem:
            carried_out(supervisor.inject(Fault("kill", "P1")))
        assert problem.value.status == 403


def test_where_no_node_reaches_all_others_as_many_start_a_snapshot_as_it_takes(tmp_path):
    """Two sources that only send, under rules that any process may begin."""

    async def act(supervisor: Supervisor) -> None:
        planned = supervisor.store.registry  # of two at a time, the one that is behind the other is given up
        await comes(lambda: (found := planned.snapshot("S1")) is not None and found.status.is_final, "S1 has ended")
        own = await taken(supervisor)
        assert own.status is Status.COMPLETED, own.reason
        with pytest.raises(Problem, match="fast starts does not reach all processes; name no node, then fast and slow"):
            await supervisor.trigger(Wish("fast"))

    told_again(live(Wanted(library.load("alignment_timeout"), tmp_path / "cluster", 0.002), act))
