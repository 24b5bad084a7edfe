"""The frames of the page Live: made once, bounded, and the same for all who ask for the same."""

from __future__ import annotations

import gzip
import json
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from cluster.replay.following import Follower
from cluster.replay.segment import segment
from sim.core.model import FROZEN
from tests.views.conftest import StillRun
from tests.waiting import until
from views.live.frame import KEPT, MOST_WAITING, WIDTHS, Frames, Place, read_place, still_since

FOLLOWING = Place(None, 10, "right", False)


def told(content: bytes) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(content))
    return found


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ({}, Place(None, 5, "right", False)),
        ({"end": "12.345", "width": "10", "orientation": "down"}, Place(12.3, 10, "down", False)),
        ({"end": "nan", "width": "nan"}, Place(None, 5, "right", False)),
        ({"end": "-1", "width": "-7"}, Place(None, 2, "right", False)),
        ({"end": "inf", "width": "inf"}, Place(None, 2, "right", False)),
        ({"end": "1e99", "width": "1000"}, Place(None, 60, "right", False)),
        ({"end": "soon", "width": "wide", "orientation": "<b>", "services": "yes"}, Place(None, 5, "right", False)),
        ({"services": "1"}, Place(None, 5, "right", True)),
    ],
)
def test_a_place_is_kept_within_bounds_whatever_is_asked_for(query, place):
    found = read_place(query)
    assert found == place
    assert found.width in WIDTHS


def test_a_cluster_that_has_not_begun_has_a_frame_without_a_diagram():
    frame = Frames(StillRun(None, "starting")).frame(FOLLOWING)
    assert frame is not None
    found = told(frame.content)
    assert found["state"] == "starting" and "figure" not in found


@pytest.mark.slow
def test_a_frame_has_the_diagram_the_nodes_and_what_happened(still_run):
    frames = Frames(still_run)
    frame = frames.frame(FOLLOWING)
    found = told(frame.content)
    assert found["figure"]["data"] and found["processes"] == ["P1", "P2", "P3"]
    assert found["said"].endswith("snap-0002 is complete. The dashed line is its cut.")
    assert [node["ended"] is not None for node in found["nodes"]] == [False, True], "P2 was killed"
    assert {kind for _, kind, _ in found["marks"]} == {"committed", "crash", "recovery"}
    keys = [sign["key"] for sign in found["signs"]]
    assert {"event", "message", "on-its-way", "records", "cut", "restored"} <= set(keys)
    assert not {"now", "held", "later"} & set(keys)
    assert found["messages"] > 10
    assert frames.frame(FOLLOWING) is frame, "nothing changes once it is over"


@pytest.mark.slow
def test_a_frame_says_what_each_process_holds_and_that_nothing_is_lost(still_run):
    """At the end, in the past, and while P2 is down."""
    found = told(Frames(still_run).frame(FOLLOWING).content)
    follower = still_run.follower
    (money,) = follower.ledger.at(still_run.now).amounts()
    assert found["amounts"]["each"] == {name: str(amount) for name, amount in money.held.items()}
    assert found["amounts"]["sum"].endswith("in transit = 300 money.")
    assert found["amounts"]["recorded"].startswith("snap-0002 recorded ")
    assert found["amounts"]["recorded"].endswith(" in channels = 300 money.")
    assert [text.count(str(money.held[name])) for text, name in zip(names_in(found), NAMES, strict=True)] == [1, 1, 1]
    down = next(entry.time * follower.unit for entry in follower.marks for row in entry.rows if row[2] == "crash")
    found = told(Frames(still_run).frame(Place(down + 0.1, 2, "down", False)).content)
    assert "of 300 money; the rest is lost with P2." in found["amounts"]["sum"]
    assert found["is"].startswith("P2 is down")


NAMES = ("P1", "P2", "P3")


def names_in(frame: dict[str, Any]) -> list[str]:
    """The texts at the lines of the processes."""
    found: list[str] = frame["figure"]["layout"]["meta"]["names"]
    return found


@pytest.mark.slow
def test_a_process_that_stands_still_is_drawn_so(still_run, monkeypatch):
    """Of an ended run nothing goes on, so this one is said to run, and the last second of P3 is taken away."""
    still_run.state, follower = "running", still_run.follower
    still_run.nodes = [{"node_id": name, "status": "RUNNING", "epoch": 1} for name in NAMES]
    assert still_since(still_run, follower) == {}
    monkeypatch.setattr(Follower, "heard", lambda self, name: 0.2 if name == "P3" else self.now)
    still_run.nodes[2]["status"] = "FROZEN"
    assert still_since(still_run, follower) == {"P3": 0.2}
    found = told(Frames(still_run).frame(FOLLOWING).content)
    assert [node["status"] for node in found["nodes"]] == ["RUNNING", "RUNNING", "FROZEN"]
    assert found["is"].startswith("P3 has stood still for ")
    own = segment(follower, 0.0, still_run.now, with_services=False, still={"P3": 0.2})
    (row,) = (row for row in own.execution.table if row.kind == FROZEN)
    assert (row.process, round(row.time, 1)) == ("P3", 0.2)
    still_run.state = "ended"
    assert still_since(still_run, follower) == {}


@pytest.mark.slow
def test_those_who_follow_get_the_same_frame_and_only_one_is_made(still_run, monkeypatch):
    still_run.state = "running"
    monkeypatch.setattr("views.live.frame.FRAME_S", 1000.0)
    frames, made = Frames(still_run), []
    make = frames._make
    monkeypatch.setattr(frames, "_make", lambda place: made.append(place) or make(place))
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(frames.frame(FOLLOWING))) for _ in range(MOST_WAITING)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(own) for own in found}) == 1
    assert still_run.looks == MOST_WAITING


@pytest.mark.slow
def test_diagrams_of_the_past_are_drawn_once_and_few_are_kept(still_run, monkeypatch):
    frames, drawn = Frames(still_run), []
    monkeypatch.setattr("views.live.frame.drawn", lambda own, place, held: drawn.append(place) or {"begin": own.begin})
    without_rests = SimpleNamespace(monotonic=time.monotonic, sleep=lambda seconds: None)
    monkeypatch.setattr("views.live.turns.time", without_rests)
    places = [Place(number / 100, 10, "right", False) for number in range(KEPT + 5)]
    for place in places:
        frames.frame(place)
    assert drawn == places
    frames._kept.clear()
    assert frames.frame(places[-1]) is not None
    assert drawn == places, "it was drawn before"
    assert len(frames._diagrams) == KEPT


@pytest.mark.slow
def test_when_too_many_look_back_the_others_are_asked_to_come_again_and_who_follows_is_served(still_run, monkeypatch):
    frames, go_on = Frames(still_run), threading.Event()
    make = frames._make

    def late(place: Place) -> Any:
        if place.end is not None:
            go_on.wait()
        return make(place)

    monkeypatch.setattr(frames, "_make", late)
    places = [Place(number / 10, 10, "right", False) for number in range(MOST_WAITING + 3)]
    found: list[Any] = []
    threads = [threading.Thread(target=lambda place=place: found.append(frames.frame(place))) for place in places]
    for thread in threads:
        thread.start()
    until(lambda: len(found) >= 3, "three are told at once")
    assert found == [None, None, None]
    assert frames.frame(FOLLOWING) is not None
    without_rests = SimpleNamespace(monotonic=time.monotonic, sleep=lambda seconds: None)
    monkeypatch.setattr("views.live.turns.time", without_rests)
    go_on.set()
    for thread in threads:
        thread.join()
    assert found.count(None) == 3
