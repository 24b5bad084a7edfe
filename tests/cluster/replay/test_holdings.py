"""The holdings of a live run at any moment: nothing is lost, and states are those of the run."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import Fault, Status
from cluster.replay.following import Follower
from cluster.replay.holdings import Ledger
from cluster.start.full_graph import of_nodes
from cluster.start.wanted import Wanted
from sim.core.model import CRASH, RECORD
from sim.document.scenario import Scenario
from tests.cluster.live import all_running, bank, live, taken
from tests.waiting import comes

pytestmark = pytest.mark.slow
SUM = "money"
OTHERS = pytest.mark.long("what every process holds, of other workloads")


def followed(scenario: Scenario, folder: Path) -> Follower:
    """A run with a snapshot, a kill, a recovery, and another snapshot."""
    found: list[Supervisor] = []

    async def act(supervisor: Supervisor) -> None:
        found.append(supervisor)
        assert (await taken(supervisor)).status is Status.COMPLETED
        await supervisor.inject(Fault("kill", "P2"))
        await comes(lambda: supervisor.figures()["recoveries"] > 0, "the recovery")
        await all_running(supervisor)
        assert (await taken(supervisor)).status is Status.COMPLETED

    own = Follower(live(Wanted(scenario, folder, allows_faults=True, delay=(0.01, 0.05)), act), found[0].system)
    own.look()
    return own


@pytest.fixture(scope="module")
def follower(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Follower]:
    yield followed(bank(3), tmp_path_factory.mktemp("live"))


def moments(follower: Follower, count: int = 80) -> list[float]:
    draw = random.Random(3)
    return [0.0, follower.now, *(draw.uniform(0, follower.now) for _ in range(count))]


def test_at_every_moment_all_that_there_was_is_there(follower: Follower) -> None:
    """While P2 is down its money is nowhere, and while all go back it is in two lives; else it adds up."""
    judged = 0
    for at in moments(follower):
        held = follower.ledger.at(at)
        (money,) = held.amounts()
        assert (money.unit, money.total) == (SUM, 300)
        found = money.in_processes + money.on_the_way
        if held.is_one_epoch and None not in money.held.values():
            judged += 1
            assert found == 300, at
        elif held.is_one_epoch:
            assert found <= 300
    assert judged > 15


def test_kept_moments_change_nothing(follower: Follower, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cluster.replay.holdings.FIRST_GAP", 7)
    monkeypatch.setattr("cluster.replay.holdings.MOST_KEPT", 9)
    monkeypatch.setattr("cluster.replay.holdings.BLOCK", 3)
    other = Ledger(follower.system, follower.logs)
    for at in moments(follower):
        mine, its = other.at(at), follower.ledger.at(at)
        assert (mine.states, mine.channels, mine.read) == (its.states, its.channels, its.read)


def test_who_has_received_what_no_log_read_so_far_has_sent_stops_short_of_it(follower: Follower) -> None:
    """The logs are read one after the other, so that of a receiver may be ahead of that of a sender."""
    (crash,) = (entry.time * follower.unit for entry in follower.marks for row in entry.rows if row[2] == CRASH)
    whole = follower.ledger.before(crash)
    for absent in range(3):
        logs = {number: log for number, log in follower.logs.items() if number != absent}
        logs[absent] = type(follower.logs[absent])(follower.folder / f"{absent}.log")  # nothing of it is read as yet
        held = Ledger(follower.system, logs).before(crash)
        (money,) = held.amounts()
        assert money.in_processes + money.on_the_way == 300
        assert sum(held.read.values()) < sum(whole.read.values())


@pytest.mark.parametrize(
    "workload", ["bank", "requests", *(pytest.param(own, marks=OTHERS) for own in ("key_store", "dataflow"))]
)
def test_states_are_those_that_snapshots_record(workload: str, tmp_path: Path) -> None:
    own = followed(of_nodes(3, workload, settings=["pace=2"]), tmp_path)
    count = 0
    for entry in own.marks:
        for row in entry.rows:
            if row[2] == RECORD:
                count += 1
                state = own.ledger.at(entry.time * own.unit).states[row[0]]
                assert json.loads(json.dumps(state)) == row[7]
    assert count == 6
