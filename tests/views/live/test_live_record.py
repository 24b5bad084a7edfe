"""The record of a snapshot of the live cluster: as the API says it, from the logs."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace

import pytest

from cluster.control.supervisor import Supervisor
from cluster.model import Fault, Status, Wish
from cluster.replay.following import Follower
from cluster.start.wanted import Wanted
from sim.core.errors import InputError
from tests.cluster.live import bank, live, taken
from tests.waiting import comes
from views.live.record import record

pytestmark = pytest.mark.slow


def answer(snapshot, **changed):
    return {"snapshot_id": snapshot, "status": "COMPLETED", "is_kept": True} | changed


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A run, the contents of its complete snapshot by the API, and the name of one that was cancelled half-way."""
    found: dict[str, object] = {}

    async def act(supervisor: Supervisor) -> None:
        found["system"] = supervisor.system
        begin = supervisor.services.site.now
        await comes(lambda: supervisor.services.site.now > begin + 20, "0.2 s have passed")
        own = await taken(supervisor)
        assert own.status is Status.COMPLETED
        found["id"], found["contents"] = own.id, await asyncio.to_thread(supervisor.contents, own.id)
        await supervisor.inject(Fault("sever", channels=("P1->P3", "P2->P3")))
        half = await supervisor.trigger(Wish("P1"))
        begin = supervisor.services.site.now
        await comes(lambda: supervisor.services.site.now > begin + 20, "0.2 s have passed")
        await supervisor.cancel(half.id)
        found["half"] = half.id

    logs = live(Wanted(bank(3), tmp_path_factory.mktemp("live"), allows_faults=True, delay=(0.02, 0.06)), act)
    follower = Follower(logs, found["system"])
    follower.look()
    run = SimpleNamespace(follower=follower, lock=threading.Lock(), snapshots=[answer(found["id"])])
    return run, found


def states(told):
    return {own["name"]: own["text"][0][1] for own in told["processes"]}


def test_it_is_what_the_contents_of_the_api_say(recorded):
    run, found = recorded
    told = record(run, "snap-0001")
    assert (told["id"], told["note"], told["is_final"]) == ("snap-0001", "", True)
    contents = found["contents"]
    assert states(told) == {name: str(own["state"]) for name, own in contents["processes"].items()}
    for own in told["channels"]:
        bodies = contents["channels"][own["name"]]
        assert own["text"] == [[0, f"{own['name']} = <{', '.join(map(str, bodies)) or 'empty'}>"]]
        assert own["state"] == [[0, "messages" if bodies else "empty"]]
    held, kept = (sum(own) for own in (
        [own["state"] for own in contents["processes"].values()],
        [body for bodies in contents["channels"].values() for body in bodies],
    ))  # fmt: skip
    assert told["sum"] == f"{held} in processes + {kept} in channels = 300 money."


def test_when_nothing_is_stored_any_more_it_says_so(recorded):
    run, found = recorded
    run = SimpleNamespace(**vars(run) | {"snapshots": [answer(found["id"], is_kept=False)]})
    told = record(run, "snap-0001")
    assert "It is no longer stored" in told["note"] and told["sum"]


def test_of_one_that_came_to_nothing_it_shows_what_was_recorded(recorded):
    run, found = recorded
    run = SimpleNamespace(**vars(run) | {"snapshots": [answer(found["half"], status="CANCELLED", is_kept=False)]})
    told = record(run, found["half"])
    assert told["note"].startswith("It is not complete, and nothing of it is stored.") and told["sum"] == ""
    assert states(told)["P3"] == "not recorded yet" and states(told)["P1"].isdigit()
    run.snapshots = [answer(found["half"], status="IN_PROGRESS", is_kept=False)]
    told = record(run, found["half"])
    assert (told["note"], told["is_final"]) == ("It is under way.", False)


def test_one_that_there_is_not_is_refused_in_a_sentence(recorded):
    with pytest.raises(InputError, match="there is no snapshot 'snap-0009' in the list"):
        record(recorded[0], "snap-0009")
