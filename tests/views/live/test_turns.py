"""Turns: one at a time, for a share of the time, and only so many wait."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from tests.waiting import until
from views.live.turns import Turns


def test_who_does_not_wait_gets_nothing_while_another_works():
    turns, begun, go_on = Turns(share=1.0, most=4), threading.Event(), threading.Event()

    def work() -> str:
        begun.set()
        go_on.wait()
        return "done"

    made: list[str | None] = []
    worker = threading.Thread(target=lambda: made.append(turns.take(work)))
    worker.start()
    begun.wait()
    assert turns.take(lambda: "mine", waits=False) is None
    go_on.set()
    worker.join()
    assert made == ["done"]
    assert turns.take(lambda: "mine") == "mine"


def test_only_so_many_wait():
    turns, begun, go_on = Turns(share=1.0, most=2), threading.Event(), threading.Event()

    def work() -> str:
        begun.set()
        go_on.wait()
        return "done"

    made: list[str | None] = []
    threads = [threading.Thread(target=lambda: made.append(turns.take(work))) for _ in range(6)]
    for thread in threads:
        thread.start()
    begun.wait()
    until(lambda: sum(thread.is_alive() for thread in threads) == 2, "the others have gone")
    assert made == [None] * 4
    go_on.set()
    for thread in threads:
        thread.join()
    assert sorted(filter(None, made)) == ["done", "done"]


def test_work_is_followed_by_a_rest(monkeypatch):
    clock, rests = [100.0], []

    def rest(seconds: float) -> None:
        rests.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr("views.live.turns.time", SimpleNamespace(monotonic=lambda: clock[0], sleep=rest))
    turns = Turns(share=0.25, most=2)

    def work() -> bool:
        clock[0] += 2
        return True

    assert turns.take(work)
    assert turns.take(work, waits=False) is None, "it rests"
    assert turns.take(work)
    assert rests == [pytest.approx(6.0)], "two seconds of work are a quarter of eight"


def test_work_that_fails_leaves_the_turn_to_others():
    turns = Turns(share=1.0, most=1)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            turns.take(lambda: 1 / 0)
    assert turns.take(lambda: 1) == 1
